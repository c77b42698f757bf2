/*
 * Small models write all arguments as texts, and take liberties with choices.
 */
#include "wire/coerce.h"

#include <math.h>
#include <stdbool.h>

#include "core/mem.h"
#include "wire/out.h"
#include "wire/synonym.h"
#include "wire/tree.h"

/* Up to here a double has every integer. */
#define WHOLE_MAX 9007199254740992.0
/* JSON in a text in JSON ...: not for ever. */
#define NESTED_MAX 4

enum {
	ANY = 0,
	TEXT = 1,
	NUMBER = 2,
	INTEGER = 4,
	BOOL = 8,
	OBJECT = 16,
	ARRAY = 32,
	NOTHING = 64
};

static void put(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested);

static unsigned
type_of_name(struct str name)
{
	static const struct {
		struct str name;
		unsigned type;
	} rows[] = {
		{ STR_INIT("string"), TEXT },
		{ STR_INIT("number"), NUMBER | INTEGER },
		{ STR_INIT("integer"), INTEGER },
		{ STR_INIT("boolean"), BOOL },
		{ STR_INIT("object"), OBJECT },
		{ STR_INIT("array"), ARRAY },
		{ STR_INIT("null"), NOTHING },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		if (str_eq(rows[i].name, name))
			return rows[i].type;
	}
	return ANY;
}

/* The types that a schema allows; ANY if it does not say. */
static unsigned
types_of(const struct wire_tree *schema)
{
	const struct wire_tree *type = wire_tree_get(schema, STR("type"));
	unsigned types = type_of_name(wire_tree_text(type));

	for (size_t i = 0; i < wire_tree_len(type); i++)
		types |= type_of_name(wire_tree_text(wire_tree_at(type, i)));
	return types;
}

typedef bool (*word_fn)(struct str a, struct str b);

/* The one choice that fn finds alike; absent: none, or more than one. */
static struct str
only_choice(const struct wire_tree *list, struct str s, word_fn fn)
{
	struct str found = { 0 };

	for (size_t i = 0; i < wire_tree_len(list); i++) {
		struct str c = wire_tree_text(wire_tree_at(list, i));
		if (c.p == NULL || !fn(c, s))
			continue;
		if (found.p != NULL)
			return (struct str){ 0 };
		found = c;
	}
	return found;
}

/* The choice that s means, in other letters or another word; absent: none. */
static struct str
choice(const struct wire_tree *schema, struct str s)
{
	static const word_fn ways[] = { str_eq, wire_word_equal,
		wire_word_same };
	const struct wire_tree *list = wire_tree_get(schema, STR("enum"));
	struct str found = { 0 };

	for (size_t i = 0; i < NELEM(ways) && found.p == NULL; i++)
		found = only_choice(list, s, ways[i]);
	return found;
}

static bool
put_whole(struct wire_out *o, double f)
{
	if (floor(f) != f || fabs(f) > WHOLE_MAX)
		return false;
	wire_out_i64(o, (int64_t)f);
	return true;
}

static double
bound(const struct wire_tree *schema, struct str key, double none)
{
	const struct wire_tree *v = wire_tree_get(schema, key);

	return wire_tree_kind(v) == WIRE_TREE_NUMBER ? wire_tree_number(v)
						     : none;
}

/* Bring *f within the bounds of a schema that asks for it; whether it was not.
 */
static bool
clamped(const struct wire_tree *schema, double *f)
{
	bool whole = types_of(schema) == INTEGER;
	double lo = bound(schema, STR("minimum"), -HUGE_VAL);
	double hi = bound(schema, STR("maximum"), HUGE_VAL);

	if (!wire_tree_bool(wire_tree_get(schema, STR("x-clamp"))))
		return false;
	lo = whole ? ceil(lo) : lo;
	hi = whole ? floor(hi) : hi;
	if (lo > hi || (*f >= lo && *f <= hi))
		return false;
	*f = *f < lo ? lo : hi;
	return true;
}

/* A number as the types want it; false if it is none of them. */
static bool
put_real(unsigned types, double f, struct wire_out *o)
{
	if ((types & INTEGER) != 0 && put_whole(o, f))
		return true;
	if ((types & NUMBER) == 0)
		return false;
	wire_out_f64(o, f);
	return true;
}

/* A text where the schema wants a number. */
static bool
put_number_text(
    const struct wire_tree *schema, struct str s, struct wire_out *o)
{
	char word[WIRE_WORD_MAX];
	unsigned types = types_of(schema);
	int64_t i;
	double f;

	s = wire_word_half(s, word);
	if (str_to_f64(s, -HUGE_VAL, HUGE_VAL, &f) != RC_OK)
		return false;
	if (!clamped(schema, &f) &&
	    str_to_i64(s, INT64_MIN, INT64_MAX, &i) == RC_OK) {
		wire_out_i64(o, i);
		return true;
	}
	return put_real(types, f, o);
}

