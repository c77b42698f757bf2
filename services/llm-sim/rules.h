/*
 * rules: what the simulated language model says, by rules that a reader can
 * follow: the last user text and the tools on offer decide.
 */
#ifndef LLM_SIM_RULES_H
#define LLM_SIM_RULES_H

#include <stddef.h>

#include "core/arena.h"
#include "wire/msgs.h"

/* Tool calls of one answer, and how their ids begin. */
#define RULES_CALLS_MAX 4
#define RULES_CALL_ID   "call_"

struct rules_call {
	const char *name;
	struct str arguments; /* JSON object */
};

struct rules_answer {
	struct str text; /* absent: tool calls only */
	struct rules_call calls[RULES_CALLS_MAX];
	size_t n;
};

/*
 * rules_answer(req, a, out):
 * In this order: a request to summarise gets the user texts, shortened; results
 * of its own tool calls are told; the first row of the table whose words are
 * said and whose tool is on offer is called (several, if several are asked
 * for); "it" is what was called last; otherwise the user text is said back, or
 * what of it the system text leaves.  Texts are taken from a; RC_TOOBIG if it
 * is full.
 */
enum rc rules_answer(const struct wire_llm_chat_request *req, struct arena *a,
    struct rules_answer *out) RC_CHECK;

#endif /* !LLM_SIM_RULES_H */
