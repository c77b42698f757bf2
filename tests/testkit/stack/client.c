/*
 * libcurl, one connection a call.
 */
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
} who;

void
client_set_identity(const char *token, const char *from)
{
	who.token = token;
	who.from = from;
}

void
client_get_identity(const char **token, const char **from)
{
	*token = who.token;
	*from = who.from;
}

static size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	buf_put(b, p, size * n);
	return size * n;
}

/* The answer's status, its body appended to out; 0 if there is none. */
static int
transfer(const char *url, const char *method, const char *body, struct buf *out)
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
	if (who.token != NULL) {
		snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s",
		    who.token);
		head = curl_slist_append(head, bearer);
	}
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, head);
	if (who.from != NULL)
		curl_easy_setopt(c, CURLOPT_INTERFACE, who.from);
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
	*status = transfer(url, method, text, &out);
	h = (struct verdict_http){ method, bare, *status, buf_str(&out) };
	if (*status != 0) {
		verdict_http(a, &h, &v);
		ck_assert_msg(!v.wrong, "%s %s: %d %.*s: %s", method, path,
		    *status, STR_ARG(h.body), v.why);
		secret = secrets_in(h.body, false);
		ck_assert_msg(secret == NULL, "%s %s tells the secret %s",
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
	snprintf(text, sizeof(text), "%s", text_at(j, "error"));
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

	snprintf(id, sizeof(ids[0]), "%s", text_at(j, "soul_id"));
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

/* ---- waiting --------------------------------------------------------------
 */

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

/* Something that a terminal's record is to say. */
struct wanted {
	struct stack *st;
	const char *user, *terminal;
	bool (*is)(json_t *terminal, const struct wanted *w);
	enum client_sees what;
	size_t n;
	const char *text;
};

/* Where callers are known, looking so often is left to one who does no more. */
static bool
text_contains_it(void *arg)
{
	const struct wanted *w = arg;
	const char *token = who.token, *from = who.from;
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
size_at(json_t *j, const char *member)
{
	return json_array_size(json_object_get(j, member));
}

static bool
is_known(json_t *j, const struct wanted *w)
{
	bool online = json_is_true(json_object_get(j, "online"));

	switch (w->what) {
	case CLIENT_SEES_OFFLINE:
		return !online;
	case CLIENT_SEES_SKILLS:
		return online && size_at(j, "skills") > 0;
	case CLIENT_SEES_INTENTS:
		return online && size_at(j, "skills") > 0 &&
		    size_at(j, "intents") > 0;
	}
	return false;
}

void
client_wait_terminal(struct stack *st, const char *user, const char *terminal,
    enum client_sees what)
{
	struct wanted w = { st, user, terminal, is_known, what, 0, NULL };

	ck_assert_msg(tk_until(text_contains_it, &w, STACK_MS), "%s is not %s",
	    terminal, what == CLIENT_SEES_OFFLINE ? "offline" : "online");
}

static bool
is_rejected(json_t *j, const struct wanted *w)
{
	const char *outcome = json_string_value(
	    json_object_get(json_object_get(j, "last_refused"), "outcome"));

	return outcome != NULL && strcmp(outcome, w->text) == 0;
}

void
client_wait_report_outcome(struct stack *st, const char *user,
    const char *terminal, const char *outcome)
{
	struct wanted w = { st, user, terminal, is_rejected, 0, 0, outcome };

	ck_assert_msg(tk_until(text_contains_it, &w, STACK_MS),
	    "%s: nothing %s", terminal, outcome);
}

static bool
has_intents(json_t *j, const struct wanted *w)
{
	return size_at(j, "intents") == w->n;
}

void
client_wait_intents(
    struct stack *st, const char *user, const char *terminal, size_t n)
{
	struct wanted w = { st, user, terminal, has_intents, 0, n, NULL };

	ck_assert_msg(tk_until(text_contains_it, &w, STACK_MS),
	    "%s: not %zu intents", terminal, n);
}

struct showing {
	struct stack *st;
	const char *terminal, *member, *text;
};

static bool
shows(void *arg)
{
	const struct showing *s = arg;
	json_t *j = client_sim_state(s->st, s->terminal);
	bool does = strcmp(text_at(j, s->member), s->text) == 0;

	json_decref(j);
	return does;
}

void
client_wait_sim_state(struct stack *st, const char *terminal,
    const char *member, const char *text)
{
	struct showing s = { st, terminal, member, text };

	ck_assert_msg(tk_until(shows, &s, STACK_MS), "%s: %s is not %s",
	    terminal, member, text);
}

/* ---- JSON -----------------------------------------------------------------
 */

json_t *
at(json_t *j, const char *path)
{
	json_t *top = j;
	char key[64];
	size_t n;

	while (*path != '\0') {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_is_array(j) ? json_array_get(j, strtoul(key, NULL, 10))
				     : json_object_get(j, key);
		ck_assert_msg(
		    j != NULL, "no %s in %.800s", key, json_dumps(top, 0));
		path += path[n] == '.' ? n + 1 : n;
	}
	return j;
}

bool
is_json(json_t *j, const char *text)
{
	json_t *other = json_loads(text, JSON_DECODE_ANY, NULL);
	bool is;

	ck_assert_ptr_nonnull(other);
	is = json_equal(j, other);
	json_decref(other);
	return is;
}

bool
text_contains(json_t *j, const char *path, const char *text)
{
	return strstr(text_at(j, path), text) != NULL;
}

bool
has_skill(json_t *j, const char *path, const char *skill)
{
	json_t *list = at(j, path);
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		if (strcmp(json_string_value(json_array_get(list, i)), skill) ==
		    0)
			return true;
	}
	return false;
}
