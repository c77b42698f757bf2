/*
 * Words, seal, question; the session's record.
 */
#include "tools/approval.h"

#include <string.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "tool/tool_approval.h"
#include "tool/tool_digest.h"
#include "tools/provided.h"
#include "turn/turn_runner.h"
#include "wire/wire.h"

/* Characters of CJK and beyond. */
#define WIDE_MIN 0x2E80
/* Longest reply that is compared, in bytes. */
#define REPLY_WORDS_MAX 64
/* Hexadecimal digits of a question's id. */
#define ID_DIGITS 32

/* ---- replies ---- */

static const struct {
	enum approval_reply reply;
	const char *words; /* separated by '|', in lower case */
} approval_words[] = {
	{ APPROVAL_THIS_TIME,
	    "once|这次可以|可以|可以的|好|好的|好啊|好吧|行|行吧|嗯|是|是的|"
	    "对|同意|允许|批准|确认|没问题|这次可以吧|yes|y|yes please|ok|okay|"
	    "sure|this time|allow|allow once|go ahead|approve|approved" },
	{ APPROVAL_ALWAYS,
	    "always|一直可以|以后都可以|总是可以|一直允许|总是允许|"
	    "以后都允许|always allow|yes always|yes, always" },
	{ APPROVAL_NO,
	    "no|不要|不|不行|不可以|不用|不用了|不好|不同意|不允许|别|别做|"
	    "算了|取消|拒绝|n|nope|no thanks|no, thanks|deny|cancel|don't|"
	    "do not|stop" },
};

/* The length of white space or punctuation that s begins with; 0: none. */
static size_t
approval_margin(struct str s)
{
	static const struct str marks[] = { STR_INIT("。"), STR_INIT("！"),
		STR_INIT("，"), STR_INIT("～"), STR_INIT("…"), STR_INIT("、"),
		STR_INIT("　"), STR_INIT("!"), STR_INIT("."), STR_INIT(","),
		STR_INIT("~"), STR_INIT(" "), STR_INIT("\t"), STR_INIT("\r"),
		STR_INIT("\n") };

	for (size_t i = 0; i < NELEM(marks); i++) {
		if (s.n >= marks[i].n &&
		    memcmp(s.p, marks[i].p, marks[i].n) == 0)
			return marks[i].n;
	}
	return 0;
}

static struct str
approval_trim(struct str s)
{
	size_t n;

	while ((n = approval_margin(s)) > 0)
		s = (struct str){ s.p + n, s.n - n };
	for (size_t at = s.n; at > 0;) {
		size_t from = at - 1;
		while (from > 0 && ((unsigned char)s.p[from] & 0xC0) == 0x80)
			from--;
		if (approval_margin((struct str){ s.p + from, at - from }) !=
		    at - from)
			break;
		s.n = at = from;
	}
	return s;
}

enum approval_reply
approval_read_reply(struct str text)
{
	if (text.n > REPLY_WORDS_MAX)
		return APPROVAL_OTHER;
	text = approval_trim(text);
	for (size_t i = 0; text.n > 0 && i < NELEM(approval_words); i++) {
		struct str rest = str_of(approval_words[i].words);
		while (rest.p != NULL) {
			if (str_eq_nocase(str_split(&rest, '|'), text))
				return approval_words[i].reply;
		}
	}
	return APPROVAL_OTHER;
}

/* ---- question ---- */

static bool
approval_is_chinese(struct str text)
{
	size_t pos = 0;
	int32_t c;

	while (pos < text.n && (c = str_utf8_next(text, &pos)) >= 0) {
		if (c >= WIDE_MIN)
			return true;
	}
	return false;
}

/*
 * Characters that change the direction of a text or are not visible: controls
 * and those of Unicode's Default_Ignorable_Code_Point.
 */
static bool
approval_hides(int32_t c)
{
	static const struct {
		int32_t from, to;
	} ranges[] = { { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x34F, 0x34F },
		{ 0x61C, 0x61C }, { 0x115F, 0x1160 }, { 0x17B4, 0x17B5 },
		{ 0x180B, 0x180F }, { 0x200B, 0x200F }, { 0x2028, 0x202E },
		{ 0x2060, 0x206F }, { 0x3164, 0x3164 }, { 0xFE00, 0xFE0F },
		{ 0xFEFF, 0xFEFF }, { 0xFFA0, 0xFFA0 }, { 0xFFF0, 0xFFFB },
		{ 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A },
		{ 0xE0000, 0xE0FFF } };

	for (size_t i = 0; i < NELEM(ranges); i++) {
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	}
	return false;
}

