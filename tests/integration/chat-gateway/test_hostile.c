/*
 * Hostile requests: each gets its error, and other clients are not affected.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

/* ---- request heads ---- */

static const struct {
	const char *method, *path;
	int status;
	const char *allow;
} bad_heads[] = {
	{ "GET", "/v1/chat", 405, "POST" },
	{ "DELETE", "/v1/chat", 405, "POST" },
	{ "PUT", "/v1/souls", 405, "GET, POST" },
	{ "PUT", "/v1/souls/x", 405, "DELETE, PATCH" },
	{ "DELETE", "/v1/souls/select", 404, "" },
	{ "GET", "/v1/souls/select", 405, "POST, DELETE, PATCH" },
	{ "PUT", "/v1/terminals", 405, "GET, POST" },
	{ "POST", "/v1/terminals/x", 405, "GET, DELETE" },
	{ "GET", "/v1/terminals/x/rotate", 405, "POST" },
	{ "POST", "/v1/identities", 405, "GET" },
	{ "GET", "/v1/terminals/x/soul", 405, "DELETE" },
	{ "POST", "/v1/sessions/x/messages", 405, "GET" },
	{ "GET", "/v1/sessions/x", 405, "DELETE" },
	{ "POST", "/v1/memories", 405, "GET, DELETE" },
	{ "GET", "/v1/memories/x", 405, "DELETE" },
	{ "DELETE", "/v1/memories/", 404, "" },
	{ "POST", "/v1/memories/export", 405, "GET, DELETE" },
	{ "PUT", "/v1/users/x/profile", 405, "GET, PATCH" },
	{ "GET", "/v1/users//profile", 404, "" },
	{ "GET", "/", 404, "" },
	{ "GET", "/v1", 404, "" },
	{ "POST", "/v1/chat/", 404, "" },
	{ "POST", "/v1//chat", 404, "" },
	{ "POST", "/V1/CHAT", 404, "" },
	{ "GET", "/v1/souls/", 404, "" },
	{ "DELETE", "/v1/terminals//soul", 404, "" },
	{ "GET", "/v1/terminals/a/b", 404, "" },
	{ "GET", "/metrics", 404, "" },
	{ "GET", "/readyz", 404, "" },
	{ "GET", "/v1/../v1/souls", 404, "" },
};

TEST(wrong_methods_and_paths_are_rejected)
{
	struct tk_response a = { 0 };
	char allow[64];
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(bad_heads); i++) {
		gw_request(
		    &b, &a, bad_heads[i].method, bad_heads[i].path, NULL);
		json_decref(gw_response_json(&a, bad_heads[i].status));
		ck_assert_str_eq(
		    tk_response_field(&a, "Allow", allow, sizeof(allow)),
		    bad_heads[i].allow);
	}
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

TEST(only_json_is_accepted)
{
	static const char *const types[] = { "text/plain", "application/xml",
		"application/x-www-form-urlencoded", "application/jsonx",
		"multipart/form-data; boundary=x" };
	struct tk_response a = { 0 };
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(types); i++) {
		tk_http_call(b.gateway.http, &a,
		    "POST /v1/souls HTTP/1.1\r\nHost: localhost\r\n"
		    "Connection: close\r\nContent-Type: %s\r\n"
		    "Content-Length: 2\r\n\r\n{}",
		    types[i]);
		gw_check_error(&a, 415, "the body must be application/json");
	}
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

/* ---- ids ---- */

#define X16  "xxxxxxxxxxxxxxxx"
#define X129 X16 X16 X16 X16 X16 X16 X16 X16 "x"

