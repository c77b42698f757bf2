/*
 * Waiting for replicas: those that hang or are killed, connections that are
 * lost, masters that are replaced.
 */
#include <signal.h>

#include "core/fiber.h"
#include "state/cluster.h"
#include "state/soul.h"
#include "state/turn.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 3000
#define WAIT_MS     1000
/* What nothing of this test takes on a busy machine. */
#define SOON_MS 700

static void
connect_with(struct state_fixture *f, const char *url, int replicas)
{
	state_fixture_init(f);
	struct state_opts o = { .loop = f->loop,
		.workers = f->workers,
		.url = url,
		.deadline_ms = DEADLINE_MS,
		.wait_replicas = replicas,
		.wait_ms = WAIT_MS,
		.metrics = f->metrics };

	OK(state_new(&o, &f->s));
	state_fixture_wait_up(f);
}

/* Writes a key and waits for replicas, in a fiber. */
struct writer {
	struct state_fixture *f;
	const char *key;
	struct state_mark mark;
	bool marked; /* with a mark that was taken earlier */
	enum rc written, rc;
	int64_t ms; /* of the wait */
	bool waits, ended;
};

static void
fiber_writes(void *arg)
{
	struct writer *w = arg;
	struct mono t;

	if (!w->marked)
		w->mark = state_mark_now(w->f->s, str_of(w->key));
	w->written = state_cmd(
	    w->f->s, STATE_ARGS(STR("SET"), str_of(w->key), STR("v")), NULL);
	t = clock_mono();
	w->waits = true;
	w->rc = state_wait_replicated(w->f->s, w->mark, 0);
	w->ms = mono_diff_ms(clock_mono(), t);
	w->ended = true;
}

static bool
writer_ended(void *arg)
{
	return ((struct writer *)arg)->ended;
}

static bool
writer_waits(void *arg)
{
	return ((struct writer *)arg)->waits;
}

static void
writer_start(struct writer *w, struct state_fixture *f, const char *key)
{
	*w = (struct writer){ .f = f, .key = key };
	fiber_start(fiber_writes, w);
}

/* Returns once it waits for replicas. */
static void
writer_start_waiting(struct writer *w, struct state_fixture *f, const char *key)
{
	writer_start(w, f, key);
	ck_assert(
	    tk_loop_until(f->loop, writer_waits, w, STATE_FIXTURE_WAIT_MS));
}

static enum rc
writer_wait(struct writer *w)
{
	ck_assert(
	    tk_loop_until(w->f->loop, writer_ended, w, STATE_FIXTURE_WAIT_MS));
	OK(w->written);
	return w->rc;
}

static enum rc
write_one(struct writer *w, struct state_fixture *f, const char *key)
{
	writer_start(w, f, key);
	return writer_wait(w);
}

TEST(without_replicas_nothing_is_waited_for)
{
	struct state_fixture f;
	struct state_mark m;
	struct writer w;

	state_fixture_start(&f);
	m = state_mark_now(f.s, STR("k"));
	OK(state_wait_replicated(f.s, m, 0));
	OK(write_one(&w, &f, "k"));
	/* There is no second connection, and no WAIT. */
	ck_assert_int_eq(state_fixture_metric(&f, "state_connects_total"), 1);
	ck_assert(!tk_redis_has(&f.redis, "INFO commandstats", "cmdstat_wait"));
	state_fixture_stop(&f);
}

/* ---- records ---- */

struct soul_writer {
	struct state_fixture *f;
	const char *id;
	enum rc written, read;
	bool ended;
};

static void
fiber_creates_soul(void *arg)
{
	struct soul_writer *w = arg;
	const struct soul soul = { .id = str_of(w->id),
		.user_id = STR("u"),
		.name = str_of(w->id),
		.mbti_type = STR("INFJ"),
		.model = STR("persona-pad-v3"),
		.created = { 1 } };
	struct soul out;

	w->written = soul_create(w->f->s, &soul, STR(""));
	w->read = soul_read(w->f->s, STR("u"), str_of(w->id), w->f->a, &out);
	w->ended = true;
}

static bool
soul_writer_ended(void *arg)
{
	return ((struct soul_writer *)arg)->ended;
}

static enum rc
create_soul(struct state_fixture *f, const char *id)
{
	struct soul_writer w = { .f = f, .id = id };

	fiber_start(fiber_creates_soul, &w);
	ck_assert(tk_loop_until(
	    f->loop, soul_writer_ended, &w, STATE_FIXTURE_WAIT_MS));
	OK(w.read);
	return w.written;
}

