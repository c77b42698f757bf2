/*
 * The codes of tool_call_reply, and its text for the model.
 */
#include "tools/tool_result.h"

#include "core/buf.h"
#include "core/mem.h"
#include "reply/reply_compose.h"
#include "wire/out.h"

/* Room for the mark between two parts of a text. */
#define MARK_MAX 64
/* Longest error text, in bytes. */
#define WHY_MAX 1024

static const struct {
	struct str code;
	enum turn_outcome outcome;
} result_codes[] = {
	{ STR_INIT("TOOL_ERROR"), TURN_ERROR },
	{ STR_INIT("UNKNOWN_TOOL"), TURN_ERROR },
	{ STR_INIT("FORBIDDEN"), TURN_ERROR },
	{ STR_INIT("DEFINITION_CHANGED"), TURN_ERROR },
	{ STR_INIT("INVALID_ARGUMENTS"), TURN_INVALID },
	{ STR_INIT("APPROVAL_REQUIRED"), TURN_UNAPPROVED },
	{ STR_INIT("SERVER_UNAVAILABLE"), TURN_OFFLINE },
	{ STR_INIT("BUSY"), TURN_OFFLINE },
};

static enum turn_outcome
result_outcome(struct str code)
{
	for (size_t i = 0; i < NELEM(result_codes); i++) {
		if (str_eq(result_codes[i].code, code))
			return result_codes[i].outcome;
	}
	return TURN_NOT_CONFIRMED;
}

/* ---- text ---- */

static size_t
result_char_start(struct str s, size_t at)
{
	while (at > 0 && at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80)
		at--;
	return at;
}

struct str
tool_result_shorten(struct str s, size_t max, struct arena *a)
{
	if (s.n <= max)
		return s;
	size_t room = max - MARK_MAX;
	size_t front = result_char_start(s, room - room / 3);
	size_t back = result_char_start(s, s.n - room / 3);
	/* A character before it would not fit. */
	if (back < s.n - room / 3)
		back += 1;
	while (back < s.n && ((unsigned char)s.p[back] & 0xC0) == 0x80)
		back++;
	return arena_printf(a, "%.*s\n[... %zu bytes left out ...]\n%.*s",
	    (int)front, s.p, back - front, (int)(s.n - back), s.p + back);
}

static void
result_put_left_out(
    struct buf *b, const struct wire_tool_call_reply_content_left_out *c)
{
	buf_printf(b, "%s[not shown: %.*s, %.*s, %lld bytes",
	    b->n > 0 ? "\n" : "", STR_ARG(c->type), STR_ARG(c->mime_type),
	    (long long)c->bytes);
	if (c->id.n > 0)
		buf_printf(b, ", id %.*s", STR_ARG(c->id));
	buf_putc(b, ']');
}

static struct str
result_text(const struct wire_tool_call_reply *m, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX), rest = BUF_INIT(8192);
	struct str s;

	buf_put_str(&b, m->text);
	if (m->structured.n > 0) {
		if (b.n > 0)
			buf_putc(&b, '\n');
		buf_put_str(&b, m->structured);
	}
	for (size_t i = 0; i < m->n_content_left_out; i++)
		result_put_left_out(&rest, &m->content_left_out[i]);
	/* What is not shown is named whatever the length of the text. */
	s = tool_result_shorten(buf_str(&b), TOOL_RESULT_MAX - rest.n - 1, a);
	if (s.p != NULL && rest.n > 0)
		s = arena_printf(a, "%.*s%s%.*s", STR_ARG(s),
		    s.n > 0 ? "\n" : "", (int)rest.n, rest.p);
	else if (s.p == b.p)
		s = arena_str(a, s);
	buf_free(&b);
	buf_free(&rest);
	return s;
}

static struct str
result_json(struct str text, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };

	wire_out_str(&o, text);
	struct str s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* ---- image ---- */

static bool
result_is_base64(struct str s)
{
	size_t pad = 0;

	while (pad < 2 && pad < s.n && s.p[s.n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i + pad < s.n; i++) {
		char c = s.p[i];
		if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
		    (c < '0' || c > '9') && c != '+' && c != '/')
			return false;
	}
	return s.n > 0 && s.n % 4 == 0;
}

/* What a provider of models would reject makes the whole turn fail. */
static void
result_read_image(const struct wire_tool_call_reply *m, struct arena *a,
    struct tool_result *out)
{
	static const struct str types[] = { STR_INIT("image/png"),
		STR_INIT("image/jpeg"), STR_INIT("image/gif"),
		STR_INIT("image/webp") };

	if (m->n_images == 0 || !result_is_base64(m->images[0].data))
		return;
	for (size_t i = 0; i < NELEM(types); i++) {
		if (!str_eq(m->images[0].mime_type, types[i]))
			continue;
		out->image = arena_str(a, m->images[0].data);
		out->image_type = types[i];
	}
}

/* ---- results ---- */

/* Of a tool's error its own text counts, if it has any. */
static void
result_read_error(const struct wire_tool_call_reply *m, struct arena *a,
    struct tool_result *out)
{
	struct str why = m->error.message;

	out->outcome = result_outcome(m->error.code);
	out->changed = str_eq(m->error.code, STR("DEFINITION_CHANGED"));
	if (str_eq(m->error.code, STR("TOOL_ERROR")) && m->text.n > 0)
		why = str_trim(m->text);
	if (out->outcome != TURN_UNAPPROVED &&
	    out->outcome != TURN_NOT_CONFIRMED)
		out->why = reply_clean(why, WHY_MAX, a);
}

enum rc
tool_result_read(const struct wire_tool_call_reply *m, struct arena *a,
    struct tool_result *out)
{
	*out = (struct tool_result){ .outcome = TURN_OK };
	if (!m->has_ok || !m->ok)
		result_read_error(m, a, out);
	result_read_image(m, a, out);
	if (m->text.n == 0 && m->structured.n == 0 &&
	    m->n_content_left_out == 0)
		return RC_OK;
	struct str text = result_text(m, a);
	if (text.p == NULL)
		return RC_TOOBIG;
	out->output = result_json(text, a);
	return out->output.p != NULL ? RC_OK : RC_TOOBIG;
}

void
tool_result_error(enum rc rc, struct str body, struct tool_result *out)
{
	*out = (struct tool_result){ .outcome = TURN_NOT_CONFIRMED };
	if (rc == RC_NOENT && body.n == 0)
		out->outcome = TURN_OFFLINE;
	else if (body.n > 0 && (rc == RC_RETRY || rc == RC_NOENT))
		out->outcome = TURN_OFFLINE;
	else if (body.n > 0 && rc == RC_INVALID)
		*out = (struct tool_result){ .outcome = TURN_ERROR,
			.why = STR("the provider rejects the call") };
}
