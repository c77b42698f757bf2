/*
 * Payloads are the repository's cases, valid and invalid, mutated: bytes
 * changed, truncated, duplicated, inserted, nested deeply, inflated. An HTTP
 * body that still conforms to its schema is truncated until it does not.
 */
#include "testkit/stack/hostile.h"

#include <glob.h>
#include <mosquitto.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/http.h"
#include "testkit/stack/capture.h"
#include "testkit/stack/client.h"
#include "testkit/stack/load.h"
#include "testkit/stack/verdict.h"

#define BASES_MAX 2048

struct base {
	struct str bytes;
	char message[64];
};

struct attack {
	struct stack *st;
	const struct hostile_plan *plan;
	struct hostile_outcome *out;
	uint64_t random;
	struct base bases[BASES_MAX];
	size_t n_bases;
	struct buf payload;
	struct arena *arena;
	struct mosquitto *m;
	atomic_size_t acknowledged;
	size_t huge_left;
};

/* ---- mutations ---- */

/* xorshift64*: the same payloads every time. */
static uint64_t
hostile_below(struct attack *a, uint64_t n)
{
	a->random ^= a->random >> 12;
	a->random ^= a->random << 25;
	a->random ^= a->random >> 27;
	return (a->random * UINT64_C(2685821657736338717) >> 11) % n;
}

static void
read_bases(struct attack *a)
{
	struct tk_cases c;
	struct base *b;
	char message[64];
	glob_t g;
	size_t i, k;

	ck_assert_int_eq(glob(TK_CASES_DIR "/*.json", 0, NULL, &g), 0);
	for (i = 0; i < g.gl_pathc; i++) {
		const char *name = strrchr(g.gl_pathv[i], '/') + 1;

		snprintf(message, sizeof(message), "%.*s",
		    (int)strcspn(name, "."), name);
		tk_cases_load(&c, message);
		for (k = 0; k < c.n && a->n_bases < BASES_MAX; k++) {
			b = &a->bases[a->n_bases++];
			memcpy(b->message, message, sizeof(message));
			b->bytes = c.v[k].bytes;
			c.v[k].bytes = (struct str){ 0 };
		}
		tk_cases_free(&c);
	}
	globfree(&g);
	ck_assert_uint_gt(a->n_bases, 500);
}

static const struct base *
hostile_base(struct attack *a, const char *message)
{
	size_t first = hostile_below(a, a->n_bases), i, k;

	for (i = 0; i < a->n_bases; i++) {
		k = (first + i) % a->n_bases;
		if (strcmp(a->bases[k].message, message) == 0)
			return &a->bases[k];
	}
	ck_abort_msg("no case of %s", message);
	return NULL;
}

/* Apply one more mutation. */
static void
hostile_mutate(struct attack *a)
{
	static const char *const fragments[] = { "\xff\xfe", "\\u0000", "\"",
		"{", "]", "\xed\xa0\x80", "1e999", "-0", "null", "\\ud800",
		"{\"a\":1,\"a\":2}", "99999999999999999999", "\r\n", ",,",
		"\xf0\x9f\xa4\x96", "(?:a+)+$", "*", ".>" };
	struct buf *p = &a->payload;
	size_t at = p->n > 0 ? hostile_below(a, p->n) : 0, n;
	struct buf copy = BUF_INIT(2 * HOSTILE_MAX);
	const char *fragment = fragments[hostile_below(a, NELEM(fragments))];

	switch (hostile_below(a, 6)) {
	case 0: /* change a byte */
		if (p->n > 0)
			p->p[at] = (char)hostile_below(a, 256);
		break;
	case 1: /* truncate */
		p->n = at;
		break;
	case 2: /* insert a fragment */
		buf_put(&copy, p->p, at);
		buf_puts(&copy, fragment);
		buf_put(&copy, p->p + at, p->n - at);
		break;
	case 3: /* duplicate a part */
		n = hostile_below(a, p->n - at + 1);
		buf_put(&copy, p->p, at + n);
		buf_put(&copy, p->p + at, p->n - at);
		break;
	case 4: /* deep nesting */
		for (n = 1 + hostile_below(a, 3000); n > 0; n--)
			buf_putc(&copy, n % 2 > 0 ? '[' : '{');
		break;
	default: /* random bytes */
		for (n = hostile_below(a, 400); n > 0; n--)
			buf_putc(&copy, (char)hostile_below(a, 256));
		break;
	}
	if (copy.n > 0) {
		buf_reset(p);
		buf_put_str(p, buf_str(&copy));
	}
	buf_free(&copy);
}

