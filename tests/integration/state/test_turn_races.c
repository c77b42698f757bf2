/* Turns of many processes: none overlap, none wait behind dead ones. */
#include <sys/wait.h>

#include "state/turn.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define PEERS  4
#define ROUNDS 40

static const struct session_key key = { STR_INIT("u"), STR_INIT("s") };

struct turn {
	struct state_fixture *r;
	struct turn_slot p;
	int64_t ahead;
};

static bool
entered(void *arg)
{
	struct turn *t = arg;
	enum rc rc = turn_fixture_enter(t->r->s, &t->p, &t->ahead);

	if (rc == RC_RETRY)
		return false;
	ck_assert_int_eq(rc, RC_OK);
	return true;
}

static bool
is_head(void *arg)
{
	struct turn *t = arg;

	OK(turn_fixture_poll(t->r->s, &t->p, &t->ahead));
	return t->ahead == 0;
}

/* A critical section: a counter that is read and then written. */
static void
work(struct turn *t, struct str text)
{
	char num[STR_NUM_MAX];
	struct state_reply *r;
	int64_t v = 0;

	OK(state_cmd(t->r->s, STATE_ARGS(STR("GET"), STR("count")), &r));
	if (state_reply_kind(r) == STATE_STR)
		OK(str_to_i64(state_reply_str(r), 0, INT32_MAX, &v));
	state_reply_free(r);
	OK(turn_check_head(t->r->s, &t->p));
	OK(turn_fixture_append(t->r->s, &t->p, STATE_ARGS(text, text)));
	DO(t->r, STR("SET"), STR("count"), str_num(v + 1, num));
}

static void
take_turns(struct state_fixture *r, int who)
{
	struct arena *a = arena_new(1 << 20);
	struct turn t = { .r = r };
	char instance[16], turn[32];
	struct str next;
	int i;

	snprintf(instance, sizeof(instance), "i%d", who);
	for (i = 0; i < ROUNDS; i++) {
		snprintf(turn, sizeof(turn), "t%d-%d", who, i);
		t.p = (struct turn_slot){ key, str_of(instance), str_of(turn) };
		ck_assert(tk_until(entered, &t, STATE_FIXTURE_WAIT_MS));
		if (t.ahead > 0)
			ck_assert(tk_until(is_head, &t, STATE_FIXTURE_WAIT_MS));
		work(&t, str_of(turn));
		OK(turn_fixture_leave(r->s, &t.p, a, &next));
		arena_reset(a);
	}
	arena_free(a);
}

/* Check that the messages are in pairs; returns how many they are. */
static size_t
pairs(struct state_fixture *r)
{
	struct arena *a = arena_new(4UL << 20);
	struct session_list l;
	size_t i, n;

	OK(session_messages(r->s, &key,
	    (struct session_page){ .after = -1, .max = SESSION_MESSAGES_MAX },
	    a, &l));
	n = l.n;
	for (i = 0; i + 1 < n; i += 2)
		ck_assert(str_eq(l.message[i].json, l.message[i + 1].json));
	arena_free(a);
	return n;
}

TEST_T(turns_do_not_overlap, 120)
{
	struct tk_server redis;
	struct state_fixture r;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, PEERS, take_turns);
	state_fixture_join(&r, &redis);
	state_fixture_expect(&r, "160", STATE_ARGS(STR("GET"), STR("count")));
	ck_assert_uint_eq(pairs(&r), 2 * PEERS * ROUNDS);
	ck_assert_int_eq(
	    INT_OF(&r, STR("EXISTS"), STR("soul:turns:{b0562}:u:s:2")), 0);
	state_fixture_stop(&r);
}

/* A process that enters, signals that, and is killed during its turn. */
static pid_t
victim(const char *url, const char *instance, int64_t alive_ms)
{
	struct turn t = { .p = { key, str_of(instance), STR("lost") } };
	pid_t pid = state_fixture_fork();
	struct state_fixture r;

	if (pid > 0)
		return pid;
	state_fixture_init(&r);
	state_fixture_connect(&r, url, 5000);
	state_fixture_wait_up(&r);
	t.r = &r;
	t.p.turn_id = str_of(instance);
	OK(turn_fixture_alive(r.s, &t.p, alive_ms));
	OK(turn_fixture_enter(r.s, &t.p, &t.ahead));
	DO(&r, STR("INCR"), STR("ready"));
	for (;;)
		pause();
}

static bool
both_ready(void *arg)
{
	struct state_reply *r;
	bool yes;

	OK(state_cmd(((struct state_fixture *)arg)->s,
	    STATE_ARGS(STR("GET"), STR("ready")), &r));
	yes = str_eq(state_reply_str(r), STR("2"));
	state_reply_free(r);
	return yes;
}

TEST(killed_processes_block_no_turn)
{
	struct turn t = { .p = { key, STR_INIT("live"), STR_INIT("t") } };
	struct tk_server redis;
	pid_t pids[2];
	struct state_fixture r;
	int i;

	state_fixture_start_server(&redis);
	pids[0] = victim(redis.url, "v0", 1500);
	pids[1] = victim(redis.url, "v1", 1500);
	state_fixture_join(&r, &redis);
	t.r = &r;
	ck_assert(tk_until(both_ready, &r, STATE_FIXTURE_WAIT_MS));
	OK(turn_fixture_enter(r.s, &t.p, &t.ahead));
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
	ck_assert(tk_until(is_head, &t, STATE_FIXTURE_WAIT_MS));
	OK(turn_check_head(r.s, &t.p));
	state_fixture_stop(&r);
}
