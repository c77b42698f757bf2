/*
 * What libs/httpd reads of a request before anybody knows who asks: the first
 * line is a target, the others are header fields; what is a list of proxies or
 * origins in one input is a client's claim in the next.
 */
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/trace.h"
#include "httpd/cors.h"
#include "httpd/head.h"
#include "httpd/peer.h"
#include "httpd/uri.h"
#include "must.h"

#define FIELDS_MAX 64

static bool
is_within(struct str s, const char *p, size_t n)
{
	return s.n == 0 || (s.p >= p && s.p + s.n <= p + n);
}

static void
decoded(struct str s, const char *p, size_t n)
{
	must(is_within(s, p, n));
	must(str_utf8_count(s) >= 0);
	must(s.n == 0 || memchr(s.p, '\0', s.n) == NULL);
}

static void
try_target(struct str target)
{
	struct str query = target;
	struct str path = str_split(&query, '?');
	char *a = mem_alloc(path.n + 1), *b = mem_alloc(query.n + 1);
	struct uri u;
	size_t i;

	memcpy(a, path.n > 0 ? path.p : "", path.n);
	memcpy(b, query.n > 0 ? query.p : "", query.n);
	enum rc rc = uri_split_path(&u, a, path.n);
	must(u.nsegments <= URI_SEGMENTS_MAX);
	for (i = 0; rc == RC_OK && i < u.nsegments; i++)
		decoded(u.segments[i], a, path.n);
	rc = uri_split_query(&u, b, query.n);
	must(u.npairs <= URI_PAIRS_MAX);
	for (i = 0; rc == RC_OK && i < u.npairs; i++) {
		decoded(u.pairs[i].name, b, query.n);
		decoded(u.pairs[i].value, b, query.n);
		must(uri_query(&u, u.pairs[i].name).p != NULL);
	}
	free(a);
	free(b);
}

/* An address is read again as what it was written as. */
static void
same_twice(const struct peer *p)
{
	struct peer q;

	must(strlen(p->text) < sizeof(p->text));
	must(peer_read(str_of(p->text), &q) == RC_OK);
	must(strcmp(p->text, q.text) == 0 && p->v4 == q.v4 &&
	    p->nkey == q.nkey && memcmp(p->key, q.key, p->nkey) == 0);
}

static void
try_peer(struct str value, const struct head_field *f, size_t n)
{
	struct peer_nets nets, ours;
	struct peer p;
	size_t i;

	if (peer_read(value, &p) == RC_OK)
		same_twice(&p);
	if (peer_nets_read(value, &nets) == RC_OK) {
		must(nets.n <= PEER_NETS_MAX);
		for (i = 0; i < nets.n; i++) {
			must((nets.net[i].addr & ~nets.net[i].mask) == 0);
			must(peer_nets_have(&nets, nets.net[i].addr));
		}
	}
	must(peer_nets_read(STR("10.0.0.0/8"), &ours) == RC_OK);
	must(peer_find(&p, STR("10.0.0.1"), &ours, f, n) == RC_OK);
	same_twice(&p);
	/* Nobody else is believed. */
	must(peer_find(&p, STR("192.0.2.1"), &ours, f, n) == RC_OK);
	must(strcmp(p.text, "192.0.2.1") == 0);
}

static void
try_cors(struct str value, struct str origin)
{
	struct buf b = BUF_INIT(64 * 1024);
	struct cors c;
	size_t i, k;

	if (cors_read(value, &c) != RC_OK)
		return;
	must(c.n <= CORS_MAX);
	for (i = 0; i < c.n; i++) {
		must(str_eq(cors_allow(&c, c.origins[i]), c.origins[i]));
		for (k = 0; k < c.origins[i].n; k++)
			must(c.origins[i].p[k] > ' ' &&
			    c.origins[i].p[k] < 0x7f);
	}
	struct str allow = cors_allow(&c, origin);
	must(allow.p == NULL || c.any || is_within(allow, value.p, value.n));
	must(c.on || allow.p == NULL);
	cors_put(&c, allow, &b);
	/* Three fields at most, whatever is in them. */
	for (i = 0, k = 0; i < b.n; i++)
		k += b.p[i] == '\n';
	must(k <= 3);
	buf_free(&b);
}

static void
try_trace(struct str value)
{
	char text[TRACE_PARENT_MAX], second[TRACE_PARENT_MAX];
	struct trace t, u;

	if (trace_parse(value, &t) != RC_OK)
		return;
	trace_format(&t, text);
	must(trace_parse(str_of(text), &u) == RC_OK);
	trace_format(&u, second);
	must(strcmp(text, second) == 0);
}

static void
try_head(const struct head_field *f, size_t n, bool http11)
{
	struct head h;
	enum rc rc = head_read(&h, f, n, http11);

	if (rc != RC_OK) {
		must(h.why != NULL && (rc == RC_INVALID || rc == RC_DENIED));
		return;
	}
	must(h.length >= 0 && !(h.chunked && h.length > 0));
	must(h.has_body == (h.chunked || h.length > 0));
	must(!h.chunked || http11);
	must(!http11 || head_find(f, n, STR("host")).p != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct head_field f[FIELDS_MAX];
	size_t i, count = 0;

	if (n == 0)
		return 0;
	struct str rest = { (const char *)data + 1, n - 1 };
	try_target(str_split(&rest, '\n'));
	while (rest.p != NULL && count < FIELDS_MAX) {
		struct str line = str_split(&rest, '\n');

		f[count].name = str_split(&line, ':');
		f[count].value = line.p != NULL ? str_trim(line) : STR("");
		count++;
	}
	try_head(f, count, data[0] % 2 == 0);
	struct str origin = head_find(f, count, STR("Origin"));
	for (i = 0; i < count; i++) {
		try_peer(f[i].value, f, count);
		try_cors(f[i].value, origin);
		try_trace(f[i].value);
		(void)head_has_token(f[i].value, STR("keep-alive"));
	}
	return 0;
}
