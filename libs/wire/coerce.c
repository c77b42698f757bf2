/*
 * Small models write all arguments as strings and vary the spelling of choices.
 */
#include "wire/coerce.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

/* ---- words with one meaning: "开" and "on", "红色" and "red" ---- */

/* Longest word that is compared, in bytes, NUL included. */
#define SYNONYM_MAX 64

/*
 * A word may stand in several rows; it is ambiguous where more than one of them
 * is offered.  The first two rows are also the words for true and false.
 */
static const char *const synonym_rows[] = {
	"on true yes enable enabled 开 打开 开启 开着 启用 启动 是",
	"off false no disable disabled 关 关闭 关掉 关上 关着 停用 禁用 否",
	"open 开 打开 张开 拉开 开启",
	"close closed shut 关 关闭 关上 合上 闭上",
	"start begin 开始 启动",
	"stop halt 停 停止 停下 别动",
	"pause 暂停",
	"resume continue 继续",
	"up 上 向上 往上 上面 increase raise 调高 升高",
	"down 下 向下 往下 下面 decrease lower 调低 降低",
	"left 左 向左 往左 左边",
	"right 右 向右 往右 右边",
	"forward forwards front 前 向前 往前 前进",
	"back backward backwards 后 向后 往后 后退",
	"high 高",
	"medium middle mid 中 中等",
	"low 低",
	"big large 大",
	"small little 小",
	"fast quick 快 快速",
	"slow 慢 慢速",
	"auto automatic 自动",
	"manual 手动",
	"all 全部 所有",
	"none 无",
	"nod 点头",
	"shake shake_head 摇头",
	"set_color setcolor change_color 设置颜色 换颜色 变色",
	"red 红 红色",
	"orange 橙 橙色 橘色",
	"yellow 黄 黄色",
	"green 绿 绿色",
	"cyan 青 青色",
	"blue 蓝 蓝色",
	"purple violet 紫 紫色",
	"pink 粉 粉色 粉红 粉红色",
	"white 白 白色",
	"black 黑 黑色",
	"gray grey 灰 灰色",
	"brown 棕 棕色 褐色",
	"warm 暖 暖光 暖色",
	"cold cool 冷 冷光 冷色",
};

/* U+FF01 to U+FF5E are ASCII, wide; U+3000 is a wide blank. */
static int32_t
synonym_half_width(int32_t c)
{
	if (c >= 0xFF01 && c <= 0xFF5E)
		return c - 0xFEE0;
	return c == 0x3000 ? ' ' : c;
}

/*
 * s without white space around it, full-width forms as ASCII; s itself if it
 * is longer than dst.
 */
static struct str
synonym_normalize(struct str s, char dst[SYNONYM_MAX])
{
	size_t pos = 0, at = 0, n = 0;
	int32_t c;

	while (at = pos, (c = str_utf8_next(s, &pos)) >= 0) {
		int32_t h = synonym_half_width(c);
		size_t len = h < 0x80 ? 1 : pos - at;
		if (n + len >= SYNONYM_MAX)
			return str_trim(s);
		if (h < 0x80)
			dst[n] = (char)h;
		else
			memcpy(dst + n, s.p + at, len);
		n += len;
	}
	return str_trim((struct str){ dst, n });
}

static char
synonym_fold(char c)
{
	if (c == '-' || c == ' ')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Equal but for case, width, and blanks, hyphens and underscores. */
static bool
synonym_spelling_equal(struct str a, struct str b)
{
	char at[SYNONYM_MAX], bt[SYNONYM_MAX];

	a = synonym_normalize(a, at);
	b = synonym_normalize(b, bt);
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (synonym_fold(a.p[i]) != synonym_fold(b.p[i]))
			return false;
	}
	return true;
}

static bool
synonym_row_has(const char *row, struct str word)
{
	struct str rest = str_of(row);

	while (rest.n > 0) {
		if (synonym_spelling_equal(str_split(&rest, ' '), word))
			return true;
	}
	return false;
}

/* Whether the table gives both words one meaning. */
static bool
synonym_found(struct str a, struct str b)
{
	for (size_t i = 0; i < NELEM(synonym_rows); i++) {
		if (synonym_row_has(synonym_rows[i], a) &&
		    synonym_row_has(synonym_rows[i], b))
			return true;
	}
	return false;
}

