/*
 * The table of outcomes, and putting a reply together.
 */
#include "reply.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/tree.h"

/* A body's own words that are said to its user, in code points. */
#define WHY_SAID_MAX 40
/* An error of failed_skills, in bytes. */
#define WHY_MAX 1024

/*
 * error is what programs read; said is what the user hears, "%" standing for
 * what it is about.
 */
static const struct {
	const char *error;
	const char *said;
} outcomes[TURN_OUTCOMES] = {
	[TURN_OPEN] = { "not sent", "%还没有做。" },
	[TURN_SENT] = { "not confirmed", "%已经发出，但没有得到确认。" },
	[TURN_OK] = { "", "好的，%已执行。" },
	[TURN_ERROR] = { "failed", "" }, /* reply_say_error() */
	[TURN_NOT_CONFIRMED] = { "not confirmed",
	    "%已经发出，但没有得到确认。" },
	[TURN_OFFLINE] = { "offline", "我的身体现在不在线，%没有执行。" },
	[TURN_UNHEARD] = { "no subscriber",
	    "我的身体现在没有响应，%没有执行。" },
	[TURN_LATE] = { "late", "%没有来得及执行。" },
	[TURN_BLOCKED] = { "blocked", "我现在心情还没平复，%这次先不做。" },
	[TURN_UNGATED] = { "gate unknown",
	    "我现在没法判断能不能做，%这次先不做。" },
	[TURN_INVALID] = { "invalid arguments",
	    "%的要求我没弄明白，没有执行。" },
	[TURN_UNKNOWN] = { "unknown skill", "我不会%。" },
	[TURN_REJECTED] = { "rejected", "%现在不能做。" },
	[TURN_DEFERRED] = { "not carried out", "%还没有做。" },
	[TURN_NOTHING] = { "nothing fits", "没有找到%。" },
	[TURN_SKIPPED] = { "not sent",
	    "前一次没有得到确认，后面的%没有再做。" },
	[TURN_STOPPED] = { "canceled", "%还没有做。" },
};

#define SAID_NOT_FOUND  "以前的事我没能查到。"
#define SAID_FORGOTTEN  "已经忘掉：%。"
#define SAID_OVERFLOW   "一次要做的事太多，有些没有做。"
#define SAID_SPEECHLESS "其余的我现在答不上来，请稍后再试。"
#define SAID_ABSENT     "（我的身体现在不在线，做不了动作。）"
#define SAID_MUTE       "我现在答不上来，请稍后再试。"
#define SAID_NOTHING    "我没想好怎么回答，请再说一遍。"

/* ---- texts ------------------------------------------------------------- */

const struct str reply_silences[REPLY_SILENCES_N] = { STR_INIT("<NO_REPLY>"),
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
	for (size_t i = 0; i < REPLY_SILENCES_N; i++)
		*silent |= str_eq_nocase(bare, reply_silences[i]);
	return *silent ? STR("") : s;
}

/* At most max bytes of s, whole code points. */
static struct str
cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max > 0 && ((unsigned char)s.p[max] & 0xC0) == 0x80)
		max--;
	return (struct str){ s.p, max };
}

