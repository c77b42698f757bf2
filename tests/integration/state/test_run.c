/* Records of runs: what changes them, and who may. */
#include "state/events.h"
#include "state/keys.h"
#include "state/run.h"
#include "state/state_internal.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

#define ANN STR("ann")

static struct run_record
read_run(struct state_fixture *b, const char *id)
{
	struct run_record rec;

	OK(run_read(b->s, str_of(id), b->a, &rec));
	return rec;
}

static size_t
events_of(struct state_fixture *b, const char *id, enum events_kind kind,
    struct events *out)
{
	const struct events_key k = { .kind = kind, .id = str_of(id) };

	OK(events_read(b->s, &k, 0, false, b->a, out));
	return out->n;
}

static struct str
run_key(const char *id)
{
	static char text[STATE_KEY_MAX];
	struct script_call c;

	call_begin(&c, NULL);
	call_run_key(&c, KEY_RUN, str_of(id));
	OK(c.rc);
	str_copy(c.keys[0], text, sizeof(text));
	return str_of(text);
}

/* An end of a run, at an attempt that is claimed here. */
static void
end_run(struct state_fixture *b, const char *id, enum run_status status)
{
	struct run_record rec = run_fixture_claim(b->s, id, b->a);

	OK(run_fixture_publish(b->s, &rec, status, 1, 1));
}

TEST(a_run_is_stored_as_it_was_requested)
{
	struct run_new n = run_fixture_new();
	struct state_fixture b;
	struct run_record rec;
	unsigned bucket;

	state_fixture_start(&b);
	n.user_id = STR("acme/ann");
	n.tenant = STR("acme");
	OK(run_create(b.s, &n));
	ck_assert(!n.repeated);
	OK(run_id_bucket(str_of(n.run_id), &bucket));
	ck_assert_uint_eq(bucket, state_fixture_bucket("acme/ann"));
	rec = read_run(&b, n.run_id);
	ck_text(rec.run_id, n.run_id);
	ck_text(rec.user_id, "acme/ann");
	ck_text(rec.tenant, "acme");
	ck_text(rec.engine, "codex");
	ck_text(rec.mode, "interactive");
	ck_text(rec.title, "demo");
	ck_text(rec.spec, "{\"engine\":\"codex\",\"prompt\":\"x\"}");
	ck_assert_int_eq(rec.status, RUN_IS_QUEUED);
	ck_assert_int_eq(rec.attempt, 0);
	ck_assert_int_eq(rec.epoch, 0);
	ck_text(rec.runner, "r1");
	ck_text(rec.workspace, n.run_id);
	ck_text(rec.handle, NULL);
	ck_text(rec.resumes, NULL);
	ck_text(rec.question, NULL);
	ck_assert_int_gt(rec.created.ms, 1700000000000);
	ck_assert_int_eq(rec.ended.ms, 0);
	ck_assert(!rec.cancel);
	IS(RC_NOENT,
	    run_read(b.s, STR("20260221T091252-codex-0e67f51a"), b.a, &rec));
	IS(RC_INVALID, run_read(b.s, STR("../x"), b.a, &rec));
	state_fixture_stop(&b);
}

TEST(a_key_starts_one_run)
{
	struct run_new n = run_fixture_new(), other = run_fixture_new();
	struct state_fixture b;
	struct run_page p = { .max = 10 };

	state_fixture_start(&b);
	n.key = other.key = STR("k 1");
	OK(run_create(b.s, &n));
	OK(run_create(b.s, &other));
	ck_assert(other.repeated);
	ck_assert_str_eq(other.run_id, n.run_id);
	other.spec = STR("{\"engine\":\"codex\",\"prompt\":\"y\"}");
	IS(RC_CONFLICT, run_create(b.s, &other));
	ck_text(other.why, RUN_WHY_KEY_REUSED);
	/* Another user's key is another key. */
	other.user_id = STR("bob");
	OK(run_create(b.s, &other));
	ck_assert(!other.repeated);
	OK(run_list(b.s, ANN, b.a, &p));
	ck_assert_uint_eq(p.n, 1);
	/* The run was deleted: the key starts one other. */
	OK(run_delete(b.s, str_of(n.run_id), ANN, true));
	OK(run_create(b.s, &n));
	ck_assert(!n.repeated);
	state_fixture_stop(&b);
}

