/*
 * The queue of faults, in memory of its own.
 */
#include "script.h"

#include "core/arena.h"
#include "core/buf.h"
#include "wire/wire.h"

enum rc
script_set(struct script *s, const struct wire_llm_sim_script *msg)
{
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	script_free(s);
	s->a = arena_new(WIRE_ARENA_MAX);
	rc = wire_encode(&wire_llm_sim_script_desc, msg, &json, NULL);
	if (rc == RC_OK)
		rc = wire_decode(&wire_llm_sim_script_desc, buf_str(&json),
		    s->a, &s->msg, NULL);
	if (rc != RC_OK)
		script_free(s);
	buf_free(&json);
	return rc;
}

void
script_free(struct script *s)
{
	arena_free(s->a);
	*s = (struct script){ 0 };
}

struct wire_llm_sim_script_faults
script_next(struct script *s, struct str last)
{
	const struct wire_llm_sim_script_faults *f;

	if (s->next < s->msg.n_faults) {
		f = &s->msg.faults[s->next];
		if (f->when.p == NULL || str_find(last, f->when) >= 0) {
			s->next++;
			return *f;
		}
	}
	return (struct wire_llm_sim_script_faults){
		.kind = WIRE_LLM_SIM_SCRIPT_FAULTS_KIND_NONE
	};
}
