/*
 * uri: URI references taken apart and resolved (RFC 3986).
 */
#ifndef WIRE_URI_H
#define WIRE_URI_H

#include "core/buf.h"
#include "core/str.h"

/* The parts of a URI reference, without their delimiters; p NULL: absent. */
struct wire_uri {
	struct str scheme;
	struct str authority;
	struct str path; /* never absent */
	struct str query;
	struct str fragment;
};

/* wire_uri_split(s, u): Any text has parts; nothing is checked. */
void wire_uri_split(struct str s, struct wire_uri *u);

/*
 * wire_uri_resolve(base, ref, out):
 * Append the URI that ref means in a document called base (which may be empty
 * or relative), without its fragment.
 */
void wire_uri_resolve(struct str base, struct str ref, struct buf *out);

#endif /* !WIRE_URI_H */
