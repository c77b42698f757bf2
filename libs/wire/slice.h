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
#include <stdint.h>

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
	/* Most bytes that are scanned, more or less than those of a message;
	 * 0: those. */
	size_t max;
};

/*
 * wire_slice_each(in, h):
 * Validate the object or array in, and call h's functions for its members or
 * elements; h may be NULL.  RC_OK exactly if wire_decode(), without its limit
 * of bytes, would parse in, and it is an object or array within h->max;
 * RC_TOOBIG over a limit, else RC_INVALID, or the code of h->known.  What
 * each() was given counts only with RC_OK.  Allocates only if more than 64
 * members are open at a time, or for real numbers at the limit of a double.
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

/* ---- wanted members of lines ---- */

/* Most wanted paths, and most members of one: "item.result.content". */
#define WIRE_PATHS_MAX     64
#define WIRE_PATH_KEYS_MAX 6

/*
 * wire_paths_new(paths, n):
 * A table of the members that are wanted of each line of a stream; aborts if it
 * is over a limit, or empty.  Shared by threads.  Freed with wire_paths_free().
 */
struct wire_paths;
struct wire_paths *wire_paths_new(const char *const *paths, size_t n);
void wire_paths_free(struct wire_paths *p);

/* The value of a wanted member. */
struct wire_found {
	struct str value; /* as written; absent: none */
	bool escaped;     /* it is a string that has escapes */
};

/*
 * wire_slice_paths(p, in, found):
 * Validate one JSON value of any kind and length, and set found[i] to that of
 * the i-th path.  RC_OK, or RC_INVALID if jansson would not parse it, it is
 * nested over WIRE_DEPTH_MAX, or an object has a member twice that is on the
 * way to a wanted one; other members may be repeated.  No tree is built, and
 * nothing allocated but for real numbers at the limit of a double.
 */
enum rc wire_slice_paths(const struct wire_paths *p, struct str in,
    struct wire_found *found) RC_CHECK;

/* wire_found_is_text(f): Whether the value is a string. */
static inline bool
wire_found_is_text(const struct wire_found *f)
{
	return f->value.n > 0 && f->value.p[0] == '"';
}

/* wire_found_inside(f): A string without its quotes, else absent. */
static inline struct str
wire_found_inside(const struct wire_found *f)
{
	return wire_found_is_text(f)
	    ? (struct str){ f->value.p + 1, f->value.n - 2 }
	    : (struct str){ NULL, 0 };
}

/*
 * wire_found_put(f, b): Append the text that a string means; nothing of another
 * value.
 * wire_found_i64(f, v): RC_INVALID: no integer.
 */
struct buf;
void wire_found_put(const struct wire_found *f, struct buf *b);
enum rc wire_found_i64(const struct wire_found *f, int64_t *v) RC_CHECK;

/*
 * wire_text_put(inside, b): Append the text that the inside of a valid JSON
 * string means.
 */
void wire_text_put(struct str inside, struct buf *b);

/*
 * wire_line_next(text, line):
 * The next line of *text, without its \n or \r\n; false if only the beginning
 * of one is left, which stays.
 */
bool wire_line_next(struct str *text, struct str *line);

#endif /* !WIRE_SLICE_H */