/* In place of the @; 404: a valid id that does not exist. */
static const struct {
	const char *id;
	int status;
} ids[] = {
	{ "%00", 400 },
	{ "a%00b", 400 },
	{ "%0a", 400 },
	{ "%0d%0aSET%20x%201", 400 },
	{ "%7f", 400 },
	{ "%ff", 400 },
	{ "%c0%80", 400 },
	{ "%ed%a0%80", 400 },
	{ "%", 400 },
	{ "%4", 400 },
	{ "%zz", 400 },
	{ X129, 400 },
	{ "*", 404 },
	{ "a*", 404 },
	{ "%3e", 404 },
	{ "a.b.c", 404 },
	{ "%2e%2e", 404 },
	{ "%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404 },
	{ "%7b%7d", 404 },
	{ "%7bx%7d:y", 404 },
	{ "soul:soul:%7bx%7d", 404 },
	{ "%25s%25n", 404 },
	{ "'%3b--", 404 },
	{ "%22%7d", 404 },
	{ "%e7%81%af", 404 },
	{ "~", 404 },
	{ "~eA", 404 },
};

static void
with_id(struct gateway_fixture *b, const char *method, const char *path,
    const char *id, int status)
{
	struct tk_response a = { 0 };
	size_t before = strcspn(path, "@");
	char whole[768];

	snprintf(whole, sizeof(whole), "%.*s%s%s", (int)before, path, id,
	    path + before + 1);
	gw_request(b, &a, method, whole, NULL);
	json_decref(gw_response_json(&a, status));
	tk_response_free(&a);
}

TEST(hostile_ids_match_no_record)
{
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	for (i = 0; i < NELEM(ids); i++) {
		const char *id = ids[i].id;
		int status = ids[i].status;

		with_id(&b, "DELETE", "/v1/souls/@", id, status);
		with_id(&b, "GET", "/v1/terminals/@", id, status);
		with_id(&b, "DELETE", "/v1/terminals/@/soul", id, status);
		with_id(&b, "GET", "/v1/sessions/@/messages", id, status);
		with_id(&b, "DELETE", "/v1/sessions/@", id, status);
		with_id(&b, "GET", "/v1/terminals/x?user_id=@", id, status);
		status = status == 404 ? 200 : status;
		with_id(&b, "GET", "/v1/souls?user_id=@", id, status);
		with_id(&b, "GET", "/v1/terminals?user_id=@", id, status);
	}
	with_id(&b, "GET", "/v1/souls?user_id=@", "", 400);
	gateway_fixture_stop(&b);
}

/* Combined ids of different pairs are different. */
TEST(pairs_of_ids_are_unambiguous)
{
	const struct session_key k = { STR("a:b"), STR("c") };
	const struct str json = STR("{\"role\":\"user\",\"content\":\"x\","
				    "\"created_at\":\"2026-02-22T10:20:30Z\"}");
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	ck_assert_int_eq(session_append(b.db.s, &k, &json, 1, NULL), RC_OK);
	with_id(&b, "GET", "/v1/sessions/c/messages?user_id=@", "a:b", 200);
	with_id(&b, "GET", "/v1/sessions/b:c/messages?user_id=@", "a", 404);
	with_id(&b, "GET", "/v1/sessions/b:c/messages?user_id=@", "~YTpi", 404);
	with_id(&b, "GET", "/v1/sessions/c/messages?user_id=@", "~YTpi", 404);
	gateway_fixture_stop(&b);
}

/* ---- request bodies ---- */

#define BODIES 2000
#define LARGE  20
#define MIB    ((size_t)1024 * 1024)

static uint64_t
random_u64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static size_t
random_below(uint64_t *seed, size_t n)
{
	return (size_t)(random_u64(seed) % n);
}

static const struct {
	const char *path, *body;
} good[] = {
	{ "/v1/chat",
	    "{\"user_id\":\"u\",\"session_id\":\"s\",\"terminal_id\":\"t1\","
	    "\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"灯\"},"
	    "{\"type\":\"presence\",\"data\":[1,-2.5e3,null]}]}" },
	{ "/v1/souls", "{\"name\":\"小灵\",\"mbti_type\":\"INFJ\"}" },
	{ "/v1/souls/select",
	    "{\"terminal_id\":\"t1\",\"soul_id\":\"soul_0\"}" },
};

/* Members that are invalid in a chat. */
static const char *const wrong_members[] = {
	"\"session_id\":7",
	"\"session_id\":\"\\u001f\"",
	"\"terminal_id\":\"a/b\"",
	"\"terminal_id\":[\"t1\"]",
	"\"terminal_id\":\"" X129 "\"",
	"\"inputs\":{}",
	"\"inputs\":[[]]",
	"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":{}}]",
	"\"inputs\":[{\"type\":\"KEYBOARD_TEXT\",\"text\":\"x\"}]",
	"\"user_id\":false",
	"\"soul_hint\":1e400",
	"\"inputs\":[{\"type\":\"audio\",\"media\":{\"size_bytes\":0.5}}]",
};

/* A chat with one invalid member. */
static char *
wrong_member(uint64_t *seed)
{
	const char *w = wrong_members[random_below(seed, NELEM(wrong_members))];
	static const char *const all[] = { "\"session_id\":\"s\"",
		"\"terminal_id\":\"t1\"",
		"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"x\"}]" };
	char *body = mem_zalloc(1024);
	size_t i, n;

	n = (size_t)snprintf(body, 1024, "{%s", w);
	for (i = 0; i < NELEM(all); i++)
		if (strncmp(all[i], w, strcspn(w, ":")) != 0)
			n +=
			    (size_t)snprintf(body + n, 1024 - n, ",%s", all[i]);
	snprintf(body + n, 1024 - n, "}");
	return body;
}

/* text with n invalid bytes at a random position. */
static char *
corrupted(uint64_t *seed, const char *text, const char *with, size_t k)
{
	size_t n = strlen(text), at = random_below(seed, n);
	char *body = mem_zalloc(n + k + 1);

	memcpy(body, text, at);
	memcpy(body + at, with, k);
	memcpy(body + at + k, text + at, n - at);
	return body;
}

