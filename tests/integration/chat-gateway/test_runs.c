/*
 * Runs over HTTP, with the test in place of engine-runner: records as it would
 * write them, and its replies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "state/run_runner.h"
#include "testkit/gateway_fixture.h"
#include "testkit/run_fixture.h"
#include "testkit/sse.h"

#define RUNS  "/v1/runs"
#define START "{\"user_id\":\"ann\",\"engine\":\"codex\",\"prompt\":\"x\"}"
#define RUN_JSON                                                      \
	"{\"run_id\":\"20260221T091252-codex-0e67f51a\",\"user_id\":" \
	"\"ann\",\"engine\":\"codex\",\"mode\":\"interactive\","      \
	"\"title\":\"x\",\"state\":\"queued\",\"attempt\":0,"         \
	"\"created_at\":\"2026-02-21T09:12:52Z\"}"
#define NO_RUNNER                                                            \
	"no engine-runner is running: start one, or see why none is ready, " \
	"then try again"

static struct gateway_fixture b;

/* ---- the runner ---- */

static natsMsg *
runner_take(natsSubscription *sub, json_t **request)
{
	natsMsg *m;

	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
	*request = tk_nats_json(m);
	return m;
}

static void
runner_reply(natsMsg *m, const char *json)
{
	ck_assert_int_eq(
	    natsConnection_PublishString(b.nc, natsMsg_GetReply(m), json),
	    NATS_OK);
	natsMsg_Destroy(m);
}

static void
runner_reject(natsMsg *m, const char *rc, int status, const char *code)
{
	char body[160], number[8];
	natsMsg *r = NULL;

	snprintf(body, sizeof(body),
	    "{\"error\":\"because of %s\",\"code\":\"%s\"}", code, code);
	snprintf(number, sizeof(number), "%d", status);
	natsMsg_Create(&r, natsMsg_GetReply(m), NULL, body, (int)strlen(body));
	natsMsgHeader_Set(r, "Nats-Service-Error", rc);
	natsMsgHeader_Set(r, "Nats-Service-Error-Code", number);
	ck_assert_int_eq(natsConnection_PublishMsg(b.nc, r), NATS_OK);
	natsMsg_Destroy(r);
	natsMsg_Destroy(m);
}

/* A request whose message at the runner is *got; it gets this reply. */
static json_t *
through_runner(natsSubscription *sub, const char *method, const char *path,
    const char *body, const char *reply, int status)
{
	struct tk_response a = { 0 };
	struct tk_http c;
	json_t *got;
	natsMsg *m;

	gw_send(&b, &c, method, path, body);
	m = runner_take(sub, &got);
	runner_reply(m, reply);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, status);
	tk_http_close(&c);
	tk_response_free(&a);
	return got;
}

static const struct {
	const char *rc;
	int rc_status; /* as the runner's replies have them */
	const char *code;
	int status; /* of the response */
} errors[] = {
	{ "not_found", 404, "not_found", 404 },
	{ "denied", 403, "denied", 403 },
	{ "invalid_request", 400, "invalid_request", 400 },
	{ "conflict", 409, "run_busy", 409 },
	{ "conflict", 409, "run_not_resumable", 409 },
	{ "conflict", 409, "key_reused", 409 },
	{ "conflict", 409, "not_waiting", 409 },
	{ "conflict", 409, "stale_interaction", 409 },
	{ "overloaded", 503, "too_many_runs", 429 },
	{ "overloaded", 503, "queue_full", 429 },
	{ "not_found", 404, "output_gone", 410 },
	{ "unavailable", 503, "unavailable", 503 },
};

static void
check_errors(natsSubscription *sub, const char *method, const char *path,
    const char *body)
{
	struct tk_response a = { 0 };
	struct tk_http c;
	char want[64];
	json_t *got;
	natsMsg *m;
	size_t i;

	for (i = 0; i < NELEM(errors); i++) {
		gw_send(&b, &c, method, path, body);
		m = runner_take(sub, &got);
		json_decref(got);
		runner_reject(
		    m, errors[i].rc, errors[i].rc_status, errors[i].code);
		ck_assert(tk_http_read(&c, &a, GW_MS));
		snprintf(want, sizeof(want), "because of %s", errors[i].code);
		gw_check_error(&a, errors[i].status, want);
		tk_http_close(&c);
	}
	tk_response_free(&a);
}