/* As JSON escapes a character. */
static void
approval_put_escaped(struct buf *b, int32_t c)
{
	if (c < 0x10000) {
		buf_printf(b, "\\u%04x", (unsigned)c);
		return;
	}
	c -= 0x10000;
	buf_printf(b, "\\u%04x\\u%04x", 0xD800U + ((unsigned)c >> 10),
	    0xDC00U + ((unsigned)c & 0x3FF));
}

/* Nothing in it may look different from what is called. */
static enum rc
approval_put_visible(struct buf *b, struct str s)
{
	size_t pos = 0, at = 0;

	while (at = pos, at < s.n) {
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			return RC_INVALID;
		if (approval_hides(c))
			approval_put_escaped(b, c);
		else
			buf_put(b, s.p + at, pos - at);
	}
	return RC_OK;
}

/* RC_INVALID, RC_TOOBIG: it would not show the whole call. */
static enum rc
approval_put_prompt(const struct wire_session_approval *m, struct buf *b)
{
	const char *const zh[] = { "要用 ", " 的工具「", "」，参数是 ",
		"。可以吗？（这次可以 / 一直可以 / 不要）" };
	const char *const en[] = { "May I use the tool \"", "\" of ",
		" with the arguments ", "? (this time / always / no)" };
	const char *const *parts = m->chinese ? zh : en;
	const struct str shown[] = { m->chinese ? m->server : m->tool,
		m->chinese ? m->tool : m->server, m->arguments };
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < NELEM(shown); i++) {
		buf_puts(b, parts[i]);
		rc = approval_put_visible(b, shown[i]);
	}
	buf_puts(b, parts[NELEM(shown)]);
	if (rc != RC_OK)
		return rc;
	bool whole = buf_rc(b) == RC_OK &&
	    fcmp_truncate(buf_str(b), FCMP_PROMPT_MAX).n == b->n;
	return whole ? RC_OK : RC_TOOBIG;
}

bool
approval_is_showable(const struct turn_provided *p, struct str args)
{
	struct wire_session_approval m = {
		.server = p->server, .tool = p->tool, .arguments = args
	};
	bool is = true;

	for (int chinese = 0; chinese <= 1; chinese++) {
		struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

		m.chinese = chinese == 1;
		is = is && approval_put_prompt(&m, &b) == RC_OK;
		buf_free(&b);
	}
	return is;
}

void
approval_question(
    const struct wire_session_approval *m, struct fcmp_question *out)
{
	*out = (struct fcmp_question){ .interaction_id = m->interaction_id,
		.kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
		.prompt = m->prompt,
		.options = tool_approval_options(m->chinese),
		.n_options = TOOL_APPROVAL_OPTIONS_N };
}

/* ---- record ---- */

static enum rc
approval_seal(const struct wire_session_approval *m, char dst[TOOL_DIGEST_MAX])
{
	return tool_seal(&(struct tool_sealed_call){ m->provider, m->server,
			     m->tool, m->definition, m->arguments },
	    dst);
}

/* The id names what is asked: another question has another one. */
static struct str
approval_id(
    const struct wire_session_approval *m, char dst[TOOL_DIGEST_MAX + 3])
{
	const struct str parts[] = { m->turn_id, m->name, m->seal, m->prompt };

	memcpy(dst, "ix_", 3);
	tool_digest(parts, NELEM(parts), dst + 3);
	return (struct str){ dst, 3 + ID_DIGITS };
}

enum rc
approval_make(const struct approval_input *in, struct arena *a,
    struct wire_session_approval *out)
{
	const struct turn_provided *p = in->call->provided;
	char seal[TOOL_DIGEST_MAX], id[TOOL_DIGEST_MAX + 3];
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	*out = (struct wire_session_approval){ .turn_id = in->turn_id,
		.soul_id = in->soul_id,
		.terminal_id = in->terminal_id,
		.expires_ms = in->now + APPROVAL_MS,
		.provider = p->provider,
		.server = p->server,
		.tool = p->tool,
		.name = in->call->skill,
		.label = in->call->label,
		.definition = p->definition,
		.timeout_s = p->timeout_s,
		.arguments = in->call->args,
		.chinese = approval_is_chinese(in->user_text) };
	enum rc rc = approval_seal(out, seal);
	if (rc != RC_OK)
		return rc;
	rc = approval_put_prompt(out, &b);
	if (rc == RC_OK) {
		out->seal = arena_str(a, str_of(seal));
		out->prompt = arena_str(a, buf_str(&b));
	}
	buf_free(&b);
	if (rc != RC_OK)
		return rc;
	out->interaction_id = arena_str(a, approval_id(out, id));
	return out->prompt.p != NULL && out->seal.p != NULL &&
		out->interaction_id.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

bool
approval_is_intact(const struct wire_session_approval *m)
{
	char seal[TOOL_DIGEST_MAX], id[TOOL_DIGEST_MAX + 3];

	return approval_seal(m, seal) == RC_OK &&
	    str_eq(str_of(seal), m->seal) &&
	    str_eq(approval_id(m, id), m->interaction_id) &&
	    fcmp_truncate(m->prompt, FCMP_PROMPT_MAX).n == m->prompt.n;
}

/* ---- a turn that finds one ---- */

static enum approval_reply
approval_reply_of(
    const struct turn_run *r, const struct wire_session_approval *m)
{
	if (!str_eq(m->soul_id, r->facts.soul_id))
		return APPROVAL_OTHER;
	return approval_read_reply(r->req->has_interaction
		? r->req->interaction.content
		: r->facts.user_text);
}

static enum rc
approval_take(struct turn_run *r, const struct wire_session_approval *m,
    enum approval_reply reply, struct approval_found *out)
{
	struct turn_provided *p = arena_alloc(r->a, sizeof(*p));

