/* Terminals: many reports, and many results, in one round trip. */
#include "testkit/state_fixture.h"
#include "testkit/terminal_fixture.h"

#define MANY 9000

static struct terminal_report
skills(const char *id, int64_t version, const char *json)
{
	return (struct terminal_report){ .kind = TERMINAL_SKILLS,
		.id = str_of(id),
		.snap = { .version = version, .json = str_of(json) } };
}

static struct terminal_report
report(enum terminal_report_kind kind, const char *id)
{
	return (struct terminal_report){ .kind = kind, .id = str_of(id) };
}

/* Each has its own result, in order. */
TEST(reports_are_executed_in_order)
{
	struct terminal_report v[] = {
		report(TERMINAL_ONLINE, "t1"),
		skills("t1", 3, "[3]"),
		skills("t1", 2, "[2]"),
		skills("t1", 3, "[3]"),
		skills("t1", 4, "[3]"),
		report(TERMINAL_OFFLINE, "t1"),
		report(TERMINAL_HEARTBEAT, "t1"),
		report(TERMINAL_HEARTBEAT, "t1"),
		report(TERMINAL_REJECTION, "t1"),
		report(TERMINAL_ONLINE, "t2"),
	};
	static const struct {
		enum rc rc;
		bool present, turned, differs;
		int64_t current;
	} want[] = {
		{ RC_OK, true, true, false, 0 },
		{ RC_OK, true, false, true, 3 },
		{ RC_CONFLICT, true, false, false, 3 },
		{ RC_OK, true, false, false, 3 },
		{ RC_OK, true, false, true, 4 },
		{ RC_OK, false, true, false, 0 },
		{ RC_OK, true, true, false, 0 },
		{ RC_OK, true, false, false, 0 },
		{ RC_OK, false, false, false, 0 },
		{ RC_OK, true, true, false, 0 },
	};
	struct terminal t;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	v[8].rejection = (struct terminal_rejection){ TERMINAL_REJECTED_SKILLS,
		STR("{\"kind\":\"skills\"}") };
	OK(terminal_put_reports(b.s, &b.w, v, NELEM(v), b.a));
	for (i = 0; i < NELEM(v); i++) {
		ck_assert_msg(v[i].rc == want[i].rc &&
			v[i].present == want[i].present &&
			v[i].turned == want[i].turned &&
			v[i].differs == want[i].differs &&
			v[i].current == want[i].current,
		    "%zu: %s %d %d %d %lld", i, rc_name(v[i].rc), v[i].present,
		    v[i].turned, v[i].differs, (long long)v[i].current);
	}
	OK(terminal_read(b.s, STR("t1"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_text(t.skills, "[3]");
	ck_assert_int_eq(t.skill_version, 4);
	ck_text(t.rejected[TERMINAL_REJECTED_SKILLS], "{\"kind\":\"skills\"}");
	state_fixture_stop(&b);
}

/* A retained report is no sign of life, whatever the writer's default. */
TEST(each_report_has_its_own_replayed)
{
	struct terminal_report v[] = {
		report(TERMINAL_ONLINE, "t1"),
		skills("t1", 1, "[]"),
		report(TERMINAL_ONLINE, "t2"),
		report(TERMINAL_ONLINE, "t2"),
	};
	struct state_fixture b;
	bool here;

	state_fixture_start(&b);
	v[0].replayed = v[1].replayed = v[3].replayed = true;
	OK(terminal_put_reports(b.s, &b.w, v, NELEM(v), b.a));
	ck_assert(!v[0].present && !v[0].turned);
	ck_assert(!v[1].present && !v[1].turned && v[1].differs);
	ck_assert(v[2].present && v[2].turned);
	ck_assert(v[3].present && !v[3].turned);
	OK(terminal_is_reachable(
	    b.s, STR("t1"), STR("main"), STATE_FIXTURE_TTL_MS, &here));
	ck_assert(!here);
	OK(terminal_is_reachable(
	    b.s, STR("t2"), STR("main"), STATE_FIXTURE_TTL_MS, &here));
	ck_assert(here);
	OK(terminal_is_reachable(
	    b.s, STR("t2"), STR("other"), STATE_FIXTURE_TTL_MS, &here));
	ck_assert(!here);
	OK(terminal_is_reachable(
	    b.s, STR("t3"), STR("main"), STATE_FIXTURE_TTL_MS, &here));
	ck_assert(!here);
	IS(RC_INVALID,
	    terminal_is_reachable(
		b.s, STR(""), STR("main"), STATE_FIXTURE_TTL_MS, &here));
	state_fixture_stop(&b);
}

/* An error of one does not affect the others. */
TEST(a_bad_report_does_not_affect_others)
{
	struct terminal_report v[] = {
		report(TERMINAL_HEARTBEAT, "t1"),
		report(TERMINAL_HEARTBEAT, ""),
		skills("t2", -1, "[]"),
		report(TERMINAL_HEARTBEAT, "t3"),
		report(TERMINAL_HEARTBEAT, "t4"),
	};
	struct terminal_writer later;
	struct state_fixture b;

	state_fixture_start(&b);
	later = b.w;
	later.epoch = b.w.epoch + 1;
	OK(terminal_fixture_heartbeats(b.s, &later, &v[3].id, 1, NULL));
	OK(terminal_put_reports(b.s, &b.w, v, NELEM(v), b.a));
	IS(RC_OK, v[0].rc);
	IS(RC_INVALID, v[1].rc);
	IS(RC_INVALID, v[2].rc);
	IS(RC_DENIED, v[3].rc);
	IS(RC_OK, v[4].rc);
	ck_assert(v[0].turned && v[4].turned && !v[3].turned);
	state_fixture_stop(&b);
}

/* More commands and more bytes than fit one round trip. */
TEST(reports_may_need_several_round_trips)
{
	struct terminal_report *v =
	    mem_calloc(MANY, sizeof(struct terminal_report));
	char(*ids)[16] = mem_calloc(MANY, 16);
	char *big = mem_zalloc(TERMINAL_JSON_MAX + 1);
	struct terminal t;
	struct state_fixture b;
	size_t i;

	state_fixture_start(&b);
	memset(big, '1', TERMINAL_JSON_MAX);
	for (i = 0; i < MANY; i++) {
		snprintf(ids[i], sizeof(ids[i]), "t%zu", i);
		v[i] = report(TERMINAL_HEARTBEAT, ids[i]);
	}
	for (i = 0; i < 8; i++)
		v[100 * i] = skills(ids[100 * i], 1, big);
	OK(terminal_put_reports(b.s, &b.w, v, MANY, b.a));
	for (i = 0; i < MANY; i++)
		ck_assert(v[i].rc == RC_OK && v[i].turned);
	OK(terminal_read(b.s, STR("t700"), STATE_FIXTURE_TTL_MS, b.a, &t));
	ck_assert_uint_eq(t.skills.n, TERMINAL_JSON_MAX);
	OK(terminal_put_reports(b.s, &b.w, v, 0, b.a));
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert_int_ne(terminal_put_reports(b.s, &b.w, v, MANY, b.a), RC_OK);
	for (i = 0; i < MANY; i++)
		ck_assert_int_ne(v[i].rc, RC_OK);
	free(big);
	free(ids);
	free(v);
	state_fixture_stop(&b);
}

static struct terminal_result
result(const char *id, const char *request, const char *json)
{
	return (struct terminal_result){ .id = str_of(id),
		.request_id = str_of(request),
		.json = str_of(json) };
}

static bool
expect(struct state_fixture *b, const char *id, const char *request,
    const char *note)
{
	const struct terminal_expect_result a = { str_of(request), STR("main"),
		STATE_FIXTURE_TTL_MS, str_of(note) };
	bool here;

	OK(terminal_expect_result(b->s, str_of(id), &a, &here));
	return here;
}

/* Only a reachable terminal is expected to reply, and only then is it stored.
 */
TEST(only_expected_results_are_stored)
{
	struct terminal_result v[] = {
		result("t1", "r1", "1"),
		result("t1", "r1", "2"),
		result("", "r1", "3"),
		result("t2", "r1", "4"),
		result("t1", "r2", "5"),
	};
	struct str json;
	struct state_fixture b;
	bool first;

	state_fixture_start(&b);
	OK(terminal_fixture_put_online(b.s, &b.w, STR("t1"), true, NULL));
	ck_assert(expect(&b, "t1", "r1", "a note"));
	ck_assert(!expect(&b, "t2", "r1", "a note"));
	IS(RC_NOENT,
	    terminal_get_result(b.s, STR("t1"), STR("r1"), b.a, &json));
	OK(terminal_put_results(b.s, v, NELEM(v), b.a));
	IS(RC_OK, v[0].rc);
	ck_assert(v[0].first);
	ck_text(v[0].note, "a note");
	IS(RC_OK, v[1].rc);
	ck_assert(!v[1].first);
	IS(RC_INVALID, v[2].rc);
	IS(RC_NOENT, v[3].rc);
	IS(RC_NOENT, v[4].rc);
	OK(terminal_get_result(b.s, STR("t1"), STR("r1"), b.a, &json));
	ck_text(json, "1");
	IS(RC_NOENT,
	    terminal_get_result(b.s, STR("t2"), STR("r1"), b.a, &json));
	/* Expecting it once more does not remove the result. */
	ck_assert(expect(&b, "t1", "r1", "another"));
	OK(terminal_put_results(b.s, v, 1, b.a));
	ck_assert(!v[0].first);
	/* An expected result can be put alone, too. */
	ck_assert(expect(&b, "t1", "r3", ""));
	OK(terminal_fixture_put_result(
	    b.s, STR("t1"), STR("r3"), STR("6"), &first));
	ck_assert(first);
	OK(terminal_fixture_put_result(
	    b.s, STR("t1"), STR("r3"), STR("7"), &first));
	ck_assert(!first);
	state_fixture_stop(&b);
}

TEST(without_redis_no_result_is_stored)
{
	struct terminal_result v[] = { result("t1", "r1", "1"),
		result("t1", "r2", "2") };
	struct state_fixture b;

	state_fixture_start(&b);
	tk_server_stop(&b.redis, SIGKILL);
	ck_assert_int_ne(terminal_put_results(b.s, v, NELEM(v), b.a), RC_OK);
	ck_assert(v[0].rc != RC_OK && v[1].rc != RC_OK && !v[0].first);
	OK(terminal_put_results(b.s, v, 0, b.a));
	state_fixture_stop(&b);
}