/* ---- start ---- */

TEST(a_run_is_started_by_any_runner)
{
	natsSubscription *sub, *audit;
	struct tk_response a = { 0 };
	json_t *got;

	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "POST", RUNS, START, 503, NO_RUNNER);
	audit = gw_audit_subscribe(&b);
	sub = tk_nats_listen(b.nc, "soul.rpc.run.start");
	got = through_runner(sub, "POST", RUNS,
	    "{\"user_id\":\"ann\",\"tenant\":\"other\",\"engine\":\"codex\","
	    "\"prompt\":\"x\",\"idempotency_key\":\"k\"}",
	    RUN_JSON, 202);
	ck_assert_str_eq(tk_text(got, "user_id"), "ann");
	ck_assert_str_eq(tk_text(got, "engine"), "codex");
	ck_assert_str_eq(tk_text(got, "mode"), "interactive");
	ck_assert_str_eq(tk_text(got, "idempotency_key"), "k");
	/* Clients do not choose it. */
	ck_assert_ptr_null(json_object_get(got, "tenant"));
	json_decref(got);
	got = gw_audit_next(audit, "run_started");
	ck_assert_str_eq(tk_text(got, "payload.user_id"), "ann");
	ck_assert_str_eq(
	    tk_text(got, "payload.run_id"), "20260221T091252-codex-0e67f51a");
	ck_assert_str_eq(tk_text(got, "payload.reason"), "codex");
	json_decref(got);
	check_errors(sub, "POST", RUNS, START);
	gw_rejects(&b, "POST", RUNS, "{\"engine\":\"codex\"}", 400,
	    "/prompt: is missing");
	ck_assert_int_eq(
	    gw_request(&b, &a, "POST", RUNS,
		"{\"engine\":\"codex\",\"prompt\":\"x\",\"skill\":\"y\"}"),
	    400);
	tk_response_free(&a);
	natsSubscription_Destroy(sub);
	natsSubscription_Destroy(audit);
	gateway_fixture_stop(&b);
}

TEST(the_tenant_of_a_caller_is_passed_on)
{
	struct tk_response a = { 0 };
	natsSubscription *sub;
	struct tk_http c;
	json_t *got;

	gw_start_with_tokens(&b);
	sub = tk_nats_listen(b.nc, "soul.rpc.run.start");
	tk_http_open(&c, b.gateway.http);
	tk_http_puts(&c,
	    "POST " RUNS " HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
	    "Bearer " TOKEN_ACME_ANN "\r\nContent-Type: application/json\r\n"
	    "Content-Length: 35\r\n\r\n"
	    "{\"engine\":\"codex\",\"prompt\":\"hello\"}");
	runner_reply(runner_take(sub, &got), RUN_JSON);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, 202);
	ck_assert_str_eq(tk_text(got, "user_id"), "acme/ann");
	ck_assert_str_eq(tk_text(got, "tenant"), "acme");
	json_decref(got);
	tk_http_close(&c);
	tk_response_free(&a);
	natsSubscription_Destroy(sub);
	gateway_fixture_stop(&b);
}

/* ---- records ---- */

static void
path_of(char dst[160], const char *id, const char *what)
{
	snprintf(dst, 160, RUNS "/%s%s%suser_id=ann", id, what,
	    strchr(what, '?') != NULL ? "&" : "?");
}

TEST(records_are_shown_without_a_runner)
{
	char id[RUN_ID_MAX], path[160];
	struct run_record rec;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	path_of(path, id, "");
	j = gw_json(&b, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "run_id"), id);
	ck_assert_str_eq(tk_text(j, "state"), "queued");
	ck_assert_str_eq(tk_text(j, "runner"), "r1");
	ck_assert_str_eq(tk_text(j, "request.prompt"), "x");
	ck_assert_int_eq(tk_int(j, "events"), 0);
	ck_assert_ptr_null(json_object_get(j, "interaction"));
	json_decref(j);
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	ck_assert_int_eq(
	    run_fixture_publish(b.db.s, &rec, RUN_IS_WAITING, 2, 3), RC_OK);
	j = gw_json(&b, "GET", path, NULL);
	ck_assert_str_eq(tk_text(j, "state"), "waiting_user");
	ck_assert_int_eq(tk_int(j, "attempt"), 1);
	ck_assert_str_eq(tk_text(j, "session_id"), "session-1");
	ck_assert_str_eq(tk_text(j, "facts.engine_version"), "1.2");
	ck_assert_str_eq(tk_text(j, "interaction.interaction_id"), "ix_1");
	ck_assert_str_eq(tk_text(j, "interaction.prompt"), "Which?");
	ck_assert_int_eq(tk_int(j, "events"), 2);
	ck_assert_int_eq(tk_int(j, "rasp_events"), 3);
	ck_assert_ptr_nonnull(json_object_get(j, "reply_until"));
	json_decref(j);
	gw_rejects(&b, "GET", RUNS "/x", NULL, 404, "run not found");
	gw_rejects(&b, "GET", RUNS "/20260221T091252-codex-0e67f51a", NULL, 404,
	    "run not found");
	gateway_fixture_stop(&b);
}

