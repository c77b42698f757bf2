/*
 * out: writing JSON that has no schema of its own: parameters, normalized,
 * discovery replies.
 *
 * Numbers are written in the shortest form that reads back equal; NaN and
 * infinities as null.  Text that is not UTF-8 is written with U+FFFD in place
 * of the bad bytes.  The caller keeps begin and end in balance.
 */
#ifndef WIRE_OUT_H
#define WIRE_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

struct wire_out {
	struct buf *b;
	bool comma; /* private: a value precedes on this level */
};

/* An object or array as the next value, and its end. */
void wire_out_object(struct wire_out *o);
void wire_out_object_end(struct wire_out *o);
void wire_out_array(struct wire_out *o);
void wire_out_array_end(struct wire_out *o);

/*
 * The key of the next value inside an object; wire_out_name() of one that has
 * nothing to escape.
 */
void wire_out_key(struct wire_out *o, struct str key);
void wire_out_name(struct wire_out *o, const char *name);

/*
 * One value.  wire_out_text() is wire_out_str() for those whose readers reject
 * NUL, escaped, too: it is written as U+FFFD.  wire_out_raw() takes JSON text
 * that is valid already.
 */
void wire_out_str(struct wire_out *o, struct str s);
void wire_out_text(struct wire_out *o, struct str s);
void wire_out_i64(struct wire_out *o, int64_t i);
void wire_out_f64(struct wire_out *o, double f);
void wire_out_bool(struct wire_out *o, bool v);
void wire_out_null(struct wire_out *o);
void wire_out_raw(struct wire_out *o, struct str json);

#endif /* !WIRE_OUT_H */