/* 1 for yes, 0 for no, -1 for neither. */
static int
synonym_truth(struct str s)
{
	if (synonym_row_has(synonym_rows[0], s))
		return 1;
	return synonym_row_has(synonym_rows[1], s) ? 0 : -1;
}

/* ---- values ---- */

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

static void coerce_put(const struct wire_tree *schema,
    const struct wire_tree *v, struct wire_out *o, unsigned nested);

static unsigned
coerce_type_of_name(struct str name)
{
	static const struct {
		struct str name;
		unsigned type;
	} coerce_types[] = {
		{ STR_INIT("string"), TEXT },
		{ STR_INIT("number"), NUMBER | INTEGER },
		{ STR_INIT("integer"), INTEGER },
		{ STR_INIT("boolean"), BOOL },
		{ STR_INIT("object"), OBJECT },
		{ STR_INIT("array"), ARRAY },
		{ STR_INIT("null"), NOTHING },
	};

	for (size_t i = 0; i < NELEM(coerce_types); i++) {
		if (str_eq(coerce_types[i].name, name))
			return coerce_types[i].type;
	}
	return ANY;
}

/* The types that a schema allows; ANY if it does not say. */
static unsigned
coerce_types_of(const struct wire_tree *schema)
{
	const struct wire_tree *type = wire_tree_get(schema, STR("type"));
	unsigned types = coerce_type_of_name(wire_tree_text(type));

	for (size_t i = 0; i < wire_tree_len(type); i++)
		types |=
		    coerce_type_of_name(wire_tree_text(wire_tree_at(type, i)));
	return types;
}

typedef bool (*word_fn)(struct str a, struct str b);

/* The one choice that fn finds alike; absent: none, or more than one. */
static struct str
coerce_only_choice(const struct wire_tree *list, struct str s, word_fn fn)
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
coerce_choice(const struct wire_tree *schema, struct str s)
{
	static const word_fn ways[] = { str_eq, synonym_spelling_equal,
		synonym_found };
	const struct wire_tree *list = wire_tree_get(schema, STR("enum"));
	struct str found = { 0 };

	for (size_t i = 0; i < NELEM(ways) && found.p == NULL; i++)
		found = coerce_only_choice(list, s, ways[i]);
	return found;
}

static bool
coerce_put_whole(struct wire_out *o, double f)
{
	if (floor(f) != f || fabs(f) > WHOLE_MAX)
		return false;
	wire_out_i64(o, (int64_t)f);
	return true;
}

static double
coerce_bound(const struct wire_tree *schema, struct str key, double none)
{
	const struct wire_tree *v = wire_tree_get(schema, key);

	return wire_tree_kind(v) == WIRE_TREE_NUMBER ? wire_tree_number(v)
						     : none;
}

/* Bring *f within the bounds of a schema that asks for it; whether it was not.
 */