TEST(runs_are_listed_page_by_page)
{
	struct run_new n = run_fixture_new();
	char ids[5][RUN_ID_MAX], path[160];
	size_t i, seen = 0, k;
	json_t *j, *next;

	gateway_fixture_start_alone(&b, NULL);
	for (i = 0; i < 5; i++) {
		n.at.ms += 1000;
		ck_assert_int_eq(run_create(b.db.s, &n), RC_OK);
		str_copy(str_of(n.run_id), ids[i], RUN_ID_MAX);
	}
	snprintf(path, sizeof(path), RUNS "?user_id=ann&limit=2");
	for (k = 0; k < 3; k++) {
		j = gw_json(&b, "GET", path, NULL);
		for (i = 0; i < gw_items_n(j); i++) {
			json_t *run =
			    json_array_get(json_object_get(j, "items"), i);

			ck_assert_str_eq(tk_text(run, "run_id"), ids[4 - seen]);
			seen++;
		}
		next = json_object_get(j, "next");
		ck_assert((next == NULL) == (k == 2));
		if (next != NULL)
			snprintf(path, sizeof(path),
			    RUNS "?user_id=ann&limit=2&cursor=%s",
			    json_string_value(next));
		json_decref(j);
	}
	ck_assert_uint_eq(seen, 5);
	j = gw_json(&b, "GET", RUNS "?user_id=bob", NULL);
	ck_assert_uint_eq(gw_items_n(j), 0);
	json_decref(j);
	gw_rejects(
	    &b, "GET", RUNS "?limit=0", NULL, 400, "limit: must be 1 to 200");
	gw_rejects(&b, "GET", RUNS "?cursor=x", NULL, 400,
	    "cursor: must be the next of the page before");
	gateway_fixture_stop(&b);
}

TEST(a_run_that_has_ended_is_deleted)
{
	char id[RUN_ID_MAX], path[160];
	natsSubscription *wake, *audit;
	struct run_record rec;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	wake = tk_nats_listen(b.nc, "soul.run.wake.r1");
	audit = gw_audit_subscribe(&b);
	run_fixture_create(b.db.s, id);
	path_of(path, id, "");
	gw_rejects(&b, "DELETE", path, NULL, 409,
	    "the run has not ended: cancel it first");
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	ck_assert_int_eq(
	    run_fixture_publish(b.db.s, &rec, RUN_IS_FAILED, 1, 1), RC_OK);
	gw_ok(&b, "DELETE", path, NULL);
	gw_rejects(&b, "DELETE", path, NULL, 404, "run not found");
	gw_rejects(&b, "GET", path, NULL, 404, "run not found");
	/* Its runner cleans up. */
	j = tk_nats_next(wake, GW_MS, NULL);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_text(j, "run_id"), id);
	json_decref(j);
	j = gw_audit_next(audit, "run_deleted");
	ck_assert_str_eq(tk_text(j, "payload.run_id"), id);
	json_decref(j);
	natsSubscription_Destroy(wake);
	natsSubscription_Destroy(audit);
	gateway_fixture_stop(&b);
}

/* ---- reply, cancel ---- */

