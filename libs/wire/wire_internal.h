/*
 * wire_internal: what the files of this library share.  Private.
 *
 * jansson's type appears here as struct json_t only.  Comparisons and checks
 * are paid for from *steps, about one step for each value visited; when they
 * are used up, the result is RC_TOOBIG.
 */
#ifndef WIRE_WIRE_INTERNAL_H
#define WIRE_WIRE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/check.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/wire.h"

/*
 * Objects and arrays in any message: more would cost jansson tens of MiB.
 */
#define WIRE_CONTAINERS_MAX (64 * 1024)

struct json_t;
struct map;
struct rx;
struct rx_scratch;
struct wire_node;

/* ---- scan.c: JSON text, validated without a tree ---- */

/* A string or a key, valid, as written, without its quotes. */
struct wire_scan_text {
	const char *p;
	uint32_t n;
	bool escaped; /* it has escapes */
};

/* What a text has, by which wire_raw_put() might write it differently. */
enum wire_scan_trait {
	WIRE_SCAN_SPACE = 1, /* white space outside of strings */
	WIRE_SCAN_REAL = 2,  /* a real number, or -0 */
	WIRE_SCAN_EXPONENT = 4,
	WIRE_SCAN_UNICODE = 8, /* an escape \u */
	WIRE_SCAN_SLASH = 16   /* an escape \/ */
};

struct wire_scan_level {
	bool object;
	bool sorted; /* its keys are compared when it ends */
	size_t keys; /* where its keys begin */
};

/* Keys of all open objects that take no allocation. */
#define WIRE_SCAN_KEYS 64

/* A scan of a text; p is where it is, end where it ends. */
struct wire_scan {
	const char *p;
	const char *end; /* of what may be scanned */
	const char *text_end;
	unsigned traits; /* seen so far */
	size_t depth, max_depth;
	size_t containers;
	struct wire_scan_level open[WIRE_DEPTH_MAX];
	struct wire_scan_text *keys;
	size_t n_keys, cap_keys;
	struct wire_scan_text some[WIRE_SCAN_KEYS];
};

/* wire_scan_begin(s, in), wire_scan_end(s): Around all others. */
void wire_scan_begin(struct wire_scan *s, struct str in);
void wire_scan_end(struct wire_scan *s);

/* wire_scan_skip_space(s): Past white space, of which there may be none. */
void wire_scan_skip_space(struct wire_scan *s);

/* wire_scan_space(s): The same, where mostly there is none. */
static inline void
wire_scan_space(struct wire_scan *s)
{
	if (s->p < s->end && (unsigned char)*s->p <= ' ')
		wire_scan_skip_space(s);
}

/* wire_scan_take(s, c): Past white space and c; false: c is not next. */
static inline bool
wire_scan_take(struct wire_scan *s, char c)
{
	wire_scan_space(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/*
 * wire_scan_word(s, word): Past a word, if it is next.
 * wire_scan_string(s, t):  Past a string, whose quote is next.
 * wire_scan_number(s):     Past a number, whose first byte is next.
 * wire_scan_value(s):      Past one value, which is next.
 * wire_scan_open(s):       Past the bracket that is next.
 * wire_scan_key(s, k):     Past a key and its colon, up to the value.
 * wire_scan_close(s):      The innermost object or array has ended; false: it
 *                          has a key twice.
 *
 * False, or RC_INVALID or RC_TOOBIG: the text is not valid; the scan is over.
 */
bool wire_scan_word(struct wire_scan *s, struct str word);
bool wire_scan_string(struct wire_scan *s, struct wire_scan_text *t);
bool wire_scan_number(struct wire_scan *s);
enum rc wire_scan_value(struct wire_scan *s) RC_CHECK;
enum rc wire_scan_open(struct wire_scan *s) RC_CHECK;
bool wire_scan_key(struct wire_scan *s, struct wire_scan_text *k);
bool wire_scan_close(struct wire_scan *s);

/*
 * wire_scan_skip(s, x): Past a value that needs no scan, which also does not
 * count for the scan's limit of bytes; false: there are too many containers.
 */
struct wire_slice_extent;
bool wire_scan_skip(struct wire_scan *s, const struct wire_slice_extent *x);

#ifdef __SSE2__
/* wire_scan_hits(v): 0xff for each quote, backslash and control character. */
static inline __m128i
wire_scan_hits(__m128i v)
{
	return _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
	    _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')),
		_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v)));
}
#endif

