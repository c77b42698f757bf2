/*
 * reply_template: an encoded intent_filter_response without the values that
 * are each reply's own.  Any thread.
 */
#ifndef INTENT_FILTER_RESULT_REPLY_TEMPLATE_H
#define INTENT_FILTER_RESULT_REPLY_TEMPLATE_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

struct reply_template {
	struct str text; /* of the reply, without those values */
	/* Where they were, in this order. */
	size_t request_id_at, latency_at, now_at;
};

/*
 * reply_template_make(reply, a, t):
 * The template of a reply that was encoded here, in memory of a.  RC_INVALID if
 * it does not have request_id, meta.latency_ms and meta.now, once each and in
 * this order; RC_TOOBIG if a is full.
 */
enum rc reply_template_make(
    struct str reply, struct arena *a, struct reply_template *t) RC_CHECK;

/* The values of one reply. */
struct reply_values {
	struct str request_id; /* printable ASCII without " and \ */
	double latency_ms;
	struct str now; /* as request_id */
};

/*
 * reply_template_fill(t, v, out):
 * Append the reply with these values, byte for byte as it would be encoded.
 */
void reply_template_fill(const struct reply_template *t,
    const struct reply_values *v, struct buf *out);

#endif /* !INTENT_FILTER_RESULT_REPLY_TEMPLATE_H */
