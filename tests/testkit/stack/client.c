/* libcurl, one connection per call. */
#include "testkit/stack/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/secrets.h"
#include "testkit/stack/verdict.h"
#include "wire/wire.h"

#define CALL_MS 130000L

static _Thread_local struct {
	const char *token, *from;
} identity;

void
client_set_identity(const char *token, const char *from)
{
	identity.token = token;
	identity.from = from;
}

void
client_get_identity(const char **token, const char **from)
{
	*token = identity.token;
	*from = identity.from;
}

static size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	buf_put(b, p, size * n);
	return size * n;
}

/* Returns the status and appends the body to out; 0 without a response. */
static int
client_transfer(
    const char *url, const char *method, const char *body, struct buf *out)
{
	struct curl_slist *head =
	    curl_slist_append(NULL, "Content-Type: application/json");
	CURL *c = curl_easy_init();
	long status = 0;
	char bearer[512];

	ck_assert_ptr_nonnull(c);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, CALL_MS);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
	if (body != NULL)
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	if (identity.token != NULL) {
		snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s",
		    identity.token);
		head = curl_slist_append(head, bearer);
	}
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, head);
	if (identity.from != NULL)
		curl_easy_setopt(c, CURLOPT_INTERFACE, identity.from);
	if (curl_easy_perform(c) == CURLE_OK)
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(c);
	curl_slist_free_all(head);
	return (int)status;
}

json_t *
client_call(
    int port, const char *method, const char *path, json_t *body, int *status)
{
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct verdict v = { 0 };
	struct verdict_http h;
	char url[1024], bare[1024];
	char *text = body != NULL ? json_dumps(body, 0) : NULL;
	const char *secret;
	json_t *j;

	secrets_note_texts(body);
	json_decref(body);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(path, "?"), path);
	*status = client_transfer(url, method, text, &out);
	h = (struct verdict_http){ method, bare, *status, buf_str(&out) };
	if (*status != 0) {
		verdict_http(a, &h, &v);
		ck_assert_msg(!v.wrong, "%s %s: %d %.*s: %s", method, path,
		    *status, STR_ARG(h.body), v.why);
		secret = secrets_in(h.body, false);
		ck_assert_msg(secret == NULL, "%s %s contains the secret %s",
		    method, path, secret);
	}
	j = json_loadb(h.body.p != NULL ? h.body.p : "", h.body.n, 0, NULL);
	free(text);
	buf_free(&out);
	arena_free(a);
	return j;
}

json_t *
client_ok(struct stack *st, const char *method, const char *path, json_t *body)
{
	int status;
	json_t *j = client_call(
	    st->service[STACK_CHAT_GATEWAY].http, method, path, body, &status);
	char *text = j != NULL ? json_dumps(j, 0) : NULL;

	ck_assert_msg(status == 200, "%s %s: %d %s", method, path, status,
	    text != NULL ? text : "");
	free(text);
	return j;
}

const char *
client_rejected(struct stack *st, const char *method, const char *path,
    json_t *body, int status)
{
	static char text[1024];
	int got;
	json_t *j = client_call(
	    st->service[STACK_CHAT_GATEWAY].http, method, path, body, &got);

	ck_assert_msg(
	    got == status, "%s %s: %d, not %d", method, path, got, status);
	snprintf(text, sizeof(text), "%s", tk_text(j, "error"));
	json_decref(j);
	return text;
}

const char *
client_create_soul(
    struct stack *st, const char *user, const char *name, const char *mbti)
{
	static char ids[16][64];
	static size_t next;
	char *id = ids[next++ % 16];
	json_t *j = client_ok(st, "POST", "/v1/souls",
	    json_pack(
		"{ssssss}", "user_id", user, "name", name, "mbti_type", mbti));

	snprintf(id, sizeof(ids[0]), "%s", tk_text(j, "soul_id"));
	json_decref(j);
	return id;
}

void
client_select_soul(
    struct stack *st, const char *user, const char *terminal, const char *soul)
{
	json_decref(client_ok(st, "POST", "/v1/souls/select",
	    json_pack("{ssssss}", "user_id", user, "terminal_id", terminal,
		"soul_id", soul)));
}

json_t *
client_chat_request(const struct client *o, const char *text)
{
	return json_pack("{sssssss[{ssss}]}", "user_id", o->user, "session_id",
	    o->session, "terminal_id", o->terminal, "inputs", "type",
	    "keyboard_text", "text", text);
}

json_t *
client_chat(const struct client *o, const char *text)
{
	return client_ok(
	    o->st, "POST", "/v1/chat", client_chat_request(o, text));
}

struct reply_wait {
	const struct client *o;
	const char *text, *part;
	char reply[1024];
};

static bool
is_replied(void *arg)
{
	struct reply_wait *w = arg;
	json_t *r = client_chat(w->o, w->text);

	snprintf(w->reply, sizeof(w->reply), "%s", tk_text(r, "reply"));
	json_decref(r);
	return strstr(w->reply, w->part) != NULL;
}