/* Inflate it to the size limit. */
static void
hostile_inflate(struct attack *a)
{
	struct buf *p = &a->payload;
	size_t kind = hostile_below(a, 3);

	buf_reset(p);
	buf_puts(p, kind == 0 ? "{\"skills\":[\"" : "{\"inputs\":[");
	while (p->n < HOSTILE_MAX - 16) {
		if (kind == 0)
			buf_puts(p, "\xe7\x81\xaf");
		else
			buf_puts(p, kind == 1 ? "{}," : "[[[[[[");
	}
}

static void
make_payload(struct attack *a, const char *message)
{
	size_t n = 1 + hostile_below(a, 4);

	if (a->huge_left > 0 &&
	    hostile_below(a, a->plan->n) < 4 * a->plan->huge) {
		a->huge_left--;
		hostile_inflate(a);
		return;
	}
	buf_reset(&a->payload);
	buf_put_str(&a->payload, hostile_base(a, message)->bytes);
	/* Every other invalid case is sent without further mutation. */
	if (hostile_below(a, 2) == 0)
		while (n-- > 0)
			hostile_mutate(a);
}

/* ---- MQTT ---- */

static void
on_publish(struct mosquitto *m, void *arg, int mid)
{
	struct attack *a = arg;

	(void)m;
	(void)mid;
	atomic_fetch_add(&a->acknowledged, 1);
}

static const struct {
	const char *leaf, *message;
} leaves[] = {
	{ "online", "online" },
	{ "heartbeat", "heartbeat" },
	{ "skills", "skills_report" },
	{ "skills", "skills_report" },
	{ "intent_catalog", "intent_catalog_report" },
	{ "intent_catalog", "intent_catalog_report" },
	{ "result/00000000-0000-4000-8000-000000000000", "result" },
	{ "result/a.b.*.>", "result" },
	{ "result/", "result" },
	{ "result/\xe7\x81\xaf and a blank", "result" },
	{ "result/one/too/many", "result" },
	{ "skills/more", "skills_report" },
	{ "nothing", "result" },
	{ "", "result" },
};

/* Names that are special in NATS, in Redis, in a path, in a format string. */
static const char *const hostile_names[] = { "-1", "-2", "-3", ".a.>", " x *",
	"%s%n", "-\xe7\x81\xaf", "-{tag}:y", "-'\"`$(x)", "-...............",
	"-a-name-that-is-longer-than-any-name-should-be-a-name-that-is-longer-"
	"than-any-name-should-be-a-name-that-is-longer-than-any-name" };

static void
send_mqtt(struct attack *a)
{
	size_t i = hostile_below(a, NELEM(leaves));
	char topic[512];

	make_payload(a, leaves[i].message);
	snprintf(topic, sizeof(topic), "soul/terminal/" CAPTURE_HOSTILE "%s/%s",
	    hostile_names[hostile_below(a, NELEM(hostile_names))],
	    leaves[i].leaf);
	ck_assert_int_eq(mosquitto_publish(a->m, NULL, topic, (int)a->payload.n,
			     a->payload.p, 1, hostile_below(a, 3) == 0),
	    MOSQ_ERR_SUCCESS);
	a->out->mqtt++;
}

/* ---- HTTP ---- */

static const struct {
	enum stack_service service;
	const char *path, *message;
} doors[] = {
	{ STACK_CHAT_GATEWAY, "/v1/chat", "chat_request" },
	{ STACK_CHAT_GATEWAY, "/v1/chat", "chat_request" },
	{ STACK_CHAT_GATEWAY, "/v1/souls", "soul_create_request" },
	{ STACK_CHAT_GATEWAY, "/v1/souls/select", "soul_select_request" },
	{ STACK_INTENT_FILTER, "/v1/intents/filter", "intent_filter_request" },
	{ STACK_EMOTION_ENGINE, "/v1/emotion/analyze",
	    "emotion_analyze_request" },
	{ STACK_EMOTION_ENGINE, "/v1/emotion/convert",
	    "emotion_convert_request" },
};

