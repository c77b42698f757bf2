/*
 * The queue of faults.
 */
#include "script.h"

void
script_set(struct script *s, const struct wire_llm_sim_script *msg)
{
	size_t i;

	s->next = 0;
	s->n = msg->n_faults < SCRIPT_MAX ? msg->n_faults : SCRIPT_MAX;
	for (i = 0; i < s->n; i++)
		s->faults[i] = msg->faults[i];
}

struct wire_llm_sim_script_faults
script_next(struct script *s)
{
	if (s->next == s->n)
		return (struct wire_llm_sim_script_faults){
			.kind = WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE
		};
	return s->faults[s->next++];
}