TEST(a_user_has_so_many_runs_at_a_time)
{
	struct run_new n = run_fixture_new();
	struct state_fixture b;
	struct run_record rec;
	char first[RUN_ID_MAX], third[RUN_ID_MAX];

	state_fixture_start(&b);
	n.per_user = 2;
	OK(run_create(b.s, &n));
	str_copy(str_of(n.run_id), first, sizeof(first));
	OK(run_create(b.s, &n));
	IS(RC_RETRY, run_create(b.s, &n));
	ck_text(n.why, RUN_WHY_TOO_MANY);
	/* One that runs counts, one that waits does not, nor one that ended. */
	rec = run_fixture_claim(b.s, first, b.a);
	IS(RC_RETRY, run_create(b.s, &n));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 0));
	OK(run_create(b.s, &n));
	str_copy(str_of(n.run_id), third, sizeof(third));
	IS(RC_RETRY, run_create(b.s, &n));
	end_run(&b, third, RUN_IS_FAILED);
	OK(run_create(b.s, &n));
	IS(RC_RETRY, run_create(b.s, &n));
	state_fixture_stop(&b);
}

TEST(a_user_has_so_many_stored_runs)
{
	struct run_new n = run_fixture_new();
	struct state_fixture b;
	char text[STATE_KEY_MAX], id[64];
	struct str key;
	int i;

	state_fixture_start(&b);
	OK(state_key(text, KEY_USER_RUNS, &n.user_id, 1, &key));
	for (i = 0; i < RUN_STORED_MAX - 1; i++) {
		snprintf(id, sizeof(id), "20260101T000000-codex-%08d", i);
		DO(&b, STR("ZADD"), key, STR("0"), str_of(id));
	}
	/* Those have expired, which is found out when there are too many. */
	OK(run_create(b.s, &n));
	OK(run_create(b.s, &n));
	ck_assert_int_eq(
	    INT_OF(&b, STR("ZCARD"), key), RUN_STORED_MAX + 1 - 100);
	state_fixture_stop(&b);
}

TEST(an_attempt_is_claimed_by_one_runner)
{
	struct state_fixture b;
	struct run_record rec;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	IS(RC_CONFLICT, run_claim(b.s, str_of(id), STR("r2"), b.a, &rec));
	rec = run_fixture_claim(b.s, id, b.a);
	ck_assert_int_eq(rec.status, RUN_IS_RUNNING);
	ck_assert_int_eq(rec.attempt, 1);
	ck_assert_int_eq(rec.epoch, 1);
	IS(RC_CONFLICT, run_claim(b.s, str_of(id), STR("r1"), b.a, &rec));
	ck_assert_int_eq(read_run(&b, id).attempt, 1);
	state_fixture_stop(&b);
}

TEST(a_queued_run_may_get_another_runner_before_its_first_attempt)
{
	struct state_fixture b;
	struct run_record rec;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	IS(RC_CONFLICT, run_assign(b.s, str_of(id), STR("r2"), STR("r3")));
	OK(run_assign(b.s, str_of(id), STR("r1"), STR("r2")));
	IS(RC_CONFLICT, run_claim(b.s, str_of(id), STR("r1"), b.a, &rec));
	OK(run_claim(b.s, str_of(id), STR("r2"), b.a, &rec));
	IS(RC_CONFLICT, run_assign(b.s, str_of(id), STR("r2"), STR("r3")));
	/* Its workspace is at r2 now. */
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 0));
	OK(run_reply(b.s,
	    &(struct run_user_reply){ .run_id = str_of(id),
		.user_id = ANN,
		.question_id = STR("ix_1"),
		.content = STR("yes") },
	    b.a, &rec));
	IS(RC_CONFLICT, run_assign(b.s, str_of(id), STR("r2"), STR("r3")));
	state_fixture_stop(&b);
}

