/*
 * Souls evolve once per interval while one of their bodies is online, with any
 * number of engines.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "testkit/emotion_fixture.h"

#define SOULS_MAX   64
#define INTERVAL_MS 2000

/* Received ticks of souls s0, s1, …. */
struct received {
	struct mono since;
	int ticks[SOULS_MAX];
	int64_t version[SOULS_MAX];
};

static bool
is_tick(json_t *u)
{
	return strcmp(tk_text(u, "session_id"), "system_decay_tick") == 0;
}

static int
fewest(const struct received *h, int create_souls)
{
	int i, least = h->ticks[0];

	for (i = 1; i < create_souls; i++)
		least = h->ticks[i] < least ? h->ticks[i] : least;
	return least;
}

/*
 * Receive until each soul has ticked this often.  Nothing is repeated: versions
 * rise, and no soul ticks more often than the time allows, except for the first
 * tick and one that was in progress.
 */
static void
receive_ticks(
    natsSubscription *sub, struct received *h, int create_souls, int times)
{
	int64_t most;
	char subject[256];
	json_t *u;
	int i;

	memset(h->ticks, 0, sizeof(h->ticks));
	h->since = clock_mono();
	while (fewest(h, create_souls) < times) {
		u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
		ck_assert_msg(u != NULL && is_tick(u), "no more ticks");
		ck_assert_int_eq(sscanf(tk_text(u, "soul_id"), "s%d", &i), 1);
		ck_assert(i >= 0 && i < create_souls);
		ck_assert_int_gt(tk_int(u, "version"), h->version[i]);
		h->version[i] = tk_int(u, "version");
		h->ticks[i]++;
		json_decref(u);
	}
	most = 2 + mono_diff_ms(clock_mono(), h->since) / INTERVAL_MS;
	for (i = 0; i < create_souls; i++)
		ck_assert_msg(h->ticks[i] <= most,
		    "soul %d ticked %d times, at most %d were due", i,
		    h->ticks[i], (int)most);
}

static void
create_souls(struct emotion_fixture *b, int n)
{
	char soul[16], body[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(soul, sizeof(soul), "s%d", i);
		snprintf(body, sizeof(body), "t%d", i);
		emotion_fixture_soul(b, soul, "ENTP");
		emotion_fixture_body(b, body, soul, true);
	}
}

TEST(online_bodies_get_updates_of_their_soul)
{
	natsSubscription *sub;
	char subject[256];
	struct emotion_fixture b;
	json_t *u, *v;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "s0", "INTJ");
	emotion_fixture_soul(&b, "s1", "INTJ");
	emotion_fixture_online(&b, "unbound", true);
	emotion_fixture_body(&b, "away", "s1", false);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	emotion_fixture_body(&b, "here", "s0", true);
	u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
	v = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
	ck_assert(u != NULL && v != NULL && is_tick(u) && is_tick(v));
	ck_assert_str_eq(subject, "soul.body.main.here.emotion_update");
	ck_assert_str_eq(tk_text(u, "terminal_id"), "here");
	ck_assert_str_eq(tk_text(u, "user_emotion.emotion"), "neutral");
	ck_assert_double_eq(tk_number(u, "user_emotion.a"), 0);
	ck_assert_double_eq(tk_number(u, "user_emotion.intensity"), 0);
	ck_assert_double_eq(tk_number(u, "user_emotion.confidence"), 1);
	ck_assert_int_eq(tk_int(v, "version"), tk_int(u, "version") + 1);
	/* It approaches its point of rest, and that is stored. */
	ck_assert_double_lt(
	    tk_number(v, "soul_emotion.a"), tk_number(u, "soul_emotion.a"));
	ck_assert_int_ge(
	    emotion_fixture_version(&b, "s0"), tk_int(v, "version"));
	json_decref(u);
	json_decref(v);

	/* The body goes offline: no updates, no work. */
	emotion_fixture_online(&b, "here", false);
	while ((u = tk_nats_next(sub, 300, subject)) != NULL)
		json_decref(u);
	ck_assert_ptr_null(tk_nats_next(sub, INTERVAL_MS + 300, subject));
	ck_assert_int_eq(emotion_fixture_version(&b, "s1"), 1);
	/* It comes back, and so do the ticks. */
	emotion_fixture_online(&b, "here", true);
	u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject);
	ck_assert(u != NULL && is_tick(u));
	json_decref(u);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

TEST(a_soul_with_two_bodies_evolves_in_one_step)
{
	natsSubscription *sub;
	char subject[2][256];
	struct emotion_fixture b;
	json_t *u, *v;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "s0", "ESFJ");
	emotion_fixture_body(&b, "t-a", "s0", true);
	emotion_fixture_body(&b, "t-b", "s0", true);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	u = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject[0]);
	v = tk_nats_next(sub, EMOTION_FIXTURE_MS, subject[1]);
	ck_assert(u != NULL && v != NULL);
	ck_assert_str_ne(subject[0], subject[1]);
	ck_assert(json_equal(tk_at(u, "version"), tk_at(v, "version")));
	ck_assert(
	    json_equal(tk_at(u, "soul_emotion"), tk_at(v, "soul_emotion")));
	json_decref(u);
	json_decref(v);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

TEST_T(replicas_do_not_repeat_a_tick, 60)
{
	struct received h = { 0 };
	natsSubscription *sub;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 2, NULL);
	create_souls(&b, 40);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	receive_ticks(sub, &h, 40, 3);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

