/*
 * verdict: the lines of the protocol that can be judged from the broker, and
 * what has been found out about each.
 */
#ifndef BODY_SIM_VERDICT_H
#define BODY_SIM_VERDICT_H

#include <stddef.h>

#include "core/buf.h"

enum verdict { VERDICT_NOT_SEEN, VERDICT_PASS, VERDICT_FAIL };

enum line {
	LINE_RETAIN,
	LINE_QOS,
	LINE_SKILLS,
	LINE_ONLINE,
	LINE_WILL,
	LINE_HEARTBEAT,
	LINE_IN_TIME,
	LINE_CATALOG,
	LINE_ORDER,
	LINE_TERMINAL_ID,
	LINE_VERSION,
	LINE_RESULT,
	LINE_RECONNECT,
	LINE_OWN_INTENTS,
	LINE_EMOTION_UPDATE,
	LINE_INTENT_ACTION,
	LINE_REPORTS_RECONNECT,
	LINE_MAPPING,
	LINE_EMOTION,
	LINE_COMPLETE,
	LINE_REPEATED,
	LINES_N
};

#define VERDICT_WHY_MAX   256
#define VERDICT_NOTES_MAX 32

struct verdicts {
	struct {
		enum verdict is;
		char why[VERDICT_WHY_MAX];
	} lines[LINES_N];
	char *notes[VERDICT_NOTES_MAX];
	size_t n_notes;
};

/* verdicts_init(v), verdicts_free(v): Nothing is known; free the notes. */
void verdicts_init(struct verdicts *v);
void verdicts_free(struct verdicts *v);

/*
 * verdict_pass(v, line, fmt, ...): It holds so far; of a line that has failed
 *                                  nothing changes.
 * verdict_fail(v, line, fmt, ...): It does not; the first reason stays.
 * verdict_unseen(v, line, fmt, ...): Why nothing is known yet, if nothing is.
 * verdict_note(v, fmt, ...):       Advice; the same one only once.
 */
void verdict_pass(struct verdicts *v, enum line line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void verdict_fail(struct verdicts *v, enum line line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void verdict_unseen(struct verdicts *v, enum line line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void verdict_note(struct verdicts *v, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* verdict_count(v, is): How many lines have that verdict. */
size_t verdict_count(const struct verdicts *v, enum verdict is);

/* verdicts_write(v, out): All lines, the notes, the sums, as text. */
void verdicts_write(const struct verdicts *v, struct buf *out);

#endif /* !BODY_SIM_VERDICT_H */
