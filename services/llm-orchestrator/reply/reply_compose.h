/*
 * reply_compose: the reply of a turn, and the skills it reports as executed and
 * failed.
 *
 * Pure.  The model's text, surrounded by what the model is not trusted to
 * report: direct actions, each failure by name, questions for missing
 * parameters.
 */
#ifndef LLM_ORCHESTRATOR_REPLY_COMPOSE_H
#define LLM_ORCHESTRATOR_REPLY_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

/* Longest reply in bytes; a longer one is truncated. */
#define REPLY_MAX ((size_t)64 * 1024)

/* How a model says that it does not reply; case does not matter. */
#define REPLY_NO_REPLY_N 3
extern const struct str reply_no_reply[REPLY_NO_REPLY_N];

/*
 * reply_text(s, silent):
 * A model's text without surrounding white space; empty and *silent if it is
 * one of reply_no_reply.
 */
struct str reply_text(struct str s, bool *silent);

/*
 * reply_clean(s, max, a):
 * s truncated to max bytes at a code point boundary, with control characters
 * other than line breaks and tabs replaced by spaces.  Absent if a is full.
 */
struct str reply_clean(struct str s, size_t max, struct arena *a);

/*
 * reply_put_error(b, label, why): Append that something failed, with why if it
 *                                 is short.
 * reply_put_direct(t, b):         Append what precedes the model's text.
 * reply_put_questions(t, b):      Append the questions; nothing if there are
 *                                 none.
 */
void reply_put_error(struct buf *b, struct str label, struct str why);
void reply_put_direct(const struct turn *t, struct buf *b);
void reply_put_questions(const struct turn *t, struct buf *b);

/*
 * reply_compose(t, absent, a, out):
 * The reply of a turn that ended well.  absent: the body is known and not
 * connected, which the reply mentions.  RC_TOOBIG if a is full.
 */
enum rc reply_compose(const struct turn *t, bool absent, struct arena *a,
    struct str *out) RC_CHECK;

/* Confirmed skills, each once; failed ones with the reasons. */
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
 * reply_error_text(c, a):
 * Why a call is not confirmed, for programs and models: "not confirmed",
 * "blocked", the body's own text.  Absent if a is full.
 */
struct str reply_error_text(const struct turn_call *c, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_REPLY_COMPOSE_H */
