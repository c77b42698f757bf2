/*
 * What was acknowledged is still there after a failover: many fibers write and
 * wait for a replica, which lags behind its master when that is killed.
 */
#include "core/fiber.h"
#include "state/cluster.h"
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

#define FIBERS      32
#define WRITES_MAX  4096
#define DEADLINE_MS 1000
#define WAIT_MS     300
#define PAUSE_MS    20

struct writer {
	struct load *load;
	char key[16];
	int64_t next;               /* what it writes next */
	bool acked[WRITES_MAX];     /* written, and a replica has it */
	int64_t n_acked, n_written; /* acknowledged by a replica; by a master */
	struct loop_timer timer;
	struct fiber *fiber;
	bool ended;
};

struct load {
	struct state_fixture f;
	struct writer w[FIBERS];
	bool stopping;
	int64_t goal;
	int other; /* port of a master */
};

static void
load_connect(struct load *l, const char *url)
{
	state_fixture_init(&l->f);
	struct state_opts o = { .loop = l->f.loop,
		.workers = l->f.workers,
		.url = url,
		.deadline_ms = DEADLINE_MS,
		.wait_replicas = 1,
		.wait_ms = WAIT_MS,
		.metrics = l->f.metrics };

	OK(state_new(&o, &l->f.s));
	state_fixture_wait_up(&l->f);
}

static void
writer_on_pause(void *arg)
{
	fiber_resume(((struct writer *)arg)->fiber);
}

static void
writer_pause(struct writer *w)
{
	w->fiber = fiber_self();
	loop_timer_set(w->load->f.loop, &w->timer,
	    mono_add_ms(clock_mono(), PAUSE_MS), writer_on_pause, w);
	fiber_suspend();
}

/* One write; what it becomes of it is known only if a replica has it. */
static void
writer_write(struct writer *w)
{
	struct state *s = w->load->f.s;
	struct state_mark m = state_mark_now(s, str_of(w->key));
	char num[STR_NUM_MAX];
	int64_t n = w->next++;
	enum rc rc;

	ck_assert_int_lt(n, WRITES_MAX);
	rc = state_cmd(
	    s, STATE_ARGS(STR("SADD"), str_of(w->key), str_num(n, num)), NULL);
	w->n_written += rc == RC_OK;
	if (rc == RC_OK)
		rc = state_wait_replicated(s, m, 0);
	w->acked[n] = rc == RC_OK;
	w->n_acked += rc == RC_OK;
}

static void
fiber_writes(void *arg)
{
	struct writer *w = arg;

	while (!w->load->stopping) {
		writer_write(w);
		writer_pause(w);
	}
	w->ended = true;
}

static void
load_start(struct load *l)
{
	size_t i;

	for (i = 0; i < FIBERS; i++) {
		l->w[i].load = l;
		snprintf(l->w[i].key, sizeof(l->w[i].key), "k%zu", i);
		fiber_start(fiber_writes, &l->w[i]);
	}
}

static bool
load_has_goal(void *arg)
{
	const struct load *l = arg;
	size_t i;

	for (i = 0; i < FIBERS; i++)
		if (l->w[i].n_acked < l->goal)
			return false;
	return true;
}

/* Each fiber has n acknowledged writes more. */
static void
load_goes_on(struct load *l, int64_t n)
{
	size_t i;

	l->goal = 0;
	for (i = 0; i < FIBERS; i++)
		if (l->w[i].n_acked + n > l->goal)
			l->goal = l->w[i].n_acked + n;
	ck_assert(tk_loop_until(
	    l->f.loop, load_has_goal, l, 2 * STATE_FIXTURE_WAIT_MS));
}

static int64_t
load_unacked(const struct load *l)
{
	int64_t n = 0;
	size_t i;

	for (i = 0; i < FIBERS; i++)
		n += l->w[i].n_written - l->w[i].n_acked;
	return n;
}

static bool
load_has_unacked(void *arg)
{
	const struct load *l = arg;

	return load_unacked(l) >= l->goal;
}

static bool
load_ended(void *arg)
{
	const struct load *l = arg;
	size_t i;

	for (i = 0; i < FIBERS; i++)
		if (!l->w[i].ended)
			return false;
	return true;
}

