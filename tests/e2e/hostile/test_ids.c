/*
 * Ids that contain the syntax of subjects, keys, topics, headers or paths, in
 * every id of every route. Whatever the response, nothing is published, stored
 * or logged under a name that such an id produced; the capture checks all
 * subjects and topics meanwhile.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/http.h"
#include "testkit/stack/client.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/verdict.h"

STACK_SHARED({ 0 })

#define WEBHOOKS "/v1/webhooks"
#define A32      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A128     A32 A32 A32 A32

/* never: not a valid id; each place rejects it. */
static const struct {
	struct str id;
	bool never;
} ids[] = {
	{ STR_INIT("../../etc/passwd"), false }, { STR_INIT("*"), false },
	{ STR_INIT(">"), false }, { STR_INIT("soul.event.>"), false },
	{ STR_INIT("a.*.b"), false },
	{ STR_INIT("$JS.API.STREAM.DELETE.SOUL_EVENTS"), false },
	{ STR_INIT("#"), false }, { STR_INIT("+/invoke/r1"), false },
	{ STR_INIT("{x}:state"), false }, { STR_INIT("~YQ"), false },
	{ STR_INIT("~"), false }, { STR_INIT("%00"), false },
	{ STR_INIT("%s%n"), false }, { STR_INIT(" a b "), false },
	{ STR_INIT("\"},{\"a\":\""), false },
	{ STR_INIT("\xe2\x80\xae\xe2\x81\xa6"
		   "001-lanimret"),
	    false },
	{ STR_INIT("\xf0\x9f\xa4\x96\xe2\x80\xa8x"), false },
	{ STR_INIT(A128), false }, { STR_INIT(A128 "a"), true },
	{ STR_INIT("x\r\nSet-Cookie: a=b"), true },
	{ STR_INIT("x\r\nPUB soul.event.x.y 2\r\nhi\r\n"), true },
	{ STR_INIT("x\nlvl=error ev=forged"), true },
	{ STR_INIT("terminal-001\0x"), true }, { STR_INIT("\0"), true },
	{ STR_INIT("\x1b[2J"), true }, { STR_INIT("\x7f"), true },
	{ STR_INIT("\xed\xa0\x80"), true }, /* half of a pair */
	{ STR_INIT("\xff\xfe"), true },
	{ STR_INIT("\xc0\xaf"), true }, /* an overlong '/' */
};

static const struct {
	const char *name;
	enum stack_service service;
} owners[] = {
	{ "chat-gateway", STACK_CHAT_GATEWAY },
	{ "intent-filter", STACK_INTENT_FILTER },
	{ "emotion-engine", STACK_EMOTION_ENGINE },
};

/* ---- requests ---- */

static void
put_uri(struct buf *b, struct str id)
{
	size_t i;

	for (i = 0; i < id.n; i++)
		buf_printf(b, "%%%02X", (unsigned char)id.p[i]);
}

/* Bytes that JSON cannot represent are inserted unescaped. */
static void
put_json(struct buf *b, struct str id)
{
	size_t i;

	for (i = 0; i < id.n; i++) {
		if ((unsigned char)id.p[i] < 0x20)
			buf_printf(b, "\\u%04x", (unsigned char)id.p[i]);
		else if (id.p[i] == '"' || id.p[i] == '\\')
			buf_printf(b, "\\%c", id.p[i]);
		else
			buf_putc(b, id.p[i]);
	}
}

/* The text with each mark replaced. */
#define MARK "@the-id@"

static void
put_marked(struct buf *b, const char *text, struct str id,
    void (*put)(struct buf *b, struct str id))
{
	const char *at = strstr(text, MARK);

	ck_assert_ptr_nonnull(at);
	buf_put(b, text, (size_t)(at - text));
	put(b, id);
	buf_puts(b, at + strlen(MARK));
}

/* Places for an id. */
struct target {
	int port;
	const char *method, *path, *body;
	bool required; /* a valid id, which is used */
};

