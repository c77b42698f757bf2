/*
 * slice: the members of a JSON object, or the elements of an array, as slices
 * of the text.
 *
 * One pass validates the text as wire_decode() does and builds no tree, so what
 * is only passed on, hashed or compared is not parsed.  Any thread.
 */
#ifndef WIRE_SLICE_H
#define WIRE_SLICE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

struct wire_slice {
	/* Of a member: as written, without its quotes; absent: of an element.
	 */
	struct str key;
	bool escaped;     /* key has escapes, so it is not the text it means */
	struct str value; /* without white space around it */
};

/* Where a value ends. */
struct wire_slice_extent {
	size_t n;          /* its bytes */
	size_t containers; /* the objects and arrays in it, itself included */
};

/* What is done with the slices; functions may be NULL. */
struct wire_slice_handler {
	/* Called in the order of the text, before all of it is validated. */
	void (*each)(void *arg, const struct wire_slice *s);
	/*
	 * Called before a value is scanned; s->value is the rest of the text.
	 * RC_OK: a value with the extent *x that was valid in an earlier text
	 * begins there, at the same nesting, so it is not scanned.  RC_NOENT:
	 * scan it.  Any other code ends the scan.
	 */
	enum rc (*known)(
	    void *arg, const struct wire_slice *s, struct wire_slice_extent *x);
	void *arg;
	size_t max; /* most bytes that are scanned; 0: those of a message */
};

/*
 * wire_slice_each(in, h):
 * Validate the object or array in, and call h's functions for its members or
 * elements; h may be NULL.  RC_OK exactly if wire_decode() would parse in, and
 * it is an object or array within h->max; RC_TOOBIG over a limit, else
 * RC_INVALID, or the code of h->known.  What each() was given counts only with
 * RC_OK.  Allocates only if more than 64 members are open at a time, or for
 * real numbers at the limit of a double.
 */
enum rc wire_slice_each(
    struct str in, const struct wire_slice_handler *h) RC_CHECK;

/*
 * wire_decode_known(d, in, a, msg, h):
 * As wire_decode(), but for the members of the message itself that h->known
 * knows, whose key has no escapes; those are left as absent ones are, although
 * they count as present.  h->each is not called.  RC_OK; the code of h->known
 * that ended it; RC_TOOBIG over WIRE_CONTAINERS_MAX; RC_NOENT: something is
 * wrong or unusual, for wire_decode() to find out.  Unless RC_OK, a is as
 * before.
 */
struct arena;
struct wire_desc;
enum rc wire_decode_known(const struct wire_desc *d, struct str in,
    struct arena *a, void *msg, const struct wire_slice_handler *h) RC_CHECK;

/*
 * wire_slice_extent(in, x):
 * Find the end of the object or array that in begins with, without validating
 * it: *x is right if in begins with a valid one.  RC_INVALID: in begins with
 * something else, or there is no end.
 */
enum rc wire_slice_extent(struct str in, struct wire_slice_extent *x) RC_CHECK;

#endif /* !WIRE_SLICE_H */
