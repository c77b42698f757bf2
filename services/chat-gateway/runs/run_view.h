/*
 * run_view: a run's record as messages.  Pure.
 */
#ifndef CHAT_GATEWAY_RUNS_RUN_VIEW_H
#define CHAT_GATEWAY_RUNS_RUN_VIEW_H

#include "core/arena.h"
#include "core/rc.h"
#include "state/run.h"
#include "wire/msgs.h"

/*
 * run_view(r, a, out):        In brief.
 * run_view_record(r, a, out): All of it, of run_read().
 *
 * Texts are those of r and a.  RC_TOOBIG: a is full; RC_INVALID: a part of the
 * record is not what its schema says (logged).
 */
enum rc run_view(
    const struct run_record *r, struct arena *a, struct wire_run *out) RC_CHECK;
enum rc run_view_record(const struct run_record *r, struct arena *a,
    struct wire_run_record *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_RUNS_RUN_VIEW_H */
