/*
 * The sentences for the outcomes of calls, and the order of a reply's parts.
 */
#include "reply/reply_compose.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/tree.h"

/* Longest error text of a body that the reply quotes, in code points. */
#define ERROR_SHOWN_MAX 40
/* An error of failed_skills, in bytes. */
#define WHY_MAX 1024

/* error is for programs, sentence for the user; "%" is the call's label. */
static const struct {
	const char *error;
	const char *sentence;
} reply_outcomes[TURN_OUTCOMES] = {
	[TURN_UNSENT] = { "not sent", "%还没有做。" },
	[TURN_SENT] = { "not confirmed", "%已经发出，但没有得到确认。" },
	[TURN_OK] = { "", "好的，%已执行。" },
	[TURN_ERROR] = { "failed", "" }, /* reply_put_error() */
	[TURN_NOT_CONFIRMED] = { "not confirmed",
	    "%已经发出，但没有得到确认。" },
	[TURN_OFFLINE] = { "offline", "我的身体现在不在线，%没有执行。" },
	[TURN_NO_SUBSCRIBER] = { "no subscriber",
	    "我的身体现在没有响应，%没有执行。" },
	[TURN_NO_TIME] = { "late", "%没有来得及执行。" },
	[TURN_BLOCKED] = { "blocked", "我现在心情还没平复，%这次先不做。" },
	[TURN_GATE_UNKNOWN] = { "gate unknown",
	    "我现在没法判断能不能做，%这次先不做。" },
	[TURN_INVALID] = { "invalid arguments",
	    "%的要求我没弄明白，没有执行。" },
	[TURN_UNKNOWN] = { "unknown skill", "我不会%。" },
	[TURN_REJECTED] = { "rejected", "%现在不能做。" },
	[TURN_DEFERRED] = { "not carried out", "%还没有做。" },
	[TURN_NO_MATCH] = { "nothing fits", "没有找到%。" },
	[TURN_SKIPPED] = { "not sent",
	    "前一次没有得到确认，后面的%没有再做。" },
	[TURN_CANCELED] = { "canceled", "%还没有做。" },
	[TURN_UNAPPROVED] = { "approval required", "%要得到同意才能做。" },
	[TURN_DENIED] = { "not approved", "好的，%没有做。" },
};

#define REPLY_SEARCH_FAILED "以前的事我没能查到。"
#define REPLY_FORGOTTEN     "已经忘掉：%。"
#define REPLY_OVERFLOW      "一次要做的事太多，有些没有做。"
#define REPLY_REST_FAILED   "其余的我现在答不上来，请稍后再试。"
#define REPLY_BODY_ABSENT   "（我的身体现在不在线，做不了动作。）"
#define REPLY_MODEL_FAILED  "我现在答不上来，请稍后再试。"
#define REPLY_EMPTY         "我没想好怎么回答，请再说一遍。"

/* ---- texts ---- */

const struct str reply_no_reply[REPLY_NO_REPLY_N] = { STR_INIT("<NO_REPLY>"),
	STR_INIT("NO_REPLY"), STR_INIT("[NO_REPLY]") };

struct str
reply_text(struct str s, bool *silent)
{
	struct str bare = s = str_trim(s);

	while (bare.n > 0 && bare.p[0] == '`')
		bare = (struct str){ bare.p + 1, bare.n - 1 };
	while (bare.n > 0 && bare.p[bare.n - 1] == '`')
		bare.n--;
	bare = str_trim(bare);
	*silent = false;
	for (size_t i = 0; i < REPLY_NO_REPLY_N; i++)
		*silent |= str_eq_nocase(bare, reply_no_reply[i]);
	return *silent ? STR("") : s;
}

struct str
reply_clean(struct str s, size_t max, struct arena *a)
{
	s = str_clip(s, max);
	char *p = arena_alloc(a, s.n + 1);
	if (p == NULL)
		return (struct str){ 0 };
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool bad = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
		p[i] = bad ? ' ' : s.p[i];
	}
	return (struct str){ p, s.n };
}

/* ---- the reply ---- */

static void
reply_put(struct buf *b, const char *fmt, struct str what)
{
	for (; *fmt != '\0'; fmt++) {
		if (*fmt == '%')
			buf_put_str(b, what);
		else
			buf_putc(b, *fmt);
	}
}

/* Selects the calls of a sentence. */
typedef bool (*call_fn)(const struct turn *t, size_t i);

/* Whether an earlier call of the same sentence has the same label. */
static bool
reply_named_before(const struct turn *t, size_t i, call_fn wanted)
{
	for (size_t k = 0; k < i; k++) {
		if (wanted(t, k) &&
		    t->calls[k].outcome == t->calls[i].outcome &&
		    str_eq(t->calls[k].label, t->calls[i].label))
			return true;
	}
	return false;
}

/* One sentence for all wanted calls of that outcome. */
static void
reply_put_all(
    struct buf *b, const struct turn *t, enum turn_outcome is, call_fn wanted)
{
	struct buf names = BUF_INIT(REPLY_MAX);

	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].outcome != is || !wanted(t, i) ||
		    reply_named_before(t, i, wanted))
			continue;
		if (names.n > 0)
			buf_puts(&names, "、");
		buf_put_str(&names, t->calls[i].label);
	}
	if (names.n > 0)
		reply_put(b, reply_outcomes[is].sentence, buf_str(&names));
	buf_free(&names);
}

