/*
 * route: what intent-filter's answer means for a turn with this body.
 *
 * Pure.  Ready intents of skills the body has become direct deeds; intents that
 * lack something become questions; what no intent used, and what is ready but
 * does not satisfy the skill's schema, is left for the language model.  What is
 * rejected is not done, and said so; if a time was said that it would have
 * dropped, the model is left the whole of it.
 */
#ifndef LLM_ORCHESTRATOR_ROUTE_H
#define LLM_ORCHESTRATOR_ROUTE_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "tools.h"
#include "turn.h"
#include "wire/msgs.h"

/* Direct deeds of one turn, and questions; more are left for the model. */
#define ROUTE_DEEDS_MAX     16
#define ROUTE_QUESTIONS_MAX 8

/* What a route is made of; texts must live as long as the turn. */
struct route_input {
	const struct wire_intent_filter_response *answer;
	struct tools *tools;
	struct str command; /* what the user said */
	struct str turn_id;
};

/* route_read(in, a, out): RC_TOOBIG if a is too small. */
enum rc route_read(const struct route_input *in, struct arena *a,
    struct turn_route *out) RC_CHECK;

/*
 * route_normalized(deed, out):
 * Append what a body is to do for a direct deed: its skill and arguments in one
 * object.
 */
void route_normalized(const struct turn_deed *deed, struct buf *out);

#endif /* !LLM_ORCHESTRATOR_ROUTE_H */
