/*
 * Runs whose bucket moves to another server: a script that finds a key of its
 * own on the way has written nothing.
 */
#include "state/cluster.h"
#include "state/run.h"
#include "testkit/redis_set.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

#define DEADLINE_MS 400
#define ANN         STR("ann")

struct moving {
	struct tk_cluster set;
	struct state_fixture f;
	char id[RUN_ID_MAX], tag[16];
	char keys[5][STATE_KEY_MAX]; /* all of the bucket */
	int slot;
	size_t from, to;
};

static void
moving_start(struct moving *m)
{
	unsigned bucket = state_fixture_bucket("ann");

	tk_cluster_start(&m->set);
	state_fixture_init(&m->f);
	state_fixture_connect(&m->f, m->set.url, DEADLINE_MS);
	state_fixture_wait_up(&m->f);
	run_fixture_create(m->f.s, m->id);
	snprintf(m->tag, sizeof(m->tag), "{b%04u}", bucket);
	snprintf(m->keys[0], STATE_KEY_MAX, "soul:run:%s:%s", m->tag, m->id);
	snprintf(m->keys[1], STATE_KEY_MAX, "soul:runs:%s:due:1", m->tag);
	snprintf(m->keys[2], STATE_KEY_MAX, "soul:user:%s:ann:runs:1", m->tag);
	snprintf(m->keys[3], STATE_KEY_MAX, "soul:user:%s:ann:active_runs:1",
	    m->tag);
	snprintf(m->keys[4], STATE_KEY_MAX, "soul:run_workspace:%s:%s:1",
	    m->tag, m->id);
	m->slot = slot_of_key(str_of(m->tag));
	m->from = tk_cluster_owner(&m->set, m->slot);
	m->to = (m->from + 1) % TK_CLUSTER_MASTERS;
}

static void
moving_begin(struct moving *m)
{
	tk_cluster_migrate_begin(&m->set, m->slot, m->from, m->to);
}

static void
moving_end(struct moving *m, size_t first)
{
	for (size_t i = first; i < 5; i++)
		tk_cluster_migrate_key(&m->set, m->keys[i], m->from, m->to);
	tk_cluster_migrate_end(&m->set, m->slot, m->to);
}

TEST_T(a_run_that_finds_a_key_on_the_move_has_not_changed, 60)
{
	struct run_record rec, now;
	struct moving m;

	moving_start(&m);
	rec = run_fixture_claim(m.f.s, m.id, m.f.a);
	moving_begin(&m);
	tk_cluster_migrate_key(&m.set, m.keys[0], m.from, m.to);
	IS(RC_RETRY, run_fixture_publish(m.f.s, &rec, RUN_IS_WAITING, 2, 2));
	moving_end(&m, 1);
	OK(run_read(m.f.s, str_of(m.id), m.f.a, &now));
	ck_assert_int_eq(now.status, RUN_IS_RUNNING);
	ck_assert_int_eq(now.fcmp_last, 0);
	OK(run_fixture_publish(m.f.s, &rec, RUN_IS_WAITING, 2, 2));
	OK(run_read(m.f.s, str_of(m.id), m.f.a, &now));
	ck_assert_int_eq(now.fcmp_last, 2);
	state_fixture_stop(&m.f);
}

/* It must not count as one that does not exist. */
TEST_T(a_run_on_the_move_stays_due_and_listed, 60)
{
	struct run_page p = { .max = 10 };
	struct run_due_list due;
	struct run_record rec;
	struct moving m;

	moving_start(&m);
	OK(run_cancel(m.f.s, str_of(m.id), ANN, m.f.a, &rec));
	moving_begin(&m);
	tk_cluster_migrate_key(&m.set, m.keys[0], m.from, m.to);
	IS(RC_RETRY,
	    run_due_claim(
		m.f.s, state_fixture_bucket("ann"), 60000, 10, m.f.a, &due));
	IS(RC_RETRY, run_list(m.f.s, ANN, m.f.a, &p));
	moving_end(&m, 1);
	OK(run_list(m.f.s, ANN, m.f.a, &p));
	ck_assert_uint_eq(p.n, 1);
	OK(run_due_claim(
	    m.f.s, state_fixture_bucket("ann"), 60000, 10, m.f.a, &due));
	ck_assert_uint_eq(due.n, 1);
	ck_text(due.run[0].run_id, m.id);
	state_fixture_stop(&m.f);
}
