/*
 * Single fields in headers, query parameters, subjects and variables: ids,
 * cursors, times, traces, addresses.  The first byte selects the reader;
 * accepted values are within their limits and round-trip.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/base64.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/mem.h"
#include "core/trace.h"
#include "core/url.h"
#include "must.h"
#include "otlp/otlp_internal.h"
#include "recall/page_cursor.h"
#include "streams/event_cursor.h"

#define ARENA_MAX 4096

/* An id is one token of a subject and can be decoded from it. */
static void
id(struct str s)
{
	char token[ID_TOKEN_MAX], back[ID_MAX + 1], subject[ID_TOKEN_MAX + 8];

	if (id_token(s, token) != RC_OK) {
		must(!id_valid(s));
		return;
	}
	must(id_valid(s) && strpbrk(token, ".*> :{}/+#\r\n") == NULL);
	snprintf(subject, sizeof(subject), "soul.%s.x", token);
	must(bus_subject_valid(subject, false));
	must(id_untoken(str_of(token), back) == RC_OK);
	must(str_eq(str_of(back), s));
}

static void
untoken(struct str s)
{
	char back[ID_MAX + 1], token[ID_TOKEN_MAX];

	if (id_untoken(s, back) != RC_OK)
		return;
	must(id_token(str_of(back), token) == RC_OK);
	must(str_eq(str_of(token), s));
}

static void
page_cursor(struct str s)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct page_cursor p, q;
	struct str text;

	if (page_cursor_read(s, a, &p) == RC_OK) {
		must(id_valid(p.soul_id) && id_valid(p.id));
		must(p.made.ms >= 0 && p.created.ms >= 0);
		text = page_cursor_write(&p, a);
		must(page_cursor_read(text, a, &q) == RC_OK);
		must(page_cursor_compare(&p, &q) == 0);
	}
	arena_free(a);
}

static void
cursor(struct str s)
{
	int64_t after = -2;

	if (event_cursor_parse(s, (struct str){ NULL, 0 }, &after) == RC_OK)
		must(after >= -1);
	if (event_cursor_parse((struct str){ NULL, 0 }, s, &after) == RC_OK)
		must(after >= -1);
}

static void
trace(struct str s)
{
	char text[TRACE_PARENT_MAX], second[TRACE_PARENT_MAX];
	struct trace t, u;

	if (trace_parse(s, &t) != RC_OK)
		return;
	must(strspn(t.trace_id, "0123456789abcdef") == 32);
	must(strspn(t.span_id, "0123456789abcdef") == 16);
	trace_format(&t, text);
	must(trace_parse(str_of(text), &u) == RC_OK);
	trace_format(&u, second);
	must(strcmp(text, second) == 0);
}

static void
moment(struct str s)
{
	char text[WALL_FORMAT_MAX];
	struct wall t, u;

	if (wall_parse(s, &t) != RC_OK)
		return;
	wall_format(t, 0, text);
	/* Times before year 0 or after 9999 are clamped. */
	must(wall_parse(str_of(text), &u) == RC_OK);
	must(u.ms == t.ms || t.ms < INT64_C(-62167219200000) ||
	    t.ms > INT64_C(253402300799999));
}

static void
address(struct str s)
{
	char *servers[BUS_SERVERS_MAX], *text = str_dup(s);
	const char *why = NULL;
	struct url u;
	int n = 0;

	if (url_parse(s, &u, &why) == RC_OK)
		must(u.scheme[0] != '\0' && u.port >= 0 && u.port <= 65535 &&
		    strpbrk(u.host, "\r\n ") == NULL);
	else
		must(why != NULL);
	if (bus_servers_parse(text, servers, &n) == RC_OK) {
		must(n > 0 && n <= BUS_SERVERS_MAX);
		bus_servers_free(servers, n);
	}
	free(text);
}

static void
delivery(struct str s)
{
	struct bus_delivery j = { 0 };

	if (bus_ack_subject_parse(s, &j) == RC_OK)
		must(j.delivered >= 0 && j.seq >= 0 && j.pending >= 0);
}

static void
bytes(struct str s)
{
	struct buf b = BUF_INIT(1024);
	enum rc rc = base64_decode(s, &b);

	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	must(b.n <= 1024 && (rc != RC_OK || b.n <= s.n / 4 * 3));
	buf_free(&b);
}

static void
collector(struct str s)
{
	struct otlp_response out;

	otlp_response_parse(RC_OK, 200, s, 7, &out);
	must(out.fate == OTLP_ACCEPTED && out.rejected <= 7);
	must(memchr(out.text, '\0', sizeof(out.text)) != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static void (*const readers[])(struct str s) = { id, untoken,
		page_cursor, cursor, trace, moment, address, delivery, bytes,
		collector };

	if (n == 0)
		return 0;
	/* An exact copy, so that reads past its end are detected. */
	char *copy = mem_alloc(n);
	memcpy(copy, data + 1, n - 1);
	readers[data[0] % NELEM(readers)]((struct str){ copy, n - 1 });
	free(copy);
	return 0;
}
