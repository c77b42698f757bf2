/*
 * known: a bed whose gateway knows its callers, and requests in their names.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "core/mem.h"
#include "peer.h"
#include "testkit/tokens.h"

#define DEMO             "t-demo"
#define TWIN             "t-twin"
#define ANN              "t-ann"
#define BOB              "t-bob"
#define ACME_ANN         "t-acme-ann"
#define ACME_EVE         "t-acme-eve"
#define LAMP             "t-lamp"
#define ACME_LAMP        "t-acme-lamp"
#define PROVISIONER      "t-provisioner"
#define ACME_PROVISIONER "t-acme-provisioner"
#define ROOT             "t-root"
#define ACME_OP          "t-acme-operator"

static const struct tk_token known_tokens[] = {
	{ DEMO, "\"role\":\"owner\",\"user\":\"demo-user\"" },
	{ TWIN,
	    "\"role\":\"owner\",\"user\":\"demo-user\",\"tenant\":\"acme\"" },
	{ ANN, "\"role\":\"owner\",\"user\":\"ann\"" },
	{ BOB, "\"role\":\"owner\",\"user\":\"bob\"" },
	{ ACME_ANN, "\"role\":\"owner\",\"user\":\"ann\",\"tenant\":\"acme\"" },
	{ ACME_EVE, "\"role\":\"owner\",\"user\":\"eve\",\"tenant\":\"acme\"" },
	{ LAMP, "\"role\":\"terminal\",\"terminal_id\":\"lamp\"" },
	{ ACME_LAMP,
	    "\"role\":\"terminal\",\"terminal_id\":\"lamp\","
	    "\"tenant\":\"acme\"" },
	{ PROVISIONER, "\"role\":\"provisioner\"" },
	{ ACME_PROVISIONER, "\"role\":\"provisioner\",\"tenant\":\"acme\"" },
	{ ROOT, "\"role\":\"operator\"" },
	{ ACME_OP, "\"role\":\"operator\",\"tenant\":\"acme\"" },
};

static inline void
known_start(struct bed *b)
{
	const char *path = tk_path("tokens.json");
	char file[300];

	tk_tokens_write(path, known_tokens, NELEM(known_tokens));
	snprintf(file, sizeof(file), "AUTH_TOKENS=%s", path);
	bed_start(b,
	    TK_ENV(file, "RATE_TOKEN_PER_S=100000", "RATE_TOKEN_BURST=100000"));
}

/* The status of a request with a token (NULL: none). */
static inline int
ask_as(struct bed *b, struct tk_answer *a, const char *token,
    const char *method, const char *path, const char *body)
{
	const char *text = body != NULL ? body : "";

	return tk_http_call(b->gateway.http, a,
	    "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s"
	    "Content-Length: %zu\r\n\r\n%s",
	    method, path, token != NULL ? "Authorization: Bearer " : "",
	    token != NULL ? token : "", token != NULL ? "\r\n" : "",
	    strlen(text), text);
}

/* What is answered 200. */
static inline json_t *
take_as(struct bed *b, const char *token, const char *method, const char *path,
    const char *body)
{
	struct tk_answer a = { 0 };
	json_t *j;

	ask_as(b, &a, token, method, path, body);
	ck_assert_msg(a.status == 200, "%s %s %s by %s: %d %s", method, path,
	    body != NULL ? body : "", token, a.status, a.body.p);
	j = answer_json(&a, 200);
	tk_answer_free(&a);
	return j;
}

static inline void
done_as(struct bed *b, const char *token, const char *method, const char *path,
    const char *body)
{
	json_decref(take_as(b, token, method, path, body));
}

/*
 * What is refused: want has the status and, behind a blank, what is in the
 * error's text.
 */
static inline void
refused_as(struct bed *b, const char *token, const char *method,
    const char *path, const char *body, const char *want)
{
	struct tk_answer a = { 0 };
	char *text;
	int status = (int)strtol(want, &text, 10);
	json_t *j;

	text++;
	ask_as(b, &a, token, method, path, body);
	ck_assert_msg(a.status == status, "%s %s %s by %s: %d %s", method, path,
	    body != NULL ? body : "", token != NULL ? token : "nobody",
	    a.status, a.body.p);
	j = answer_json(&a, status);
	ck_assert_msg(strstr(tk_text(j, "error"), text) != NULL,
	    "%s %s by %s: %s", method, path, token != NULL ? token : "nobody",
	    a.body.p);
	json_decref(j);
	tk_answer_free(&a);
}

static inline void
soul_as(struct bed *b, const char *token, const char *name, char id[SOUL_ID])
{
	char body[128];
	json_t *j;

	snprintf(body, sizeof(body), "{\"name\":\"%s\",\"mbti_type\":\"INFP\"}",
	    name);
	j = take_as(b, token, "POST", "/v1/souls", body);
	snprintf(id, SOUL_ID, "%s", tk_text(j, "soul_id"));
	json_decref(j);
}

/* A body's answer to being minted or rotated; more are other members, or "". */
static inline json_t *
mint_as(
    struct bed *b, const char *token, const char *terminal, const char *more)
{
	char body[512];

	snprintf(
	    body, sizeof(body), "{\"terminal_id\":\"%s\"%s}", terminal, more);
	return take_as(b, token, "POST", "/v1/terminals", body);
}

static inline void
minted(struct bed *b, const char *token, const char *terminal)
{
	json_decref(mint_as(b, token, terminal, ""));
}

/* Bind a terminal; want is NULL, or as of refused_as(). */
static inline void
select_as(struct bed *b, const char *token, const char *terminal,
    const char *soul, const char *want)
{
	char body[256];

	snprintf(body, sizeof(body),
	    "{\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}", terminal, soul);
	if (want == NULL)
		done_as(b, token, "POST", "/v1/souls/select", body);
	else
		refused_as(b, token, "POST", "/v1/souls/select", body, want);
}

#define WORDS                    \
	"\"session_id\":\"s1\"," \
	"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]"

/* Chat through a terminal, which is to be refused. */
static inline void
no_chat_as(
    struct bed *b, const char *token, const char *terminal, const char *want)
{
	char body[512];

	snprintf(
	    body, sizeof(body), "{\"terminal_id\":\"%s\"," WORDS "}", terminal);
	refused_as(b, token, "POST", "/v1/chat", body, want);
}

static inline void
chat_as(struct bed *b, const char *token, const char *terminal)
{
	char body[512];

	snprintf(
	    body, sizeof(body), "{\"terminal_id\":\"%s\"," WORDS "}", terminal);
	done_as(b, token, "POST", "/v1/chat", body);
}

#endif /* !KNOWN_H */
