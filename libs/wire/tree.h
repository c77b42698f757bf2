/*
 * tree: looking into JSON that has no schema of its own: tool arguments, a
 * slot's default, a message's content.
 */
#ifndef WIRE_TREE_H
#define WIRE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct wire_out;
struct wire_tree;

enum wire_tree_kind {
	WIRE_TREE_NULL,
	WIRE_TREE_BOOL,
	WIRE_TREE_NUMBER,
	WIRE_TREE_TEXT,
	WIRE_TREE_ARRAY,
	WIRE_TREE_OBJECT
};

/*
 * wire_tree_parse(json, out):
 * Parse within the limits of a message (wire.h); RC_INVALID or RC_TOOBIG.
 * *out and all within it live until wire_tree_free(*out).
 */
enum rc wire_tree_parse(struct str json, struct wire_tree **out) RC_CHECK;

/* wire_tree_free(v): Free what wire_tree_parse() gave; NULL is allowed. */
void wire_tree_free(struct wire_tree *v);

/* wire_tree_kind(v): What v is; null if v is NULL. */
enum wire_tree_kind wire_tree_kind(const struct wire_tree *v);

/* A value of its kind; absent, 0 or false of another kind and of NULL. */
struct str wire_tree_text(const struct wire_tree *v);
double wire_tree_number(const struct wire_tree *v);
bool wire_tree_bool(const struct wire_tree *v);

/* wire_tree_len(v): Elements of an array, members of an object, else 0. */
size_t wire_tree_len(const struct wire_tree *v);

/* wire_tree_at(v, i), wire_tree_get(v, key): An element, a member, or NULL.
 */
const struct wire_tree *wire_tree_at(const struct wire_tree *v, size_t i);
const struct wire_tree *wire_tree_get(
    const struct wire_tree *v, struct str key);

/* A member of an object, and where the next one is. */
struct wire_tree_member {
	struct str key;
	const struct wire_tree *value;
	void *slot; /* private */
};

/*
 * wire_tree_first(v, m), wire_tree_next(v, m):
 * The members of an object, in the order of the text; false when there is none
 * or v is no object.  Before wire_tree_next() m is of v and was true.
 */
bool wire_tree_first(const struct wire_tree *v, struct wire_tree_member *m);
bool wire_tree_next(const struct wire_tree *v, struct wire_tree_member *m);

/* wire_tree_put(v, o): Write v, compact, as o's next value. */
void wire_tree_put(const struct wire_tree *v, struct wire_out *o);

/*
 * wire_tree_string(json, a, out):
 * The text that the JSON string json stands for, taken from a.  RC_INVALID if
 * json is no string, RC_TOOBIG if a is full.
 */
enum rc wire_tree_string(
    struct str json, struct arena *a, struct str *out) RC_CHECK;

/*
 * wire_text(json, a, out):
 * The text of the JSON string json, from a.  RC_INVALID if it is anything else,
 * RC_TOOBIG over a limit.
 */
enum rc wire_text(struct str json, struct arena *a, struct str *out) RC_CHECK;

/* wire_is_object(json): Whether json is one JSON object within the limits. */
bool wire_is_object(struct str json);

#endif /* !WIRE_TREE_H */
