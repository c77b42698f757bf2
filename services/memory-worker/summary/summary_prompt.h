/*
 * summary_prompt: the prompt for summarising a conversation, and the lines that
 * a session's summary consists of.  Pure.
 *
 * Only messages since the last summary are summarised, so that memories do not
 * repeat older ones.  Earlier summaries are given as background, existing
 * memories with numbers, so that the model can name those a new one replaces.
 * The prompt is in Chinese if the user writes Chinese, else in English.  A
 * session's summary has one line a summary job, the newest last.
 */
#ifndef MEMORY_WORKER_SUMMARY_PROMPT_H
#define MEMORY_WORKER_SUMMARY_PROMPT_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/str.h"
#include "store/ranking.h"

/* Limits in code points: a line from one completion, a session's summary, a
 * conversation summarised at once, a message of it, an existing memory. */
#define SUMMARY_LINE_MAX    220
#define SUMMARY_WHOLE_MAX   1800
#define SUMMARY_PART_MAX    12000
#define SUMMARY_MESSAGE_MAX 4000
#define SUMMARY_KNOWN_MAX   300

enum summary_role {
	SUMMARY_USER,
	SUMMARY_SOUL,
	SUMMARY_SKILL,      /* a skill's result */
	SUMMARY_OBSERVATION /* reported by a terminal */
};

struct summary_message {
	enum summary_role role;
	struct str name; /* of the skill; absent: not known */
	struct str text;
};

enum summary_language { SUMMARY_ZH, SUMMARY_EN };

/* summary_language(m, n): Chinese if the user's messages are mostly Chinese, or
 * there are none. */
enum summary_language summary_language(
    const struct summary_message *m, size_t n);

struct summary_view {
	enum summary_language language;
	struct str before;               /* the summary so far, or absent */
	const struct rank_memory *known; /* memories, numbered from 1 */
	size_t n_known;
	struct str profile; /* of the user, JSON, or absent */
	struct wall date;   /* of the conversation */
};

/* summary_prompt_write(view, out): Append the system message. */
void summary_prompt_write(const struct summary_view *view, struct buf *out);

/*
 * summary_transcript_write(m, n, max, lang, out):
 * Append the conversation, one line a message: the first of the n messages up
 * to max code points, but at least one; how many.  A long message is shortened
 * in the middle, an empty one is omitted.
 */
size_t summary_transcript_write(const struct summary_message *m, size_t n,
    size_t max, enum summary_language lang, struct buf *out);

/* summary_head(s, n), summary_tail(s, n): Its first or last n code points. */
struct str summary_head(struct str s, size_t n);
struct str summary_tail(struct str s, size_t n);

/*
 * summary_line(answer, a):
 * A text of the model's as one line without list markers, truncated at the end
 * of a sentence.  Empty if it states that nothing is worth remembering; absent
 * if there is no text or a is full.
 */
struct str summary_line(struct str answer, struct arena *a);

/*
 * summary_join(before, line, a):
 * A session's new summary: before (may be absent) and line.  Whole lines are
 * dropped from its beginning if it exceeds SUMMARY_WHOLE_MAX.  Absent if a is
 * full.
 */
struct str summary_join(struct str before, struct str line, struct arena *a);

#endif /* !MEMORY_WORKER_SUMMARY_PROMPT_H */
