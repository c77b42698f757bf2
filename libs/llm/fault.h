/*
 * fault: what a provider says went wrong.  Private, pure.
 */
#ifndef LLM_FAULT_H
#define LLM_FAULT_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

/* Of an error in no known form, this many bytes are its text. */
#define FAULT_TEXT_MAX 512

struct fault {
	struct str text; /* never empty */
	struct str type; /* absent: not said */
	struct str code;
};

/*
 * fault_read(body, status, a, out):
 * The error in the body of an answer or in an event of a stream, in any of the
 * forms that are in use; texts point into a or body.
 */
void fault_read(
    struct str body, int status, struct arena *a, struct fault *out);

/*
 * fault_rc(status, f): What it means, as struct llm_result has it.  Status 0
 * is an error inside a stream.
 */
enum rc fault_rc(int status, const struct fault *f);

#endif /* !LLM_FAULT_H */
