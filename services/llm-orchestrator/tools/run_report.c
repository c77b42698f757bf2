#include "tools/run_report.h"

#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "reply/reply_compose.h"
#include "state/run.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"

#define ARENA_MAX     ((size_t)256 * 1024)
#define SENTENCES_MAX ((size_t)16 * 1024)
/* Notes that a turn reports; the others are left for the next. */
#define REPORT_MAX 8
/* Bytes of what an engine says or asks: it is spoken. */
#define TEXT_MAX 600

/* Ends the sentence, unless text does. */
static void
report_put_end(struct buf *b, struct str text)
{
	static const struct str ends[] = { STR_INIT("。"), STR_INIT("！"),
		STR_INIT("？"), STR_INIT("."), STR_INIT("!"), STR_INIT("?") };

	for (size_t i = 0; i < NELEM(ends); i++)
		if (str_ends(text, ends[i]))
			return;
	buf_puts(b, "。");
}

static void
report_put_text(struct buf *b, struct str text, struct arena *a)
{
	struct str s = str_trim(reply_clean(text, TEXT_MAX, a));

	if (s.n > 0) {
		buf_puts(b, "：");
		buf_put_str(b, s);
	}
	if (s.n > 0 && s.n + 4 > TEXT_MAX && s.n < text.n)
		buf_puts(b, "……");
	else
		report_put_end(b, s);
}

/* An alarm that no body has confirmed. */
static void
report_put_missed(struct buf *b, const struct wire_run_note *m)
{
	if (m->title.n > 0) {
		buf_puts(b, "之前的提醒“");
		buf_put_str(b, m->title);
		buf_puts(b, "”错过了，没有送达。");
	} else {
		buf_puts(b, "之前有一个闹钟错过了，没有送达。");
	}
}

static void
report_put(struct buf *b, const struct wire_run_note *m, struct arena *a)
{
	static const char *const states[] = {
		[WIRE_RUN_NOTE_STATE_WAITING_USER] = "在等你回答",
		[WIRE_RUN_NOTE_STATE_SUCCEEDED] = "已经完成",
		[WIRE_RUN_NOTE_STATE_FAILED] = "没有完成",
		[WIRE_RUN_NOTE_STATE_CANCELED] = "已经取消",
	};
	struct str text = m->text;

	if (m->state == WIRE_RUN_NOTE_STATE_MISSED) {
		report_put_missed(b, m);
		return;
	}
	if (m->state == WIRE_RUN_NOTE_STATE_CANCELED)
		text = (struct str){ NULL, 0 };
	if (m->state == WIRE_RUN_NOTE_STATE_FAILED)
		text =
		    m->error.message.n > 0 ? m->error.message : m->error.code;
	buf_puts(b, "之前交给");
	buf_put_str(b, m->engine);
	buf_puts(b, "的任务“");
	buf_put_str(b, m->title);
	buf_puts(b, "”");
	buf_puts(b, states[m->state]);
	report_put_text(b, text, a);
}

struct str
run_report_sentences(
    const struct session_notes *notes, struct str before, struct arena *a)
{
	struct buf b = BUF_INIT(SENTENCES_MAX);
	struct arena *scratch;
	struct str s;

	if (notes->n == 0 || before.p == NULL)
		return before;
	scratch = arena_new(ARENA_MAX);
	buf_put_str(&b, before);
	for (size_t i = 0; i < notes->n; i++) {
		struct wire_run_note m;

		arena_reset(scratch);
		if (wire_decode(&wire_run_note_desc, notes->json[i], scratch,
			&m, NULL) == RC_OK)
			report_put(&b, &m, scratch);
	}
	s = reply_clean(buf_str(&b), SENTENCES_MAX, a);
	buf_free(&b);
	arena_free(scratch);
	return s;
}

enum rc
run_report_take(struct turn_run *r, const struct session_notes *notes)
{
	struct session_notes *to = &r->facts.notes;
	size_t n = notes->n < REPORT_MAX ? notes->n : REPORT_MAX;

	*to = (struct session_notes){ NULL, 0 };
	if (n == 0)
		return RC_OK;
	to->json = arena_alloc(r->a, n * sizeof(*to->json));
	if (to->json == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < n; i++) {
		to->json[i] = arena_str(r->a, notes->json[i]);
		if (to->json[i].p == NULL)
			return RC_TOOBIG;
	}
	to->n = n;
	return RC_OK;
}

static bool
report_is_ended(struct str json, struct str title)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct wire_run_note m;
	bool is =
	    wire_decode(&wire_run_note_desc, json, a, &m, NULL) == RC_OK &&
	    m.state != WIRE_RUN_NOTE_STATE_WAITING_USER &&
	    m.state != WIRE_RUN_NOTE_STATE_MISSED && str_eq(m.title, title);

	arena_free(a);
	return is;
}

void
run_report_spoken(struct turn_run *r, struct str title)
{
	struct session_notes notes = { NULL, 0 }, spoken = { NULL, 0 };
	struct arena *a = arena_new(ORCH_SCRATCH_MAX);

	enum rc rc = run_notes_read(r->o->state, &r->slot.key, a, &notes);
	if (rc == RC_OK)
		spoken.json =
		    arena_alloc(a, (notes.n + 1) * sizeof(*spoken.json));
	for (size_t i = 0; spoken.json != NULL && i < notes.n; i++)
		if (report_is_ended(notes.json[i], title))
			spoken.json[spoken.n++] = notes.json[i];
	if (spoken.n > 0)
		rc = run_notes_done(r->o->state, &r->slot.key, &spoken);
	if (rc != RC_OK)
		log_warn(
		    "turn.notes", LOG_V("turn", r->slot.turn_id), LOG_RC(rc));
	arena_free(a);
}

void
run_report_done(struct turn_run *r)
{
	enum rc rc;

	if (r->facts.notes.n == 0)
		return;
	rc = run_notes_done(r->o->state, &r->slot.key, &r->facts.notes);
	if (rc != RC_OK)
		log_warn(
		    "turn.notes", LOG_V("turn", r->slot.turn_id), LOG_RC(rc));
}
