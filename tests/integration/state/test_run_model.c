/*
 * Random sequences of everything that may change a run, by several processes of
 * which some are stopped for a while, beside a model of what must come of them;
 * and processes that compete.
 */
#include "state/events.h"
#include "state/run.h"
#include "state/state_internal.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define ANN     STR("ann")
#define RUNS    4
#define WRITERS 3
#define STEPS   4000
/* Of the processes that compete. */
#define SHARED   20
#define CLAIMERS 4

/* What the record must be, and what each writer believes it is. */
struct model {
	struct state_fixture b;
	unsigned seed;
	char id[RUNS][RUN_ID_MAX];
	struct run_record is[RUNS];
	struct run_record of[RUNS][WRITERS];
	size_t changes, rejected;
};

static unsigned
model_random(struct model *m, unsigned n)
{
	m->seed = m->seed * 1103515245 + 12345;
	return (m->seed >> 16) % n;
}

/* The texts that the fixture needs, which do not change. */
static void
model_put(struct model *m, size_t k, struct run_record *rec)
{
	*rec = m->is[k];
	rec->run_id = str_of(m->id[k]);
	rec->user_id = ANN;
	rec->workspace = rec->run_id;
}

static void
model_check(struct model *m, size_t k)
{
	struct run_record rec;
	const struct events_key log = events_of_run(str_of(m->id[k]));
	int64_t newest;

	arena_reset(m->b.a);
	OK(run_read(m->b.s, str_of(m->id[k]), m->b.a, &rec));
	ck_assert_int_eq(rec.status, m->is[k].status);
	ck_assert_int_eq(rec.epoch, m->is[k].epoch);
	ck_assert_int_eq(rec.attempt, m->is[k].attempt);
	ck_assert_int_eq(rec.fcmp, m->is[k].fcmp);
	ck_assert_int_eq(rec.rasp, m->is[k].rasp);
	ck_assert_int_eq(rec.fcmp_last, m->is[k].fcmp_last);
	ck_assert_int_eq(rec.rasp_last, m->is[k].rasp_last);
	ck_assert_int_eq(rec.cancel, m->is[k].cancel);
	OK(events_newest(m->b.s, &log, &newest));
	ck_assert_int_eq(newest, m->is[k].fcmp_last);
}

static void
model_new(struct model *m, size_t k)
{
	run_fixture_create(m->b.s, m->id[k]);
	m->is[k] = (struct run_record){ .status = RUN_IS_QUEUED };
	for (size_t w = 0; w < WRITERS; w++)
		model_put(m, k, &m->of[k][w]);
}

static void
model_expect(struct model *m, enum rc rc, enum rc want)
{
	ck_assert_int_eq(rc, want);
	if (want == RC_OK)
		m->changes++;
	else
		m->rejected++;
}

static void
model_claim(struct model *m, size_t k, size_t w)
{
	struct run_record *is = &m->is[k], rec;
	bool may = is->status == RUN_IS_QUEUED && !is->cancel;

	model_expect(m,
	    run_claim(m->b.s, str_of(m->id[k]), STR("r1"), m->b.a, &rec),
	    may ? RC_OK : RC_CONFLICT);
	if (!may)
		return;
	is->status = RUN_IS_RUNNING;
	is->epoch++;
	is->attempt++;
	is->fcmp = is->rasp = 0;
	model_put(m, k, &m->of[k][w]);
}

static void
model_adopt(struct model *m, size_t k, size_t w)
{
	struct run_record *is = &m->is[k], rec;
	bool may =
	    !run_status_is_end(is->status) && m->of[k][w].epoch == is->epoch;

	/* Mostly it has read the record before. */
	if (model_random(m, 4) != 0) {
		model_put(m, k, &m->of[k][w]);
		may = !run_status_is_end(is->status);
	}
	model_expect(m,
	    run_adopt(
		m->b.s, str_of(m->id[k]), m->of[k][w].epoch, m->b.a, &rec),
	    may ? RC_OK : RC_CONFLICT);
	if (!may)
		return;
	is->epoch++;
	model_put(m, k, &m->of[k][w]);
}

static bool
model_follows(enum run_status from, enum run_status to)
{
	if (run_status_is_end(from))
		return false;
	return run_status_is_end(to) || from == to ||
	    (from == RUN_IS_RUNNING && to == RUN_IS_WAITING);
}

static void
model_publish(struct model *m, size_t k, size_t w)
{
	static const enum run_status to[] = { RUN_IS_RUNNING, RUN_IS_RUNNING,
		RUN_IS_RUNNING, RUN_IS_WAITING, RUN_IS_WAITING, RUN_IS_QUEUED,
		RUN_IS_SUCCEEDED, RUN_IS_FAILED };
	struct run_record *is = &m->is[k], *of = &m->of[k][w], before = *of;
	enum run_status st = to[model_random(m, NELEM(to))];
	size_t fcmp = model_random(m, 4), rasp = model_random(m, 4);
	enum rc want = RC_OK;

	if (of->epoch == 0)
		return;
	/* Without events it may be what was done already. */
	fcmp += fcmp + rasp == 0;
	if (of->epoch != is->epoch || !model_follows(is->status, st))
		want = RC_CONFLICT;
	model_expect(m, run_fixture_publish(m->b.s, of, st, fcmp, rasp), want);
	if (want != RC_OK)
		return;
	is->status = st;
	is->fcmp += (int64_t)fcmp;
	is->rasp += (int64_t)rasp;
	is->fcmp_last += (int64_t)fcmp;
	is->rasp_last += (int64_t)rasp;
	/* It may not have got the reply. */
	if (model_random(m, 3) == 0)
		OK(run_fixture_publish(m->b.s, &before, st, fcmp, rasp));
}

