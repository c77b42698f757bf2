/*
 * run_stream: appending to the logs of a run, and hints for their readers.
 */
#ifndef ENGINE_RUNNER_RUN_STREAM_H
#define ENGINE_RUNNER_RUN_STREAM_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "state/run.h"

struct runner;

/*
 * run_stream_append(r, p): run_publish(), until its result is known, in a
 * fiber.  RC_RETRY: other events are in the logs, of which p has the number;
 * RC_DOWN: the process stops.
 *
 * run_stream_publish(r, run, json, n): Hints with these events.
 */
enum rc run_stream_append(struct runner *r, struct run_publish *p) RC_CHECK;
void run_stream_publish(
    struct runner *r, struct str run, const struct str *json, size_t n);

#endif /* !ENGINE_RUNNER_RUN_STREAM_H */