	if (p == NULL)
		return RC_TOOBIG;
	*p = (struct turn_provided){ .provider = m->provider,
		.server = m->server,
		.tool = m->tool,
		.definition = m->definition,
		.timeout_s = m->timeout_s,
		.interaction_id = m->interaction_id,
		.seal = m->seal,
		.always = reply == APPROVAL_ALWAYS,
		.approval = r->facts.approval };
	out->call = (struct turn_call){ .kind = TURN_PROVIDED,
		.outcome = reply == APPROVAL_NO ? TURN_DENIED : TURN_UNSENT,
		.skill = m->name,
		.tool = m->name,
		.label = m->label,
		.call_id = m->interaction_id,
		.args = m->arguments,
		.provided = p };
	out->replied = true;
	return RC_OK;
}

static struct turn_error
approval_conflict(const char *code, const char *text)
{
	return (struct turn_error){ 409, code, text };
}

/* There is none, or it must not be used any more. */
static void
approval_set_missing(const struct turn_run *r, struct approval_found *out)
{
	if (r->req->has_interaction)
		out->error = approval_conflict(
		    "not_waiting", "the session waits for no reply");
}

static enum rc
approval_set_note(struct turn_run *r, const char *why,
    const struct wire_session_approval *m, struct approval_found *out)
{
	out->note = arena_printf(r->a, "%.*s%s", STR_ARG(m->label), why);
	return out->note.p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
approval_check(struct turn_run *r, const struct wire_session_approval *m,
    struct approval_found *out)
{
	if (!approval_is_intact(m)) {
		log_warn("approval.altered",
		    LOG_V("session", r->slot.key.session_id));
		approval_set_missing(r, out);
		return approval_set_note(
		    r, "的请求已经不是问过的那个，没有做。", m, out);
	}
	if (m->expires_ms <= clock_wall().ms) {
		approval_set_missing(r, out);
		return approval_set_note(r, "等得太久，没有做。", m, out);
	}
	if (r->req->has_interaction &&
	    !str_eq(r->req->interaction.interaction_id, m->interaction_id)) {
		out->error = approval_conflict("stale_interaction",
		    "the session waits for the reply to another question");
		return RC_OK;
	}
	enum approval_reply reply = approval_reply_of(r, m);
	if (reply != APPROVAL_OTHER)
		return approval_take(r, m, reply, out);
	if (r->req->has_interaction) {
		out->error = (struct turn_error){ 400, "invalid_request",
			"/content: expected once, always or no" };
		return RC_OK;
	}
	return approval_set_note(r, "没有得到同意，没有做。", m, out);
}

enum rc
approval_load(struct turn_run *r, struct approval_found *out)
{
	struct wire_session_approval m;
	enum rc rc;

	*out = (struct approval_found){ .replied = false };
	if (r->facts.approval.n == 0) {
		approval_set_missing(r, out);
		return RC_OK;
	}
	rc = wire_decode(
	    &wire_session_approval_desc, r->facts.approval, r->a, &m, NULL);
	if (rc == RC_INVALID) {
		approval_set_missing(r, out);
		return RC_OK;
	}
	return rc == RC_OK ? approval_check(r, &m, out) : rc;
}

const struct wire_session_approval *
approval_question_of(const struct turn_run *r)
{
	return r->question.prompt.p != NULL ? &r->question : NULL;
}

struct str
approval_save(struct turn_run *r)
{
	const struct turn_call *call = turn_unapproved(&r->turn);
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str s = STR("");

	if (call == NULL)
		return r->facts.approval.n > 0 ? s : (struct str){ 0 };
	if (approval_question_of(r) != NULL &&
	    wire_encode(&wire_session_approval_desc, &r->question, &b, NULL) ==
		RC_OK)
		s = arena_str(r->a, buf_str(&b));
	buf_free(&b);
	return s;
}