TEST(events_and_state_are_published_together)
{
	struct state_fixture b;
	struct run_record rec;
	struct events list;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 2, 3));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 0, 1));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 0));
	rec = read_run(&b, id);
	ck_assert_int_eq(rec.status, RUN_IS_WAITING);
	ck_assert_int_eq(rec.fcmp, 3);
	ck_assert_int_eq(rec.rasp, 4);
	ck_text(rec.handle, "session-1");
	ck_text(rec.facts, "{\"engine_version\":\"1.2\"}");
	ck_text(rec.question_id, "ix_1");
	ck_assert_ptr_nonnull(strstr(rec.question.p, "Which?"));
	ck_assert_int_gt(rec.reply_until.ms, rec.changed.ms);
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 3);
	ck_assert_int_eq(list.newest, 3);
	ck_assert_ptr_nonnull(
	    strstr(list.item[0].json.p, "conversation.started"));
	ck_assert_ptr_nonnull(
	    strstr(list.item[2].json.p, "user.input.required"));
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN_RASP, &list), 4);
	state_fixture_stop(&b);
}

/* The reply of the first was lost. */
TEST(a_repeated_publish_appends_nothing_twice)
{
	struct state_fixture b;
	struct run_record rec, before;
	struct events list;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	before = rec;
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 2, 3));
	OK(run_fixture_publish(b.s, &before, RUN_IS_RUNNING, 2, 3));
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 2);
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN_RASP, &list), 3);
	before = rec;
	OK(run_fixture_publish(b.s, &rec, RUN_IS_SUCCEEDED, 1, 1));
	OK(run_fixture_publish(b.s, &before, RUN_IS_SUCCEEDED, 1, 1));
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 3);
	/* It has ended so, and not otherwise. */
	IS(RC_CONFLICT, run_fixture_publish(b.s, &before, RUN_IS_FAILED, 1, 1));
	ck_assert_int_eq(read_run(&b, id).status, RUN_IS_SUCCEEDED);
	state_fixture_stop(&b);
}

TEST(what_others_have_published_is_reported)
{
	struct state_fixture b;
	struct run_record rec, old;
	struct run_publish p;
	struct events list;
	char id[RUN_ID_MAX];
	struct str json = STR("{}");

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	old = rec;
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 2, 0));
	IS(RC_RETRY, run_fixture_publish(b.s, &old, RUN_IS_RUNNING, 3, 0));
	p = (struct run_publish){ .run_id = rec.run_id,
		.user_id = ANN,
		.workspace = rec.workspace,
		.epoch = rec.epoch,
		.fcmp = 7,
		.fcmp_json = &json,
		.n_fcmp = 1,
		.status = RUN_IS_RUNNING };
	IS(RC_RETRY, run_publish(b.s, &p));
	ck_assert_int_eq(p.fcmp_is, 2);
	ck_assert_int_eq(p.rasp_is, 0);
	p.epoch = 0;
	IS(RC_INVALID, run_publish(b.s, &p));
	ck_assert_int_eq(p.fcmp_is, -1);
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 2);
	state_fixture_stop(&b);
}

/* It was stopped while another one took over, and goes on. */
TEST(a_suspended_writer_changes_nothing)
{
	struct state_fixture b;
	struct run_record old, rec, now, ignored;
	struct events list;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	old = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &old, RUN_IS_RUNNING, 1, 1));
	OK(run_adopt(b.s, str_of(id), old.epoch, b.a, &rec));
	ck_assert_int_eq(rec.epoch, old.epoch + 1);
	ck_assert_int_eq(rec.attempt, 1);
	ck_assert_int_eq(rec.fcmp, 1);
	ck_assert_int_eq(rec.fcmp_last, 1);
	IS(RC_CONFLICT, run_fixture_publish(b.s, &old, RUN_IS_RUNNING, 1, 0));
	IS(RC_CONFLICT, run_fixture_publish(b.s, &old, RUN_IS_FAILED, 1, 0));
	IS(RC_CONFLICT, run_adopt(b.s, str_of(id), old.epoch, b.a, &ignored));
	now = read_run(&b, id);
	ck_assert_int_eq(now.status, RUN_IS_RUNNING);
	ck_assert_int_eq(now.epoch, rec.epoch);
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 1);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 1, 0));
	/* Nor does one whose run was deleted. */
	OK(run_delete(b.s, str_of(id), ANN, true));
	IS(RC_NOENT, run_fixture_publish(b.s, &rec, RUN_IS_FAILED, 1, 0));
	IS(RC_NOENT, run_adopt(b.s, str_of(id), rec.epoch, b.a, &ignored));
	ck_assert_uint_eq(events_of(&b, id, EVENTS_RUN, &list), 0);
	state_fixture_stop(&b);
}