/* A record counts as written when the replica has it; reading does not wait. */
TEST(records_wait_for_replicas)
{
	struct tk_sentinels set;
	struct state_fixture f;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(create_soul(&f, "a"));
	ck_assert(tk_redis_has(
	    &set.server[0], "INFO commandstats", "cmdstat_wait:calls=1,"));
	tk_signal(&set.server[1].proc, SIGSTOP);
	IS(RC_UNREPLICATED, create_soul(&f, "b"));
	tk_signal(&set.server[1].proc, SIGCONT);
	tk_redis_wait_replica(&set.server[0], &set.server[1]);
	OK(create_soul(&f, "c"));
	state_fixture_stop(&f);
	tk_sentinels_stop(&set);
}

enum queue_step {
	QUEUE_ENTER,
	QUEUE_APPEND,
	QUEUE_LEAVE,
	QUEUE_READ_TURN,
	QUEUE_READ_EVENTS
};

/* A turn that leaves its queue. */
struct leaver {
	struct state_fixture *f;
	enum queue_step step;
	struct turn_record rec;
	struct events page;
	enum rc rc;
	bool ended;
};

static void
fiber_leaves(void *arg)
{
	struct leaver *v = arg;
	const struct turn_slot p = { { STR("u"), STR("s") }, STR("i"),
		STR("t") };
	const struct events_key log = events_of_session(&p.key);
	const struct str message = STR("{}");
	const struct str event = STR("{\"type\":\"conversation.failed\"}");
	struct turn_entry e = { .trace_id = STR("x") };
	struct turn_ending end = { .reply = STR("{}"),
		.events = { .json = &event, .n = 1 } };
	struct turn_entered in;

	switch (v->step) {
	case QUEUE_ENTER:
		v->rc = turn_enter(v->f->s, &p, &e, v->f->a, &in);
		break;
	case QUEUE_APPEND:
		v->rc = turn_append_messages(v->f->s, &p,
		    &(struct session_new){ .json = &message, .n = 1 });
		break;
	case QUEUE_LEAVE:
		v->rc = turn_leave(v->f->s, &p, &end, v->f->a);
		break;
	case QUEUE_READ_TURN:
		v->rc = turn_record_read(
		    v->f->s, p.key.user_id, p.turn_id, v->f->a, &v->rec);
		break;
	case QUEUE_READ_EVENTS:
		v->rc = events_read(v->f->s, &log, 0, true, v->f->a, &v->page);
		break;
	}
	v->ended = true;
}

static bool
leaver_ended(void *arg)
{
	return ((struct leaver *)arg)->ended;
}

static enum rc
queue_turn_as(struct leaver *v)
{
	fiber_start(fiber_leaves, v);
	ck_assert(
	    tk_loop_until(v->f->loop, leaver_ended, v, STATE_FIXTURE_WAIT_MS));
	return v->rc;
}

static enum rc
queue_turn(struct state_fixture *f, enum queue_step step)
{
	struct leaver v = { .f = f, .step = step };

	return queue_turn_as(&v);
}

/*
 * A second try finds its work done, which may still be lost: its result
 * waits until a replica has it.
 */
TEST(what_was_done_before_is_waited_for)
{
	struct tk_sentinels set;
	struct state_fixture f;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(queue_turn(&f, QUEUE_ENTER));
	tk_signal(&set.server[1].proc, SIGSTOP);
	IS(RC_UNREPLICATED, queue_turn(&f, QUEUE_LEAVE));
	IS(RC_TIMEOUT, queue_turn(&f, QUEUE_LEAVE));
	tk_signal(&set.server[1].proc, SIGCONT);
	tk_redis_wait_replica(&set.server[0], &set.server[1]);
	IS(RC_NOENT, queue_turn(&f, QUEUE_LEAVE));
	state_fixture_stop(&f);
	tk_sentinels_stop(&set);
}

/*
 * Who reads that a turn has ended, or an event of it, passes that on as
 * something that lasts.  A turn that runs is read without replicas.
 */
