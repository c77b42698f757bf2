/*
 * provided: what is known of a provider's tool beside how the model calls it.
 */
#ifndef LLM_ORCHESTRATOR_PROVIDED_H
#define LLM_ORCHESTRATOR_PROVIDED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

/* Strings live as long as the list the tool is from, or as the turn. */
struct turn_provided {
	struct str provider, server;
	struct str tool;       /* its name at the server */
	struct str definition; /* digest: libs/tool */
	int64_t timeout_s;
	/* Of a call that the user has approved; absent: of none. */
	struct str interaction_id, seal;
	bool always; /* it need not be approved a second time */
	/* The text of the session that was approved (state/turn.h). */
	struct str approval;
};

#endif /* !LLM_ORCHESTRATOR_PROVIDED_H */