TEST(a_run_that_has_ended_stays_as_it_is)
{
	static const enum run_status ends[] = { RUN_IS_SUCCEEDED, RUN_IS_FAILED,
		RUN_IS_CANCELED };
	struct state_fixture b;
	struct run_record rec, out;
	char id[RUN_ID_MAX];
	size_t i, k;

	state_fixture_start(&b);
	for (i = 0; i < NELEM(ends); i++) {
		run_fixture_create(b.s, id);
		rec = run_fixture_claim(b.s, id, b.a);
		OK(run_fixture_publish(b.s, &rec, ends[i], 1, 1));
		ck_assert_int_gt(read_run(&b, id).ended.ms, 0);
		for (k = RUN_IS_QUEUED; k < RUN_STATUS_N; k++)
			IS(RC_CONFLICT,
			    run_fixture_publish(
				b.s, &rec, (enum run_status)k, 1, 0));
		IS(RC_CONFLICT,
		    run_claim(b.s, str_of(id), STR("r1"), b.a, &out));
		IS(RC_CONFLICT,
		    run_adopt(b.s, str_of(id), rec.epoch, b.a, &out));
		OK(run_cancel(b.s, str_of(id), ANN, b.a, &out));
		ck_assert_int_eq(out.status, ends[i]);
		ck_assert(!out.cancel);
		/* It expires with all that belongs to it. */
		ck_assert_int_gt(INT_OF(&b, STR("PTTL"), run_key(id)), 0);
	}
	state_fixture_stop(&b);
}

static enum rc
reply(struct state_fixture *b, const char *id, const char *question,
    const char *content, const char *key, const char *why)
{
	struct run_user_reply r = { .run_id = str_of(id),
		.user_id = ANN,
		.question_id = str_of(question),
		.content = str_of(content),
		.key = key != NULL ? str_of(key) : STR_NONE };
	struct run_record rec;
	enum rc rc = run_reply(b->s, &r, b->a, &rec);

	ck_text(r.why, why);
	if (rc == RC_OK) {
		ck_text(rec.run_id, id);
		ck_text(rec.reply, content);
	}
	return rc;
}

TEST(each_question_has_one_reply)
{
	struct state_fixture b;
	struct run_record rec;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	IS(RC_CONFLICT,
	    reply(&b, id, "ix_1", "yes", NULL, RUN_WHY_NOT_WAITING));
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	IS(RC_CONFLICT, reply(&b, id, "ix_0", "yes", "k1", RUN_WHY_STALE));
	OK(reply(&b, id, "ix_1", "yes", "k1", NULL));
	/* A repetition, another content, another key, and without. */
	OK(reply(&b, id, "ix_1", "yes", "k1", NULL));
	IS(RC_CONFLICT, reply(&b, id, "ix_1", "no", "k1", RUN_WHY_KEY_REUSED));
	IS(RC_CONFLICT, reply(&b, id, "ix_1", "yes", "k2", RUN_WHY_STALE));
	IS(RC_CONFLICT, reply(&b, id, "ix_1", "yes", NULL, RUN_WHY_STALE));
	rec = run_fixture_claim(b.s, id, b.a);
	ck_assert_int_eq(rec.attempt, 2);
	ck_text(rec.reply, "yes");
	ck_text(rec.replied_id, "ix_1");
	IS(RC_CONFLICT, reply(&b, id, "ix_2", "no", "k2", RUN_WHY_NOT_WAITING));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	/* An old key, and an old question, whose repetition is known. */
	IS(RC_CONFLICT, reply(&b, id, "ix_2", "yes", "k1", RUN_WHY_KEY_REUSED));
	OK(reply(&b, id, "ix_1", "yes", "k1", NULL));
	ck_assert_int_eq(read_run(&b, id).status, RUN_IS_WAITING);
	OK(reply(&b, id, "ix_2", "no", NULL, NULL));
	ck_assert_int_eq(read_run(&b, id).status, RUN_IS_QUEUED);
	state_fixture_stop(&b);
}

