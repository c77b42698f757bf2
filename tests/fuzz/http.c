/*
 * What libs/httpd parses of a request before authentication.  The first line of
 * the input is a target, the others are header fields, which also serve as
 * addresses, lists of proxies and of origins.
 */
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/trace.h"
#include "http/client_address.h"
#include "httpd/cors.h"
#include "httpd/httpd_internal.h"
#include "must.h"

#define FIELDS_MAX 64

static bool
str_is_within(struct str s, const char *p, size_t n)
{
	return s.n == 0 || (s.p >= p && s.p + s.n <= p + n);
}

static void
check_decoded(struct str s, const char *p, size_t n)
{
	must(str_is_within(s, p, n));
	must(str_utf8_count(s) >= 0);
	must(s.n == 0 || memchr(s.p, '\0', s.n) == NULL);
}

static void
check_target(struct str target)
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
		check_decoded(u.segments[i], a, path.n);
	rc = uri_split_query(&u, b, query.n);
	must(u.npairs <= URI_PAIRS_MAX);
	for (i = 0; rc == RC_OK && i < u.npairs; i++) {
		check_decoded(u.pairs[i].name, b, query.n);
		check_decoded(u.pairs[i].value, b, query.n);
		must(uri_query(&u, u.pairs[i].name).p != NULL);
	}
	free(a);
	free(b);
}

/* An address as text is parsed to the same address. */
static void
check_round_trip(const struct client_addr *p)
{
	struct client_addr q;

	must(strlen(p->text) < sizeof(p->text));
	must(client_addr_parse(str_of(p->text), &q) == RC_OK);
	must(strcmp(p->text, q.text) == 0 && p->v4 == q.v4 &&
	    p->nkey == q.nkey && memcmp(p->key, q.key, p->nkey) == 0);
}

static void
check_client_addr(struct str value, const struct header_field *f, size_t n)
{
	struct proxy_nets nets, ours;
	struct client_addr p;
	size_t i;

	if (client_addr_parse(value, &p) == RC_OK)
		check_round_trip(&p);
	if (proxy_nets_parse(value, &nets) == RC_OK) {
		must(nets.n <= PROXY_NETS_MAX);
		for (i = 0; i < nets.n; i++) {
			must((nets.net[i].addr & ~nets.net[i].mask) == 0);
			must(proxy_nets_contain(&nets, nets.net[i].addr));
		}
	}
	must(proxy_nets_parse(STR("10.0.0.0/8"), &ours) == RC_OK);
	must(client_addr_find(&p, STR("10.0.0.1"), &ours, f, n) == RC_OK);
	check_round_trip(&p);
	/* The header counts only from a trusted proxy. */
	must(client_addr_find(&p, STR("192.0.2.1"), &ours, f, n) == RC_OK);
	must(strcmp(p.text, "192.0.2.1") == 0);
}

static void
check_cors(struct str value, struct str origin)
{
	struct buf b = BUF_INIT(64 * 1024);
	struct cors c;
	size_t i, k;

	if (cors_parse(value, &c) != RC_OK)
		return;
	must(c.n <= CORS_MAX);
	for (i = 0; i < c.n; i++) {
		must(str_eq(cors_allow(&c, c.origins[i]), c.origins[i]));
		for (k = 0; k < c.origins[i].n; k++)
			must(c.origins[i].p[k] > ' ' &&
			    c.origins[i].p[k] < 0x7f);
	}
	struct str allow = cors_allow(&c, origin);
	must(
	    allow.p == NULL || c.any || str_is_within(allow, value.p, value.n));
	must(c.on || allow.p == NULL);
	cors_write(&c, allow, &b);
	/* Three header fields at most. */
	for (i = 0, k = 0; i < b.n; i++)
		k += b.p[i] == '\n';
	must(k <= 3);
	buf_free(&b);
}

static void
check_trace(struct str value)
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
check_head(const struct header_field *f, size_t n, bool http11)
{
	struct request_head h;
	enum rc rc = request_head_parse(&h, f, n, http11);

	if (rc != RC_OK) {
		must(h.why != NULL && (rc == RC_INVALID || rc == RC_DENIED));
		return;
	}
	must(h.length >= 0 && !(h.chunked && h.length > 0));
	must(h.has_body == (h.chunked || h.length > 0));
	must(!h.chunked || http11);
	must(!http11 || header_find(f, n, STR("host")).p != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct header_field f[FIELDS_MAX];
	size_t i, count = 0;

	if (n == 0)
		return 0;
	struct str rest = { (const char *)data + 1, n - 1 };
	check_target(str_split(&rest, '\n'));
	while (rest.p != NULL && count < FIELDS_MAX) {
		struct str line = str_split(&rest, '\n');

		f[count].name = str_split(&line, ':');
		f[count].value = line.p != NULL ? str_trim(line) : STR("");
		count++;
	}
	check_head(f, count, data[0] % 2 == 0);
	struct str origin = header_find(f, count, STR("Origin"));
	for (i = 0; i < count; i++) {
		check_client_addr(f[i].value, f, count);
		check_cors(f[i].value, origin);
		check_trace(f[i].value);
		(void)header_has_token(f[i].value, STR("keep-alive"));
	}
	return 0;
}