/* wire_scan_special(p, end): The next quote, backslash or control character, or
 * end. */
static inline const char *
wire_scan_special(const char *p, const char *end)
{
#ifdef __SSE2__
	while (end - p >= 16) {
		__m128i v = _mm_loadu_si128((const void *)p);
		int mask = _mm_movemask_epi8(wire_scan_hits(v));

		if (mask != 0)
			return p + __builtin_ctz((unsigned)mask);
		p += 16;
	}
#endif
	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	return p;
}

/* wire_scan_utf8(s): Whether s is UTF-8. */
bool wire_scan_utf8(struct str s);

/* wire_scan_escape(s, p): The byte behind the escape that begins at p, or NULL.
 */
const char *wire_scan_escape(struct wire_scan *s, const char *p);

/* wire_scan_put_text(t, out): Append the text that t means. */
void wire_scan_put_text(const struct wire_scan_text *t, struct buf *out);

/* ---- raw.c: values without a schema ---- */

/*
 * wire_raw_plain(in, depth):
 * Whether in is surely compact JSON that is nested no deeper than depth and
 * that wire_raw_parse() would accept.  False means unknown.
 */
bool wire_raw_plain(struct str in, size_t depth);

/*
 * wire_raw_parse(in, depth, at, out):
 * Parse JSON text that is nested no deeper than depth and whose size and number
 * of objects and arrays are within their limits.  RC_INVALID or RC_TOOBIG
 * through wire_fail(at), which never quotes the text.  *out is the caller's to
 * json_decref().
 */
enum rc wire_raw_parse(struct str in, size_t depth, const struct wire_at *at,
    struct json_t **out) RC_CHECK;

/*
 * wire_text_class(s): What a text has, or'ed.
 *
 * wire_out_utf8(o, s): As wire_out_str(), of what is known to be UTF-8.
 * wire_out_plain(o, s): The same of what has nothing to escape, either.
 */
#define WIRE_TEXT_ESCAPED 1U /* control characters, quotes, backslashes */
#define WIRE_TEXT_HIGH    2U /* bytes beyond ASCII */
unsigned wire_text_class(struct str s);
void wire_out_utf8(struct wire_out *o, struct str s);
void wire_out_plain(struct wire_out *o, struct str s);

/*
 * wire_raw_parse_any(in, depth, at, out):
 * As wire_raw_parse(), but where an integer is beyond int64_t all numbers of
 * the text become reals.
 */
enum rc wire_raw_parse_any(struct str in, size_t depth,
    const struct wire_at *at, struct json_t **out) RC_CHECK;

/*
 * wire_raw_put(o, v): Write v as compact JSON: members in the order they came,
 * real numbers distinguished from integers.  Recurses WIRE_DEPTH_MAX deep at
 * most.
 */
void wire_raw_put(struct wire_out *o, const struct json_t *v);

/* ---- decode.c, decode_direct.c ---- */

/* wire_set_defaults(d, msg): Set the members that have a default. */
void wire_set_defaults(const struct wire_desc *d, char *msg);

/*
 * wire_find_field(d, name, from):
 * The index of a member, or d->n.  Members mostly come in the schema's order,
 * so the search starts at from, behind the one before.
 */
uint32_t wire_find_field(
    const struct wire_desc *d, struct str name, uint32_t from);

/*
 * wire_decode_direct(d, in, a, msg):
 * Decode in as wire_decode() does, without a tree, into msg, which has its
 * defaults.  False: in is not valid, or has something rare; *msg and a are then
 * in any state.
 */