TEST(only_its_user_has_a_run)
{
	static const char *const others[] = { "bob", "eve", "anna" };
	struct state_fixture b;
	struct run_record rec;
	struct run_user_reply r = { .question_id = STR("ix_1"),
		.content = STR("yes") };
	char id[RUN_ID_MAX];
	size_t i;

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	r.run_id = str_of(id);
	for (i = 0; i < NELEM(others); i++) {
		r.user_id = str_of(others[i]);
		IS(RC_NOENT, run_reply(b.s, &r, b.a, &rec));
		IS(RC_NOENT, run_cancel(b.s, str_of(id), r.user_id, b.a, &rec));
		IS(RC_NOENT, run_delete(b.s, str_of(id), r.user_id, true));
	}
	rec = read_run(&b, id);
	ck_assert_int_eq(rec.status, RUN_IS_WAITING);
	ck_assert(!rec.cancel);
	state_fixture_stop(&b);
}

/* Its time is up: auto_reply. */
TEST(a_reply_may_be_given_for_the_user)
{
	struct state_fixture b;
	struct run_record rec;
	struct run_publish p;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	OK(run_adopt(b.s, str_of(id), rec.epoch, b.a, &rec));
	p = (struct run_publish){ .run_id = rec.run_id,
		.user_id = ANN,
		.workspace = rec.workspace,
		.epoch = rec.epoch,
		.fcmp = rec.fcmp,
		.rasp = rec.rasp,
		.status = RUN_IS_QUEUED };
	/* Not without a reply. */
	IS(RC_CONFLICT, run_publish(b.s, &p));
	p.reply = STR("go on");
	OK(run_publish(b.s, &p));
	IS(RC_CONFLICT, reply(&b, id, "ix_1", "yes", NULL, RUN_WHY_STALE));
	rec = run_fixture_claim(b.s, id, b.a);
	ck_text(rec.reply, "go on");
	ck_text(rec.replied_id, "ix_1");
	ck_assert_int_eq(rec.attempt, 2);
	state_fixture_stop(&b);
}

TEST(a_canceled_run_is_ended_by_its_writer)
{
	struct state_fixture b;
	struct run_due_list due;
	struct run_record rec;
	char id[RUN_ID_MAX];

	state_fixture_start(&b);
	/* Queued: it is not started any more. */
	run_fixture_create(b.s, id);
	OK(run_cancel(b.s, str_of(id), ANN, b.a, &rec));
	ck_assert(rec.cancel);
	ck_assert_int_eq(rec.status, RUN_IS_QUEUED);
	OK(run_cancel(b.s, str_of(id), ANN, b.a, &rec));
	IS(RC_CONFLICT, run_claim(b.s, str_of(id), STR("r1"), b.a, &rec));
	OK(run_due_claim(
	    b.s, state_fixture_bucket("ann"), 60000, 10, b.a, &due));
	ck_assert_uint_eq(due.n, 1);
	ck_text(due.run[0].run_id, id);
	ck_assert(due.run[0].cancel);
	OK(run_adopt(b.s, str_of(id), due.run[0].epoch, b.a, &rec));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_CANCELED, 1, 1));
	/* Waiting: it cannot be answered any more. */
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	OK(run_cancel(b.s, str_of(id), ANN, b.a, &rec));
	IS(RC_CONFLICT,
	    reply(&b, id, "ix_1", "yes", NULL, RUN_WHY_NOT_WAITING));
	/* Running, and asking at that moment: it is due at once. */
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
	OK(run_cancel(b.s, str_of(id), ANN, b.a, &rec));
	OK(run_due_claim(
	    b.s, state_fixture_bucket("ann"), 60000, 10, b.a, &due));
	ck_assert_uint_eq(due.n, 2);
	rec = read_run(&b, id);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	OK(run_due_claim(
	    b.s, state_fixture_bucket("ann"), 60000, 10, b.a, &due));
	ck_assert_uint_eq(due.n, 1);
	ck_text(due.run[0].run_id, id);
	state_fixture_stop(&b);
}

