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
TEST_T(thousands_of_subscriptions, 120)
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
	ck_assert(tk_until(refused_all, &t1, BED_MS));
	after = round_ms(&s, "after");
	printf("# a round of the neighbour: %.1f ms, after %d subscriptions "
	       "%.1f ms\n",
	    before, MANY, after);
	ck_assert(tk_log_has(&s.k.proc,
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
TEST_T(more_than_its_rate, 60)
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
	ck_assert(
	    tk_log_has(&s.k.proc, "body t1: PUBLISH over its rate is refused"));
	body_leave(&t1);
	close_scene(&s);
}

/* A large message counts for many. */
TEST_T(more_bytes_than_its_rate, 60)
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

/* So many that a reload takes a while, and the next comes meanwhile. */
TEST_T(each_of_many_reloads_is_heard, 120)
{
	enum { USERS = 50000, RELOADS = 10 };
	char hash[AUTH_HASH_MAX], name[16];
	struct broker k;
	int before;

	broker_make(&k, 0);
	auth_secret_hash(STR(BROKER_PW), hash);
	for (int i = 0; i < USERS; i++)
		buf_printf(&k.admitted, "u%d:%s\n", i, hash);
	buf_putc(&k.admitted, '\0');
	broker_start(&k);
	before = broker_reloads(&k);
	for (int i = 0; i < RELOADS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		broker_admit(&k, name);
	}
	ck_assert_int_eq(broker_reloads(&k), before + RELOADS);
	broker_end(&k);
}

/* A reload makes mosquitto 2.0.11 forget max_qos. */
TEST_T(as_before_after_a_reload, 60)
{
	struct scene s;
	struct body t1;

	open_scene(&s);
	/* As of every body that was let in. */
	ck_assert(tk_log_has(&s.k.proc, "Reloading config"));
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

/* A broker that kept them would tell each to every bridge that comes. */
TEST_T(results_to_be_retained_and_long_ids, 60)
{
	static const struct say once = { 1, false }, retained = { 1, true };
	char leaf[400];
	struct scene s;
	struct body t1, late;
	size_t i, n;

	open_scene(&s);
	enter(&t1, &s, "t1", s.k.bodies);
	body_say(&t1, "result/kept", "to be retained", retained);
	body_say(&t1, "result/kept", "", retained);
	for (i = 0; i < 3; i++) {
		/* 128 bytes are an id. */
		n = (size_t)snprintf(leaf, sizeof(leaf), "result/");
		memset(leaf + n, 'a', 128 + i);
		leaf[n + 128 + i] = '\0';
		body_say(&t1, leaf, i == 0 ? "of 128" : "of more", once);
	}
	body_say(&t1, "result/end", "the end", once);
	body_expect(&s.watcher, "the end");
	body_expect(&s.watcher, "of 128");
	ck_never(&s.watcher, "to be retained");
	ck_never(&s.watcher, "of more");
	ck_assert(tk_log_has(&s.k.proc,
	    "body t1: PUBLISH of a result to be retained is refused"));
	enter(&late, &s, "mqtt-bridge", s.k.services);
	hear(&late, "soul/terminal/t1/result/+");
	body_say(&t1, "result/end", "the end", once);
	body_expect(&late, "the end");
	ck_never(&late, "kept");
	ck_t2_works(&s, "r1");
	body_leave(&late);
	body_leave(&t1);
	close_scene(&s);
}

/* So that it is not told to the broker when it goes. */
TEST_T(a_will_that_is_a_retained_result, 60)
{
	struct scene s;
	struct body t1;

	open_scene(&s);
	body_init(&t1, PREFIX, "t1");
	mosquitto_username_pw_set(t1.mosq, "t1", BROKER_PW);
	ck_assert_int_eq(
	    mosquitto_will_set(
		t1.mosq, "soul/terminal/t1/result/w", 8, "the will", 1, true),
	    0);
	body_connect(&t1, &s.b);
	body_crash(&t1);
	enter(&t1, &s, "t1", s.k.bodies);
	body_say(&t1, "result/end", "the end", (struct say){ 1, false });
	body_expect(&s.watcher, "the end");
	ck_never(&s.watcher, "the will");
	body_leave(&t1);
	close_scene(&s);
}

/* As of a broker that had no gate, or an older one. */
static void
fill_store(struct scene *s)
{
	static const char head[] = "soul/terminal/t1/result/";
	char topic[4009];
	struct body service;

	memset(topic, 'a', sizeof(topic) - 1);
	memcpy(topic, head, sizeof(head) - 1);
	/* It was just too long for a line of the log. */
	topic[4006] = ' ';
	topic[4008] = '\0';
	enter(&service, s, "mqtt-bridge", s->k.services);
	body_publish(&service, topic, STR("too long"), (struct say){ 1, true });
	body_publish(&service, "soul/terminal/t1/result/r0", STR("old"),
	    (struct say){ 1, true });
	body_leave(&service);
	tk_signal(&s->k.proc, SIGTERM);
	ck_assert_int_ne(tk_wait(&s->k.proc, BED_MS), -1);
	broker_start(&s->k);
	enter(&service, s, "mqtt-bridge", s->k.services);
	hear(&service, "soul/terminal/t1/result/+");
	body_expect(&service, "=too long kept");
	body_expect(&service, "=old kept");
	body_leave(&service);
}

static bool
cleared_both(void *arg)
{
	struct scene *s = arg;

	return tk_service_metric(
		   &s->b.bridge[0], "soul_bridge_cleared_total") >= 2;
}

TEST_T(a_store_that_holds_what_is_refused_now, 60)
{
	struct scene s = { 0 };
	struct body late;

	broker_make(&s.k, 0);
	broker_start(&s.k);
	broker_admit(&s.k, "t2");
	broker_bed(&s.k, &s.b);
	s.b.strict = true;
	fill_store(&s);
	bridge_start_one(&s.b, 0);
	ck_assert(tk_until(bridge_leads, &s.b.bridge[0], BED_MS));
	ck_assert(tk_until(cleared_both, &s, BED_MS));
	enter(&s.t2, &s, "t2", s.k.bodies);
	body_subscribe(&s.t2);
	body_report(&s.t2, "online", "online");
	bed_wait(&s.b, "t2", is_present, "present");
	ck_t2_works(&s, "r1");
	enter(&late, &s, "mqtt-bridge", s.k.services);
	hear(&late, "soul/terminal/+/result/+");
	ck_t2_works(&s, "r2");
	body_expect(&late, "result/r2=");
	ck_never(&late, "kept");
	body_leave(&late);
	body_leave(&s.t2);
	bed_stop(&s.b);
	broker_end(&s.k);
}

/* Without what it needs there is no broker, and it says what to do. */
TEST_T(settings_that_are_wrong, 60)
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
		const char *v[] = { "mosquitto", "-c", tk_path("m.conf"),
			NULL };
		struct buf b = BUF_INIT(4096);
		struct tk_proc p;
		char name[16];

		buf_printf(&b,
		    "log_dest stderr\nuser root\nlistener %d 127.0.0.1\n"
		    "plugin %s\n%s",
		    tk_port(), tk_broker_gate(), cases[i].options);
		tk_write_file(tk_path("m.conf"), b.p);
		snprintf(name, sizeof(name), "broker-%zu", i);
		tk_spawn(&p, name, v, NULL);
		ck_assert_int_ne(tk_wait(&p, BED_MS), 0);
		ck_assert_msg(
		    tk_log_has(&p, cases[i].says), "%s", cases[i].says);
		buf_free(&b);
	}
}