static void
model_reply(struct model *m, size_t k)
{
	struct run_record *is = &m->is[k], rec;
	char question[32];
	struct run_answer r = { .run_id = str_of(m->id[k]),
		.user_id = ANN,
		.question_id = STR_NONE,
		.content = STR("yes") };
	bool newest = model_random(m, 4) != 0;
	bool may = is->status == RUN_IS_WAITING && !is->cancel && newest;

	snprintf(question, sizeof(question), "ix_%lld",
	    (long long)is->attempt - !newest);
	r.question_id = str_of(question);
	model_expect(
	    m, run_reply(m->b.s, &r, m->b.a, &rec), may ? RC_OK : RC_CONFLICT);
	if (may)
		is->status = RUN_IS_QUEUED;
}

static void
model_cancel(struct model *m, size_t k)
{
	struct run_record rec;

	model_expect(
	    m, run_cancel(m->b.s, str_of(m->id[k]), ANN, m->b.a, &rec), RC_OK);
	if (!run_status_is_end(m->is[k].status))
		m->is[k].cancel = true;
}

static void
model_step(struct model *m)
{
	size_t k = model_random(m, RUNS), w = model_random(m, WRITERS);

	switch (model_random(m, 16)) {
	case 0:
	case 1:
		model_adopt(m, k, w);
		break;
	case 2:
	case 3:
		model_reply(m, k);
		break;
	case 4:
		if (model_random(m, 8) == 0)
			model_cancel(m, k);
		break;
	case 5:
	case 6:
	case 7:
		model_claim(m, k, w);
		break;
	default:
		model_publish(m, k, w);
		break;
	}
	model_check(m, k);
	if (run_status_is_end(m->is[k].status) && model_random(m, 6) == 0)
		model_new(m, k);
}

TEST_T(everything_that_happens_to_runs_follows_the_model, 120)
{
	struct model m = { .seed = 20260221 };
	size_t i;

	state_fixture_start(&m.b);
	for (i = 0; i < RUNS; i++)
		model_new(&m, i);
	for (i = 0; i < STEPS; i++)
		model_step(&m);
	printf("model: %zu changes, %zu rejected\n", m.changes, m.rejected);
	ck_assert_uint_gt(m.changes, STEPS / 8);
	ck_assert_uint_gt(m.rejected, STEPS / 8);
	state_fixture_stop(&m.b);
}

/* ---- competitors ---- */

static void
create_shared(struct state_fixture *f, int peer)
{
	char id[RUN_ID_MAX];
	int i;

	(void)peer;
	for (i = 0; i < SHARED; i++)
		run_fixture_create(f->s, id);
}

static void
list_shared(struct state_fixture *f, struct run_page *p)
{
	*p = (struct run_page){ .max = RUN_PAGE_MAX };
	OK(run_list(f->s, ANN, f->a, p));
	ck_assert_uint_eq(p->n, SHARED);
}

static void
compete_to_claim(struct state_fixture *f, int peer)
{
	struct run_record rec;
	struct run_page p;
	size_t i;
	enum rc rc;

	(void)peer;
	list_shared(f, &p);
	for (i = 0; i < p.n; i++) {
		rc = run_claim(f->s, p.run[i].run_id, STR("r1"), f->a, &rec);
		ck_assert(rc == RC_OK || rc == RC_CONFLICT);
		if (rc != RC_OK)
			continue;
		DO(f, STR("RPUSH"), STATE_FIXTURE_CLAIMED, rec.run_id);
		OK(run_fixture_publish(f->s, &rec, RUN_IS_WAITING, 1, 1));
	}
}

static void
compete_to_reply(struct state_fixture *f, int peer)
{
	struct run_answer r = { .user_id = ANN,
		.question_id = STR("ix_1"),
		.content = STR("yes") };
	struct run_record rec;
	struct run_page p;
	size_t i;
	enum rc rc;

	(void)peer;
	list_shared(f, &p);
	for (i = 0; i < p.n; i++) {
		r.run_id = p.run[i].run_id;
		rc = run_reply(f->s, &r, f->a, &rec);
		ck_assert(rc == RC_OK || rc == RC_CONFLICT);
		if (rc == RC_OK)
			DO(f, STR("RPUSH"), STATE_FIXTURE_CLAIMED,
			    p.run[i].run_id);
	}
}

static void
forget_claims(struct state_fixture *f, int peer)
{
	(void)peer;
	DO(f, STR("DEL"), STATE_FIXTURE_CLAIMED);
}

TEST_T(no_attempt_is_claimed_twice, 60)
{
	struct tk_server redis;
	struct state_fixture r;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, 1, create_shared);
	state_fixture_run_peers(redis.url, CLAIMERS, compete_to_claim);
	state_fixture_join(&r, &redis);
	state_fixture_check_claims(&r, SHARED);
	state_fixture_stop(&r);
}

TEST_T(each_question_has_one_answer, 60)
{
	struct tk_server redis;
	struct state_fixture r;

	state_fixture_start_server(&redis);
	state_fixture_run_peers(redis.url, 1, create_shared);
	state_fixture_run_peers(redis.url, 1, compete_to_claim);
	state_fixture_run_peers(redis.url, 1, forget_claims);
	state_fixture_run_peers(redis.url, CLAIMERS, compete_to_reply);
	state_fixture_join(&r, &redis);
	state_fixture_check_claims(&r, SHARED);
	state_fixture_stop(&r);
}
