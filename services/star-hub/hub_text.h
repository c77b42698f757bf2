/*
 * hub_text: what the hub itself sends: errors, and the outer layer of its other
 * messages.  Pure.
 */
#ifndef STAR_HUB_HUB_TEXT_H
#define STAR_HUB_HUB_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "client_identity.h"
#include "core/buf.h"
#include "core/str.h"

enum hub_error {
	HUB_ERROR_VALIDATION,
	HUB_ERROR_CLASS,
	HUB_ERROR_PERMISSION,
	HUB_ERROR_TARGET,
	HUB_ERROR_ENVIRONMENT,
	HUB_ERROR_SLOW,
	HUB_ERROR_UNREACHABLE,
	HUB_ERROR_UNKNOWN,
	HUB_ERROR_RATE,
	HUB_ERROR_N
};

/* hub_error_code(e): Its error_code; several errors may share one. */
const char *hub_error_code(enum hub_error e);

/* An error of one message of a client. */
struct hub_failure {
	enum hub_error error;
	const char *message; /* NULL: that of the error */
	const char *const *validation_errors;
	size_t nvalidation_errors;
	const char *validation_error; /* instead, if there is one only */
	struct str message_id;        /* as JSON; absent: none */
	uint64_t seq; /* of the message on its connection; 0: not known */
	int64_t retry_after_ms; /* of HUB_ERROR_RATE */
};

struct wire_out;

/* hub_put(o, key, value): A member of an object, a text. */
void hub_put(struct wire_out *o, const char *key, struct str value);

/*
 * hub_message_begin(o, type, to): An envelope of the hub up to its payload's
 * value, which is to follow; to NULL: all members.
 * hub_message_end(o, timestamp): The rest.
 */
void hub_message_begin(
    struct wire_out *o, const char *type, const struct identity *to);
void hub_message_end(struct wire_out *o, struct str timestamp);

/*
 * hub_event_begin(o, n, event): An event as a payload, with an id of n, up to
 * the members of its data, which are to follow.
 * hub_event_end(o): The rest.
 */
void hub_event_begin(struct wire_out *o, uint64_t n, const char *event);
void hub_event_end(struct wire_out *o);

/* hub_error_write(f, to, timestamp, out): The error message. */
void hub_error_write(const struct hub_failure *f, const struct identity *to,
    struct str timestamp, struct buf *out);

/* Room for a timestamp, NUL included. */
#define HUB_TIMESTAMP_MAX 40

/* hub_timestamp(ms, dst): UTC with "Z" and three digits of milliseconds. */
void hub_timestamp(int64_t ms, char dst[HUB_TIMESTAMP_MAX]);

#endif /* !STAR_HUB_HUB_TEXT_H */
