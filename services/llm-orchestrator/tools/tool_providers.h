/*
 * tool_providers: requests the tools of providers for a turn.
 *
 * Loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_PROVIDERS_H
#define LLM_ORCHESTRATOR_TOOL_PROVIDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct bus_msg;
struct turn_run;

/* tool_providers_on_present(o, m): A provider announces itself; o as orch. */
void tool_providers_on_present(void *o, struct bus_msg *m);

/*
 * tool_providers_any(r): Whether the turn may have tools of providers: one is
 *     present, and the user is no guest of the soul.
 */
bool tool_providers_any(const struct turn_run *r);

/*
 * tool_providers_changed(r, provider): The list of that provider, by name, is
 *     not up to date.
 */
void tool_providers_changed(const struct turn_run *r, struct str provider);

/* tool_providers_release(r): Drop the turn's lists. */
void tool_providers_release(struct turn_run *r);

#endif /* !LLM_ORCHESTRATOR_TOOL_PROVIDERS_H */
