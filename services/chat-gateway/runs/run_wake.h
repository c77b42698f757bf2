/*
 * run_wake: hints to runners.
 */
#ifndef CHAT_GATEWAY_RUNS_RUN_WAKE_H
#define CHAT_GATEWAY_RUNS_RUN_WAKE_H

#include "core/str.h"

struct gateway;
struct svc_call;

/*
 * run_wake(g, c, runner, run):
 * The run has changed, for c.  A runner (may be absent) that does not get it
 * finds out by itself, later.
 */
void run_wake(struct gateway *g, const struct svc_call *c, struct str runner,
    struct str run);

#endif /* !CHAT_GATEWAY_RUNS_RUN_WAKE_H */