TEST(an_end_that_is_read_is_waited_for)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct leaver v;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(queue_turn(&f, QUEUE_ENTER));
	OK(queue_turn(&f, QUEUE_APPEND));
	tk_signal(&set.server[1].proc, SIGSTOP);
	v = (struct leaver){ .f = &f, .step = QUEUE_READ_TURN };
	OK(queue_turn_as(&v));
	ck_assert_int_eq(v.rec.state, TURN_STATE_OPEN);
	IS(RC_UNREPLICATED, queue_turn(&f, QUEUE_LEAVE));
	v = (struct leaver){ .f = &f, .step = QUEUE_READ_TURN };
	IS(RC_UNREPLICATED, queue_turn_as(&v));
	ck_assert(!v.rec.known);
	v = (struct leaver){ .f = &f, .step = QUEUE_READ_EVENTS };
	IS(RC_UNREPLICATED, queue_turn_as(&v));
	tk_signal(&set.server[1].proc, SIGCONT);
	tk_redis_wait_replica(&set.server[0], &set.server[1]);
	v = (struct leaver){ .f = &f, .step = QUEUE_READ_TURN };
	OK(queue_turn_as(&v));
	ck_assert_int_eq(v.rec.state, TURN_STATE_ENDED);
	v = (struct leaver){ .f = &f, .step = QUEUE_READ_EVENTS };
	OK(queue_turn_as(&v));
	ck_assert_uint_eq(v.page.n, 1);
	state_fixture_stop(&f);
	tk_sentinels_stop(&set);
}

TEST(a_write_is_waited_for)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;
	struct state_mark m;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(write_one(&w, &f, "k"));
	/* Without a wait here: the replica has it. */
	ck_assert(tk_redis_has(&set.server[1], "GET k", "v"));
	/* A caller that blocks. */
	m = state_mark_now(f.s, STR("k"));
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("w")));
	OK(state_wait_replicated(f.s, m, 0));
	ck_assert(tk_redis_has(&set.server[1], "GET k", "w"));
	ck_assert_int_eq(
	    state_fixture_metric(&f, "state_unreplicated_total"), 0);
	state_fixture_stop(&f);
}

/* It takes the time to wait, and holds up no other call. */
TEST(a_replica_that_hangs_costs_only_those_that_wait)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;
	struct mono t;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(write_one(&w, &f, "k"));
	tk_signal(&set.server[1].proc, SIGSTOP);
	writer_start_waiting(&w, &f, "k");
	t = clock_mono();
	state_fixture_expect(&f, "v", STATE_ARGS(STR("GET"), STR("k")));
	ck_assert_int_lt(mono_diff_ms(clock_mono(), t), SOON_MS);
	IS(RC_UNREPLICATED, writer_wait(&w));
	ck_assert_int_ge(w.ms, WAIT_MS - 50);
	ck_assert_int_lt(w.ms, WAIT_MS + SOON_MS);
	ck_assert_int_eq(
	    state_fixture_metric(&f, "state_unreplicated_total"), 1);
	tk_signal(&set.server[1].proc, SIGCONT);
	OK(write_one(&w, &f, "k"));
	state_fixture_stop(&f);
}

/* One of two replicas dies during the wait; the other suffices. */
TEST(a_replica_that_is_killed_during_a_wait)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;

	tk_sentinels_start(&set, 3, NULL);
	connect_with(&f, set.url, 2);
	OK(write_one(&w, &f, "k"));
	tk_signal(&set.server[2].proc, SIGSTOP);
	writer_start_waiting(&w, &f, "k");
	ck_assert(!tk_loop_until(f.loop, writer_ended, &w, 100));
	tk_server_stop(&set.server[2], SIGKILL);
	IS(RC_UNREPLICATED, writer_wait(&w));
	state_free(f.s);
	f.s = NULL;
	state_fixture_stop(&f);
	connect_with(&f, set.url, 1);
	OK(write_one(&w, &f, "k"));
	state_fixture_stop(&f);
}

#define WRITERS 100

static bool
all_ended(void *arg)
{
	struct writer *w = arg;
	size_t i;

	for (i = 0; i < WRITERS; i++)
		if (!w[i].ended)
			return false;
	return true;
}

/* Calls of WAIT that a server has executed. */
static long
waits_of(const struct tk_server *s)
{
	static const char name[] = "cmdstat_wait:calls=";
	char text[32768];
	const char *at;

	tk_redis_do(s, text, sizeof(text), "INFO commandstats");
	at = strstr(text, name);
	return at != NULL ? strtol(at + strlen(name), NULL, 10) : 0;
}

