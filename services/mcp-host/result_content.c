#include "result_content.h"

#include <string.h>

#include "clean_text.h"
#include "core/buf.h"
#include "core/mem.h"
#include "tool/tool_digest.h"
#include "wire/slice.h"
#include "wire/wire.h"

/* Text before its middle is left out; what is beyond is not looked at. */
#define RAW_TEXT_MAX (2 * RESULT_MAX)
/* Longest name, description and address of a resource, in bytes. */
#define RESOURCE_NAME_MAX 256
#define RESOURCE_TEXT_MAX 1024

const char *
result_kind_name(enum result_kind k)
{
	static const char *const names[] = { "image", "audio", "resource" };

	return names[k];
}

/* ---- members of objects ---- */

/* The members that content has, of all its types. */
enum content_member {
	CONTENT_TYPE,
	CONTENT_TEXT,
	CONTENT_DATA,
	CONTENT_MIME_TYPE,
	CONTENT_RESOURCE,
	CONTENT_URI,
	CONTENT_NAME,
	CONTENT_TITLE,
	CONTENT_DESCRIPTION,
	CONTENT_BLOB,
	CONTENT_N
};

static const struct str content_names[CONTENT_N] = { STR_INIT("type"),
	STR_INIT("text"), STR_INIT("data"), STR_INIT("mimeType"),
	STR_INIT("resource"), STR_INIT("uri"), STR_INIT("name"),
	STR_INIT("title"), STR_INIT("description"), STR_INIT("blob") };

/* The values of those of n names that an object has, as written. */
struct member_reader {
	const struct str *names;
	struct str *values;
	size_t n;
};

static void
member_reader_on_slice(void *arg, const struct wire_slice *s)
{
	const struct member_reader *r = arg;
	size_t i;

	for (i = 0; !s->escaped && i < r->n; i++)
		if (str_eq(s->key, r->names[i]))
			r->values[i] = s->value;
}

static enum rc
member_reader_run(struct str json, struct member_reader *r)
{
	const struct wire_slice_handler h = {
		.each = member_reader_on_slice, .arg = r, .max = RESULT_MAX
	};

	memset(r->values, 0, r->n * sizeof(*r->values));
	if (json.n == 0 || json.p[0] != '{')
		return RC_INVALID;
	return wire_slice_each(json, &h);
}

/* Whether value is a JSON string; its inside then. */
static bool
member_inside(struct str value, struct str *inside)
{
	if (value.n < 2 || value.p[0] != '"')
		return false;
	*inside = (struct str){ value.p + 1, value.n - 2 };
	return true;
}

/* Append the text of a JSON string; false if value is none. */
static bool
member_put_text(struct str value, struct buf *out)
{
	struct str inside;

	if (!member_inside(value, &inside))
		return false;
	wire_text_put(inside, out);
	return true;
}

/* The same, on one line of at most max bytes. */
static bool
member_put_line(struct str value, size_t max, struct buf *out)
{
	struct buf text = BUF_INIT(RESULT_MAX);
	bool is = member_put_text(value, &text) && text.n > 0;

	if (is)
		clean_text_line(buf_str(&text), max, out);
	buf_free(&text);
	return is;
}

/* ---- one content after the other ---- */

struct content_reader {
	struct arena *a;
	struct result_content *out;
	struct buf text;
	struct buf only; /* the one text there is, uncleaned */
	size_t n, n_texts;
	bool full, invalid;
};

static bool
content_is(struct str type, const char *name)
{
	struct str inside;

	return member_inside(type, &inside) && str_eq(inside, str_of(name));
}

static void
content_begin_line(struct content_reader *r)
{
	if (r->text.n > 0)
		buf_putc(&r->text, '\n');
}

static void
content_add_text(struct content_reader *r, struct str value)
{
	struct buf text = BUF_INIT(RAW_TEXT_MAX);

	if (!member_put_text(value, &text)) {
		r->invalid = true;
	} else {
		content_begin_line(r);
		clean_text_put(buf_str(&text), &r->text);
		if (++r->n_texts == 1)
			buf_put_str(&r->only, buf_str(&text));
	}
	buf_free(&text);
}

