/*
 * fallback: what to do with a command that no intent of the catalog matches.
 */
#ifndef INTENT_FILTER_FALLBACK_H
#define INTENT_FILTER_FALLBACK_H

#include "reading.h"
#include "wire/msgs.h"

struct fallback {
	enum wire_decision_action action; /* fallback_reasoning or no_action */
	const char *intent_id; /* sys.fallback_reasoning, sys.no_action */
	const char *intent_name;
	const char *reason; /* as the protocol's services name it */
	double confidence;
};

/*
 * fallback_decide(r):
 * sys.no_action only for what is an exclamation or a feeling from beginning to
 * end; a question, a task, a greeting and whatever is unclear are for the
 * language model.
 */
struct fallback fallback_decide(const struct reading *r);

#endif /* !INTENT_FILTER_FALLBACK_H */
