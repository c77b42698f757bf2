/*
 * Leaves sorted by path have the members of each object side by side, so that a
 * document is written in one pass.
 */
#include "profile/profile_store.h"

#include "wire/check.h"
#include "wire/out.h"
#include "wire/tree.h"

/* ---- a patch's leaves ---- */

struct profile_patch {
	struct arena *a;
	struct profile_leaves *out;
	struct buf path;  /* of the current value */
	struct buf value; /* of the current leaf */
};

static void
profile_put_key(struct buf *path, struct str key)
{
	size_t i;

	buf_putc(path, '/');
	for (i = 0; i < key.n; i++) {
		if (key.p[i] == '~')
			buf_puts(path, "~0");
		else if (key.p[i] == '/')
			buf_puts(path, "~1");
		else
			buf_putc(path, key.p[i]);
	}
}

static enum rc
profile_put_leaf(struct profile_patch *p, const struct wire_tree *v,
    const struct wire_at *at)
{
	struct wire_out o = { .b = &p->value };
	struct profile_leaf leaf;

	if (p->out->n == PROFILE_LEAVES_MAX)
		return wire_fail(at, RC_INVALID,
		    "is one too many: a patch has at most %d values",
		    PROFILE_LEAVES_MAX);
	buf_reset(&p->value);
	if (wire_tree_kind(v) != WIRE_TREE_NULL)
		wire_tree_put(v, &o);
	if (buf_rc(&p->value) != RC_OK)
		return wire_fail(at, RC_INVALID,
		    "must not be over %d bytes as JSON", PROFILE_VALUE_MAX);
	leaf.path = arena_str(p->a, buf_str(&p->path));
	leaf.value = arena_str(p->a, buf_str(&p->value));
	if (leaf.path.p == NULL || leaf.value.p == NULL)
		return RC_TOOBIG;
	p->out->leaf[p->out->n++] = leaf;
	return RC_OK;
}

static enum rc profile_put_members(struct profile_patch *p,
    const struct wire_tree *v, const struct wire_at *at, int depth);

static enum rc
profile_put_member(struct profile_patch *p, const struct wire_tree_member *m,
    const struct wire_at *at, int depth)
{
	size_t before = p->path.n;
	enum rc rc;

	if (m->key.n > PROFILE_KEY_MAX)
		return wire_fail(at, RC_INVALID,
		    "must have a name of at most %d bytes", PROFILE_KEY_MAX);
	if (depth > PROFILE_DEPTH_MAX)
		return wire_fail(at, RC_INVALID,
		    "is nested too deep: at most %d names lead to a value",
		    PROFILE_DEPTH_MAX);
	profile_put_key(&p->path, m->key);
	if (wire_tree_kind(m->value) == WIRE_TREE_OBJECT)
		rc = profile_put_members(p, m->value, at, depth);
	else
		rc = profile_put_leaf(p, m->value, at);
	p->path.n = before;
	return rc;
}

static enum rc
profile_put_members(struct profile_patch *p, const struct wire_tree *v,
    const struct wire_at *at, int depth)
{
	struct wire_tree_member m;
	enum rc rc = RC_OK;
	bool more;

	for (more = wire_tree_first(v, &m); more && rc == RC_OK;
	     more = wire_tree_next(v, &m)) {
		const struct wire_at here = {
			.up = at, .key = m.key, .err = at->err
		};

		rc = profile_put_member(p, &m, &here, depth + 1);
	}
	return rc;
}

/* Only the two objects may be at the top level. */
static enum rc
profile_check_top(const struct wire_tree *v, const struct wire_at *at)
{
	struct wire_tree_member m;
	enum wire_tree_kind kind;
	bool more;

	if (wire_tree_kind(v) != WIRE_TREE_OBJECT)
		return wire_fail(at, RC_INVALID, "must be an object");
	for (more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		const struct wire_at here = {
			.up = at, .key = m.key, .err = at->err
		};

		if (!str_eq(m.key, STR(PROFILE_USER)) &&
		    !str_eq(m.key, STR(PROFILE_SYSTEM)))
			return wire_fail(&here, RC_INVALID,
			    "is neither " PROFILE_USER " nor " PROFILE_SYSTEM);
		kind = wire_tree_kind(m.value);
		if (kind != WIRE_TREE_OBJECT && kind != WIRE_TREE_NULL)
			return wire_fail(
			    &here, RC_INVALID, "must be an object or null");
	}
	return RC_OK;
}

