/*
 * pipe: what state.c needs of pipelines beside state.h.
 */
#ifndef STATE_PIPE_H
#define STATE_PIPE_H

#include "state/state.h"

/*
 * pipe_run_single(p, out):
 * Run a pipeline of one command and hand its reply over to the caller, who
 * frees it; out may be NULL.  The command's result.
 */
enum rc pipe_run_single(
    struct state_pipe *p, struct state_reply **out) RC_CHECK;

#endif /* !STATE_PIPE_H */
