/*
 * pending_result: invokes whose results have not arrived.  Pure.
 */
#ifndef MQTT_BRIDGE_PENDING_RESULT_H
#define MQTT_BRIDGE_PENDING_RESULT_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/str.h"
#include "core/trace.h"

/* Entries; the oldest are dropped beyond it. */
#define PENDING_RESULTS_MAX 65536
/* As long as Redis stores an invoke. */
#define PENDING_RESULTS_MS 600000

struct pending_results;

/* pending_results_new(), pending_results_free(p): NULL is allowed. */
struct pending_results *pending_results_new(void);
void pending_results_free(struct pending_results *p);

/*
 * pending_results_add(p, terminal, request, now):
 * The request was sent; false if it is pending already.
 */
bool pending_results_add(struct pending_results *p, struct str terminal,
    struct str request, struct mono now);

/*
 * pending_results_take(p, terminal, request, now):
 * Whether the request was pending; it is removed.
 */
bool pending_results_take(struct pending_results *p, struct str terminal,
    struct str request, struct mono now);

/* Context stored with a pending invoke. */
struct invoke_context {
	struct str skill;
	struct wall at;
	struct trace trace;
};

/* Room for an encoded context, including the NUL. */
#define INVOKE_CONTEXT_MAX 256

/* invoke_context_encode(c, dst): "<traceparent> <ms> <skill>". */
struct str invoke_context_encode(
    const struct invoke_context *c, char dst[INVOKE_CONTEXT_MAX]);

/*
 * invoke_context_decode(text, c):
 * False if text is not a context.  c->skill points into text.
 */
bool invoke_context_decode(struct str text, struct invoke_context *c);

#endif /* !MQTT_BRIDGE_PENDING_RESULT_H */