void
client_ck_reply(const struct client *o, const char *text, const char *part)
{
	struct reply_wait w = { .o = o, .text = text, .part = part };

	ck_assert_msg(is_replied(&w), "%s: %s, not %s", text, w.reply, part);
}

void
client_await_reply(const struct client *o, const char *text, const char *part)
{
	struct reply_wait w = { .o = o, .text = text, .part = part };

	ck_assert_msg(tk_until(is_replied, &w, STACK_MS), "%s: %s, not %s",
	    text, w.reply, part);
}

json_t *
client_sim_state(struct stack *st, const char *terminal)
{
	char path[256];
	int status;
	json_t *j;

	snprintf(path, sizeof(path), "/state?terminal_id=%s", terminal);
	j = client_call(
	    st->service[STACK_BODY_SIM].http, "GET", path, NULL, &status);
	ck_assert_int_eq(status, 200);
	return j;
}

/* ---- waiting ---- */

json_t *
client_terminal(struct stack *st, const char *user, const char *terminal)
{
	char path[512];
	int status;

	snprintf(
	    path, sizeof(path), "/v1/terminals/%s?user_id=%s", terminal, user);
	return client_call(
	    st->service[STACK_CHAT_GATEWAY].http, "GET", path, NULL, &status);
}

/* The expected state of a terminal's record. */
struct terminal_wait {
	struct stack *st;
	const char *user, *terminal;
	bool (*is)(json_t *terminal, const struct terminal_wait *w);
	enum client_sees what;
	size_t n;
	const char *text;
};

/*
 * With authentication the rate limit applies to fast polling; one client only
 * polls.
 */
static bool
is_shown(void *arg)
{
	const struct terminal_wait *w = arg;
	const char *token = identity.token, *from = identity.from;
	json_t *j;
	bool is;

	if (w->st->opts->locked)
		client_set_identity(lock_token(LOCK_WATCHER), "127.0.0.250");
	j = client_terminal(w->st, w->user, w->terminal);
	client_set_identity(token, from);
	is = w->is(j, w);
	json_decref(j);
	return is;
}

static size_t
array_size(json_t *j, const char *member)
{
	return json_array_size(json_object_get(j, member));
}

static bool
is_known(json_t *j, const struct terminal_wait *w)
{
	bool online = json_is_true(json_object_get(j, "online"));

	switch (w->what) {
	case CLIENT_SEES_OFFLINE:
		return !online;
	case CLIENT_SEES_SKILLS:
		return online && array_size(j, "skills") > 0;
	case CLIENT_SEES_INTENTS:
		return online && array_size(j, "skills") > 0 &&
		    array_size(j, "intents") > 0;
	}
	return false;
}

void
client_wait_terminal(struct stack *st, const char *user, const char *terminal,
    enum client_sees what)
{
	struct terminal_wait w = { st, user, terminal, is_known, what, 0,
		NULL };

	ck_assert_msg(tk_until(is_shown, &w, STACK_MS), "%s is not %s",
	    terminal, what == CLIENT_SEES_OFFLINE ? "offline" : "online");
}

static bool
is_rejected(json_t *j, const struct terminal_wait *w)
{
	const char *outcome = json_string_value(
	    json_object_get(json_object_get(j, "last_refused"), "outcome"));

	return outcome != NULL && strcmp(outcome, w->text) == 0;
}

void
client_wait_report_outcome(struct stack *st, const char *user,
    const char *terminal, const char *outcome)
{
	struct terminal_wait w = { st, user, terminal, is_rejected, 0, 0,
		outcome };

	ck_assert_msg(tk_until(is_shown, &w, STACK_MS), "%s: nothing %s",
	    terminal, outcome);
}

static bool
has_intents(json_t *j, const struct terminal_wait *w)
{
	return array_size(j, "intents") == w->n;
}

void
client_wait_intents(
    struct stack *st, const char *user, const char *terminal, size_t n)
{
	struct terminal_wait w = { st, user, terminal, has_intents, 0, n,
		NULL };

	ck_assert_msg(tk_until(is_shown, &w, STACK_MS), "%s: not %zu intents",
	    terminal, n);
}

struct sim_wait {
	struct stack *st;
	const char *terminal, *member, *text;
};

static bool
sim_state_shows(void *arg)
{
	const struct sim_wait *s = arg;
	json_t *j = client_sim_state(s->st, s->terminal);
	bool does = strcmp(tk_text(j, s->member), s->text) == 0;

	json_decref(j);
	return does;
}

void
client_wait_sim_state(struct stack *st, const char *terminal,
    const char *member, const char *text)
{
	struct sim_wait s = { st, terminal, member, text };

	ck_assert_msg(tk_until(sim_state_shows, &s, STACK_MS),
	    "%s: %s is not %s", terminal, member, text);
}

struct client
client_bound(struct stack *st, const char *user, const char *terminal)
{
	struct client o = { st, user, "s1", terminal };

	client_wait_terminal(st, STACK_USER, terminal, CLIENT_SEES_INTENTS);
	client_select_soul(
	    st, user, terminal, client_create_soul(st, user, "小元", "ENFP"));
	return o;
}
