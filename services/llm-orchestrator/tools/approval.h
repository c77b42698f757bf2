/*
 * approval: a tool call that is not sent before the user has approved it: the
 * question, the record that waits in the session, and the reply.
 *
 * All but the last three functions are pure.
 */
#ifndef LLM_ORCHESTRATOR_APPROVAL_H
#define LLM_ORCHESTRATOR_APPROVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "fcmp/fcmp_write.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

struct turn_run;

/* For how long a call waits. */
#define APPROVAL_MS 600000

enum approval_reply {
	APPROVAL_OTHER, /* it is no reply to the question */
	APPROVAL_THIS_TIME,
	APPROVAL_ALWAYS,
	APPROVAL_NO
};

/*
 * approval_read_reply(text):
 * What a text replies: the value or label of an option, or a word of a closed
 * list, without regard to case, and to white space and punctuation around it.
 */
enum approval_reply approval_read_reply(struct str text);

/*
 * approval_is_showable(p, args):
 * Whether the question about a call of p can show all of it to the user, in
 * either language; if not, it must not be approved.
 */
bool approval_is_showable(const struct turn_provided *p, struct str args);
/* Why a call that is not showable fails, for the model. */
#define APPROVAL_NOT_SHOWABLE                                             \
	"the question to the user cannot show the whole call: it has to " \
	"be shorter"

/* What a question is about. */
struct approval_input {
	const struct turn_call *call; /* its outcome is TURN_UNAPPROVED */
	struct str turn_id, soul_id, terminal_id;
	struct str user_text; /* for its language */
	int64_t now;          /* Unix ms */
};

/*
 * approval_make(in, a, out):
 * The record, sealed, with its question.  Strings are shared with in or taken
 * from a.  RC_INVALID if the arguments are no JSON, RC_TOOBIG if a is full or
 * the call is not showable.
 */
enum rc approval_make(const struct approval_input *in, struct arena *a,
    struct wire_session_approval *out) RC_CHECK;

/*
 * approval_is_intact(m):
 * Whether the record is what approval_make() has made: seal and question fit
 * what is to be called, and the question was shown in full.
 */
bool approval_is_intact(const struct wire_session_approval *m);

/*
 * approval_question(m, out):
 * The question with its options, which are constants.
 */
void approval_question(
    const struct wire_session_approval *m, struct fcmp_question *out);

/* How a turn begins that finds a call that waits. */
struct approval_found {
	struct turn_call call;   /* TURN_UNSENT: approved; TURN_DENIED */
	bool replied;            /* the turn replies: call is set */
	struct str note;         /* for the user, if it does not; empty: none */
	struct turn_error error; /* why the turn must not run; or status 0 */
};

/*
 * approval_load(r, out):
 * Read what waits in the session (r->facts.approval), and what the turn replies
 * to it: by its interaction, or by the user's text.  RC_TOOBIG if the turn's
 * arena is full.
 * approval_save(r):
 * What the session is to have from now on: the call that the turn asks about,
 * or nothing; absent: no change.
 * approval_question_of(r): The record of that call, or NULL.
 */
enum rc approval_load(struct turn_run *r, struct approval_found *out) RC_CHECK;
struct str approval_save(struct turn_run *r);
const struct wire_session_approval *approval_question_of(
    const struct turn_run *r);

#endif /* !LLM_ORCHESTRATOR_APPROVAL_H */