/* A text where the schema wants something else. */
static bool
put_from_text(const struct wire_tree *schema, struct str s, struct wire_out *o,
    unsigned nested)
{
	unsigned types = types_of(schema);

	s = str_trim(s);
	if ((types & INTEGER) != 0 && put_number_text(schema, s, o))
		return true;
	int truth = (types & BOOL) != 0 ? wire_word_truth(s) : -1;
	if (truth >= 0) {
		wire_out_bool(o, truth == 1);
		return true;
	}
	struct wire_tree *v;
	if ((types & (OBJECT | ARRAY)) == 0 || nested == NESTED_MAX ||
	    wire_tree_parse(s, &v) != RC_OK)
		return false;
	enum wire_tree_kind kind = wire_tree_kind(v);
	bool fits = (kind == WIRE_TREE_OBJECT && (types & OBJECT) != 0) ||
	    (kind == WIRE_TREE_ARRAY && (types & ARRAY) != 0);
	if (fits)
		put(schema, v, o, nested + 1);
	wire_tree_free(v);
	return fits;
}

static void
put_text(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	unsigned types = types_of(schema);
	struct str s = wire_tree_text(v);
	struct str chosen = choice(schema, s);

	if (chosen.p != NULL && (types == ANY || (types & TEXT) != 0))
		wire_out_str(o, chosen);
	else if (types == ANY || (types & TEXT) != 0 ||
	    !put_from_text(schema, s, o, nested))
		wire_out_str(o, s);
}

static void
put_number(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o)
{
	unsigned types = types_of(schema);
	double f = wire_tree_number(v);

	if (((types & INTEGER) != 0 && clamped(schema, &f) &&
		put_real(types, f, o)) ||
	    (types == INTEGER && put_whole(o, f)))
		return;
	if (types != TEXT) {
		wire_tree_put(v, o);
		return;
	}
	struct buf b = BUF_INIT(64);
	struct wire_out digits = { .b = &b };
	wire_tree_put(v, &digits);
	wire_out_str(o, buf_str(&b));
	buf_free(&b);
}

static void
put_bool(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o)
{
	struct str word = wire_tree_bool(v) ? STR("true") : STR("false");
	struct str chosen = choice(schema, word);

	if (types_of(schema) != TEXT)
		wire_tree_put(v, o);
	else
		wire_out_str(o, chosen.p != NULL ? chosen : word);
}

static bool
is_required(const struct wire_tree *schema, struct str key)
{
	const struct wire_tree *list = wire_tree_get(schema, STR("required"));

	for (size_t i = 0; i < wire_tree_len(list); i++) {
		if (str_eq(wire_tree_text(wire_tree_at(list, i)), key))
			return true;
	}
	return false;
}

static void
put_object(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	const struct wire_tree *all = wire_tree_get(schema, STR("properties"));
	struct wire_tree_member m;

	wire_out_object(o);
	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		const struct wire_tree *sub = wire_tree_get(all, m.key);
		unsigned types = types_of(sub);
		if (wire_tree_kind(m.value) == WIRE_TREE_NULL && types != ANY &&
		    (types & NOTHING) == 0 && !is_required(schema, m.key))
			continue;
		wire_out_key(o, m.key);
		put(sub, m.value, o, nested);
	}
	wire_out_object_end(o);
}

/* Recurses as deep as the two texts are nested, WIRE_DEPTH_MAX at most. */
static void
put(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	const struct wire_tree *items;

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_OBJECT:
		put_object(schema, v, o, nested);
		break;
	case WIRE_TREE_ARRAY:
		items = wire_tree_get(schema, STR("items"));
		wire_out_array(o);
		for (size_t i = 0; i < wire_tree_len(v); i++)
			put(items, wire_tree_at(v, i), o, nested);
		wire_out_array_end(o);
		break;
	case WIRE_TREE_TEXT:
		put_text(schema, v, o, nested);
		break;
	case WIRE_TREE_NUMBER:
		put_number(schema, v, o);
		break;
	case WIRE_TREE_BOOL:
		put_bool(schema, v, o);
		break;
	case WIRE_TREE_NULL:
		wire_tree_put(v, o);
		break;
	}
}

enum rc
wire_coerce(struct str schema, struct str json, struct buf *out)
{
	struct wire_tree *s, *v;
	struct wire_out o = { .b = out };

	enum rc rc = wire_tree_parse(schema, &s);
	if (rc != RC_OK)
		return rc;
	rc = wire_tree_parse(json, &v);
	if (rc == RC_OK) {
		put(s, v, &o, 0);
		wire_tree_free(v);
		rc = buf_rc(out);
	}
	wire_tree_free(s);
	return rc;
}
