/*
 * summary: what the language model is asked about a conversation, and the lines
 * that a session's summary is made of.
 *
 * Only what was said since the last summary is summarised, so that no memory
 * says again what an older one does; the last summaries are shown as
 * background, and the memories that are there already with numbers, so that the
 * model can say which of them something new takes the place of.  It is asked in
 * Chinese if the user speaks it, else in English, to write in his language.  A
 * session's summary is one line for each stretch, the newest at its end.  Pure.
 */
#ifndef MEMORY_WORKER_SUMMARY_H
#define MEMORY_WORKER_SUMMARY_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/str.h"
#include "rank.h"

/* Longest line that comes of one answer, and summary of a session. */
#define SUMMARY_LINE_MAX  220  /* code points */
#define SUMMARY_WHOLE_MAX 1800 /* code points */
/* A conversation that is summarised at once, and one message of it. */
#define SUMMARY_PART_MAX    12000 /* code points */
#define SUMMARY_MESSAGE_MAX 4000  /* code points */

enum summary_role {
	SUMMARY_USER,
	SUMMARY_SOUL,
	SUMMARY_SKILL,      /* a skill's result */
	SUMMARY_OBSERVATION /* what the body noticed */
};

struct summary_message {
	enum summary_role role;
	struct str name; /* of the skill; absent: not known */
	struct str text;
};

/* A known memory is shown up to here, in code points. */
#define SUMMARY_KNOWN_MAX 300

enum summary_language { SUMMARY_ZH, SUMMARY_EN };

/* summary_language(m, n): Chinese if he says much in it, or nothing at all. */
enum summary_language summary_language(
    const struct summary_message *m, size_t n);

struct summary_view {
	enum summary_language language;
	struct str before;               /* the summary so far, or absent */
	const struct rank_memory *known; /* memories, numbered from 1 */
	size_t n_known;
	struct str profile; /* what is known of the user, JSON, or absent */
	struct wall when;   /* of the conversation */
};

/*
 * summary_system(view, out):
 * Append the instruction.
 */
void summary_system(const struct summary_view *view, struct buf *out);

/*
 * summary_talk(m, n, max, lang, out):
 * Append the conversation, a line for each message: of the n messages as many
 * from the first on as fit max code points, but one at least; how many.  A long
 * message loses its middle, an empty one is no line.
 */
size_t summary_talk(const struct summary_message *m, size_t n, size_t max,
    enum summary_language lang, struct buf *out);

/* summary_head(s, n), summary_tail(s, n): Its first or last n code points. */
struct str summary_head(struct str s, size_t n);
struct str summary_tail(struct str s, size_t n);

/*
 * summary_line(answer, a):
 * A text of the model's as one line without numbering, cut at the end of a
 * sentence if it is too long.  Empty if it says that nothing is worth
 * remembering; absent if it is empty or a is full.
 */
struct str summary_line(struct str answer, struct arena *a);

/*
 * summary_join(before, line, a):
 * The session's new summary: before (may be absent) and line.  What is too much
 * goes from the beginning, by whole lines.  Absent if a is full.
 */
struct str summary_join(struct str before, struct str line, struct arena *a);

#endif /* !MEMORY_WORKER_SUMMARY_H */