/* ---- continuing a run that has ended ---- */

TEST(a_run_continues_another_ones_workspace_and_session)
{
	struct run_new n = run_fixture_new();
	struct state_fixture b;
	struct run_record rec;
	char first[RUN_ID_MAX], second[RUN_ID_MAX];
	bool used;

	state_fixture_start(&b);
	run_fixture_create(b.s, first);
	n.resumes = str_of(first);
	n.runner = STR("r2");
	IS(RC_CONFLICT, run_create(b.s, &n));
	ck_text(n.why, RUN_WHY_NOT_RESUMABLE);
	end_run(&b, first, RUN_IS_FAILED);
	OK(run_create(b.s, &n));
	str_copy(str_of(n.run_id), second, sizeof(second));
	rec = read_run(&b, second);
	ck_text(rec.resumes, first);
	ck_text(rec.workspace, first);
	ck_text(rec.handle, "session-1");
	ck_text(rec.runner, "r1");
	/* One live run of a workspace, also of the run that uses it now. */
	IS(RC_CONFLICT, run_create(b.s, &n));
	ck_text(n.why, RUN_WHY_BUSY);
	ck_assert_str_eq(n.run_id, second);
	end_run(&b, second, RUN_IS_SUCCEEDED);
	OK(run_create(b.s, &n));
	end_run(&b, n.run_id, RUN_IS_SUCCEEDED);
	n.resumes = str_of(second);
	OK(run_create(b.s, &n));
	ck_text(read_run(&b, n.run_id).workspace, first);
	end_run(&b, n.run_id, RUN_IS_SUCCEEDED);
	/* The workspace is in use until the last of them is gone. */
	OK(run_delete(b.s, str_of(first), ANN, false));
	OK(run_workspace_in_use(b.s, str_of(first), &used));
	ck_assert(used);
	n.resumes = str_of(first);
	IS(RC_NOENT, run_create(b.s, &n));
	n.resumes = str_of(second);
	n.user_id = STR("bob");
	IS(RC_NOENT, run_create(b.s, &n));
	n.user_id = ANN;
	n.engine = STR("gemini");
	IS(RC_CONFLICT, run_create(b.s, &n));
	ck_text(n.why, RUN_WHY_NOT_RESUMABLE);
	state_fixture_stop(&b);
}

TEST(a_workspace_without_runs_is_not_in_use)
{
	struct state_fixture b;
	char id[RUN_ID_MAX];
	bool used;

	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	OK(run_workspace_in_use(b.s, str_of(id), &used));
	ck_assert(used);
	IS(RC_CONFLICT, run_delete(b.s, str_of(id), ANN, false));
	end_run(&b, id, RUN_IS_FAILED);
	OK(run_delete(b.s, str_of(id), ANN, false));
	IS(RC_NOENT, run_delete(b.s, str_of(id), ANN, false));
	OK(run_workspace_in_use(b.s, str_of(id), &used));
	ck_assert(!used);
	state_fixture_stop(&b);
}

/* ---- lists ---- */

