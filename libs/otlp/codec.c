/*
 * Encoding of spans, and parsing of responses, as OTLP JSON.
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
codec_key(struct wire_out *o, const char *name)
{
	wire_out_key(o, str_of(name));
}

/* Truncate between code points; the writer replaces invalid UTF-8. */
static struct str
codec_truncate(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	s.n = max;
	while (s.n > max - 4 && ((unsigned char)s.p[s.n] & 0xc0U) == 0x80U)
		s.n--;
	return s;
}

static void
codec_put_i64(struct wire_out *o, int64_t i)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, i);
	wire_out_str(o, str_of(text));
}

static void
codec_put_attr(struct wire_out *o, const struct otlp_attr *a)
{
	if (a->kind == OTLP_ATTR_TEXT && a->text.p == NULL)
		return;
	wire_out_object(o);
	codec_key(o, "key");
	wire_out_str(o, codec_truncate(str_of(a->key), OTLP_NAME_MAX));
	codec_key(o, "value");
	wire_out_object(o);
	if (a->kind == OTLP_ATTR_TEXT) {
		codec_key(o, "stringValue");
		wire_out_str(o, codec_truncate(a->text, OTLP_TEXT_MAX));
	} else {
		codec_key(o, "intValue");
		codec_put_i64(o, a->number);
	}
	wire_out_object_end(o);
	wire_out_object_end(o);
}

static void
codec_put_attrs(struct wire_out *o, const struct otlp_attr *attrs, size_t n)
{
	size_t written = n < OTLP_ATTRS_MAX ? n : OTLP_ATTRS_MAX;

	if (n == 0)
		return;
	codec_key(o, "attributes");
	wire_out_array(o);
	for (size_t i = 0; i < written; i++)
		codec_put_attr(o, &attrs[i]);
	wire_out_array_end(o);
	if (n > written) {
		codec_key(o, "droppedAttributesCount");
		wire_out_i64(o, (int64_t)(n - written));
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
	codec_key(&o, "resourceSpans");
	wire_out_array(&o);
	wire_out_object(&o);
	codec_key(&o, "resource");
	wire_out_object(&o);
	codec_put_attrs(&o, attrs, sizeof(attrs) / sizeof(attrs[0]));
	wire_out_object_end(&o);
	codec_key(&o, "scopeSpans");
	wire_out_array(&o);
	wire_out_object(&o);
	codec_key(&o, "scope");
	wire_out_object(&o);
	codec_key(&o, "name");
	wire_out_str(&o, STR("soul"));
	wire_out_object_end(&o);
	codec_key(&o, "spans");
	wire_out_array(&o);
}

static void
codec_put_status(struct wire_out *o, const struct otlp_span *s)
{
	if (s->status == OTLP_UNSET)
		return;
	codec_key(o, "status");
	wire_out_object(o);
	codec_key(o, "code");
	wire_out_i64(o, s->status);
	if (s->status == OTLP_ERROR && s->error.n > 0) {
		codec_key(o, "message");
		wire_out_str(o, codec_truncate(s->error, OTLP_TEXT_MAX));
	}
	wire_out_object_end(o);
}

static bool
codec_is_span_id(const char *s)
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
	codec_key(&o, "traceId");
	wire_out_str(&o, str_of(s->trace->trace_id));
	codec_key(&o, "spanId");
	wire_out_str(&o, str_of(s->trace->span_id));
	if (codec_is_span_id(s->parent)) {
		codec_key(&o, "parentSpanId");
		wire_out_str(&o, str_of(s->parent));
	}
	codec_key(&o, "name");
	wire_out_str(&o, codec_truncate(s->name, OTLP_NAME_MAX));
	codec_key(&o, "kind");
	wire_out_i64(&o, s->kind);
	codec_key(&o, "startTimeUnixNano");
	codec_put_i64(&o, start);
	codec_key(&o, "endTimeUnixNano");
	codec_put_i64(&o, s->end_ns > start ? s->end_ns : start);
	codec_put_attrs(&o, s->attrs, s->nattrs);
	codec_put_status(&o, s);
	wire_out_object_end(&o);
}

/* ---- responses ---- */

static enum otlp_fate
response_fate(enum rc rc, int status)
{
	if (status >= 200 && status <= 299)
		return OTLP_ACCEPTED;
	if (status == 429 || (status >= 502 && status <= 504))
		return OTLP_RETRY;
	if (rc == RC_DOWN || rc == RC_TIMEOUT)
		return OTLP_RETRY;
	return OTLP_FAILED;
}

/* An int64 is a string in this JSON, but some collectors write a number. */
static size_t
response_count(const struct wire_tree *v, size_t max)
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
otlp_response_parse(enum rc rc, int status, struct str body, size_t n,
    struct otlp_response *out)
{
	struct wire_tree *tree;

	memset(out, 0, sizeof(*out));
	out->fate = response_fate(rc, status);
	if (out->fate != OTLP_ACCEPTED || wire_tree_parse(body, &tree) != RC_OK)
		return;
	const struct wire_tree *partial =
	    wire_tree_get(tree, STR("partialSuccess"));
	out->rejected =
	    response_count(wire_tree_get(partial, STR("rejectedSpans")), n);
	str_copy(wire_tree_text(wire_tree_get(partial, STR("errorMessage"))),
	    out->text, sizeof(out->text));
	wire_tree_free(tree);
}