struct str
reply_clean(struct str s, size_t max, struct arena *a)
{
	s = cut(s, max);
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

/* ---- what is said ------------------------------------------------------ */

static void
say(struct buf *b, const char *fmt, struct str what)
{
	for (; *fmt != '\0'; fmt++) {
		if (*fmt == '%')
			buf_put_str(b, what);
		else
			buf_putc(b, *fmt);
	}
}

/* Which deeds a sentence is about. */
typedef bool (*deed_fn)(const struct turn *t, size_t i);

/* Whether an earlier deed of the same sentence has the same word. */
static bool
named_before(const struct turn *t, size_t i, deed_fn wanted)
{
	for (size_t k = 0; k < i; k++) {
		if (wanted(t, k) &&
		    t->deeds[k].outcome == t->deeds[i].outcome &&
		    str_eq(t->deeds[k].label, t->deeds[i].label))
			return true;
	}
	return false;
}

/* One sentence for all deeds of that outcome that are wanted. */
static void
say_all(
    struct buf *b, const struct turn *t, enum turn_outcome is, deed_fn wanted)
{
	struct buf names = BUF_INIT(REPLY_MAX);

	for (size_t i = 0; i < t->n_deeds; i++) {
		if (t->deeds[i].outcome != is || !wanted(t, i) ||
		    named_before(t, i, wanted))
			continue;
		if (names.n > 0)
			buf_puts(&names, "、");
		buf_put_str(&names, t->deeds[i].label);
	}
	if (names.n > 0)
		say(b, outcomes[is].said, buf_str(&names));
	buf_free(&names);
}

static bool
is_direct(const struct turn *t, size_t i)
{
	return t->deeds[i].kind == TURN_DIRECT;
}

static bool
is_called(const struct turn *t, size_t i)
{
	return t->deeds[i].kind == TURN_INVOKE;
}

/* What a forgetting came to that the table has no words for; or NULL. */
static const char *
unforgotten(const struct turn_deed *d)
{
	if (d->kind != TURN_FORGET)
		return NULL;
	switch (d->outcome) {
	case TURN_NOTHING:
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

/* What failed and has no sentence of its own. */
static bool
is_failure(const struct turn *t, size_t i)
{
	const struct turn_deed *d = &t->deeds[i];

	return d->kind != TURN_RECALL && unforgotten(d) == NULL &&
	    turn_failed(t, i);
}

/* Each sentence once. */
static void
say_unforgotten(struct buf *b, const struct turn *t)
{
	const char *said[TURN_OUTCOMES] = { NULL };

	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		const char *s = unforgotten(d);
		if (s == NULL || !turn_failed(t, i) || said[d->outcome] == s)
			continue;
		said[d->outcome] = s;
		buf_puts(b, s);
	}
}

/* Append the texts that d made forgotten: "「…」、「…」". */
static void
put_forgotten(struct buf *names, const struct turn_deed *d)
{
	struct wire_tree *v;

	if (wire_tree_parse(d->output, &v) != RC_OK)
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
say_forgotten(struct buf *b, const struct turn *t)
{
	struct buf names = BUF_INIT(REPLY_MAX);

	for (size_t i = 0; i < t->n_deeds; i++) {
		if (t->deeds[i].kind == TURN_FORGET &&
		    t->deeds[i].outcome == TURN_OK)
			put_forgotten(&names, &t->deeds[i]);
	}
	if (names.n > 0)
		say(b, SAID_FORGOTTEN, buf_str(&names));
	buf_free(&names);
}

static bool
is_short(struct str s)
{
	ptrdiff_t n = str_utf8_count(s);

	return n > 0 && n <= WHY_SAID_MAX && str_find(s, STR("\n")) < 0;
}

void
reply_say_error(struct buf *b, struct str label, struct str why)
{
	buf_put_str(b, label);
	buf_puts(b, "没有成功");
	if (is_short(why)) {
		buf_puts(b, "：");
		buf_put_str(b, why);
	}
	buf_puts(b, "。");
}

static void
say_failures(struct buf *b, const struct turn *t)
{
	bool searched = false;

	for (size_t i = 0; i < t->n_deeds; i++) {
		if (!turn_failed(t, i))
			continue;
		if (t->deeds[i].kind == TURN_RECALL)
			searched = true;
		else if (t->deeds[i].outcome == TURN_ERROR && is_failure(t, i))
			reply_say_error(b, t->deeds[i].label, t->deeds[i].why);
	}
	for (int o = TURN_ERROR + 1; o < TURN_OUTCOMES; o++)
		say_all(b, t, (enum turn_outcome)o, is_failure);
	say_unforgotten(b, t);
	if (searched)
		buf_puts(b, SAID_NOT_FOUND);
	if (t->overflow)
		buf_puts(b, SAID_OVERFLOW);
}

void
reply_questions(const struct turn *t, struct buf *b)
{
	for (size_t i = 0; i < t->route.n_questions; i++) {
		const struct turn_question *q = &t->route.questions[i];
		say(b, "要%，", q->label);
		say(b, q->missing.n > 0 ? "请告诉我%。" : "请再说清楚一点。",
		    q->missing);
	}
}

/* The model's words on a line of their own, if there are others. */
static void
say_text(struct buf *b, struct str text)
{
	if (text.n > 0 && b->n > 0)
		buf_putc(b, '\n');
	buf_put_str(b, text);
}

void
reply_begin(const struct turn *t, struct buf *b)
{
	say_all(b, t, TURN_OK, is_direct);
}

static void
write_all(const struct turn *t, bool absent, struct buf *b)
{
	struct buf tail = BUF_INIT(REPLY_MAX);
	bool silent = false;

	reply_begin(t, b);
	struct str text = { 0 };
	if (t->answered)
		text = cut(reply_text(t->text, &silent), REPLY_MAX);
	/* Without the model's words the table tells what its calls did. */
	if (text.n == 0 && !silent) {
		say_all(b, t, TURN_OK, is_called);
		say_forgotten(b, t);
	}
	say_text(b, text);
	buf_put_str(&tail, t->late);
	say_failures(&tail, t);
	if (t->speechless && t->route.rest.n > 0)
		buf_puts(&tail, SAID_SPEECHLESS);
	reply_questions(t, &tail);
	if (absent && !silent)
		buf_puts(&tail, SAID_ABSENT);
	if (text.n > 0)
		say_text(b, buf_str(&tail));
	else
		buf_put_str(b, buf_str(&tail));
	if (b->n == 0 && !silent)
		buf_puts(b, t->speechless ? SAID_MUTE : SAID_NOTHING);
	buf_free(&tail);
}

enum rc
reply_write(const struct turn *t, bool absent, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(2 * REPLY_MAX);

	write_all(t, absent, &b);
	*out = reply_clean(buf_str(&b), REPLY_MAX, a);
	buf_free(&b);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

/* ---- what is reported -------------------------------------------------- */

struct str
reply_why(const struct turn_deed *d, struct arena *a)
{
	const char *error = outcomes[d->outcome].error;
	struct str why = reply_clean(d->why, WHY_MAX, a);

	if (why.n == 0)
		return str_of(error);
	if (d->outcome == TURN_INVALID)
		return arena_printf(a, "%s: %.*s", error, STR_ARG(why));
	return why;
}

static bool
executed_before(const struct turn *t, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (t->deeds[k].outcome == TURN_OK &&
		    str_eq(t->deeds[k].skill, t->deeds[i].skill))
			return true;
	}
	return false;
}

static bool
listed(const struct reply_skills *s, const struct wire_failed_skill *f)
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
		.executed = arena_alloc(a, t->n_deeds * sizeof(*out->executed)),
		.failed = arena_alloc(a, t->n_deeds * sizeof(*out->failed)),
	};
	if (out->executed == NULL || out->failed == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->outcome == TURN_OK && !executed_before(t, i))
			out->executed[out->n_executed++] = d->skill;
		if (!turn_failed(t, i))
			continue;
		struct wire_failed_skill f = { .skill = d->skill,
			.error = reply_why(d, a) };
		if (f.error.p == NULL)
			return RC_TOOBIG;
		if (!listed(out, &f))
			out->failed[out->n_failed++] = f;
	}
	return RC_OK;
}
