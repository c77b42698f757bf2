/*
 * A thin cover over jansson's values.
 */
#include "wire/tree.h"
#include "wire/wire_internal.h"

#include <jansson.h>

#include "wire/out.h"
#include "wire/slice.h"
#include "wire/wire.h"

static const json_t *
tree_json_of(const struct wire_tree *v)
{
	return (const json_t *)(const void *)v;
}

static const struct wire_tree *
tree_value_of(const json_t *j)
{
	return (const struct wire_tree *)(const void *)j;
}

enum rc
wire_tree_parse(struct str json, struct wire_tree **out)
{
	const struct wire_at top = { 0 };
	json_t *j;
	enum rc rc;

	rc = wire_raw_parse(json, WIRE_DEPTH_MAX, &top, &j);
	if (rc == RC_OK)
		*out = (struct wire_tree *)(void *)j;
	return rc;
}

void
wire_tree_free(struct wire_tree *v)
{
	json_decref((json_t *)(void *)v);
}

enum wire_tree_kind
wire_tree_kind(const struct wire_tree *v)
{
	const json_t *j = tree_json_of(v);

	if (json_is_object(j))
		return WIRE_TREE_OBJECT;
	if (json_is_array(j))
		return WIRE_TREE_ARRAY;
	if (json_is_string(j))
		return WIRE_TREE_TEXT;
	if (json_is_number(j))
		return WIRE_TREE_NUMBER;
	return json_is_boolean(j) ? WIRE_TREE_BOOL : WIRE_TREE_NULL;
}

struct str
wire_tree_text(const struct wire_tree *v)
{
	const json_t *j = tree_json_of(v);

	if (!json_is_string(j))
		return (struct str){ 0 };
	return (struct str){ json_string_value(j), json_string_length(j) };
}

double
wire_tree_number(const struct wire_tree *v)
{
	return json_number_value(tree_json_of(v));
}

bool
wire_tree_bool(const struct wire_tree *v)
{
	return json_is_true(tree_json_of(v));
}

size_t
wire_tree_len(const struct wire_tree *v)
{
	const json_t *j = tree_json_of(v);

	return json_is_object(j) ? json_object_size(j) : json_array_size(j);
}

const struct wire_tree *
wire_tree_at(const struct wire_tree *v, size_t i)
{
	return tree_value_of(json_array_get(tree_json_of(v), i));
}

const struct wire_tree *
wire_tree_get(const struct wire_tree *v, struct str key)
{
	return tree_value_of(json_object_getn(tree_json_of(v), key.p, key.n));
}

static bool
tree_member_at(void *slot, struct wire_tree_member *m)
{
	if (slot == NULL)
		return false;
	*m = (struct wire_tree_member){
		.key = { json_object_iter_key(slot),
		    json_object_iter_key_len(slot) },
		.value = tree_value_of(json_object_iter_value(slot)),
		.slot = slot,
	};
	return true;
}

bool
wire_tree_first(const struct wire_tree *v, struct wire_tree_member *m)
{
	return tree_member_at(
	    json_object_iter(wire_value_unconst(tree_json_of(v))), m);
}

bool
wire_tree_next(const struct wire_tree *v, struct wire_tree_member *m)
{
	return tree_member_at(
	    json_object_iter_next(wire_value_unconst(tree_json_of(v)), m->slot),
	    m);
}

void
wire_tree_put(const struct wire_tree *v, struct wire_out *o)
{
	if (v == NULL)
		wire_out_null(o);
	else
		wire_raw_put(o, tree_json_of(v));
}

enum rc
wire_tree_string(struct str json, struct arena *a, struct str *out)
{
	return wire_text(json, a, out);
}

/* ---- values that stand alone ---- */

static struct str
tree_copy_text(const struct wire_scan_text *text, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct str s;

	if (!text->escaped)
		return arena_str(a, (struct str){ text->p, text->n });
	wire_scan_put_text(text, &b);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

enum rc
wire_text(struct str json, struct arena *a, struct str *out)
{
	struct wire_scan_text text;
	struct wire_scan s;
	bool is;

	if (json.n > WIRE_MESSAGE_MAX)
		return RC_TOOBIG;
	wire_scan_begin(&s, json);
	wire_scan_space(&s);
	is = s.p < s.end && *s.p == '"' && wire_scan_string(&s, &text);
	wire_scan_space(&s);
	is = is && s.p == s.end;
	wire_scan_end(&s);
	if (!is)
		return RC_INVALID;
	*out = tree_copy_text(&text, a);
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

bool
wire_is_object(struct str json)
{
	struct str s = str_trim(json);

	return s.n > 0 && s.p[0] == '{' && wire_slice_each(json, NULL) == RC_OK;
}
