/*
 * run_choice: which runner a new run is for.  Pure.
 */
#ifndef ENGINE_RUNNER_RUN_CHOICE_H
#define ENGINE_RUNNER_RUN_CHOICE_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct run_choice {
	struct str engine;
	struct str tenant; /* absent: none */
	struct str model;  /* absent: the default */
};

/*
 * run_choice_allows(c, e): RC_OK; RC_NOENT: it is another engine, RC_DENIED:
 * not for the tenant, RC_INVALID: it does not have that model.
 *
 * run_choice_make(c, list, n, out):
 * Of the runners that live, one with the engine that has the most free places.
 * RC_DOWN: none has the engine; RC_DENIED, RC_INVALID as above, if all are so.
 */
enum rc run_choice_allows(const struct run_choice *c,
    const struct wire_runner_status_engines *e) RC_CHECK;
enum rc run_choice_make(const struct run_choice *c,
    const struct wire_runner_status *list, size_t n, struct str *out) RC_CHECK;

#endif /* !ENGINE_RUNNER_RUN_CHOICE_H */