static bool
reply_is_direct(const struct turn *t, size_t i)
{
	return t->calls[i].kind == TURN_DIRECT;
}

static bool
reply_is_invoke(const struct turn *t, size_t i)
{
	const struct turn_call *c = &t->calls[i];

	return c->kind == TURN_INVOKE ||
	    (c->kind == TURN_PROVIDED && !c->safety);
}

/* Calls of providers' tools that could not be reached: not of the body's. */
static bool
reply_is_unreachable(const struct turn *t, size_t i)
{
	return t->calls[i].kind == TURN_PROVIDED &&
	    t->calls[i].outcome == TURN_OFFLINE && turn_call_failed(t, i);
}

/* The sentence for a failed forget_memory, if the table has none; or NULL. */
static const char *
reply_forget_failure(const struct turn_call *c)
{
	if (c->kind != TURN_FORGET)
		return NULL;
	switch (c->outcome) {
	case TURN_NO_MATCH:
		return "没有找到和要忘掉的事相符的记忆。";
	case TURN_NOT_CONFIRMED:
		return "要忘掉的事没有得到确认，可能忘掉了，也可能没有。";
	case TURN_ERROR:
	case TURN_UNKNOWN:
		return "要忘掉的事我这次没能忘掉。";
	default:
		return NULL;
	}
}

/* Failures that the table's sentences cover. */
static bool
reply_is_failure(const struct turn *t, size_t i)
{
	const struct turn_call *c = &t->calls[i];

	/* The question says what is to be approved. */
	if (c->outcome == TURN_UNAPPROVED && t->question.n > 0)
		return false;
	return c->kind != TURN_RECALL && c->kind != TURN_MORE &&
	    (c->kind != TURN_ALARM || c->output.n == 0) &&
	    !reply_is_unreachable(t, i) && reply_forget_failure(c) == NULL &&
	    turn_call_failed(t, i);
}

/* Each sentence is written once. */
static void
reply_put_forget_failures(struct buf *b, const struct turn *t)
{
	const char *written[TURN_OUTCOMES] = { NULL };

	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		const char *s = reply_forget_failure(c);
		if (s == NULL || !turn_call_failed(t, i) ||
		    written[c->outcome] == s)
			continue;
		written[c->outcome] = s;
		buf_puts(b, s);
	}
}

/* Append the texts that were forgotten: "「…」、「…」". */
static void
reply_put_forgotten_texts(struct buf *names, const struct turn_call *c)
{
	struct wire_tree *v;

	if (wire_tree_parse(c->output, &v) != RC_OK)
		return;
	const struct wire_tree *list = wire_tree_get(v, STR("forgotten"));
	for (size_t i = 0; i < wire_tree_len(list); i++) {
		if (names->n > 0)
			buf_puts(names, "、");
		buf_puts(names, "「");
		buf_put_str(names, wire_tree_text(wire_tree_at(list, i)));
		buf_puts(names, "」");
	}
	wire_tree_free(v);
}

static void
reply_put_forgotten(struct buf *b, const struct turn *t)
{
	struct buf names = BUF_INIT(REPLY_MAX);

	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].kind == TURN_FORGET &&
		    t->calls[i].outcome == TURN_OK)
			reply_put_forgotten_texts(&names, &t->calls[i]);
	}
	if (names.n > 0)
		reply_put(b, REPLY_FORGOTTEN, buf_str(&names));
	buf_free(&names);
}

static bool
reply_is_short(struct str s)
{
	ptrdiff_t n = str_utf8_count(s);

	return n > 0 && n <= ERROR_SHOWN_MAX && str_find(s, STR("\n")) < 0;
}

void
reply_put_error(struct buf *b, struct str label, struct str why)
{
	buf_put_str(b, label);
	buf_puts(b, "没有成功");
	if (reply_is_short(why)) {
		buf_puts(b, "：");
		buf_put_str(b, why);
	}
	buf_puts(b, "。");
}

static void
reply_put_unreachable(struct buf *b, const struct turn *t)
{
	struct buf names = BUF_INIT(REPLY_MAX);

	for (size_t i = 0; i < t->n_calls; i++) {
		if (!reply_is_unreachable(t, i) ||
		    reply_named_before(t, i, reply_is_unreachable))
			continue;
		if (names.n > 0)
			buf_puts(&names, "、");
		buf_put_str(&names, t->calls[i].label);
	}
	if (names.n > 0)
		reply_put(b, "工具%现在连不上，没有执行。", buf_str(&names));
	buf_free(&names);
}