static bool
mime_is_token(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 127 ||
		    strchr("()<>@,;:\\\"/[]?={}", s.p[i]) != NULL)
			return false;
	return s.n > 0;
}

/* type/subtype, without parameters. */
static struct str
content_mime(struct content_reader *r, struct str value)
{
	struct str inside, rest, type, subtype;

	if (!member_inside(value, &inside) || inside.n > RESULT_TYPE_MAX)
		return STR("application/octet-stream");
	rest = inside;
	rest = str_split(&rest, ';');
	type = str_split(&rest, '/');
	subtype = str_trim(rest);
	if (!mime_is_token(type) || !mime_is_token(subtype))
		return STR("application/octet-stream");
	return arena_printf(r->a, "%.*s/%.*s", STR_ARG(type), STR_ARG(subtype));
}

/* The bytes that base64 stands for, if it is valid. */
static size_t
content_bytes(struct str data)
{
	size_t n = data.n / 4 * 3;

	if (data.n > 0 && data.n % 4 == 0 && data.p[data.n - 1] == '=')
		n -= data.p[data.n - 2] == '=' ? 2 : 1;
	return n;
}

static void
content_add_part(struct content_reader *r, enum result_kind kind,
    struct str data, struct str mime_type)
{
	struct result_content *out = r->out;
	struct result_part part = { .kind = kind };

	if (!member_inside(data, &part.data)) {
		r->invalid = true;
		return;
	}
	part.mime_type = content_mime(r, mime_type);
	part.bytes = content_bytes(part.data);
	r->full = r->full || part.mime_type.p == NULL;
	content_begin_line(r);
	buf_printf(&r->text, "[%s: %.*s, %zu bytes, not shown]",
	    result_kind_name(kind), STR_ARG(part.mime_type), part.bytes);
	if (out->n_parts < RESULT_PARTS_MAX)
		out->parts[out->n_parts++] = part;
}

/* "[resource: title, https://…, text/plain: description]" */
static void
content_add_link(struct content_reader *r, const struct str *v)
{
	struct buf *b = &r->text;

	content_begin_line(r);
	buf_puts(b, "[resource: ");
	if (member_put_line(v[CONTENT_TITLE], RESOURCE_NAME_MAX, b) ||
	    member_put_line(v[CONTENT_NAME], RESOURCE_NAME_MAX, b))
		buf_puts(b, ", ");
	if (!member_put_line(v[CONTENT_URI], RESOURCE_TEXT_MAX, b))
		r->invalid = true;
	if (v[CONTENT_MIME_TYPE].p != NULL) {
		struct str type = content_mime(r, v[CONTENT_MIME_TYPE]);

		buf_printf(b, ", %.*s", STR_ARG(type));
	}
	if (v[CONTENT_DESCRIPTION].p != NULL) {
		buf_puts(b, ": ");
		(void)member_put_line(
		    v[CONTENT_DESCRIPTION], RESOURCE_TEXT_MAX, b);
	}
	buf_putc(b, ']');
}

static void
content_add_resource(struct content_reader *r, struct str json)
{
	struct str v[CONTENT_N];
	struct member_reader m = { content_names, v, CONTENT_N };

	if (member_reader_run(json, &m) != RC_OK)
		r->invalid = true;
	else if (v[CONTENT_TEXT].p != NULL)
		content_add_text(r, v[CONTENT_TEXT]);
	else
		content_add_part(
		    r, RESULT_RESOURCE, v[CONTENT_BLOB], v[CONTENT_MIME_TYPE]);
}

