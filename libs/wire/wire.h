/*
 * wire: JSON messages as C structs, checked against their schema both ways.
 *
 * proto-schemas/NAME.schema.json becomes struct wire_NAME and the table
 * wire_NAME_desc (wire/msgs.h, generated).  One interpreter reads the tables;
 * there is no code per message.
 *
 * Reading is liberal where JSON leaves room: unknown members are ignored, null
 * for an optional member is its absence.  It is strict about all the rest:
 * types, bounds, enums, required members, duplicate members, UTF-8, U+0000,
 * nesting over WIRE_DEPTH_MAX, trailing bytes.
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/* Deepest nesting of objects and arrays in any message. */
#define WIRE_DEPTH_MAX 64
/*
 * Largest message in bytes that is read; every transport rejects more, but for
 * HTTP responses, which may be longer.
 */
#define WIRE_MESSAGE_MAX (1024 * 1024)
/* A decoded message takes at most this much of an arena. */
#define WIRE_ARENA_MAX (8 * 1024 * 1024)

/* A message's descriptor table; generated, opaque to users. */
struct wire_desc;

/* What wire_err.why says of a required member that is not there, or empty. */
#define WIRE_WHY_MISSING "is missing"
#define WIRE_WHY_EMPTY   "must not be empty"

/* What is wrong with a message, and where. */
struct wire_err {
	char path[256]; /* JSON Pointer; "" is the whole message */
	char why[256];  /* "must not be empty", "is not one of on, off" */
};

/*
 * wire_init(d, msg):
 * Zero the struct *msg, then set the members that have a default to it, in
 * objects by value too, present or not.  wire_decode() begins with it; senders
 * do before they fill a message in.
 */
void wire_init(const struct wire_desc *d, void *msg);

/*
 * wire_decode(d, in, a, msg, err):
 * Read in as message d into the struct *msg, whose texts and arrays are taken
 * from a.  RC_INVALID if it breaks the schema, RC_TOOBIG if it passes a
 * limit; err (may be NULL) then says where and why and *msg is undefined.  Of
 * several members of the message at fault it is the first of the schema's.
 */
enum rc wire_decode(const struct wire_desc *d, struct str in, struct arena *a,
    void *msg, struct wire_err *err) RC_CHECK;

/*
 * wire_encode(d, msg, out, err):
 * Append *msg as compact JSON.  A struct that breaks its own schema is
 * RC_INVALID with err set, and out is as before; RC_TOOBIG if out is full: the
 * limit of out is the message's.
 */
enum rc wire_encode(const struct wire_desc *d, const void *msg, struct buf *out,
    struct wire_err *err) RC_CHECK;

/* A message that stands as a member of another, whose schema leaves it open. */
struct wire_inner {
	struct str name; /* the member's */
	const struct wire_desc *d;
	const void *msg;
};

/*
 * wire_encode_around(d, msg, inner, out, err):
 * As wire_encode(), with *inner as a member of *msg, whatever *msg has there:
 * what encoding it on its own and then *msg around its text gives, in one pass.
 * The path of an error in it begins with the member's name.  RC_BUG: d has no
 * open member of that name, or one of both is no object.
 */
enum rc wire_encode_around(const struct wire_desc *d, const void *msg,
    const struct wire_inner *inner, struct buf *out,
    struct wire_err *err) RC_CHECK;

/* wire_desc_name(d), wire_desc_size(d): NAME, and sizeof(struct wire_NAME). */
const char *wire_desc_name(const struct wire_desc *d);
size_t wire_desc_size(const struct wire_desc *d);

/*
 * wire_text_of(d, msg, name):
 * The text of msg's own member of that name, to be read or set anew; NULL if d
 * has no such member, or it is no text.
 */
struct str *wire_text_of(const struct wire_desc *d, void *msg, struct str name);

/*
 * wire_desc_find(name): The descriptor called name, or NULL.
 * wire_desc_at(i): The i-th of all descriptors in order of name, or NULL.
 */
const struct wire_desc *wire_desc_find(struct str name);
const struct wire_desc *wire_desc_at(size_t i);

/* Room for any result of wire_err_text(), NUL included. */
#define WIRE_ERR_TEXT_MAX 520

/*
 * wire_err_text(err, dst, size):
 * "/inputs/0/text: must not be empty", cut at a code point border to fit.
 */
void wire_err_text(const struct wire_err *err, char *dst, size_t size);

#endif /* !WIRE_WIRE_H */
