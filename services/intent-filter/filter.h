/*
 * filter: a command and a catalog in, intents and a decision out.
 *
 * Pure: no clock, no bus, no randomness; the same arguments give the same
 * answer.
 */
#ifndef INTENT_FILTER_FILTER_H
#define INTENT_FILTER_FILTER_H

#include "catalog.h"
#include "core/arena.h"
#include "core/clock.h"
#include "wire/msgs.h"

struct rx_scratch;
struct speech;
struct zone;

/* Where and when the command is said. */
struct filter_env {
	struct wall now;
	const struct zone *zone;
	const struct speech *speech;
	const char *locale; /* of a command that has no letters */
};

/*
 * filter_run(req, cat, env, rx, a, rep):
 * Fill *rep but for request_id and meta.latency_ms, with memory from a.  cat is
 * the compiled req->intent_catalog.  RC_INVALID if the command is not UTF-8,
 * RC_TOOBIG if a is full.
 */
enum rc filter_run(const struct wire_intent_filter_request *req,
    const struct catalog *cat, const struct filter_env *env,
    struct rx_scratch *rx, struct arena *a,
    struct wire_intent_filter_response *rep) RC_CHECK;

#endif /* !INTENT_FILTER_FILTER_H */
