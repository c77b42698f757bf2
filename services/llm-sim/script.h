/*
 * script: what is to come, one a request.
 */
#ifndef LLM_SIM_SCRIPT_H
#define LLM_SIM_SCRIPT_H

#include <stddef.h>

#include "core/rc.h"
#include "wire/msgs.h"

struct arena;

/* Zero-initialised: nothing is to come. */
struct script {
	struct arena *a;
	struct wire_llm_sim_script msg;
	size_t next;
};

/*
 * script_set(s, msg): Replace what is left by msg's faults, which are copied.
 * RC_TOOBIG if they are too large.  script_free(s): Forget all.
 */
enum rc script_set(
    struct script *s, const struct wire_llm_sim_script *msg) RC_CHECK;
void script_free(struct script *s);

/*
 * script_next(s, last):
 * The fault of a request whose last message is last, valid until the next
 * script; kind none when none is left, or the next waits for another request.
 */
struct wire_llm_sim_script_faults script_next(
    struct script *s, struct str last);

#endif /* !LLM_SIM_SCRIPT_H */
