/*
 * done_marker: the done marker of a skill in a message of an assistant, and the
 * structured result that ends a message.
 *
 * The marker is a member "__SKILL_DONE__": true, in any case, of the last JSON
 * object of the message.  An object counts if it is alone on its lines, also in
 * a fence of its own, or if it ends the message.  Of several markers behind
 * each other the first counts.  Objects of more than DONE_OBJECT_MAX bytes or
 * nested over DONE_DEPTH_MAX are text.
 *
 * A message may come in parts: what could become a marker is held back until it
 * is known, so that no reader ever sees one.  Pure; not thread-safe.
 */
#ifndef FCMP_DONE_MARKER_H
#define FCMP_DONE_MARKER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

#define DONE_OBJECT_MAX 49152
/* An event nests its payload by two more. */
#define DONE_DEPTH_MAX 62

struct done_marker;

/* done_marker_new(max): For messages of at most max bytes; more is dropped. */
struct done_marker *done_marker_new(size_t max);
void done_marker_free(struct done_marker *m);

/* done_marker_reset(m): A new message begins. */
void done_marker_reset(struct done_marker *m);

/* done_marker_put(m, text): More of the message. */
void done_marker_put(struct done_marker *m, struct str text);

/*
 * done_marker_text(m): The message so far, as it came; valid until m changes.
 */
struct str done_marker_text(const struct done_marker *m);

/*
 * done_marker_release(m): The part of the message that was not released before
 * and is no part of a marker, whatever follows; valid until m changes.
 */
struct str done_marker_release(struct done_marker *m);

struct done_result {
	/* All of the message but its markers; begins with what was released. */
	struct str text;
	/*
	 * The object that ends the message, or the marker's without the marker;
	 * on one line.  Absent: none, or the marker is its only member.
	 */
	struct str payload;
	size_t markers;
	bool truncated; /* it was longer than max */
};

/*
 * done_marker_finish(m, r): The message is complete.  *r is valid until m
 * changes; only done_marker_reset() and _free() follow.
 */
void done_marker_finish(struct done_marker *m, struct done_result *r);

#endif /* !FCMP_DONE_MARKER_H */