static void
request_with(const struct target *p, struct str id, bool never)
{
	struct buf q = BUF_INIT((size_t)64 * 1024), body = q;
	struct tk_http c = { 0 };
	int status = 0;

	if (p->body != NULL)
		put_marked(&body, p->body, id, put_json);
	buf_printf(&q, "%s ", p->method);
	if (p->body != NULL)
		buf_puts(&q, p->path);
	else
		put_marked(&q, p->path, id, put_uri);
	buf_printf(&q,
	    " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	    body.n);
	buf_put_str(&q, buf_str(&body));
	tk_http_open(&c, p->port);
	(void)tk_http_send(&c, q.p, q.n);
	/* Streams do not end, so the head must do. */
	ck_assert_msg(tk_http_has(&c, "\r\n\r\n", STACK_MS),
	    "%s %s: no response", p->method, p->path);
	ck_assert_int_eq(sscanf(c.in.p, "HTTP/1.1 %d", &status), 1);
	/* Webhooks are off, as their example's URL is not ours. */
	if (status == 503 && strncmp(p->path, WEBHOOKS, strlen(WEBHOOKS)) == 0)
		status = 400;
	ck_assert_msg(never && p->required ? status >= 400 && status < 500
					   : status >= 200 && status < 500,
	    "%s %s %s: %d %.*s", p->method, p->path,
	    p->body != NULL ? p->body : "", status, (int)c.in.n, c.in.p);
	/* As a line of its own; in JSON its line feed is escaped. */
	ck_assert_msg(memmem(c.in.p, c.in.n, "\nSet-Cookie", 11) == NULL,
	    "%s %s: %.*s", p->method, p->path, (int)c.in.n, c.in.p);
	tk_http_close(&c);
	buf_free(&q);
	buf_free(&body);
}

static size_t
request_all(const struct target *p)
{
	size_t i;

	for (i = 0; i < NELEM(ids); i++)
		request_with(p, ids[i].id, ids[i].never);
	return NELEM(ids);
}

/* ---- places ---- */

static bool
is_id(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, "_id") == 0;
}

/* The path with each placeholder filled in, the k-th with the mark. */
static bool
mark_path(const char *path, size_t k, char *dst, size_t size)
{
	struct buf b = BUF_INIT(size);
	bool marked = false;
	size_t i = 0;

	for (; *path != '\0'; path++) {
		if (*path != '{') {
			buf_putc(&b, *path);
			continue;
		}
		marked = marked || i == k;
		buf_puts(&b, i++ == k ? MARK : "demo-user");
		path = strchr(path, '}');
	}
	snprintf(dst, size, "%.*s", (int)b.n, b.p);
	buf_free(&b);
	return marked;
}

static size_t
request_with_paths(struct target *p, json_t *route)
{
	const char *path = tk_text(route, "path");
	char marked[256], plain[300];
	json_t *query;
	size_t i, k, n = 0;

	for (k = 0; mark_path(path, k, marked, sizeof(marked)); k++) {
		p->path = marked;
		p->required = true;
		n += request_all(p);
	}
	(void)mark_path(path, SIZE_MAX, marked, sizeof(marked));
	json_array_foreach (json_object_get(route, "query"), i, query) {
		snprintf(plain, sizeof(plain), "%s?%s=" MARK, marked,
		    tk_text(query, "name"));
		p->path = plain;
		p->required = is_id(tk_text(query, "name"));
		n += request_all(p);
	}
	return n;
}

static size_t request_with_bodies(struct target *p, json_t *top, json_t *v);

static size_t
request_with_member(struct target *p, json_t *top, json_t *v, const char *key)
{
	json_t *was = json_incref(json_object_get(v, key));
	size_t n = 0;
	char *text;

	if (json_is_string(was) && is_id(key)) {
		json_object_set_new(v, key, json_string(MARK));
		text = json_dumps(top, 0);
		p->body = text;
		n += request_all(p);
		free(text);
		json_object_set(v, key, was);
	} else {
		n += request_with_bodies(p, top, was);
	}
	json_decref(was);
	return n;
}

/* Each id in v, a part of top, in turn. */
static size_t
request_with_bodies(struct target *p, json_t *top, json_t *v)
{
	size_t i, n = 0;
	const char *key;
	json_t *item;
	void *next;

	json_array_foreach (v, i, item)
		n += request_with_bodies(p, top, item);
	json_object_foreach_safe(v, next, key, item) n +=
	    request_with_member(p, top, v, key);
	return n;
}

static size_t
request_with_cases(struct target *p, const char *message)
{
	struct tk_cases c;
	json_t *j;
	size_t i, n = 0, done = 0;

	tk_cases_load(&c, message);
	/* A few are enough. */
	for (i = 0; i < c.n && done < 3; i++) {
		if (!c.v[i].valid || c.v[i].data == NULL)
			continue;
		j = json_deep_copy(c.v[i].data);
		p->required = true;
		n += request_with_bodies(p, j, j);
		json_decref(j);
		done++;
	}
	tk_cases_free(&c);
	return n;
}