static bool
coerce_clamped(const struct wire_tree *schema, double *f)
{
	bool whole = coerce_types_of(schema) == INTEGER;
	double lo = coerce_bound(schema, STR("minimum"), -HUGE_VAL);
	double hi = coerce_bound(schema, STR("maximum"), HUGE_VAL);

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
coerce_put_real(unsigned types, double f, struct wire_out *o)
{
	if ((types & INTEGER) != 0 && coerce_put_whole(o, f))
		return true;
	if ((types & NUMBER) == 0)
		return false;
	wire_out_f64(o, f);
	return true;
}

/* A text where the schema wants a number. */
static bool
coerce_put_number_text(
    const struct wire_tree *schema, struct str s, struct wire_out *o)
{
	char word[SYNONYM_MAX];
	unsigned types = coerce_types_of(schema);
	int64_t i;
	double f;

	s = synonym_normalize(s, word);
	if (str_to_f64(s, -HUGE_VAL, HUGE_VAL, &f) != RC_OK)
		return false;
	if (!coerce_clamped(schema, &f) &&
	    str_to_i64(s, INT64_MIN, INT64_MAX, &i) == RC_OK) {
		wire_out_i64(o, i);
		return true;
	}
	return coerce_put_real(types, f, o);
}

/* A text where the schema wants something else. */
static bool
coerce_put_from_text(const struct wire_tree *schema, struct str s,
    struct wire_out *o, unsigned nested)
{
	unsigned types = coerce_types_of(schema);

	s = str_trim(s);
	if ((types & INTEGER) != 0 && coerce_put_number_text(schema, s, o))
		return true;
	int truth = (types & BOOL) != 0 ? synonym_truth(s) : -1;
	if (truth >= 0) {
		wire_out_bool(o, truth == 1);
		return true;
	}
	struct wire_tree *v;
	if ((types & (OBJECT | ARRAY)) == 0 || nested == NESTED_MAX ||
	    wire_tree_parse(s, &v) != RC_OK)
		return false;
	enum wire_tree_kind kind = wire_tree_kind(v);
	bool matches = (kind == WIRE_TREE_OBJECT && (types & OBJECT) != 0) ||
	    (kind == WIRE_TREE_ARRAY && (types & ARRAY) != 0);
	if (matches)
		coerce_put(schema, v, o, nested + 1);
	wire_tree_free(v);
	return matches;
}

static void
coerce_put_text(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	unsigned types = coerce_types_of(schema);
	struct str s = wire_tree_text(v);
	struct str chosen = coerce_choice(schema, s);

	if (chosen.p != NULL && (types == ANY || (types & TEXT) != 0))
		wire_out_str(o, chosen);
	else if (types == ANY || (types & TEXT) != 0 ||
	    !coerce_put_from_text(schema, s, o, nested))
		wire_out_str(o, s);
}

static void
coerce_put_number(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o)
{
	unsigned types = coerce_types_of(schema);
	double f = wire_tree_number(v);

	if (((types & INTEGER) != 0 && coerce_clamped(schema, &f) &&
		coerce_put_real(types, f, o)) ||
	    (types == INTEGER && coerce_put_whole(o, f)))
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
coerce_put_bool(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o)
{
	struct str word = wire_tree_bool(v) ? STR("true") : STR("false");
	struct str chosen = coerce_choice(schema, word);

	if (coerce_types_of(schema) != TEXT)
		wire_tree_put(v, o);
	else
		wire_out_str(o, chosen.p != NULL ? chosen : word);
}

static bool
coerce_is_required(const struct wire_tree *schema, struct str key)
{
	const struct wire_tree *list = wire_tree_get(schema, STR("required"));

	for (size_t i = 0; i < wire_tree_len(list); i++) {
		if (str_eq(wire_tree_text(wire_tree_at(list, i)), key))
			return true;
	}
	return false;
}

static void
coerce_put_object(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	const struct wire_tree *all = wire_tree_get(schema, STR("properties"));
	struct wire_tree_member m;

	wire_out_object(o);
	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		const struct wire_tree *sub = wire_tree_get(all, m.key);
		unsigned types = coerce_types_of(sub);
		if (wire_tree_kind(m.value) == WIRE_TREE_NULL && types != ANY &&
		    (types & NOTHING) == 0 &&
		    !coerce_is_required(schema, m.key))
			continue;
		wire_out_key(o, m.key);
		coerce_put(sub, m.value, o, nested);
	}
	wire_out_object_end(o);
}

/* Recurses as deep as the two texts are nested, WIRE_DEPTH_MAX at most. */
static void
coerce_put(const struct wire_tree *schema, const struct wire_tree *v,
    struct wire_out *o, unsigned nested)
{
	const struct wire_tree *items;

	switch (wire_tree_kind(v)) {
	case WIRE_TREE_OBJECT:
		coerce_put_object(schema, v, o, nested);
		break;
	case WIRE_TREE_ARRAY:
		items = wire_tree_get(schema, STR("items"));
		wire_out_array(o);
		for (size_t i = 0; i < wire_tree_len(v); i++)
			coerce_put(items, wire_tree_at(v, i), o, nested);
		wire_out_array_end(o);
		break;
	case WIRE_TREE_TEXT:
		coerce_put_text(schema, v, o, nested);
		break;
	case WIRE_TREE_NUMBER:
		coerce_put_number(schema, v, o);
		break;
	case WIRE_TREE_BOOL:
		coerce_put_bool(schema, v, o);
		break;
	case WIRE_TREE_NULL:
		wire_tree_put(v, o);
		break;
	}
}

enum rc
wire_coerce(const struct wire_tree *schema, struct str json, struct buf *out)
{
	struct wire_out o = { .b = out };
	struct wire_tree *v;

	enum rc rc = wire_tree_parse(json, &v);
	if (rc != RC_OK)
		return rc;
	coerce_put(schema, v, &o, 0);
	wire_tree_free(v);
	return buf_rc(out);
}