static void
reply_put_failures(struct buf *b, const struct turn *t)
{
	bool searched = false;

	for (size_t i = 0; i < t->n_calls; i++) {
		if (!turn_call_failed(t, i))
			continue;
		if (t->calls[i].kind == TURN_RECALL)
			searched = true;
		else if (t->calls[i].outcome == TURN_ERROR &&
		    reply_is_failure(t, i))
			reply_put_error(b, t->calls[i].label, t->calls[i].why);
	}
	for (int o = TURN_ERROR + 1; o < TURN_OUTCOMES; o++)
		reply_put_all(b, t, (enum turn_outcome)o, reply_is_failure);
	reply_put_unreachable(b, t);
	reply_put_forget_failures(b, t);
	if (searched)
		buf_puts(b, REPLY_SEARCH_FAILED);
	if (t->overflow)
		buf_puts(b, REPLY_OVERFLOW);
}

void
reply_put_questions(const struct turn *t, struct buf *b)
{
	for (size_t i = 0; i < t->route.n_questions; i++) {
		const struct turn_question *q = &t->route.questions[i];

		if (q->text.n > 0) {
			buf_put_str(b, q->text);
			continue;
		}
		reply_put(b, "要%，", q->label);
		reply_put(b,
		    q->missing.n > 0 ? "请告诉我%。" : "请再说清楚一点。",
		    q->missing);
	}
	buf_put_str(b, t->question);
}

/* The model's text goes on a line of its own. */
static void
reply_put_text(struct buf *b, struct str text)
{
	if (text.n > 0 && b->n > 0)
		buf_putc(b, '\n');
	buf_put_str(b, text);
}

void
reply_put_direct(const struct turn *t, struct buf *b)
{
	reply_put_all(b, t, TURN_OK, reply_is_direct);
	for (size_t i = 0; i < t->n_calls; i++) {
		if (t->calls[i].kind == TURN_ALARM)
			buf_put_str(b, t->calls[i].output);
	}
}

static void
reply_put_whole(const struct turn *t, bool absent, struct buf *b)
{
	/* A question is not truncated: it shows what is to be approved. */
	size_t max = t->question.n > 0 ? REPLY_MAX / 2 : REPLY_MAX;
	struct buf tail = BUF_INIT(REPLY_MAX);
	bool silent = false;

	reply_put_direct(t, b);
	struct str text = { 0 };
	if (t->has_text)
		text = str_clip(reply_text(t->text, &silent), max);
	/* Without the model's text, report what its calls did. */
	if (text.n == 0 && !silent) {
		reply_put_all(b, t, TURN_OK, reply_is_invoke);
		reply_put_forgotten(b, t);
	}
	reply_put_text(b, text);
	buf_put_str(&tail, t->earlier);
	reply_put_failures(&tail, t);
	if (t->model_failed && t->route.rest.n > 0)
		buf_puts(&tail, REPLY_REST_FAILED);
	reply_put_questions(t, &tail);
	if (absent && !silent)
		buf_puts(&tail, REPLY_BODY_ABSENT);
	if (text.n > 0)
		reply_put_text(b, buf_str(&tail));
	else
		buf_put_str(b, buf_str(&tail));
	if (b->n == 0 && !silent)
		buf_puts(b, t->model_failed ? REPLY_MODEL_FAILED : REPLY_EMPTY);
	buf_free(&tail);
}

enum rc
reply_compose(
    const struct turn *t, bool absent, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(2 * REPLY_MAX);

	reply_put_whole(t, absent, &b);
	*out = reply_clean(buf_str(&b), REPLY_MAX, a);
	buf_free(&b);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

/* ---- executed and failed skills ---- */

struct str
reply_error_text(const struct turn_call *c, struct arena *a)
{
	const char *error = reply_outcomes[c->outcome].error;
	struct str why = reply_clean(c->why, WHY_MAX, a);

	if (why.n == 0)
		return str_of(error);
	if (c->outcome == TURN_INVALID)
		return arena_printf(a, "%s: %.*s", error, STR_ARG(why));
	return why;
}

static bool
reply_executed_before(const struct turn *t, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (t->calls[k].outcome == TURN_OK &&
		    str_eq(t->calls[k].skill, t->calls[i].skill))
			return true;
	}
	return false;
}

static bool
reply_is_listed(const struct reply_skills *s, const struct wire_failed_skill *f)
{
	for (size_t i = 0; i < s->n_failed; i++) {
		if (str_eq(s->failed[i].skill, f->skill) &&
		    str_eq(s->failed[i].error, f->error))
			return true;
	}
	return false;
}

enum rc
reply_skills(const struct turn *t, struct arena *a, struct reply_skills *out)
{
	*out = (struct reply_skills){
		.executed = arena_alloc(a, t->n_calls * sizeof(*out->executed)),
		.failed = arena_alloc(a, t->n_calls * sizeof(*out->failed)),
	};
	if (out->executed == NULL || out->failed == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		if (c->kind == TURN_MORE)
			continue;
		if (c->outcome == TURN_OK && !reply_executed_before(t, i))
			out->executed[out->n_executed++] = c->skill;
		if (!turn_call_failed(t, i))
			continue;
		struct wire_failed_skill f = { .skill = c->skill,
			.error = reply_error_text(c, a) };
		if (f.error.p == NULL)
			return RC_TOOBIG;
		if (!reply_is_listed(out, &f))
			out->failed[out->n_failed++] = f;
	}
	return RC_OK;
}
