#include "testkit/stack/probe.h"

#include <netinet/in.h>
#include <string.h>

#include "core/arena.h"
#include "testkit/stack/verdict.h"
#include "testkit/testkit.h"

#define REQUEST_MAX (16UL * 1024 * 1024)
#define RESPONSE_MS 10000

uint32_t
probe_address(unsigned char from)
{
	return (INADDR_LOOPBACK & ~0xffU) | (from == 0 ? 1U : from);
}

static const char *
method_of(const struct probe *k)
{
	if (k->method != NULL)
		return k->method;
	return k->body != NULL ? "POST" : "GET";
}

static void
put_request(struct buf *q, const struct probe *k)
{
	size_t n = k->body != NULL ? strlen(k->body) : 0;

	buf_printf(q,
	    "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
	    method_of(k), k->path);
	if (k->token != NULL)
		buf_printf(q, "Authorization: Bearer %s\r\n", k->token);
	if (k->head != NULL)
		buf_puts(q, k->head);
	if (k->body != NULL || strcmp(method_of(k), "GET") != 0)
		buf_printf(q,
		    "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		    n);
	buf_puts(q, "\r\n");
	if (k->body != NULL)
		buf_put(q, k->body, n);
}

static void
probe_check(const struct probe *k, const struct tk_response *a)
{
	struct arena *arena = arena_new(WIRE_ARENA_MAX);
	struct verdict_http h = { method_of(k), k->path, a->status,
		buf_str(&a->body) };
	struct verdict v = { 0 };

	verdict_http(arena, &h, &v);
	ck_assert_msg(!v.wrong, "%s %s: %d %.*s: %s", h.method, h.path,
	    h.status, STR_ARG(h.body), v.why);
	arena_free(arena);
}

int
probe(const struct probe *k, struct tk_response *a)
{
	struct buf q = BUF_INIT(REQUEST_MAX);
	struct tk_response own = { 0 };
	struct tk_http c = { 0 };
	int status = 0;

	if (a == NULL)
		a = &own;
	put_request(&q, k);
	tk_http_open_from(&c, probe_address(k->from), k->port);
	(void)tk_http_send(&c, q.p, q.n);
	if (tk_http_read(&c, a, RESPONSE_MS))
		status = a->status;
	if (status >= 400)
		probe_check(k, a);
	tk_http_close(&c);
	tk_response_free(&own);
	buf_free(&q);
	return status;
}