/* A body that is invalid for its path; *n is its length. */
static char *
malformed(uint64_t *seed, int i, const char **path, size_t *n)
{
	size_t route = random_below(seed, NELEM(good)), k, len;
	const char *body = good[route].body;
	char one, *out;

	*path = good[route].path;
	*n = strlen(body);
	if (i % (BODIES / LARGE) == 0) {
		*n = MIB + random_below(seed, 2);
		out = mem_alloc(*n);
		memset(out, "[{\"x"[random_below(seed, 4)], *n);
		return out;
	}
	switch (i % 8) {
	case 0: /* noise that does not start like an object */
		*n = 1 + random_below(seed, 300);
		out = mem_alloc(*n);
		for (k = 0; k < *n; k++)
			out[k] = (char)random_u64(seed);
		out[0] = "}]:,x-\"\x01"[random_below(seed, 8)];
		return out;
	case 1: /* truncated */
		*n = random_below(seed, *n);
		out = mem_zalloc(*n + 1);
		memcpy(out, body, *n);
		return out;
	case 2: /* not UTF-8 */
		*n += 1;
		return corrupted(seed, body, "\xff", 1);
	case 3: /* a control character, including NUL */
		one = (char)random_below(seed, 9);
		*n += 1;
		return corrupted(seed, body, &one, 1);
	case 4: /* a duplicate member */
		len = strcspn(body, ":");
		out = mem_zalloc(2 * *n + 16);
		*n = (size_t)snprintf(out, 2 * *n + 16, "{%.*s:1,%s",
		    (int)len - 1, body + 1, body + 1);
		return out;
	case 5: /* trailing bytes */
		out = mem_zalloc(*n + 2);
		memcpy(out, body, *n);
		out[(*n)++] = "}]x,{0\"\x02"[random_below(seed, 8)];
		return out;
	case 6: /* nested too deeply */
		*n = 130 + random_below(seed, 20000);
		out = mem_alloc(*n);
		memset(out, '[', *n);
		memset(out + *n / 2, ']', *n - *n / 2);
		return out;
	default:
		*path = "/v1/chat";
		out = wrong_member(seed);
		*n = strlen(out);
		return out;
	}
}

static void
send_malformed(struct gateway_fixture *b, uint64_t *seed, int i)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	const char *path;
	char head[256], *body;
	size_t n;

	body = malformed(seed, i, &path, &n);
	snprintf(head, sizeof(head),
	    "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	    path, n);
	tk_http_open(&c, b->gateway.http);
	ck_assert(tk_http_puts(&c, head));
	/* The error response may arrive before all of it was sent. */
	(void)tk_http_send(&c, body, n);
	ck_assert_msg(tk_http_read(&c, &a, GW_MS), "body %d: none", i);
	ck_assert_msg(a.status >= 400 && a.status < 500, "body %d, %s: %d %s",
	    i, path, a.status, a.body.p);
	json_decref(gw_response_json(&a, a.status));
	tk_http_close(&c);
	tk_response_free(&a);
	free(body);
}

struct client {
	struct gateway_fixture *b;
	_Atomic bool stop;
	int chats, failed;
	int64_t slowest_ms;
	pthread_t thread;
};

static void *
client_chats(void *arg)
{
	struct client *n = arg;
	struct tk_response a = { 0 };
	int64_t ms;

	while (!atomic_load(&n->stop)) {
		struct mono start = clock_mono();

		if (gw_chat(n->b, &a, "t1", "") != 200)
			n->failed++;
		n->chats++;
		ms = mono_diff_ms(clock_mono(), start);
		if (ms > n->slowest_ms)
			n->slowest_ms = ms;
	}
	tk_response_free(&a);
	return NULL;
}

TEST_T(malformed_bodies_do_not_affect_other_clients, 120)
{
	uint64_t seed = 20260222;
	struct client n = { 0 };
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;
	int i;

	gw_chat_start(&b, &p, id);
	n.b = &b;
	ck_assert_int_eq(pthread_create(&n.thread, NULL, client_chats, &n), 0);
	for (i = 0; i < BODIES; i++)
		send_malformed(&b, &seed, i);
	atomic_store(&n.stop, true);
	pthread_join(n.thread, NULL);
	ck_assert_int_eq(n.failed, 0);
	ck_assert_int_gt(n.chats, 20);
	ck_assert_msg(n.slowest_ms < 1000, "%lld ms", (long long)n.slowest_ms);
	ck_assert_int_eq(atomic_load(&p.turns), n.chats);
	printf("%d chats beside %d bodies, the slowest took %lld ms\n", n.chats,
	    BODIES, (long long)n.slowest_ms);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