TEST(replies_and_cancels_go_to_any_runner)
{
	char id[RUN_ID_MAX], path[160];
	natsSubscription *replies, *cancels, *audit;
	json_t *got;

	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	snprintf(path, sizeof(path), RUNS "/%s/reply", id);
	gw_rejects(&b, "POST", path,
	    "{\"interaction_id\":\"ix_1\",\"content\":\"a\"}", 503, NO_RUNNER);
	replies = tk_nats_listen(b.nc, "soul.rpc.run.reply");
	cancels = tk_nats_listen(b.nc, "soul.rpc.run.cancel");
	audit = gw_audit_subscribe(&b);
	got = through_runner(replies, "POST", path,
	    "{\"user_id\":\"ann\",\"interaction_id\":\"ix_1\","
	    "\"content\":\"[\\\"a\\\"]\",\"idempotency_key\":\"k\"}",
	    RUN_JSON, 200);
	ck_assert_str_eq(tk_text(got, "run_id"), id);
	ck_assert_str_eq(tk_text(got, "user_id"), "ann");
	ck_assert_str_eq(tk_text(got, "interaction_id"), "ix_1");
	ck_assert_str_eq(tk_text(got, "content"), "[\"a\"]");
	ck_assert_str_eq(tk_text(got, "idempotency_key"), "k");
	json_decref(got);
	check_errors(replies, "POST", path,
	    "{\"interaction_id\":\"ix_1\",\"content\":\"a\"}");
	gw_rejects(&b, "POST", path, "{\"interaction_id\":\"ix_1\"}", 400,
	    "/content: is missing");
	path_of(path, id, "/cancel");
	got = through_runner(cancels, "POST", path, NULL,
	    "{\"run_id\":\"20260221T091252-codex-0e67f51a\","
	    "\"accepted\":true,\"state\":\"running\"}",
	    200);
	ck_assert_str_eq(tk_text(got, "run_id"), id);
	ck_assert_str_eq(tk_text(got, "user_id"), "ann");
	json_decref(got);
	json_decref(gw_audit_next(audit, "run_canceled"));
	check_errors(cancels, "POST", path, NULL);
	gw_rejects(&b, "POST", RUNS "/x/cancel", NULL, 404, "run not found");
	natsSubscription_Destroy(replies);
	natsSubscription_Destroy(cancels);
	natsSubscription_Destroy(audit);
	gateway_fixture_stop(&b);
}

/* ---- events ---- */

#define REQUIRED "user.input.required"

static void
publish(struct run_record *rec, enum run_status status, size_t n)
{
	ck_assert_int_eq(run_fixture_publish(b.db.s, rec, status, n, n), RC_OK);
}

TEST(the_events_of_a_run_end_with_it)
{
	char id[RUN_ID_MAX], path[160];
	struct run_answer r = { .user_id = STR("ann"),
		.question_id = STR("ix_1"),
		.content = STR("yes") };
	struct run_record rec;
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	path_of(path, id, "/events?cursor=0");
	tk_sse_open(&s, b.gateway.http, path);
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	publish(&rec, RUN_IS_RUNNING, 2);
	tk_sse_is(&s, 1, STARTED);
	tk_sse_is(&s, 2, DELTA);
	publish(&rec, RUN_IS_WAITING, 1);
	tk_sse_is(&s, 3, REQUIRED);
	/* A question is no end. */
	r.run_id = str_of(id);
	ck_assert_int_eq(run_reply(b.db.s, &r, b.db.arena, &rec), RC_OK);
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	publish(&rec, RUN_IS_RUNNING, 1);
	tk_sse_is(&s, 4, DELTA);
	publish(&rec, RUN_IS_SUCCEEDED, 2);
	tk_sse_is(&s, 5, DELTA);
	tk_sse_is(&s, 6, COMPLETED);
	ck_assert(tk_sse_ends(&s, GW_MS));
	tk_sse_close(&s);
	/* From a cursor on; the header takes precedence. */
	path_of(path, id, "/events?cursor=1");
	tk_sse_send(&s, b.gateway.http, path, "4");
	tk_sse_begun(&s);
	tk_sse_is(&s, 5, DELTA);
	tk_sse_is(&s, 6, COMPLETED);
	ck_assert(tk_sse_ends(&s, GW_MS));
	tk_sse_close(&s);
	/* From its start without one, and nothing behind the last. */
	path_of(path, id, "/events");
	tk_sse_open(&s, b.gateway.http, path);
	tk_sse_is(&s, 1, STARTED);
	tk_sse_close(&s);
	tk_sse_send(&s, b.gateway.http, path, "6");
	tk_sse_begun(&s);
	ck_assert(tk_sse_ends(&s, GW_MS));
	tk_sse_close(&s);
	path_of(path, id, "/events?cursor=x");
	gw_rejects(&b, "GET", path, NULL, 400,
	    "cursor: must be the seq of an event, or 0");
	gw_rejects(&b, "GET", RUNS "/x/events", NULL, 404, "run not found");
	gateway_fixture_stop(&b);
}