/* Check that nothing acknowledged is missing; how many others are. */
static int64_t
load_end(struct load *l)
{
	char num[STR_NUM_MAX];
	int64_t n, missing = 0;
	size_t i;

	l->stopping = true;
	ck_assert(
	    tk_loop_until(l->f.loop, load_ended, l, STATE_FIXTURE_WAIT_MS));
	for (i = 0; i < FIBERS; i++)
		for (n = 0; n < l->w[i].next; n++) {
			bool is =
			    INT_OF(&l->f, STR("SISMEMBER"), str_of(l->w[i].key),
				str_num(n, num)) != 0;

			ck_assert_msg(is || !l->w[i].acked[n],
			    "%s: %lld was acknowledged, but is lost",
			    l->w[i].key, (long long)n);
			missing += !is;
		}
	state_fixture_stop(&l->f);
	return missing;
}

/* The replica cannot log in any more: what follows is its master's alone. */
static void
load_isolate(
    struct load *l, const struct tk_server *master, const struct tk_server *r)
{
	tk_redis_do(r, NULL, 0, "CONFIG SET masteruser nobody");
	tk_redis_do(r, NULL, 0, "CONFIG SET masterauth wrong");
	tk_redis_do(master, NULL, 0, "CLIENT KILL TYPE replica");
	tk_redis_wait(r, "INFO replication", "master_link_status:down");
	l->goal = load_unacked(l) + FIBERS / 2;
	ck_assert(tk_loop_until(
	    l->f.loop, load_has_unacked, l, STATE_FIXTURE_WAIT_MS));
}

TEST_T(sentinels_lose_nothing_acknowledged, 90)
{
	static struct load l;
	struct tk_sentinels set;

	tk_sentinels_start(&set, 2, NULL);
	load_connect(&l, set.url);
	load_start(&l);
	load_goes_on(&l, 10);
	load_isolate(&l, &set.server[0], &set.server[1]);
	tk_server_stop(&set.server[0], SIGKILL);
	/* The new master has no replica until the old one returns. */
	tk_sentinels_wait_master(&set, 1);
	tk_server_restart(&set.server[0]);
	load_goes_on(&l, 10);
	ck_assert_uint_eq(tk_sentinels_master(&set), 1);
	/* Without the waits, these would have been acknowledged. */
	ck_assert_int_gt(load_end(&l), 0);
}

static bool
load_has_another_master(void *arg)
{
	struct load *l = arg;
	const struct redis_address *a = state_node_address(l->f.s->node);

	return state_up(l->f.s) && a->port == l->other;
}

/*
 * The old master goes on after a failover that its clients have not noticed,
 * and remains a master until the sentinels demote it, which takes 8 s.  It has
 * no replica; so they learn at once that there is another one.
 */
TEST_T(an_old_master_is_left, 90)
{
	static struct load l;
	struct tk_sentinels set;

	tk_sentinels_start(&set, 2, NULL);
	load_connect(&l, set.url);
	l.other = set.server[1].port;
	tk_signal(&set.server[0].proc, SIGSTOP);
	tk_sentinels_wait_master(&set, 1);
	tk_signal(&set.server[0].proc, SIGCONT);
	load_start(&l);
	ck_assert(tk_loop_until(
	    l.f.loop, load_has_another_master, &l, STATE_FIXTURE_WAIT_MS));
	ck_assert(
	    tk_redis_has(&set.server[0], "INFO replication", "role:master"));
	(void)load_end(&l);
	tk_sentinels_stop(&set);
}

TEST_T(a_cluster_loses_nothing_acknowledged, 90)
{
	static struct load l;
	struct tk_cluster set;
	size_t dead = tk_cluster_owner(&set, slot_of_key(STR("k0"))), heir;
	int slot = slot_of_key(STR("k1"));
	size_t from, to;

	tk_cluster_start(&set);
	heir = dead + TK_CLUSTER_MASTERS;
	load_connect(&l, set.url);
	load_start(&l);
	load_goes_on(&l, 10);

	/* A slot moves between the other two, or from one of them. */
	from = tk_cluster_owner(&set, slot);
	to = (from + 1) % TK_CLUSTER_MASTERS;
	tk_cluster_migrate_begin(&set, slot, from, to);
	load_goes_on(&l, 5);
	tk_cluster_migrate_key(&set, "k1", from, to);
	load_goes_on(&l, 5);
	tk_cluster_migrate_end(&set, slot, to);
	load_goes_on(&l, 5);

	load_isolate(&l, &set.node[dead], &set.node[heir]);
	tk_server_stop(&set.node[dead], SIGKILL);
	tk_redis_wait(&set.node[heir], "ROLE", "master");
	tk_server_restart(&set.node[dead]);
	load_goes_on(&l, 10);
	ck_assert_int_gt(load_end(&l), 0);
}
