/*
 * envelope: the outer layer of a message: read without its payload, and
 * forwarded byte for byte but for the sender and a missing timestamp.  Pure.
 */
#ifndef STAR_HUB_ENVELOPE_H
#define STAR_HUB_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "client_identity.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

struct arena;

enum envelope_type {
	ENVELOPE_MESSAGE,
	ENVELOPE_HEARTBEAT,
	ENVELOPE_ERROR,
	ENVELOPE_AUTHENTICATE,
	ENVELOPE_TYPES
};

/* A sender or recipient. */
struct party {
	struct str raw; /* as written; absent: there is none */
	struct str id;
	struct str env;          /* absent: none */
	enum client_class class; /* CLASS_N: none */
};

struct envelope {
	struct str text; /* from its brace to its brace */
	enum envelope_type type;
	struct party sender, recipient;
	struct str payload; /* as written */
	/* Its message_id, else its id, as written; absent: none, or too long.
	 */
	struct str message_id;
	struct str traceparent; /* as written; absent: none */
	bool has_timestamp;
};

/* What is wrong, at most so many, as "/recipient/id: is missing". */
#define ENVELOPE_ERRORS_MAX 16
/* Bytes of an id that is repeated in an error. */
#define ENVELOPE_MESSAGE_ID_MAX 256

struct envelope_errors {
	const char *text[ENVELOPE_ERRORS_MAX]; /* constant */
	size_t n;
	bool unknown_class; /* a type of a client is unknown */
};

/*
 * envelope_read(text, max, a, e, errors):
 * Read a text of at most max bytes.  RC_INVALID: errors says what is wrong; e
 * then has what could be read, its message_id among that.  Strings point into
 * text, or, of ids with escapes, into a.
 */
enum rc envelope_read(struct str text, size_t max, struct arena *a,
    struct envelope *e, struct envelope_errors *errors) RC_CHECK;

/*
 * envelope_trace(e, t):
 * The trace that it is part of.  False: it says none, or no valid one.
 */
struct trace;
bool envelope_trace(const struct envelope *e, struct trace *t);

/*
 * envelope_is_from(e, me):
 * Whether its sender is me: class and id, and the environment if it has one.
 */
bool envelope_is_from(const struct envelope *e, const struct identity *me);

/*
 * envelope_write(e, sender, timestamp, cursor, out):
 * Append e, with sender in place of its own (absent: its own stays), with a
 * timestamp if it has none (absent: without), and with a cursor (absent:
 * without).
 */
void envelope_write(const struct envelope *e, struct str sender,
    struct str timestamp, struct str cursor, struct buf *out);

/*
 * envelope_members(json, each, arg):
 * For payloads that are the hub's: call each for the members of the object, or
 * the elements of the array.  RC_INVALID: it is something else.
 */
struct wire_slice;
enum rc envelope_members(struct str json,
    void (*each)(void *arg, const struct wire_slice *s), void *arg) RC_CHECK;

/*
 * envelope_string(json, a, out):
 * The text of a JSON string.  RC_INVALID: it is none.
 */
enum rc envelope_string(
    struct str json, struct arena *a, struct str *out) RC_CHECK;

#endif /* !STAR_HUB_ENVELOPE_H */