/* RASP as the runner writes it: the last one has a type of its own. */
static void
publish_rasp(struct run_record *rec, enum run_status status, const char *type)
{
	char text[256];
	struct str json;
	struct run_publish p = { .run_id = rec->run_id,
		.user_id = rec->user_id,
		.workspace = rec->workspace,
		.epoch = rec->epoch,
		.fcmp = rec->fcmp,
		.rasp = rec->rasp,
		.rasp_json = &json,
		.n_rasp = 1,
		.status = status,
		.keep_ms = 600000 };

	snprintf(text, sizeof(text),
	    "{\"data\":{\"event\":{\"type\":\"run.failed\"}},"
	    "\"event\":{\"category\":\"lifecycle\",\"type\":\"%s\"}}",
	    type);
	json = str_of(text);
	ck_assert_int_eq(run_publish(b.db.s, &p), RC_OK);
	rec->rasp++;
}

TEST(rasp_events_end_with_the_run)
{
	char id[RUN_ID_MAX], path[160];
	struct run_record rec;
	struct tk_sse_event e;
	struct tk_sse s;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	path_of(path, id, "/rasp?cursor=0");
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	publish_rasp(&rec, RUN_IS_RUNNING, "run.started");
	tk_sse_open(&s, b.gateway.http, path);
	publish_rasp(&rec, RUN_IS_RUNNING, "run.usage");
	publish_rasp(&rec, RUN_IS_SUCCEEDED, "run.completed");
	for (i = 1; i <= 3; i++) {
		ck_assert(tk_sse_next(&s, GW_MS, &e));
		ck_assert_str_eq(e.name, "run_event");
		ck_assert_int_eq(atoi(e.id), i);
		ck_assert_str_eq(tk_text(e.j, "event.type"),
		    i == 1       ? "run.started"
			: i == 2 ? "run.usage"
				 : "run.completed");
		json_decref(e.j);
	}
	ck_assert(tk_sse_ends(&s, GW_MS));
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* ---- output ---- */

TEST(output_and_files_come_from_the_runner_that_has_them)
{
	static const char *const bad[][2] = {
		{ "/logs", "stream: must be stdout or stderr" },
		{ "/logs?stream=x", "stream: must be stdout or stderr" },
		{ "/logs?stream=stdout&attempt=2",
		    "attempt: must be the number of an attempt" },
		{ "/logs?stream=stdout&from=-1",
		    "from: must be a number of bytes" },
		{ "/logs?stream=stdout&from=3&to=2",
		    "to: must be a number of bytes that is not below from" },
		{ "/files/content", "path: must be a file in the workspace" },
		{ "/files/content?path=/etc/passwd",
		    "path: must be a file in the workspace" },
		{ "/files/content?path=a/../b",
		    "path: must be a file in the workspace" },
		{ "/files/content?path=..",
		    "path: must be a file in the workspace" },
		{ "/files/content?path=a&from=x",
		    "from: must be a number of bytes" },
	};
	char id[RUN_ID_MAX], path[160], reply[512];
	natsSubscription *logs, *files, *file;
	struct run_record rec;
	json_t *got;
	size_t i;

	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	path_of(path, id, "/logs?stream=stdout");
	gw_rejects(
	    &b, "GET", path, NULL, 410, "no attempt of the run has begun");
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
	publish(&rec, RUN_IS_RUNNING, 1);
	gw_rejects(&b, "GET", path, NULL, 503,
	    "the run's runner does not answer: see that it runs");
	logs = tk_nats_listen(b.nc, "soul.rpc.run.logs.r1");
	files = tk_nats_listen(b.nc, "soul.rpc.run.files.r1");
	file = tk_nats_listen(b.nc, "soul.rpc.run.file.r1");
	for (i = 0; i < NELEM(bad); i++) {
		path_of(path, id, bad[i][0]);
		gw_rejects(&b, "GET", path, NULL, 400, bad[i][1]);
	}
	path_of(path, id, "/logs?stream=stderr&from=10&to=13");
	snprintf(reply, sizeof(reply),
	    "{\"run_id\":\"%s\",\"attempt\":1,\"stream\":\"stderr\","
	    "\"from\":10,\"next\":13,\"size\":20,\"data\":\"YWJj\"}",
	    id);
	got = through_runner(logs, "GET", path, NULL, reply, 200);
	ck_assert_str_eq(tk_text(got, "run_id"), id);
	ck_assert_int_eq(tk_int(got, "attempt"), 1);
	ck_assert_str_eq(tk_text(got, "stream"), "stderr");
	ck_assert_int_eq(tk_int(got, "from"), 10);
	ck_assert_int_eq(tk_int(got, "to"), 13);
	json_decref(got);
	check_errors(logs, "GET", path, NULL);
	path_of(path, id, "/files");
	snprintf(reply, sizeof(reply),
	    "{\"run_id\":\"%s\",\"items\":[{\"path\":\"a\",\"change\":"
	    "\"deleted\"}],\"truncated\":false}",
	    id);
	json_decref(through_runner(files, "GET", path, NULL, reply, 200));
	path_of(path, id, "/files/content?path=src/a%20b.c");
	snprintf(reply, sizeof(reply),
	    "{\"run_id\":\"%s\",\"path\":\"src/a b.c\",\"from\":0,\"next\":3,"
	    "\"size\":3,\"data\":\"YWJj\"}",
	    id);
	got = through_runner(file, "GET", path, NULL, reply, 200);
	ck_assert_str_eq(tk_text(got, "path"), "src/a b.c");
	json_decref(got);
	natsSubscription_Destroy(logs);
	natsSubscription_Destroy(files);
	natsSubscription_Destroy(file);
	gateway_fixture_stop(&b);
}

/* ---- engines ---- */

static void
renew(const char *runner, const char *engines)
{
	char status[512];

	snprintf(status, sizeof(status),
	    "{\"runner\":\"%s\",\"engines\":[%s],\"isolation\":"
	    "[\"landlock\"],\"places\":8,\"free\":5}",
	    runner, engines);
	ck_assert_int_eq(
	    run_runner_renew(b.db.s, str_of(runner), str_of(status)), RC_OK);
}

#define CODEX(version) "{\"engine\":\"codex\",\"version\":\"" version "\"}"
#define GEMINI_OF_ACME \
	"{\"engine\":\"gemini\",\"version\":\"1\",\"tenants\":[\"acme\"]}"

TEST(engines_are_those_of_runners_that_live)
{
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	j = gw_json(&b, "GET", "/v1/engines", NULL);
	ck_assert_uint_eq(gw_items_n(j), 0);
	json_decref(j);
	renew("r1", CODEX("1") "," GEMINI_OF_ACME);
	renew("r2", CODEX("2"));
	renew("r3", CODEX("3"));
	ck_assert_int_eq(run_runner_end(b.db.s, STR("r3")), RC_OK);
	ck_assert_int_eq(
	    run_runner_renew(b.db.s, STR("r4"), STR("no json")), RC_OK);
	j = gw_json(&b, "GET", "/v1/engines", NULL);
	ck_assert_uint_eq(gw_items_n(j), 2);
	ck_assert_str_eq(tk_text(j, "items.0.engine"), "codex");
	ck_assert_int_eq(tk_int(j, "items.0.places"), 16);
	ck_assert_int_eq(tk_int(j, "items.0.free"), 10);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items.0.runners")), 2);
	ck_assert_str_eq(tk_text(j, "items.1.engine"), "gemini");
	json_decref(j);
	gateway_fixture_stop(&b);
}

TEST(engines_of_other_tenants_are_not_listed)
{
	json_t *j;

	gw_start_with_tokens(&b);
	renew("r1", CODEX("1") "," GEMINI_OF_ACME);
	j = gw_json_as(&b, TOKEN_ANN, "GET", "/v1/engines", NULL);
	ck_assert_uint_eq(gw_items_n(j), 1);
	json_decref(j);
	renew("r1", CODEX("1") "," GEMINI_OF_ACME);
	j = gw_json_as(&b, TOKEN_ACME_ANN, "GET", "/v1/engines", NULL);
	ck_assert_uint_eq(gw_items_n(j), 2);
	json_decref(j);
	gateway_fixture_stop(&b);
}
