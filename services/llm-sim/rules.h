/*
 * rules: what the simulated language model answers: rules that a reader can
 * follow, a script of faults, embeddings.
 *
 * Pure.  The last user text and the offered tools determine an answer.
 */
#ifndef LLM_SIM_RULES_H
#define LLM_SIM_RULES_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Tool calls of one response, and the prefix of their ids. */
#define RULES_CALLS_MAX 4
#define RULES_CALL_ID   "call_"

struct rules_call {
	const char *name;
	struct str arguments; /* JSON object */
};

struct rules_result {
	struct str text; /* absent: tool calls only */
	struct rules_call calls[RULES_CALLS_MAX];
	size_t n;
};

/*
 * rules_apply(req, a, out):
 * In this order: a soul that thinks between turns (潜意识) gets a suggestion; a
 * request for a summary gets the last user text, shortened;
 * results of its own tool calls are repeated; the rows of the table whose words
 * occur and whose tool is offered are called, else tools for files, else those
 * for tasks; "it" is the last tool called;
 * otherwise the user text is repeated, or the part that the system prompt
 * quotes.  Strings are taken from a; RC_TOOBIG if it is full.
 */
enum rc rules_apply(const struct wire_llm_chat_request *req, struct arena *a,
    struct rules_result *out) RC_CHECK;

/*
 * messages_read(in, a, out, why):
 * An Anthropic request, checked as Anthropic does, as the request for chat
 * completions that the rules take.  RC_INVALID with *why set if the roles do
 * not alternate, a text is empty, or a call does not have exactly one result in
 * the next message; RC_TOOBIG if a is full.
 */
enum rc messages_read(const struct wire_llm_messages_request *in,
    struct arena *a, struct wire_llm_chat_request *out,
    const char **why) RC_CHECK;

/* ---- script: faults of the next requests, one each ---- */

/* Zero-initialised: empty. */
struct script {
	struct arena *a;
	struct wire_llm_sim_script msg;
	size_t next;
};

/*
 * script_set(s, msg): Replace the script by msg's faults, which are copied.
 *                     RC_TOOBIG if they are too large.
 * script_free(s):     Clear it.
 */
enum rc script_set(
    struct script *s, const struct wire_llm_sim_script *msg) RC_CHECK;
void script_free(struct script *s);

/*
 * script_next(s, last):
 * The fault of a request whose last message is last, valid until the script is
 * replaced; kind none if the script is empty or its next fault is for another
 * request.
 */
struct wire_llm_sim_script_faults script_next(
    struct script *s, struct str last);

/* ---- embeddings ---- */

#define EMBED_DIM 64

/*
 * embed_text(s, v):
 * Counts of hashed pairs of code points as a vector of length 1 (all 0 for less
 * than two code points), so that similar texts have similar vectors.
 */
void embed_text(struct str s, double v[EMBED_DIM]);

#endif /* !LLM_SIM_RULES_H */
