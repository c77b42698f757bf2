/*
 * A language model that does not answer: the log names the cause, the client
 * gets a word for it, and neither keys nor what was said reach the log.
 */
#include "talk.h"

#define KEY    "sk-proj-Q7vWx2LmN9tRb4"
#define SAID   "我把钥匙藏在花盆下面了"
#define SECRET "SecretWordsOfTheUser"

/* What the provider says repeats all that it was sent. */
#define ECHO(text)                                                             \
	"{\"error\":{\"message\":\"" text " " KEY " and sk-p**tRb4, " SAID " " \
	"\\\\u6211 " SECRET "\",\"type\":\"x\"}}"

static const struct {
	int status;
	int tries;
	const char *body, *fault_code, *reason, *log;
	int fault;
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
	    "", "the answer is not JSON", 502 },
};

static void
log_is_clean(struct bed *b)
{
	static const char *const never[] = { KEY, "Q7vWx2LmN9", "tRb4", "花盆",
		"钥匙", "u6211", SECRET };

	for (size_t i = 0; i < NELEM(never); i++)
		ck_assert_msg(!kit_log_has(&b->orch[0].proc, never[i]),
		    "the log has %s", never[i]);
}

KIT_TEST_T(a_failure_names_its_cause_and_nothing_else, 120)
{
	struct bed b = { .more = { "OPENAI_API_KEY=" KEY } };
	struct talk t;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		for (int k = 0; k < rows[i].tries; k++)
			model_will(&b.model, rows[i].status, 0,
			    mem_strdup(rows[i].body));
		talk_start(&t, &b, SAID " " SECRET);
		talk_want_fault(&t, rows[i].fault, rows[i].fault_code);
		ck_assert_str_eq(rows[i].reason[0] != '\0'
			? text_at(t.end, "error.reason")
			: "",
		    rows[i].reason);
		talk_close(&t);
		ck_assert_msg(kit_log_has(&b.orch[0].proc, rows[i].log),
		    "%d: no %s", rows[i].status, rows[i].log);
		/* The next turn works. */
		model_will_say(&b.model, "在。", NULL);
		talk_start(&t, &b, "你好");
		talk_want(&t, .reply = "在。", .executed = "", .failed = "");
		talk_close(&t);
	}
	ck_assert(kit_log_has(&b.orch[0].proc, "ev=llm.failed"));
	ck_assert(kit_log_has(&b.orch[0].proc, "model=gpt-4o-mini"));
	ck_assert(kit_log_has(&b.orch[0].proc, "/v1/chat/completions"));
	log_is_clean(&b);
	bed_stop(&b);
}

static char *
readyz(struct bed *b, int *status)
{
	struct kit_http c = { 0 };
	struct kit_answer a = { 0 };
	char *text;

	kit_http_open(&c, b->orch[0].admin);
	ck_assert(kit_http_puts(
	    &c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	ck_assert(kit_http_read(&c, &a, 2000));
	*status = a.status;
	text = mem_strdup(a.body.p);
	kit_answer_free(&a);
	kit_http_close(&c);
	return text;
}

KIT_TEST_T(readyz_shows_the_model_and_does_not_fail_on_it, 60)
{
	struct bed b;
	struct talk t;
	int status;
	char *text;

	bed_start(&b, 1);
	peers_set(&b.peers, filter, FALLBACK);
	text = readyz(&b, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(text, "ok\nlanguage model openai: not asked yet\n");
	free(text);
	model_will(&b.model, 401, 0, mem_strdup("{}"));
	talk_start(&t, &b, "你好");
	talk_want_fault(&t, 502, "llm_unavailable");
	talk_close(&t);
	text = readyz(&b, &status);
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(text, "ok\nlanguage model openai: unauthorized\n");
	free(text);
	model_will_say(&b.model, "在。", NULL);
	talk_start(&t, &b, "你好");
	talk_want(&t, .reply = "在。", .executed = "", .failed = "");
	talk_close(&t);
	text = readyz(&b, &status);
	ck_assert_str_eq(text, "ok\nlanguage model openai: ok\n");
	free(text);
	bed_stop(&b);
}