static size_t
request_route(json_t *route)
{
	struct target p = { .method = tk_text(route, "method") };
	const char *owner = tk_text(route, "owner");
	json_t *request = json_object_get(route, "request");
	char path[256];
	size_t i, n;

	for (i = 0; i < NELEM(owners); i++) {
		if (strcmp(owners[i].name, owner) == 0)
			p.port = stack.service[owners[i].service].http;
	}
	if (p.port == 0)
		return 0;
	n = request_with_paths(&p, route);
	if (json_is_string(request)) {
		(void)mark_path(
		    tk_text(route, "path"), SIZE_MAX, path, sizeof(path));
		p.path = path;
		n += request_with_cases(&p, json_string_value(request));
	}
	return n;
}

/* ---- side effects ---- */

/* No key has a byte that only an id of a request can contain. */
static void
check_keys(void)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789"
				   "_-~:{}";
	redisContext *r =
	    redisConnect("127.0.0.1", stack.server[STACK_REDIS].port);
	redisReply *all;
	size_t i;

	ck_assert(r != NULL && r->err == 0);
	all = redisCommand(r, "KEYS *");
	ck_assert(all != NULL && all->type == REDIS_REPLY_ARRAY);
	ck_assert_uint_gt(all->elements, 0);
	for (i = 0; i < all->elements; i++)
		ck_assert_msg(
		    strspn(all->element[i]->str, good) == all->element[i]->len,
		    "the key %s", all->element[i]->str);
	freeReplyObject(all);
	redisFree(r);
}

/* Each line of the services' logs has the format of a service. */
static void
check_logs(void)
{
	char *log, *line, *rest;
	enum stack_service i;

	for (i = 0; i < STACK_SERVICES; i++) {
		log = tk_read_file(stack.service[i].proc.log, NULL);
		for (line = strtok_r(log, "\n", &rest); line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			ck_assert_msg(strncmp(line, "ts=20", 5) == 0,
			    "%s logs %s", stack_name(i), line);
		free(log);
	}
}

/* One that has a version, and fails. */
#define ENGINE                                             \
	"#!/bin/sh\ncase $* in *--version*) echo 1.0.0;; " \
	"*) exit 1;; esac\n"

TEST_T(ids_are_never_interpreted, 240)
{
	struct client load = { &stack, "u-beside", "s1", STACK_BODY };
	struct stack_proc hub = { 0 }, runner = { 0 }, proxy = { 0 };
	struct stack_proc mcp = { 0 }, alarms = { 0 };
	json_t *all, *route;
	size_t i, n = 0;

	stack_spawn_hub(&stack, &hub);
	tk_write_file(tk_path("engine"), ENGINE);
	stack_spawn_engines(&stack, tk_path("engine"), &runner, &proxy);
	stack_spawn_mcp_host(&stack, NULL, &mcp);
	stack_spawn_alarm_clock(&stack, &alarms);
	stack_wait_ready(&hub);
	stack_wait_ready(&runner);
	stack_wait_ready(&mcp);
	stack_wait_ready(&alarms);
	client_select_soul(&stack, "u-beside", STACK_BODY,
	    client_create_soul(&stack, "u-beside", "x", "INTJ"));
	all = json_load_file("proto-schemas/interfaces.json", 0, NULL);
	json_array_foreach (tk_at(all, "http"), i, route)
		n += request_route(route);
	json_decref(all);
	ck_assert_uint_gt(n, 1500);
	json_decref(client_chat(&load, "把灯变成绿色"));
	check_keys();
	check_logs();
}

/* Unusual but valid ids work. */
TEST_T(unusual_ids_have_their_own_turns, 60)
{
	static const char user[] = "soul.event.*";
	struct terminal b = { .terminal = "a.*.$b", .user = user };
	struct client o = { &stack, user, "~{x}.s", b.terminal };

	terminal_connect(&b, &stack, b.terminal, TERMINAL_0222);
	client_select_soul(&stack, user, b.terminal,
	    client_create_soul(&stack, user, "x", "INTJ"));
	json_decref(client_chat(&o, "今天上海天气如何？"));
	check_keys();
	terminal_free(&b);
}