enum rc
profile_doc_patch(struct str json, struct arena *a, struct profile_leaves *out,
    struct wire_err *err)
{
	const struct wire_at top = { .err = err };
	struct profile_patch p = { .a = a,
		.out = out,
		.path = BUF_INIT(PROFILE_PATH_MAX),
		.value = BUF_INIT(PROFILE_VALUE_MAX) };
	struct wire_tree *v = NULL;
	enum rc rc;

	*out = (struct profile_leaves){ 0 };
	out->leaf = arena_alloc(a, PROFILE_LEAVES_MAX * sizeof(*out->leaf));
	if (out->leaf == NULL)
		return RC_TOOBIG;
	rc = wire_tree_parse(json, &v);
	if (rc != RC_OK)
		return wire_fail(&top, RC_INVALID, "%s",
		    rc == RC_TOOBIG ? "is too large" : "is not JSON");
	rc = profile_check_top(v, &top);
	if (rc == RC_OK)
		rc = profile_put_members(&p, v, &top, 0);
	wire_tree_free(v);
	buf_free(&p.path);
	buf_free(&p.value);
	return rc;
}

/* ---- a document of leaves ---- */

static void
profile_open_key(struct wire_out *o, struct str key)
{
	struct buf plain = BUF_INIT(PROFILE_PATH_MAX);
	size_t i;

	for (i = 0; i < key.n; i++) {
		if (key.p[i] != '~' || i + 1 == key.n)
			buf_putc(&plain, key.p[i]);
		else
			buf_putc(&plain, key.p[++i] == '1' ? '/' : '~');
	}
	wire_out_key(o, buf_str(&plain));
	buf_free(&plain);
}

/* How many of the objects leading to a and to b are shared. */
static size_t
profile_shared_depth(struct str a, struct str b)
{
	struct str x, y;
	size_t n = 0;

	for (;;) {
		x = str_split(&a, '/');
		y = str_split(&b, '/');
		if (a.p == NULL || b.p == NULL || !str_eq(x, y))
			return n;
		n++;
	}
}

/* The path below part; absent if it is not below it. */
static struct str
profile_below(struct str path, struct str part)
{
	const struct str none = { NULL, 0 };

	if (path.n < part.n + 2 || path.p[0] != '/' ||
	    memcmp(path.p + 1, part.p, part.n) != 0 ||
	    path.p[part.n + 1] != '/')
		return none;
	return (struct str){ path.p + part.n + 2, path.n - part.n - 2 };
}

static bool
profile_is_at(struct str path, struct str top)
{
	return path.n >= top.n && memcmp(path.p, top.p, top.n) == 0 &&
	    (path.n == top.n || path.p[top.n] == '/');
}

enum rc
profile_doc_add(struct profile_leaves *l, struct str path, struct str value,
    struct arena *a)
{
	struct profile_leaf *leaf;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (profile_is_at(l->leaf[i].path, path))
			return RC_OK;
	leaf = arena_alloc(a, (l->n + 1) * sizeof(*leaf));
	if (leaf == NULL || value.p == NULL)
		return RC_TOOBIG;
	for (i = 0; i < l->n && str_cmp(l->leaf[i].path, path) < 0; i++)
		leaf[i] = l->leaf[i];
	leaf[i] = (struct profile_leaf){ path, value };
	for (; i < l->n; i++)
		leaf[i + 1] = l->leaf[i];
	l->leaf = leaf;
	l->n++;
	return RC_OK;
}

void
profile_doc_part(
    const struct profile_leaves *l, const char *part, struct buf *out)
{
	struct str path, key, last = STR("");
	struct wire_out o = { .b = out };
	size_t i, same, skip, depth = 0;

	wire_out_object(&o);
	for (i = 0; i < l->n; i++) {
		path = profile_below(l->leaf[i].path, str_of(part));
		if (path.p == NULL)
			continue;
		same = profile_shared_depth(last, path);
		last = path;
		for (; depth > same; depth--)
			wire_out_object_end(&o);
		for (skip = same; skip > 0; skip--)
			(void)str_split(&path, '/');
		for (;;) {
			key = str_split(&path, '/');
			profile_open_key(&o, key);
			if (path.p == NULL)
				break;
			wire_out_object(&o);
			depth++;
		}
		wire_out_raw(&o, l->leaf[i].value);
	}
	for (; depth > 0; depth--)
		wire_out_object_end(&o);
	wire_out_object_end(&o);
}
