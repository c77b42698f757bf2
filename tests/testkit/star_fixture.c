#include "testkit/star_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Longest wait for a message among others. */
#define WAIT_FOR_MS 30000

struct tk_service *
star_hub(struct star_fixture *f, int i)
{
	return i == 0 ? &f->hub : &f->more[i - 1];
}

void
star_spawn_hub(struct star_fixture *f, int i, const char *const more[])
{
	struct tk_env e = { 0 };
	char name[16];

	(void)snprintf(
	    name, sizeof(name), i == 0 ? "star-hub" : "star-hub-%d", i);
	tk_env_list(&e, more);
	tk_env_put(&e, "NATS_URL=%s", f->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", f->redis.url);
	tk_env_put(&e, "HTTP_WORKERS=24");
	tk_service_spawn(star_hub(f, i), "star-hub", name, &e);
}

static void
servers_start(struct star_fixture *f)
{
	if (f->nats.port != 0)
		return;
	tk_server_start(&f->nats, TK_NATS);
	tk_server_start(&f->redis, TK_REDIS);
}

void
star_start(struct star_fixture *f, const char *const more[])
{
	servers_start(f);
	star_start_hub(f, 0, more);
}

void
star_start_hub(struct star_fixture *f, int i, const char *const more[])
{
	star_spawn_hub(f, i, more);
	tk_service_wait(star_hub(f, i));
}

struct known {
	struct star_fixture *f;
	int n;
};

static bool
know_each_other(void *arg)
{
	struct known *k = arg;
	int i;

	for (i = 0; i < STAR_HUBS; i++)
		if (star_hub(k->f, i)->proc.pid != 0 &&
		    tk_service_metric(star_hub(k->f, i), "soul_star_hubs") !=
			k->n)
			return false;
	return true;
}

void
star_know_each_other(struct star_fixture *f, int n)
{
	struct known k = { f, n };

	ck_assert(tk_until(know_each_other, &k, TK_WS_MS));
}

void
star_start_hubs(struct star_fixture *f, int n, const char *const more[])
{
	int i;

	servers_start(f);
	for (i = 0; i < n; i++)
		star_spawn_hub(f, i, more);
	for (i = 0; i < n; i++)
		tk_service_wait(star_hub(f, i));
	star_know_each_other(f, n);
}

void
star_stop(struct star_fixture *f)
{
	int i;

	/* One after the other, each would wait for clients to come back. */
	for (i = 0; i < STAR_HUBS; i++)
		if (star_hub(f, i)->proc.pid > 0)
			tk_signal(&star_hub(f, i)->proc, SIGTERM);
	for (i = 0; i < STAR_HUBS; i++)
		if (star_hub(f, i)->proc.pid > 0)
			ck_assert_int_eq(
			    tk_wait(&star_hub(f, i)->proc, 60000), 0);
}

const char *
star_open_at(struct star_fixture *f, int i, struct tk_ws *c, const char *path)
{
	int status = tk_ws_open(c, star_hub(f, i)->http, path, NULL);

	ck_assert_msg(status == 101, "%s: %d %s", path, status,
	    c->msg.n > 0 ? c->msg.p : "");
	return star_expect_has(c, "{\"type\":\"heartbeat\",");
}

const char *
star_open(struct star_fixture *f, struct tk_ws *c, const char *path)
{
	return star_open_at(f, 0, c, path);
}

void
star_leave(struct tk_ws *c)
{
	tk_ws_send_close(c, 1000);
	(void)tk_ws_end(c);
	tk_ws_close(c);
}

static void
party_put(struct buf *b, const char *party)
{
	const char *id = strchr(party, ':') + 1;

	buf_printf(b, "{\"id\":\"%s\",\"type\":\"%.*s\"}", id,
	    (int)(id - 1 - party), party);
}

const char *
star_envelope(char *dst, size_t size, const char *from, const char *to,
    const char *payload)
{
	struct buf b = BUF_INIT(size - 1);

	buf_puts(&b, "{\"type\":\"message\",\"sender\":");
	party_put(&b, from);
	buf_puts(&b, ",\"recipient\":");
	party_put(&b, to);
	buf_printf(&b, ",\"payload\":%s}", payload);
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	memcpy(dst, b.p, b.n + 1);
	buf_free(&b);
	return dst;
}

void
star_send(
    struct tk_ws *c, const char *from, const char *to, const char *payload)
{
	char text[65536];

	tk_ws_send(c, star_envelope(text, sizeof(text), from, to, payload));
}

static void *
schema_decode(struct arena *a, const struct wire_desc *d, struct str json)
{
	void *msg = arena_alloc(a, wire_desc_size(d));
	struct wire_err err;
	char why[256];
	enum rc rc = wire_decode(d, json, a, msg, &err);

	if (rc != RC_OK)
		wire_err_text(&err, why, sizeof(why));
	ck_assert_msg(rc == RC_OK, "%s: %s: %.*s", wire_desc_name(d),
	    rc != RC_OK ? why : "", STR_ARG(json));
	return msg;
}

/* What the hub itself sends is what the schemas say. */
static void
schema_check(const char *msg)
{
	struct arena *a = arena_new(8UL * 1024 * 1024);
	const struct wire_star_envelope *e =
	    schema_decode(a, &wire_star_envelope_desc, str_of(msg));
	const struct wire_desc *d = &wire_star_outcome_desc;

	if (str_eq(e->sender.id, STR("hub"))) {
		if (e->type == WIRE_STAR_ENVELOPE_TYPE_HEARTBEAT)
			d = &wire_star_heartbeat_desc;
		else if (e->type == WIRE_STAR_ENVELOPE_TYPE_ERROR)
			d = &wire_star_error_desc;
		else if (e->type == WIRE_STAR_ENVELOPE_TYPE_AUTH_RESULT)
			d = &wire_star_auth_result_desc;
		else if (str_starts(e->payload, STR("{\"type\":\"event\"")))
			d = &wire_star_event_desc;
		schema_decode(a, d, e->payload);
	}
	arena_free(a);
}

const char *
star_next(struct tk_ws *c)
{
	const char *msg = tk_ws_next(c, TK_WS_MS);

	ck_assert_msg(msg != NULL, "no message; close code %u", c->code);
	schema_check(msg);
	return msg;
}

/* ,"timestamp":"2026-02-22T17:40:00.123Z","cursor":"1-2"}, or less of it. */
static bool
is_rest(const char *s)
{
	if (strncmp(s, ",\"timestamp\":\"20", 16) == 0 && strlen(s) >= 40 &&
	    strncmp(s + 37, "Z\"", 2) == 0)
		s += 39;
	if (strncmp(s, ",\"cursor\":\"", 11) == 0) {
		s += 11;
		s += strspn(s, "0123456789");
		s += *s == '-';
		s += strspn(s, "0123456789");
		s += *s == '"';
	}
	return strcmp(s, "}") == 0;
}

void
star_expect(struct tk_ws *c, const char *text)
{
	const char *msg = star_next(c);
	size_t n = strlen(text) - 1;

	ck_assert_msg(strncmp(msg, text, n) == 0 && is_rest(msg + n),
	    "%s\nexpected %s", msg, text);
}

void
star_expect_message(
    struct tk_ws *c, const char *from, const char *to, const char *payload)
{
	char text[65536];

	star_expect(c, star_envelope(text, sizeof(text), from, to, payload));
}

const char *
star_numbered(int i)
{
	static char text[96];

	(void)snprintf(text, sizeof(text),
	    "{\"type\":\"event\",\"id\":\"e%d\",\"event\":\"seen\"}", i);
	return text;
}

const char *
star_wait_for(struct tk_ws *c, const char *text)
{
	struct mono end = mono_add_ms(clock_mono(), WAIT_FOR_MS);
	const char *msg;

	while (mono_diff_ns(end, clock_mono()) > 0) {
		msg = tk_ws_next(c, TK_WS_MS);
		ck_assert_msg(msg != NULL, "no message with %s", text);
		if (strstr(msg, text) != NULL)
			return msg;
	}
	ck_abort_msg("no message with %s", text);
	return NULL;
}

const char *
star_expect_has(struct tk_ws *c, const char *text)
{
	const char *msg = star_next(c);

	ck_assert_msg(strstr(msg, text) != NULL, "%s\nhas no %s", msg, text);
	return msg;
}

const char *
star_expect_error(struct tk_ws *c, const char *code, const char *type)
{
	char text[200];

	(void)snprintf(text, sizeof(text),
	    "\"payload\":{\"error_code\":\"%s\",\"error_type\":\"%s\",", code,
	    type);
	return star_expect_has(c, text);
}

void
star_idle(struct tk_ws *c, const char *who)
{
	struct buf b = BUF_INIT(4096);

	buf_puts(&b, "{\"type\":\"heartbeat\",\"sender\":");
	party_put(&b, who);
	buf_puts(&b,
	    ",\"recipient\":{\"id\":\"hub\",\"type\":\"hub\"},\"payload\":{}}");
	tk_ws_send(c, b.p);
	buf_free(&b);
	star_expect_has(c, "{\"type\":\"heartbeat\",");
}