bool wire_decode_direct(const struct wire_desc *d, struct str in,
    struct arena *a, void *msg) RC_CHECK;

/* wire_decode_tree(d, in, a, msg, err): As wire_decode(), by jansson alone. */
enum rc wire_decode_tree(const struct wire_desc *d, struct str in,
    struct arena *a, void *msg, struct wire_err *err) RC_CHECK;

/* ---- value.c: comparison as JSON Schema defines it ---- */

/* wire_value_pay(steps, n): Take n from *steps; RC_TOOBIG if there is not
 * enough. */
enum rc wire_value_pay(size_t *steps, size_t n) RC_CHECK;

/* wire_value_equal(a, b, steps, equal): Whether a equals b. */
enum rc wire_value_equal(const struct json_t *a, const struct json_t *b,
    size_t *steps, bool *equal) RC_CHECK;

/*
 * wire_value_unique(array, steps, same):
 * Whether two elements of array are equal: same[0] < same[1] are their indices,
 * or both 0 if there are no two.
 */
enum rc wire_value_unique(
    const struct json_t *array, size_t *steps, size_t same[2]) RC_CHECK;

/* wire_value_compare(a, b): Two numbers, exactly: < 0, 0, > 0 as a is to b. */
int wire_value_compare(const struct json_t *a, const struct json_t *b);

/*
 * wire_value_multiple(a, b):
 * Whether the number a is b (> 0) times an integer.  Reals count as the
 * shortest decimal that reads back equal, so 0.3 is three times 0.1.
 */
bool wire_value_multiple(const struct json_t *a, const struct json_t *b);

/* wire_value_whole(v): Whether v is a number without a fraction. */
bool wire_value_whole(const struct json_t *v);

/* wire_value_unconst(v): v for jansson's iterators, which change nothing. */
struct json_t *wire_value_unconst(const struct json_t *v);

/* ---- uri.c: URI references (RFC 3986) ---- */

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

/* ---- schema_shape.c: the keywords of draft-07 ---- */

/*
 * wire_shape_check(v, at, steps):
 * Whether v is valid against the draft-07 meta-schema.  RC_INVALID through
 * wire_fail() if not, RC_TOOBIG if that takes more than *steps, which are used
 * up by one for each value visited.
 */
enum rc wire_shape_check(
    const struct json_t *v, const struct wire_at *at, size_t *steps) RC_CHECK;

/* A schema inside another; at is on the caller's stack. */
typedef enum rc (*wire_shape_fn)(
    void *arg, struct json_t *schema, const struct wire_at *at);

/*
 * wire_shape_each(v, at, fn, arg):
 * Call fn for each schema that stands directly in the schema v, whose shape is
 * right, until one call does not return RC_OK; returns what the last returned.
 */
enum rc wire_shape_each(const struct json_t *v, const struct wire_at *at,
    wire_shape_fn fn, void *arg) RC_CHECK;

/* A bit for each type a JSON value can have. */
enum wire_schema_type {
	WIRE_TYPE_NULL = 1,
	WIRE_TYPE_BOOLEAN = 2,
	WIRE_TYPE_INTEGER = 4,
	WIRE_TYPE_NUMBER = 8,
	WIRE_TYPE_STRING = 16,
	WIRE_TYPE_ARRAY = 32,
	WIRE_TYPE_OBJECT = 64
};

/* wire_type_of(name): The bit of "null", "integer", …; 0 if there is none. */
unsigned wire_type_of(struct str name);

/* ---- schema_ref.c: $id and $ref inside one document ---- */

/* A schema document; its owner sets root, a and err. */
struct wire_doc {
	struct json_t *root; /* of the right shape */
	struct arena *a;
	struct wire_err *err; /* may be NULL */
	struct map *ids;      /* URI to struct wire_target */
};

/* A schema and the base URI of the place where it stands. */
struct wire_target {
	struct json_t *schema; /* NULL: the meta-schema */
	struct str base;
};

