/*
 * reply: what the user is told at the end of a turn, and what was really done.
 *
 * Pure.  The model's words, and around them what it cannot be trusted to say:
 * direct actions, each failure by name, questions for what is missing.
 */
#ifndef LLM_ORCHESTRATOR_REPLY_H
#define LLM_ORCHESTRATOR_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "turn.h"
#include "wire/msgs.h"

/* Longest reply in bytes; a longer one is cut. */
#define REPLY_MAX ((size_t)64 * 1024)

/* How a model says that it says nothing, in any case. */
#define REPLY_SILENCES_N 3
extern const struct str reply_silences[REPLY_SILENCES_N];

/*
 * reply_text(s, silent):
 * What a model's text says, without white space around it; empty and *silent if
 * it is one of reply_silences.
 */
struct str reply_text(struct str s, bool *silent);

/*
 * reply_clean(s, max, a):
 * s cut to max bytes at a code point border, control characters but line breaks
 * and tabs as blanks.  Absent if a is full.
 */
struct str reply_clean(struct str s, size_t max, struct arena *a);

/*
 * reply_say_error(b, label, why):
 * Append that something failed, with why if that can be said.
 */
void reply_say_error(struct buf *b, struct str label, struct str why);

/*
 * reply_begin(t, b):     Append what a reply says before the model's words.
 * reply_questions(t, b): Append what is asked for; nothing if nothing is.
 */
void reply_begin(const struct turn *t, struct buf *b);
void reply_questions(const struct turn *t, struct buf *b);

/*
 * reply_write(t, absent, a, out):
 * The reply of a turn that ended well.  absent: the body is known and not
 * there, which is said too.  RC_TOOBIG if a is full.
 */
enum rc reply_write(const struct turn *t, bool absent, struct arena *a,
    struct str *out) RC_CHECK;

/* What is confirmed, each skill once; and what is not, with the reasons. */
struct reply_skills {
	struct str *executed;
	size_t n_executed;
	struct wire_failed_skill *failed;
	size_t n_failed;
};

/* reply_skills(t, a, out): RC_TOOBIG if a is full. */
enum rc reply_skills(
    const struct turn *t, struct arena *a, struct reply_skills *out) RC_CHECK;

/*
 * reply_why(d, a):
 * Why a deed is not confirmed, for programs and models: "not confirmed",
 * "blocked", the body's own words.  Absent if a is full.
 */
struct str reply_why(const struct turn_deed *d, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_REPLY_H */