/* Truncate it until it conforms to no schema. */
static void
make_invalid(struct attack *a, const char *message)
{
	const struct wire_desc *d = wire_desc_find(str_of(message));
	void *msg;

	for (;;) {
		arena_reset(a->arena);
		msg = arena_alloc(a->arena, wire_desc_size(d));
		if (wire_decode(d, buf_str(&a->payload), a->arena, msg, NULL) !=
		    RC_OK)
			return;
		a->payload.n--;
	}
}

static void
send_http(struct attack *a)
{
	size_t i = hostile_below(a, NELEM(doors));
	struct verdict_http h = { "POST", doors[i].path, 0, { 0 } };
	struct verdict v = { 0 };
	struct tk_response ans = { 0 };
	struct tk_http c = { 0 };
	char head[256];

	make_payload(a, doors[i].message);
	make_invalid(a, doors[i].message);
	snprintf(head, sizeof(head),
	    "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
	    doors[i].path, a->payload.n);
	tk_http_open(&c, a->st->service[doors[i].service].http);
	ck_assert(tk_http_puts(&c, head));
	(void)tk_http_send(&c, a->payload.p, a->payload.n);
	ck_assert_msg(tk_http_read(&c, &ans, STACK_MS), "%s: no response to %s",
	    doors[i].path, a->payload.n < 400 ? a->payload.p : "much");
	h.status = ans.status;
	h.body = buf_str(&ans.body);
	verdict_http(a->arena, &h, &v);
	ck_assert_msg(ans.status >= 400 && ans.status < 500 && !v.wrong,
	    "%s: %d %.*s %s, sent %.*s", h.path, ans.status, STR_ARG(h.body),
	    v.why, (int)(a->payload.n < 400 ? a->payload.n : 400),
	    a->payload.p);
	a->out->by_status[ans.status]++;
	a->out->http++;
	tk_response_free(&ans);
	tk_http_close(&c);
}

/* ---- the run ---- */

static bool
is_acknowledged(void *arg)
{
	struct attack *a = arg;

	return atomic_load(&a->acknowledged) == a->out->mqtt;
}

static struct attack *
attack_new(struct stack *st, const struct hostile_plan *plan,
    struct hostile_outcome *out)
{
	struct attack *a = mem_zalloc(sizeof(*a));

	a->st = st;
	a->plan = plan;
	a->out = out;
	a->random = plan->seed;
	a->huge_left = plan->huge;
	a->arena = arena_new(WIRE_ARENA_MAX);
	buf_init(&a->payload, 2 * HOSTILE_MAX);
	read_bases(a);
	(void)mosquitto_lib_init();
	a->m = mosquitto_new(NULL, true, a);
	mosquitto_publish_callback_set(a->m, on_publish);
	ck_assert_int_eq(mosquitto_connect(a->m, "127.0.0.1",
			     st->server[STACK_MQTT].port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert_int_eq(mosquitto_loop_start(a->m), MOSQ_ERR_SUCCESS);
	return a;
}

static void
attack_free(struct attack *a)
{
	(void)mosquitto_disconnect(a->m);
	(void)mosquitto_loop_stop(a->m, false);
	mosquitto_destroy(a->m);
	while (a->n_bases > 0)
		free((void *)(uintptr_t)a->bases[--a->n_bases].bytes.p);
	buf_free(&a->payload);
	arena_free(a->arena);
	free(a);
}

void
hostile_run(struct stack *st, const struct hostile_plan *plan,
    struct hostile_outcome *out)
{
	struct load_stats saw;
	struct load *n;
	struct attack *a;
	struct client o;
	size_t i;

	*out = (struct hostile_outcome){ 0 };
	a = attack_new(st, plan, out);
	o = load_prepare(st);
	n = load_begin(&o);
	for (i = 0; i < plan->n; i++) {
		if (i % 2 == 0)
			send_mqtt(a);
		else
			send_http(a);
	}
	ck_assert(tk_until(is_acknowledged, a, STACK_MS));
	load_end(n, &saw);
	out->chats = saw.commands + saw.completions;
	out->slowest_ms = saw.slowest_ms;
	attack_free(a);
}
