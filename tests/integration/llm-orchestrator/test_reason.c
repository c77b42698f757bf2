/*
 * A language model that fails: the log names the cause, the client gets a
 * reason, and neither keys nor the conversation are logged.
 */
#include "testkit/http.h"
#include "testkit/orch_fixture.h"

#define KEY       "sk-proj-Q7vWx2LmN9tRb4"
#define USER_TEXT "我把钥匙藏在花盆下面了"
#define SECRET    "SecretWordsOfTheUser"

/* The provider's error quotes the whole request. */
#define ECHO(text)                                \
	"{\"error\":{\"message\":\"" text " " KEY \
	" and sk-p**tRb4, " USER_TEXT " "         \
	"\\\\u6211 " SECRET "\",\"type\":\"x\"}}"

static const struct {
	int status;
	int tries;
	const char *body, *error_code, *reason, *log;
	int failure;
} rows[] = {
	{ 401, 1, ECHO("Incorrect API key provided:"), "llm_unavailable",
	    "unauthorized", "status=401 rc=denied reason=unauthorized", 502 },
	{ 403, 1, ECHO("not allowed"), "llm_unavailable", "unauthorized",
	    "status=403", 502 },
	{ 404, 1, ECHO("The model does not exist"), "llm_unavailable",
	    "not_found", "reason=not_found", 502 },
	{ 404, 1, "<html><body>404 page not found</body></html>",
	    "llm_unavailable", "not_found", "page not found", 502 },
	{ 500, 3, ECHO("it broke"), "llm_unavailable", "overloaded",
	    "status=500", 502 },
	{ 429, 3, ECHO("slow down"), "overloaded", "overloaded", "status=429",
	    503 },
	{ 0, 3, "", "llm_unavailable", "unreachable", "reason=unreachable",
	    502 },
	{ 400, 1, ECHO("bad request"), "llm_unavailable", "", "status=400",
	    502 },
	{ 200, 1, "<!doctype html><title>Welcome</title>", "llm_unavailable",
	    "", "the response is not JSON", 502 },
};

static void
log_is_clean(struct orch_fixture *b)
{
	static const char *const never[] = { KEY, "Q7vWx2LmN9", "tRb4", "花盆",
		"钥匙", "u6211", SECRET };

	for (size_t i = 0; i < NELEM(never); i++)
		ck_assert_msg(!tk_log_has(&b->orch[0].proc, never[i]),
		    "the log has %s", never[i]);
}

TEST_T(a_failure_is_logged_with_its_cause_only, 120)
{
	struct orch_fixture b = { .more = { "OPENAI_API_KEY=" KEY } };
	struct orch_turn t;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		for (int k = 0; k < rows[i].tries; k++)
			orch_model_respond(&b.model, rows[i].status, 0,
			    mem_strdup(rows[i].body));
		orch_turn_start(&t, &b, USER_TEXT " " SECRET);
		orch_ck_failed(&t, rows[i].failure, rows[i].error_code);
		ck_assert_str_eq(rows[i].reason[0] != '\0'
			? orch_text(t.end, "error.reason")
			: "",
		    rows[i].reason);
		orch_turn_close(&t);
		ck_assert_msg(tk_log_has(&b.orch[0].proc, rows[i].log),
		    "%d: no %s", rows[i].status, rows[i].log);
		/* The next turn works. */
		orch_model_reply(&b.model, "在。", NULL);
		orch_turn_start(&t, &b, "你好");
		orch_ck_completed(
		    &t, .reply = "在。", .executed = "", .failed = "");
		orch_turn_close(&t);
	}
	ck_assert(tk_log_has(&b.orch[0].proc, "ev=llm.failed"));
	ck_assert(tk_log_has(&b.orch[0].proc, "model=gpt-4o-mini"));
	ck_assert(tk_log_has(&b.orch[0].proc, "/v1/chat/completions"));
	log_is_clean(&b);
	orch_fixture_stop(&b);
}