/*
 * wire_doc_index(d): Find all "$id"s.  wire_doc_free(d) frees what that took;
 * call it in either case.
 */
enum rc wire_doc_index(struct wire_doc *d) RC_CHECK;
void wire_doc_free(struct wire_doc *d);

/*
 * wire_doc_base(d, t, base):
 * The base URI of references inside the schema t->schema.
 */
enum rc wire_doc_base(
    struct wire_doc *d, const struct wire_target *t, struct str *base) RC_CHECK;

/*
 * wire_doc_find(d, from, out):
 * What the "$ref" of the schema from->schema means; it may be no schema.
 * RC_INVALID, with d->err set, if it is not in the document.
 */
enum rc wire_doc_find(struct wire_doc *d, const struct wire_target *from,
    struct wire_target *out) RC_CHECK;

/*
 * wire_doc_fail(d, schema, keyword, rc, fmt, ...):
 * Set d->err to the place of keyword (NULL: of schema itself) and the text.
 * Returns rc.
 */
enum rc wire_doc_fail(struct wire_doc *d, const struct json_t *schema,
    const char *keyword, enum rc rc, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- schema_compile.c: a schema as a graph of nodes ---- */

/* A compiled regular expression; each text once. */
struct wire_pattern {
	struct wire_pattern *next;
	struct rx *rx;
	struct str text;
};

/* Nodes in the order of the schema; names are absent where they have none. */
struct wire_branch {
	struct str name;
	struct wire_node *node;
	const struct wire_pattern *pattern; /* of patternProperties */
};
struct wire_branches {
	struct wire_branch *p;
	size_t n;
};

/* "dependencies": what must be there beside name, or what must hold. */
struct wire_dependency {
	struct str name;
	struct str *names;
	size_t n;
	struct wire_node *node;
};

/* Both inclusive; SIZE_MAX: no most. */
struct wire_range {
	size_t least, most;
};

enum wire_node_kind {
	WIRE_NODE_RULES, /* all members below */
	WIRE_NODE_NEVER, /* false */
	WIRE_NODE_META,  /* the value must be a schema itself */
	WIRE_NODE_REF    /* ref, which is no WIRE_NODE_REF, instead */
};

/* Pointers are NULL where the schema has no such keyword. */
struct wire_node {
	enum wire_node_kind kind;
	unsigned types; /* bits of enum wire_schema_type; 0: all */
	struct wire_node *ref;
	const struct json_t *enums, *fixed; /* "enum", "const" */

	const struct json_t *min, *max, *above, *below, *multiple;

	struct wire_range length;
	const struct wire_pattern *pattern;

	struct wire_range count; /* of items */
	struct wire_node *item;  /* of each */
	struct wire_branches items;
	struct wire_node *more_items; /* of each beyond items */
	struct wire_node *contains;
	bool unique;

	struct wire_range size;     /* in members */
	struct wire_branches props; /* in order of name */
	struct wire_branches patterns;
	struct wire_node *more_members;
	struct wire_node *names;
	struct str *required;
	size_t n_required;
	struct wire_dependency *deps;
	size_t n_deps;

	struct wire_branches all, any, one;
	struct wire_node *no, *cond, *then, *otherwise;

	/* Only for compiling. */
	struct json_t *schema;
	struct str base; /* URI of where it stands */
	unsigned height; /* schemas for one value inside each other; 0: new */
	bool open;       /* height is being found out */
	struct wire_node *next;
};

struct wire_schema {
	struct json_t *json;
	struct arena *a;
	struct wire_node *root;
	struct wire_pattern *patterns;
	_Atomic(struct rx_scratch *) scratch; /* NULL: a check uses it */
};

/*
 * wire_schema_compile(s, err):
 * Fill s->root and s->patterns from s->json.  RC_INVALID, RC_TOOBIG.
 */
enum rc wire_schema_compile(
    struct wire_schema *s, struct wire_err *err) RC_CHECK;

#endif /* !WIRE_WIRE_INTERNAL_H */
