/* Sessions: summaries, and the jobs that are stored with them. */
#include "state/session.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static const struct session_key key = { STR_INIT("用户"), STR_INIT("s:1") };

static void
append(struct state_fixture *b, size_t n)
{
	static const struct str json[] = { STR_INIT("{}"), STR_INIT("{}"),
		STR_INIT("{}"), STR_INIT("{}") };

	OK(session_append(b->s, &key, json, n, NULL));
}

static enum rc
summarise(struct state_fixture *b, const char *text, int64_t after,
    int64_t number, const char *job)
{
	struct session_summary sum = { str_of(text), after, number,
		str_of(job) };

	return session_summarise(b->s, &key, &sum);
}

static void
ck_session(
    struct state_fixture *b, const char *text, int64_t number, const char *job)
{
	struct session s;

	OK(session_read(b->s, &key, b->a, &s));
	ck_text(s.summary, text);
	ck_assert_int_eq(s.summarised, number);
	ck_text(s.job, job);
}

TEST(a_summary_and_its_job)
{
	struct state_fixture b;

	state_fixture_start(&b);
	IS(RC_NOENT, summarise(&b, "x", 0, 1, "j"));
	append(&b, 4);
	ck_session(&b, NULL, 0, NULL);
	OK(summarise(&b, "一", 0, 2, "{\"job\":1}"));
	ck_session(&b, "一", 2, "{\"job\":1}");
	/* Not by a stale reader, and not before the job is done. */
	IS(RC_CONFLICT, summarise(&b, "x", 0, 2, "j"));
	IS(RC_CONFLICT, summarise(&b, "x", 0, 4, NULL));
	IS(RC_CONFLICT, summarise(&b, "x", 2, 4, NULL));
	ck_session(&b, "一", 2, "{\"job\":1}");
	/* Another job has no effect. */
	OK(session_job_done(b.s, &key, STR("{\"job\":2}")));
	ck_session(&b, "一", 2, "{\"job\":1}");
	OK(session_job_done(b.s, &key, STR("{\"job\":1}")));
	OK(session_job_done(b.s, &key, STR("{\"job\":1}")));
	ck_session(&b, "一", 2, NULL);
	/* Not beyond the last message. */
	IS(RC_CONFLICT, summarise(&b, "x", 2, 5, NULL));
	OK(summarise(&b, "二", 2, 4, NULL));
	ck_session(&b, "二", 4, NULL);
	state_fixture_stop(&b);
}

TEST(a_deleted_session_has_no_summary)
{
	struct state_fixture b;

	state_fixture_start(&b);
	append(&b, 4);
	OK(summarise(&b, "1", 0, 2, "j"));
	ck_session(&b, "1", 2, "j");
	OK(session_delete(b.s, &key));
	ck_session(&b, NULL, 0, NULL);
	state_fixture_stop(&b);
}

TEST(wrong_summaries_are_rejected)
{
	static char text[SESSION_TEXT_MAX + 1];
	struct session_summary sum = { { text, sizeof(text) }, 0, 1,
		{ NULL, 0 } };
	struct state_fixture b;

	state_fixture_start(&b);
	append(&b, 2);
	IS(RC_TOOBIG, session_summarise(b.s, &key, &sum));
	sum.job = sum.text;
	sum.text.n = 1;
	IS(RC_TOOBIG, session_summarise(b.s, &key, &sum));
	IS(RC_TOOBIG, session_job_done(b.s, &key, sum.job));
	IS(RC_INVALID, summarise(&b, "x", 1, 1, "j"));
	IS(RC_INVALID, summarise(&b, "x", -1, 1, "j"));
	IS(RC_INVALID, summarise(&b, "x", 0, INT64_MAX, "j"));
	DO(&b, STR("HSET"), STR("soul:session:{b0193}:~55So5oi3:~czox"),
	    STR("v"), STR("2"));
	IS(RC_INVALID, summarise(&b, "x", 0, 1, "j"));
	DO(&b, STR("SET"), STR("soul:session:{b0193}:~55So5oi3:~czox"),
	    STR("x"));
	IS(RC_INVALID, session_job_done(b.s, &key, STR("j")));
	state_fixture_stop(&b);
}

#define PEERS  4
#define ROUNDS 100

/* Each continues from the session's summary, and records what it did. */
static void
compete(struct state_fixture *r, int who)
{
	struct state_fixture b = { .s = r->s, .a = arena_new(1 << 20) };
	struct session s = { 0 };
	char job[32];
	int i = 0;
	enum rc rc;

	while (s.summarised < ROUNDS) {
		arena_reset(b.a);
		OK(session_read(b.s, &key, b.a, &s));
		if (s.job.p != NULL) {
			DO(r, STR("SADD"), STR("published"), s.job);
			OK(session_job_done(b.s, &key, s.job));
			continue;
		}
		if (s.summarised == ROUNDS)
			break;
		snprintf(job, sizeof(job), "%d-%d", who, i++);
		rc = summarise(&b, "x", s.summarised, s.summarised + 1, job);
		ck_assert(rc == RC_OK || rc == RC_CONFLICT);
	}
	arena_free(b.a);
}

TEST_T(no_number_is_summarised_twice, 60)
{
	struct tk_server redis;
	struct state_fixture b;
	int i;

	state_fixture_start_server(&redis);
	state_fixture_join(&b, &redis);
	arena_free(b.a);
	b.a = arena_new(1 << 20);
	for (i = 0; i < ROUNDS / 4; i++)
		append(&b, 4);
	state_fixture_stop(&b);
	state_fixture_run_peers(redis.url, PEERS, compete);
	state_fixture_join(&b, &redis);
	ck_assert_int_eq(INT_OF(&b, STR("SCARD"), STR("published")), ROUNDS);
	state_fixture_stop(&b);
}
