/*
 * script: the faults that are to come, one a request.
 */
#ifndef LLM_SIM_SCRIPT_H
#define LLM_SIM_SCRIPT_H

#include <stddef.h>

#include "wire/msgs.h"

#define SCRIPT_MAX 256

struct script {
	struct wire_llm_sim_script_faults faults[SCRIPT_MAX];
	size_t n, next;
};

/* script_set(s, msg): Replace what is left by msg's faults. */
void script_set(struct script *s, const struct wire_llm_sim_script *msg);

/* script_next(s): The fault of this request; kind none when none is left. */
struct wire_llm_sim_script_faults script_next(struct script *s);

#endif /* !LLM_SIM_SCRIPT_H */