static char *
readyz(struct orch_fixture *b, int *status)
{
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	char *text;

	tk_http_open(&c, b->orch[0].admin);
	ck_assert(tk_http_puts(
	    &c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	ck_assert(tk_http_read(&c, &a, 2000));
	*status = a.status;
	text = mem_strdup(a.body.p);
	tk_response_free(&a);
	tk_http_close(&c);
	return text;
}

TEST_T(readyz_shows_the_model_and_does_not_fail_on_it, 60)
{
	struct orch_fixture b;
	struct orch_turn t;
	int status;
	char *text;

	orch_fixture_start(&b, 1);
	orch_peers_set(&b.peers, filter, INTENT_FALLBACK);
	text = readyz(&b, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(text, "ok\nlanguage model openai: not called yet\n");
	free(text);
	orch_model_respond(&b.model, 401, 0, mem_strdup("{}"));
	orch_turn_start(&t, &b, "你好");
	orch_ck_failed(&t, 502, "llm_unavailable");
	orch_turn_close(&t);
	text = readyz(&b, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(text, "ok\nlanguage model openai: unauthorized\n");
	free(text);
	orch_model_reply(&b.model, "在。", NULL);
	orch_turn_start(&t, &b, "你好");
	orch_ck_completed(&t, .reply = "在。", .executed = "", .failed = "");
	orch_turn_close(&t);
	text = readyz(&b, &status);
	ck_assert_str_eq(text, "ok\nlanguage model openai: ok\n");
	free(text);
	orch_fixture_stop(&b);
}

/* Runs "check-llm" with that file of providers; returns its exit code. */
static int
check_llm(struct tk_proc *p, const char *name, const char *const env[])
{
	const char *const argv[] = { tk_bin("llm-orchestrator"), "check-llm",
		NULL };

	tk_spawn(p, name, argv, env);
	return tk_wait(p, ORCH_WAIT_MS);
}

TEST_T(check_llm_reports_each_failure, 60)
{
	const char *path = tk_path("providers.json");
	char file[300], json[1024];
	struct tk_proc p;
	struct orch_model m;
	int closed = tk_port();

	orch_model_start(&m);
	(void)snprintf(file, sizeof(file), "LLM_PROVIDERS=%s", path);
	(void)snprintf(json, sizeof(json),
	    "{\"providers\":["
	    "{\"name\":\"good\",\"kind\":\"openai\",\"model\":\"m\","
	    "\"base_url\":\"http://127.0.0.1:%d/v1\"},"
	    "{\"name\":\"key\",\"kind\":\"openai\",\"model\":\"m\","
	    "\"api_key\":\"" KEY "\","
	    "\"base_url\":\"http://127.0.0.1:%d/v1\"},"
	    "{\"name\":\"path\",\"kind\":\"openai\",\"model\":\"m\","
	    "\"base_url\":\"http://127.0.0.1:%d\"},"
	    "{\"name\":\"none\",\"kind\":\"openai\",\"model\":\"m\","
	    "\"base_url\":\"http://127.0.0.1:%d/v1\"}]}",
	    m.port, m.port, m.port, closed);
	tk_write_file(path, json);
	orch_model_reply(&m, "pong", NULL);
	orch_model_respond(&m, 401, 0, mem_strdup(ECHO("wrong key")));
	orch_model_respond(&m, 404, 0, mem_strdup("<html>404</html>"));
	ck_assert_int_eq(
	    check_llm(&p, "check", ((const char *const[]){ file, NULL })), 1);
	ck_assert(tk_log_has(&p, "good: ok\n"));
	ck_assert(tk_log_has(&p, "key: unauthorized (status 401); check "));
	ck_assert(tk_log_has(&p, "path: not_found (status 404); check "));
	ck_assert(tk_log_has(&p, "none: unreachable (status 0); check "));
	ck_assert(!tk_log_has(&p, KEY));
	orch_model_stop(&m);
	ck_assert_int_eq(
	    check_llm(&p, "wrong",
		((const char *const[]){ "LLM_PROVIDERS=/none", NULL })),
	    78);
	ck_assert(tk_log_has(&p, "LLM_PROVIDERS: cannot use"));
}

TEST_T(check_llm_succeeds_when_all_do, 60)
{
	struct tk_proc p;
	struct orch_model m;
	char url[64];

	orch_model_start(&m);
	(void)snprintf(
	    url, sizeof(url), "OPENAI_BASE_URL=http://127.0.0.1:%d/v1", m.port);
	orch_model_reply(&m, "pong", NULL);
	ck_assert_int_eq(
	    check_llm(&p, "all", ((const char *const[]){ url, NULL })), 0);
	ck_assert(tk_log_has(&p, "openai: ok\n"));
	orch_model_stop(&m);
}