TEST_T(souls_of_a_killed_replica_continue_to_tick, 60)
{
	struct received h = { 0 };
	natsSubscription *sub;
	struct emotion_fixture b;

	emotion_fixture_start(&b, 2, NULL);
	create_souls(&b, 20);
	sub = tk_nats_listen(b.nc, "soul.body.>");
	receive_ticks(sub, &h, 20, 2);
	tk_service_kill(&b.engine[0]);
	receive_ticks(sub, &h, 20, 2);
	natsSubscription_Destroy(sub);
	emotion_fixture_stop(&b);
}

/* Buckets that both engines poll first, soon after their start. */
#define START_MS 3000
#define QUIET_MS 5000
/* A sweep takes 30 s, a membership is renewed every second; and room. */
#define QUIET_CALLS (QUIET_MS / 1000 * (1024 / 30 + 2 * 1 + 10))

/* Scripts that Redis has run. */
static long long
scripts_run(struct emotion_fixture *b)
{
	struct state_reply *r;
	const char *row;
	long long n = 0;

	ck_assert_int_eq(state_cmd(b->db.s,
			     STATE_ARGS(STR("INFO"), STR("commandstats")), &r),
	    RC_OK);
	row = strstr(state_reply_str(r).p, "cmdstat_evalsha:calls=");
	if (row != NULL)
		ck_assert_int_eq(
		    sscanf(row, "cmdstat_evalsha:calls=%lld", &n), 1);
	state_reply_free(r);
	return n;
}

static bool
has_passed(void *until)
{
	return mono_diff_ns(clock_mono(), *(struct mono *)until) >= 0;
}

/* Of 1,024 buckets, each polled every 50 ms, it would be 100,000. */
TEST_T(engines_without_souls_run_few_scripts, 60)
{
	struct emotion_fixture b;
	struct mono until;
	long long n;

	emotion_fixture_start(&b, 2, NULL);
	until = mono_add_ms(clock_mono(), START_MS);
	ck_assert(tk_until(has_passed, &until, EMOTION_FIXTURE_MS));
	n = scripts_run(&b);
	until = mono_add_ms(clock_mono(), QUIET_MS);
	ck_assert(tk_until(has_passed, &until, EMOTION_FIXTURE_MS));
	n = scripts_run(&b) - n;
	printf("%lld scripts in %d ms\n", n, QUIET_MS);
	ck_assert_int_gt(n, 0);
	ck_assert_int_le(n, QUIET_CALLS);
	emotion_fixture_stop(&b);
}

/* ---- what ticks cost ---- */

/* As dense as 50,000 souls in 1,024 buckets. */
#define COST_USERS 20
#define COST_SOULS 50
#define COST_MS    (4 * INTERVAL_MS)

/* What an engine has done. */
struct cost {
	long long ticks, batches, trips, commands;
};

static struct cost
cost_of(const struct tk_service *engine)
{
	return (struct cost){
		tk_service_metric(engine, "soul_emotion_ticks_total"),
		tk_service_metric(engine, "soul_emotion_tick_batches_total"),
		tk_service_metric(engine, "state_call_seconds_count"),
		tk_service_metric(engine, "state_commands_total"),
	};
}

struct cost_wait {
	const struct tk_service *engine;
	long long ticks;
};

static bool
has_ticked(void *arg)
{
	const struct cost_wait *w = arg;

	return cost_of(w->engine).ticks >= w->ticks;
}

/* A user's souls, each with a body. */
static void
create_users_souls(struct emotion_fixture *b, const char *user)
{
	char soul[32], body[32];
	int i;

	for (i = 0; i < COST_SOULS; i++) {
		snprintf(soul, sizeof(soul), "%s-s%d", user, i);
		snprintf(body, sizeof(body), "%s-t%d", user, i);
		emotion_fixture_soul_of(b, soul, "ENTP", user);
		emotion_fixture_bind(b, body, user, soul);
		emotion_fixture_online(b, body, true);
	}
}

/*
 * A batch waits for Redis twice: for its claim, with which earlier ones are
 * done, and for its save.  A bucket is a command in the claim and one when it
 * is done, however many souls it has, and a save is one.  Besides, the
 * membership is renewed every second, and buckets without souls are polled.
 */
TEST_T(a_thousand_ticks_cost_few_calls, 90)
{
	struct emotion_fixture b;
	struct cost_wait w = { &b.engine[0], 0 };
	struct cost from, to;
	long long seconds, most;
	struct mono until;
	char user[16];
	int i;

	emotion_fixture_start(&b, 1, NULL);
	for (i = 0; i < COST_USERS; i++) {
		snprintf(user, sizeof(user), "u%d", i);
		create_users_souls(&b, user);
	}
	/* The first tick of a soul reads its type. */
	w.ticks = cost_of(w.engine).ticks + 2 * COST_USERS * COST_SOULS;
	ck_assert(tk_until(has_ticked, &w, 2 * EMOTION_FIXTURE_MS));
	from = cost_of(&b.engine[0]);
	until = mono_add_ms(clock_mono(), COST_MS);
	ck_assert(tk_until(has_passed, &until, 2 * COST_MS));
	to = cost_of(&b.engine[0]);
	to.ticks -= from.ticks;
	to.batches -= from.batches;
	to.trips -= from.trips;
	to.commands -= from.commands;
	printf("%lld ticks: %lld batches, %lld round trips, %lld commands\n",
	    to.ticks, to.batches, to.trips, to.commands);
	seconds = COST_MS / 1000 + 2;
	ck_assert_int_ge(to.ticks, 2 * COST_USERS * COST_SOULS);
	ck_assert_int_le(to.trips, 2 * to.batches + seconds);
	/* Of the 1,024 buckets, a sweep of 30 s polls each one time. */
	most = 3 * COST_USERS * (to.ticks / (COST_USERS * COST_SOULS) + 2) +
	    seconds * (1024 / 30 + 1 + 10);
	ck_assert_int_le(to.commands, most);
	emotion_fixture_stop(&b);
}
