/*
 * What the broker loads: it refuses of a body what the broker would not, and
 * goes on refusing when the broker has read its files again.
 */
#include "attack.h"

#define MANY   20000
#define ROUNDS 20

static bool
refused_all(void *arg)
{
	struct body *d = arg;

	return atomic_load(&d->refused) >= MANY;
}

/* Milliseconds that a round of the neighbour takes. */
static double
round_ms(struct scene *s, const char *name)
{
	struct mono at = clock_mono();
	char request[32];

	for (int i = 0; i < ROUNDS; i++) {
		snprintf(request, sizeof(request), "%s-%d", name, i);
		ck_t2_works(s, request);
	}
	return (double)mono_diff_ns(clock_mono(), at) / 1e6 / ROUNDS;
}

/* Shared ones would cost every message of everybody, if they were granted. */
KIT_TEST_T(thousands_of_subscriptions, 120)
{
	struct scene s;
	struct body t1;
	char filter[64];
	double before, after;

	open_scene(&s);
	enter(&t1, &s, "t1", s.k.bodies);
	before = round_ms(&s, "before");
	for (int i = 0; i < MANY; i++) {
		snprintf(filter, sizeof(filter), "$share/%d/soul/#", i);
		ck_assert_int_eq(
		    mosquitto_subscribe(t1.mosq, NULL, filter, 1), 0);
	}
	ck_t2_works(&s, "r1");
	ck_assert(kit_until(refused_all, &t1, BED_MS));
	after = round_ms(&s, "after");
	printf("# a round of the neighbour: %.1f ms, after %d subscriptions "
	       "%.1f ms\n",
	    before, MANY, after);
	ck_assert(kit_log_has(&s.k.proc,
	    "mosquitto-gate: body t1: SUBSCRIBE to a filter that is not its "
	    "own is refused"));
	body_leave(&t1);
	close_scene(&s);
}

static int
said(struct body *d, const char *what)
{
	char *got = body_got(d);
	int n = 0;

	for (const char *p = got; (p = strstr(p, what)) != NULL; p++)
		n++;
	free(got);
	return n;
}

/* 300 at once are heard, and 100 more for each second that goes by. */
KIT_TEST_T(more_than_its_rate, 60)
{
	struct scene s;
	struct body t1;
	struct mono at;
	int n, most;

	open_scene(&s);
	enter(&t1, &s, "t1", s.k.bodies);
	mosquitto_max_inflight_messages_set(t1.mosq, 1000);
	at = clock_mono();
	for (int i = 0; i < 5000; i++)
		ck_assert_int_eq(
		    mosquitto_publish(t1.mosq, NULL,
			"soul/terminal/t1/heartbeat", 1, "7", 1, false),
		    0);
	body_wait(&t1.acked, 5000);
	most = 300 + (int)(mono_diff_ms(clock_mono(), at) / 10) + 2;
	/* Its neighbour says something behind all of it. */
	body_publish(&s.t2, "soul/terminal/t2/result/end", STR("the end"),
	    (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	n = said(&s.watcher, "t1/heartbeat=7");
	ck_assert_int_ge(n, 300);
	ck_assert_int_le(n, most);
	ck_t2_works(&s, "r1");
	ck_assert(kit_log_has(
	    &s.k.proc, "body t1: PUBLISH over its rate is refused"));
	body_leave(&t1);
	close_scene(&s);
}

/* A large message counts for many. */
KIT_TEST_T(more_bytes_than_its_rate, 60)
{
	static char text[900000];
	struct scene s;
	struct body t1;

	open_scene(&s);
	enter(&t1, &s, "t1", s.k.bodies);
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "large", 5);
	for (int i = 0; i < 60; i++)
		body_publish(&t1, "soul/terminal/t1/skills",
		    (struct str){ text, sizeof(text) - 1 },
		    (struct say){ 1, false });
	body_publish(&s.t2, "soul/terminal/t2/result/end", STR("the end"),
	    (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	/* Each is 14; 60 are 840. */
	ck_assert_int_ge(said(&s.watcher, "skills=large"), 21);
	ck_assert_int_lt(said(&s.watcher, "skills=large"), 60);
	ck_t2_works(&s, "r1");
	body_leave(&t1);
	close_scene(&s);
}

/* A reload makes mosquitto 2.0.11 forget max_qos. */
KIT_TEST_T(as_before_after_a_reload, 60)
{
	struct scene s;
	struct body t1;

	open_scene(&s);
	/* As of every body that was let in. */
	ck_assert(kit_log_has(&s.k.proc, "Reloading config"));
	enter(&t1, &s, "t1", s.k.bodies);
	ck_assert(!may_hear(&t1, "#"));
	ck_assert(!may_hear(&t1, "$share/x/soul/#"));
	hear(&t1, "soul/terminal/t1/#");
	body_publish(&t1, "soul/terminal/t1/result/two", STR("of QoS 2"),
	    (struct say){ 2, false });
	body_say(&t1, "result/end", "the end", (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	ck_never(&s.watcher, "of QoS 2");
	ck_t2_works(&s, "r1");
	body_leave(&t1);
	close_scene(&s);
}

/* Without what it needs there is no broker, and it says what to do. */
KIT_TEST_T(settings_that_are_wrong, 60)
{
	static const struct {
		const char *options, *says;
	} cases[] = {
		{ "", "set plugin_opt_acl_file, the same file as acl_file" },
		{ "plugin_opt_acl_file /nowhere\n",
		    "/nowhere: cannot be read" },
		{ "plugin_opt_acl_file /dev/null\n",
		    "/dev/null: has no \"pattern read\"" },
		{ "plugin_opt_acl_file deploy/mosquitto.acl\n"
		  "plugin_opt_per_s 0\n",
		    "plugin_opt_per_s: use a number from 1 to 1000000" },
		{ "plugin_opt_acl_file deploy/mosquitto.acl\n"
		  "plugin_opt_rate 5\n",
		    "no such setting: plugin_opt_rate; use acl_file, per_s, "
		    "burst" },
	};

	for (size_t i = 0; i < NELEM(cases); i++) {
		const char *v[] = { "mosquitto", "-c", kit_path("m.conf"),
			NULL };
		struct buf b = BUF_INIT(4096);
		struct kit_proc p;
		char name[16];

		buf_printf(&b,
		    "log_dest stderr\nuser root\nlistener %d 127.0.0.1\n"
		    "plugin %s\n%s",
		    kit_port(), kit_broker_gate(), cases[i].options);
		kit_write_file(kit_path("m.conf"), b.p);
		snprintf(name, sizeof(name), "broker-%zu", i);
		kit_spawn(&p, name, v, NULL);
		ck_assert_int_ne(kit_wait(&p, BED_MS), 0);
		ck_assert_msg(
		    kit_log_has(&p, cases[i].says), "%s", cases[i].says);
		buf_free(&b);
	}
}
