/*
 * payload: the members of a payload that the hub reads: of messages to itself,
 * and of an action by which a human joins.  Pure.
 */
#ifndef STAR_HUB_PAYLOAD_H
#define STAR_HUB_PAYLOAD_H

#include "core/rc.h"
#include "core/str.h"

struct arena;

/* Values as written; absent: not there. */
struct payload {
	struct str type, stream, stream_type, action, id, data, token;
};

/* payload_read(json, out): RC_INVALID: it is no object. */
enum rc payload_read(struct str json, struct payload *out) RC_CHECK;

/*
 * payload_member(json, key): A member of an object, as written; absent: there
 * is none, or json is no object.
 * payload_text(json, a): The text of a JSON string, in json, or, with escapes,
 * in a; absent: it is none.
 */
struct str payload_member(struct str json, struct str key);
struct str payload_text(struct str json, struct arena *a);

/* payload_stream(p, a): The name of a stream, in whichever member it is. */
struct str payload_stream(const struct payload *p, struct arena *a);

#endif /* !STAR_HUB_PAYLOAD_H */
