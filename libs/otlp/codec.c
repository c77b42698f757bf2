/*
 * Spans as JSON.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "otlp/otlp_internal.h"
#include "wire/out.h"
#include "wire/tree.h"

#define SPAN_ID_LEN 16

static void
key(struct wire_out *o, const char *name)
{
	wire_out_key(o, str_of(name));
}

/* Cut at a code point border; the writer mends what is not UTF-8. */
static struct str
cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	s.n = max;
	while (s.n > max - 4 && ((unsigned char)s.p[s.n] & 0xc0U) == 0x80U)
		s.n--;
	return s;
}

static void
put_i64(struct wire_out *o, int64_t i)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, i);
	wire_out_str(o, str_of(text));
}

static void
put_attr(struct wire_out *o, const struct otlp_attr *a)
{
	if (a->kind == OTLP_ATTR_TEXT && a->text.p == NULL)
		return;
	wire_out_object(o);
	key(o, "key");
	wire_out_str(o, cut(str_of(a->key), OTLP_NAME_MAX));
	key(o, "value");
	wire_out_object(o);
	if (a->kind == OTLP_ATTR_TEXT) {
		key(o, "stringValue");
		wire_out_str(o, cut(a->text, OTLP_TEXT_MAX));
	} else {
		key(o, "intValue");
		put_i64(o, a->number);
	}
	wire_out_object_end(o);
	wire_out_object_end(o);
}

static void
put_attrs(struct wire_out *o, const struct otlp_attr *attrs, size_t n)
{
	size_t kept = n < OTLP_ATTRS_MAX ? n : OTLP_ATTRS_MAX;

	if (n == 0)
		return;
	key(o, "attributes");
	wire_out_array(o);
	for (size_t i = 0; i < kept; i++)
		put_attr(o, &attrs[i]);
	wire_out_array_end(o);
	if (n > kept) {
		key(o, "droppedAttributesCount");
		wire_out_i64(o, (int64_t)(n - kept));
	}
}

void
otlp_encode_head(const struct otlp_resource *r, struct buf *out)
{
	struct wire_out o = { out, false };
	const struct otlp_attr attrs[] = {
		OTLP_S("service.name", r->service),
		OTLP_S("service.version", r->version),
		OTLP_S("service.instance.id", r->instance),
	};

	wire_out_object(&o);
	key(&o, "resourceSpans");
	wire_out_array(&o);
	wire_out_object(&o);
	key(&o, "resource");
	wire_out_object(&o);
	put_attrs(&o, attrs, sizeof(attrs) / sizeof(attrs[0]));
	wire_out_object_end(&o);
	key(&o, "scopeSpans");
	wire_out_array(&o);
	wire_out_object(&o);
	key(&o, "scope");
	wire_out_object(&o);
	key(&o, "name");
	wire_out_str(&o, STR("soul"));
	wire_out_object_end(&o);
	key(&o, "spans");
	wire_out_array(&o);
}

static void
put_status(struct wire_out *o, const struct otlp_span *s)
{
	if (s->status == OTLP_UNSET)
		return;
	key(o, "status");
	wire_out_object(o);
	key(o, "code");
	wire_out_i64(o, s->status);
	if (s->status == OTLP_ERROR && s->error.n > 0) {
		key(o, "message");
		wire_out_str(o, cut(s->error, OTLP_TEXT_MAX));
	}
	wire_out_object_end(o);
}

static bool
is_span_id(const char *s)
{
	return s != NULL && strlen(s) == SPAN_ID_LEN &&
	    strspn(s, "0123456789abcdef") == SPAN_ID_LEN &&
	    strspn(s, "0") != SPAN_ID_LEN;
}

void
otlp_encode_span(const struct otlp_span *s, struct buf *out)
{
	struct wire_out o = { out, false };
	int64_t start = s->start_ns > 0 ? s->start_ns : 0;

	wire_out_object(&o);
	key(&o, "traceId");
	wire_out_str(&o, str_of(s->trace->trace_id));
	key(&o, "spanId");
	wire_out_str(&o, str_of(s->trace->span_id));
	if (is_span_id(s->parent)) {
		key(&o, "parentSpanId");
		wire_out_str(&o, str_of(s->parent));
	}
	key(&o, "name");
	wire_out_str(&o, cut(s->name, OTLP_NAME_MAX));
	key(&o, "kind");
	wire_out_i64(&o, s->kind);
	key(&o, "startTimeUnixNano");
	put_i64(&o, start);
	key(&o, "endTimeUnixNano");
	put_i64(&o, s->end_ns > start ? s->end_ns : start);
	put_attrs(&o, s->attrs, s->nattrs);
	put_status(&o, s);
	wire_out_object_end(&o);
}

/*
 * Statuses and partial success.
 */
static enum otlp_fate
fate_of(enum rc rc, int status)
{
	if (status >= 200 && status <= 299)
		return OTLP_TAKEN;
	if (status == 429 || (status >= 502 && status <= 504))
		return OTLP_RETRY;
	if (rc == RC_DOWN || rc == RC_TIMEOUT)
		return OTLP_RETRY;
	return OTLP_REFUSED;
}

/* An int64 is a text in this JSON, but some write a number. */
static size_t
count_of(const struct wire_tree *v, size_t max)
{
	double f = wire_tree_number(v);
	int64_t n;

	if (str_to_i64(wire_tree_text(v), 0, INT64_MAX, &n) == RC_OK)
		f = (double)n;
	if (!(f > 0))
		return 0;
	return f < (double)max ? (size_t)f : max;
}

void
otlp_answer_read(
    enum rc rc, int status, struct str body, size_t n, struct otlp_answer *out)
{
	struct wire_tree *tree;

	memset(out, 0, sizeof(*out));
	out->fate = fate_of(rc, status);
	if (out->fate != OTLP_TAKEN || wire_tree_parse(body, &tree) != RC_OK)
		return;
	const struct wire_tree *partial =
	    wire_tree_get(tree, STR("partialSuccess"));
	out->rejected =
	    count_of(wire_tree_get(partial, STR("rejectedSpans")), n);
	str_copy(wire_tree_text(wire_tree_get(partial, STR("errorMessage"))),
	    out->text, sizeof(out->text));
	wire_tree_free(tree);
}