static void
content_on_slice(void *arg, const struct wire_slice *s)
{
	struct content_reader *r = arg;
	struct str v[CONTENT_N];
	struct member_reader m = { content_names, v, CONTENT_N };

	if (r->n++ >= RESULT_CONTENTS_MAX)
		return;
	if (member_reader_run(s->value, &m) != RC_OK) {
		r->invalid = true;
	} else if (content_is(v[CONTENT_TYPE], "text")) {
		content_add_text(r, v[CONTENT_TEXT]);
	} else if (content_is(v[CONTENT_TYPE], "image")) {
		content_add_part(
		    r, RESULT_IMAGE, v[CONTENT_DATA], v[CONTENT_MIME_TYPE]);
	} else if (content_is(v[CONTENT_TYPE], "audio")) {
		content_add_part(
		    r, RESULT_AUDIO, v[CONTENT_DATA], v[CONTENT_MIME_TYPE]);
	} else if (content_is(v[CONTENT_TYPE], "resource_link")) {
		content_add_link(r, v);
	} else if (content_is(v[CONTENT_TYPE], "resource")) {
		content_add_resource(r, v[CONTENT_RESOURCE]);
	} else {
		content_begin_line(r);
		buf_puts(&r->text, "[content of type ");
		if (!member_put_line(v[CONTENT_TYPE], 32, &r->text))
			r->invalid = true;
		buf_puts(&r->text, ", not shown]");
	}
}

/* ---- the result ---- */

static bool
result_json_equal(struct str a, struct str b)
{
	struct buf x = BUF_INIT(6 * (size_t)WIRE_MESSAGE_MAX), y = x;
	bool same = tool_canonical_put(a, &x) == RC_OK &&
	    tool_canonical_put(b, &y) == RC_OK &&
	    str_eq(buf_str(&x), buf_str(&y));

	buf_free(&x);
	buf_free(&y);
	return same;
}

/* Make text of structured content that stands alone, or is repeated. */
static void
result_use_structured(struct content_reader *r, struct str structured)
{
	bool alone = r->n == 0 ||
	    (r->n == 1 && r->n_texts == 1 &&
		result_json_equal(structured, buf_str(&r->only)));

	if (alone) {
		buf_reset(&r->text);
		clean_text_put(structured, &r->text);
	} else if (structured.n <= RESULT_TEXT_MAX) {
		r->out->structured = arena_str(r->a, structured);
		r->full = r->full || r->out->structured.p == NULL;
	}
}

static enum rc
result_read_contents(struct content_reader *r, struct str content)
{
	const struct wire_slice_handler h = {
		.each = content_on_slice, .arg = r, .max = RESULT_MAX
	};
	enum rc rc;

	if (content.p == NULL)
		return RC_OK;
	if (content.p[0] != '[')
		return RC_INVALID;
	rc = wire_slice_each(content, &h);
	if (r->n > RESULT_CONTENTS_MAX) {
		content_begin_line(r);
		buf_printf(&r->text, "[%zu more contents, not shown]",
		    r->n - RESULT_CONTENTS_MAX);
	}
	return rc == RC_OK && r->invalid ? RC_INVALID : rc;
}

static enum rc
result_finish_text(struct content_reader *r)
{
	struct buf cut = BUF_INIT(RESULT_TEXT_MAX);
	enum rc rc;

	clean_text_middle(buf_str(&r->text), RESULT_TEXT_MAX, &cut);
	r->out->text = arena_str(r->a, buf_str(&cut));
	rc = r->full || r->out->text.p == NULL ? RC_TOOBIG : buf_rc(&cut);
	buf_free(&cut);
	return rc;
}

enum rc
result_content_read(
    struct str json, struct arena *a, struct result_content *out)
{
	static const struct str names[] = { STR_INIT("content"),
		STR_INIT("structuredContent"), STR_INIT("isError") };
	struct content_reader r = { .a = a,
		.out = out,
		.text = BUF_INIT(RAW_TEXT_MAX),
		.only = BUF_INIT(WIRE_MESSAGE_MAX) };
	struct str v[NELEM(names)];
	struct member_reader m = { names, v, NELEM(names) };
	enum rc rc = member_reader_run(json, &m);

	memset(out, 0, sizeof(*out));
	if (rc == RC_OK && v[0].p == NULL && v[1].p == NULL)
		rc = RC_INVALID;
	if (rc == RC_OK)
		rc = result_read_contents(&r, v[0]);
	if (rc == RC_OK && v[1].p != NULL && !str_eq(v[1], STR("null")))
		result_use_structured(&r, v[1]);
	out->is_error = str_eq(v[2], STR("true"));
	if (rc == RC_OK)
		rc = result_finish_text(&r);
	buf_free(&r.text);
	buf_free(&r.only);
	return rc;
}