TEST(runs_are_listed_newest_first_and_page_by_page)
{
	struct run_new n = run_fixture_new();
	struct run_page p = { .max = 2 };
	struct state_fixture b;
	char ids[5][RUN_ID_MAX];
	size_t i, seen = 0;

	state_fixture_start(&b);
	OK(run_list(b.s, ANN, b.a, &p));
	ck_assert_uint_eq(p.n, 0);
	ck_text(p.next, NULL);
	for (i = 0; i < 5; i++) {
		n.at.ms += 1000;
		OK(run_create(b.s, &n));
		str_copy(str_of(n.run_id), ids[i], RUN_ID_MAX);
	}
	end_run(&b, ids[4], RUN_IS_CANCELED);
	/* One has expired. */
	DO(&b, STR("DEL"), run_key(ids[2]));
	do {
		OK(run_list(b.s, ANN, b.a, &p));
		for (i = 0; i < p.n; i++) {
			static const size_t want[] = { 4, 3, 1, 0 };

			ck_text(p.run[i].run_id, ids[want[seen]]);
			ck_text(p.run[i].user_id, "ann");
			ck_text(p.run[i].title, "demo");
			ck_assert_int_eq(p.run[i].status,
			    seen == 0 ? RUN_IS_CANCELED : RUN_IS_QUEUED);
			seen++;
		}
		p.after = p.next;
	} while (p.next.p != NULL);
	ck_assert_uint_eq(seen, 4);
	p.after = STR("x");
	IS(RC_INVALID, run_list(b.s, ANN, b.a, &p));
	OK(run_list(b.s, STR("bob"), b.a, &(struct run_page){ .max = 2 }));
	state_fixture_stop(&b);
}

/* ---- timers ---- */

/* When the first run of the bucket is due (ms), of which none is now. */
static int64_t
next_due(struct state_fixture *b, unsigned bucket)
{
	struct run_due_list due;

	OK(run_due_claim(b->s, bucket, 60000, 10, b->a, &due));
	ck_assert_uint_eq(due.n, 0);
	return due.next.ms;
}

TEST(runs_are_due_when_something_is_to_be_done)
{
	unsigned bucket = state_fixture_bucket("ann");
	struct run_due_list due;
	struct state_fixture b;
	struct run_record rec;
	char id[RUN_ID_MAX];
	int64_t now;

	state_fixture_start(&b);
	ck_assert_int_eq(next_due(&b, bucket), 0);
	run_fixture_create(b.s, id);
	now = state_fixture_now(&b);
	ck_assert_int_gt(next_due(&b, bucket), now);
	ck_assert_int_le(next_due(&b, bucket), now + RUN_QUEUED_MS);
	rec = run_fixture_claim(b.s, id, b.a);
	ck_assert_int_gt(next_due(&b, bucket), now + RUN_QUEUED_MS);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_WAITING, 1, 1));
	rec = read_run(&b, id);
	ck_assert_int_eq(next_due(&b, bucket), rec.reply_until.ms);
	/* Due, it is one claimer's for a while. */
	DO(&b, STR("ZADD"),
	    state_fixture_key((char[STATE_KEY_MAX]){ 0 }, KEY_RUNS_DUE, "ann"),
	    STR("1"), str_of(id));
	OK(run_due_claim(b.s, bucket, 60000, 10, b.a, &due));
	ck_assert_uint_eq(due.n, 1);
	ck_text(due.run[0].run_id, id);
	ck_text(due.run[0].runner, "r1");
	ck_assert_int_eq(due.run[0].status, RUN_IS_WAITING);
	ck_assert_int_eq(due.run[0].epoch, rec.epoch);
	ck_assert_int_eq(due.run[0].changed.ms, rec.changed.ms);
	ck_assert_int_gt(due.next.ms, now + 50000);
	OK(run_due_claim(b.s, bucket, 60000, 10, b.a, &due));
	ck_assert_uint_eq(due.n, 0);
	/* An end is the end of it. */
	OK(run_adopt(b.s, str_of(id), rec.epoch, b.a, &rec));
	OK(run_fixture_publish(b.s, &rec, RUN_IS_FAILED, 1, 1));
	ck_assert_int_eq(next_due(&b, bucket), 0);
	state_fixture_stop(&b);
}