TEST(those_that_wait_share_a_round)
{
	static struct writer w[WRITERS];
	struct tk_sentinels set;
	struct state_fixture f;
	size_t i;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	for (i = 0; i < WRITERS; i++)
		writer_start(&w[i], &f, "k");
	ck_assert(tk_loop_until(f.loop, all_ended, w, STATE_FIXTURE_WAIT_MS));
	for (i = 0; i < WRITERS; i++)
		OK(w[i].rc);
	ck_assert_int_ge(waits_of(&set.server[0]), 1);
	ck_assert_int_le(waits_of(&set.server[0]), 5);
	state_fixture_stop(&f);
}

/* The connection of WAIT alone is lost: it is made anew, and the wait ends. */
TEST(a_lost_wait_is_repeated)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	OK(write_one(&w, &f, "k"));
	tk_signal(&set.server[1].proc, SIGSTOP);
	writer_start_waiting(&w, &f, "k");
	ck_assert(!tk_loop_until(f.loop, writer_ended, &w, 100));
	/* All but the one that this is sent on. */
	DO(&f, STR("CLIENT"), STR("KILL"), STR("TYPE"), STR("normal"));
	tk_signal(&set.server[1].proc, SIGCONT);
	OK(writer_wait(&w));
	state_fixture_stop(&f);
}

/* The master that answered is gone: its successor cannot vouch for it. */
TEST_T(a_mark_does_not_outlive_its_master, 60)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w = { .key = "k", .marked = true };

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	w.f = &f;
	w.mark = state_mark_now(f.s, STR("k"));
	state_fixture_expect(
	    &f, "OK", STATE_ARGS(STR("SET"), STR("k"), STR("v")));
	tk_server_restart(&set.server[0]);
	state_fixture_wait_down(&f);
	state_fixture_wait_up(&f);
	fiber_start(fiber_writes, &w);
	IS(RC_UNREPLICATED, writer_wait(&w));
	state_fixture_stop(&f);
}

TEST(a_master_that_dies_ends_the_wait)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	tk_signal(&set.server[1].proc, SIGSTOP);
	writer_start_waiting(&w, &f, "k");
	ck_assert(!tk_loop_until(f.loop, writer_ended, &w, 50));
	tk_server_stop(&set.server[0], SIGKILL);
	IS(RC_UNREPLICATED, writer_wait(&w));
	ck_assert_int_lt(w.ms, WAIT_MS);
	state_fixture_stop(&f);
}

TEST(stopping_ends_a_wait)
{
	struct tk_sentinels set;
	struct state_fixture f;
	struct writer w;

	tk_sentinels_start(&set, 2, NULL);
	connect_with(&f, set.url, 1);
	tk_signal(&set.server[1].proc, SIGSTOP);
	writer_start_waiting(&w, &f, "k");
	state_stop(f.s);
	ck_assert(w.ended);
	IS(RC_UNREPLICATED, w.rc);
	state_fixture_stop(&f);
}

/* Each master of a cluster is waited for alone. */
TEST_T(a_cluster_waits_for_the_replicas_of_a_slot, 60)
{
	struct tk_cluster set;
	struct state_fixture f;
	struct writer w;
	size_t a, b, to;

	tk_cluster_start(&set);
	connect_with(&f, set.url, 1);
	a = tk_cluster_owner(&set, slot_of_key(STR("a")));
	b = tk_cluster_owner(&set, slot_of_key(STR("b")));
	ck_assert_uint_ne(a, b);
	OK(write_one(&w, &f, "a"));
	OK(write_one(&w, &f, "b"));
	tk_signal(&set.node[a + TK_CLUSTER_MASTERS].proc, SIGSTOP);
	IS(RC_UNREPLICATED, write_one(&w, &f, "a"));
	OK(write_one(&w, &f, "b"));
	ck_assert_int_lt(w.ms, SOON_MS);
	tk_signal(&set.node[a + TK_CLUSTER_MASTERS].proc, SIGCONT);
	/* The slot moves to another master, which takes its keys. */
	to = (b + 1) % TK_CLUSTER_MASTERS;
	tk_cluster_migrate_begin(&set, slot_of_key(STR("b")), b, to);
	tk_cluster_migrate_key(&set, "b", b, to);
	OK(write_one(&w, &f, "b"));
	/* Which has executed the call, so that its replica counts as well. */
	tk_signal(&set.node[to + TK_CLUSTER_MASTERS].proc, SIGSTOP);
	IS(RC_UNREPLICATED, write_one(&w, &f, "b"));
	tk_signal(&set.node[to + TK_CLUSTER_MASTERS].proc, SIGCONT);
	tk_cluster_migrate_end(&set, slot_of_key(STR("b")), to);
	OK(write_one(&w, &f, "b"));
	state_fixture_stop(&f);
}
