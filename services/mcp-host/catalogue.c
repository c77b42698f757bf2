#include "catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "rpc.h"
#include "tool/tool_digest.h"
#include "transport.h"
#include "wire/out.h"
#include "wire/slice.h"
#include "wire/tree.h"

#define TEXT_MAX (64UL * 1024)

struct catalogue {
	size_t refs;
	struct arena *arena;
	struct catalogue_tool *tools;
	size_t n, room;
	struct map *names; /* until it is sealed */
	char digest[TOOL_DIGEST_MAX];
};

struct catalogue *
catalogue_new(void)
{
	struct catalogue *c = mem_zalloc(sizeof(*c));

	c->refs = 1;
	c->arena = arena_new(CATALOGUE_MAX);
	c->names = map_new();
	return c;
}

struct catalogue *
catalogue_ref(struct catalogue *c)
{
	if (c != NULL)
		c->refs++;
	return c;
}

void
catalogue_unref(struct catalogue *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	map_free(c->names);
	arena_free(c->arena);
	free(c->tools);
	free(c);
}

/* ---- reading ---- */

struct catalogue_reader {
	struct catalogue *c;
	size_t *left_out;
	struct buf text; /* scratch */
};

static bool
catalogue_hint(struct str annotations, struct str name, bool dflt)
{
	struct str v = rpc_member(annotations, name);

	if (str_eq(v, STR("true")))
		return true;
	return str_eq(v, STR("false")) ? false : dflt;
}

/* A text of the arena; false: it does not fit. */
static bool
catalogue_text(struct catalogue_reader *r, struct str json, struct str *out)
{
	buf_reset(&r->text);
	*out = (struct str){ NULL, 0 };
	if (!rpc_text(json, &r->text))
		return true;
	if (buf_rc(&r->text) != RC_OK)
		return false;
	*out = arena_str(r->c->arena, buf_str(&r->text));
	return out->p != NULL;
}

static bool
catalogue_schema(struct catalogue_reader *r, struct str json, struct str *out)
{
	if (json.n == 0 || json.p[0] != '{' || json.n > CATALOGUE_SCHEMA_MAX)
		return false;
	buf_reset(&r->text);
	rpc_put_line(&r->text, json);
	/* As a schema is parsed, which is stricter than a message. */
	if (!wire_is_object(buf_str(&r->text)))
		return false;
	*out = arena_str(r->c->arena, buf_str(&r->text));
	return out->p != NULL;
}

static bool
catalogue_name_valid(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f)
			return false;
	return true;
}

static bool
catalogue_read_tool(
    struct catalogue_reader *r, struct str json, struct catalogue_tool *t)
{
	struct str hints = rpc_member(json, STR("annotations"));

	*t = (struct catalogue_tool){
		.read_only = catalogue_hint(hints, STR("readOnlyHint"), false),
		.destructive =
		    catalogue_hint(hints, STR("destructiveHint"), true),
		.idempotent =
		    catalogue_hint(hints, STR("idempotentHint"), false),
		.open_world = catalogue_hint(hints, STR("openWorldHint"), true),
	};
	if (!catalogue_text(r, rpc_member(json, STR("name")), &t->name) ||
	    t->name.n == 0 || t->name.n > CATALOGUE_NAME_MAX ||
	    map_get(r->c->names, t->name) != NULL ||
	    !catalogue_name_valid(t->name))
		return false;
	if (!catalogue_schema(
		r, rpc_member(json, STR("inputSchema")), &t->schema) ||
	    !catalogue_text(r, rpc_member(json, STR("title")), &t->title) ||
	    !catalogue_text(
		r, rpc_member(json, STR("description")), &t->description))
		return false;
	if (t->title.p == NULL)
		return catalogue_text(
		    r, rpc_member(hints, STR("title")), &t->title);
	return true;
}

static void
catalogue_add_tool(void *arg, const struct wire_slice *s)
{
	struct catalogue_reader *r = arg;
	struct catalogue *c = r->c;
	struct arena_mark mark = arena_mark(c->arena);
	struct catalogue_tool t;

	if (c->n == CATALOGUE_TOOLS_MAX ||
	    !catalogue_read_tool(r, s->value, &t)) {
		arena_rewind(c->arena, mark);
		++*r->left_out;
		return;
	}
	if (c->n == c->room) {
		c->room = c->room > 0 ? c->room * 2 : 16;
		c->tools = mem_realloc(c->tools, c->room * sizeof(*c->tools));
	}
	c->tools[c->n++] = t;
	(void)map_put(c->names, t.name, c);
}

enum rc
catalogue_add(struct catalogue *c, struct str result, size_t *left_out)
{
	struct catalogue_reader r = { c, left_out, BUF_INIT(TEXT_MAX) };
	const struct wire_slice_handler h = {
		.each = catalogue_add_tool,
		.arg = &r,
		.max = TRANSPORT_MESSAGE_MAX,
	};
	struct str tools = rpc_member(result, STR("tools"));
	enum rc rc;

	if (tools.n == 0 || tools.p[0] != '[')
		return RC_INVALID;
	rc = wire_slice_each(tools, &h);
	/* The whole is valid; what is beyond a scan's limit is left out. */
	if (rc == RC_TOOBIG) {
		++*left_out;
		rc = RC_OK;
	}
	buf_free(&r.text);
	return rc;
}

/* ---- sealed ---- */

static int
catalogue_compare(const void *a, const void *b)
{
	const struct catalogue_tool *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

void
catalogue_seal(struct catalogue *c)
{
	struct buf text = BUF_INIT(2 * CATALOGUE_MAX);

	map_free(c->names);
	c->names = NULL;
	if (c->n > 0)
		qsort(c->tools, c->n, sizeof(*c->tools), catalogue_compare);
	catalogue_write(c, &text);
	tool_digest(&(struct str){ text.p != NULL ? text.p : "", text.n }, 1,
	    c->digest);
	buf_free(&text);
}

size_t
catalogue_n(const struct catalogue *c)
{
	return c != NULL ? c->n : 0;
}

const struct catalogue_tool *
catalogue_at(const struct catalogue *c, size_t i)
{
	return &c->tools[i];
}

const struct catalogue_tool *
catalogue_find(const struct catalogue *c, struct str name)
{
	const struct catalogue_tool wanted = { .name = name };

	if (c == NULL || c->n == 0)
		return NULL;
	return bsearch(
	    &wanted, c->tools, c->n, sizeof(*c->tools), catalogue_compare);
}

const char *
catalogue_digest(const struct catalogue *c)
{
	return c->digest;
}

/* ---- writing ---- */

static void
catalogue_write_tool(const struct catalogue_tool *t, struct wire_out *o)
{
	wire_out_object(o);
	wire_out_key(o, STR("name"));
	wire_out_text(o, t->name);
	if (t->title.p != NULL) {
		wire_out_key(o, STR("title"));
		wire_out_text(o, t->title);
	}
	if (t->description.p != NULL) {
		wire_out_key(o, STR("description"));
		wire_out_text(o, t->description);
	}
	wire_out_key(o, STR("inputSchema"));
	wire_out_raw(o, t->schema);
	wire_out_key(o, STR("annotations"));
	wire_out_object(o);
	wire_out_key(o, STR("readOnlyHint"));
	wire_out_bool(o, t->read_only);
	wire_out_key(o, STR("destructiveHint"));
	wire_out_bool(o, t->destructive);
	wire_out_key(o, STR("idempotentHint"));
	wire_out_bool(o, t->idempotent);
	wire_out_key(o, STR("openWorldHint"));
	wire_out_bool(o, t->open_world);
	wire_out_object_end(o);
	wire_out_object_end(o);
}

void
catalogue_write(const struct catalogue *c, struct buf *out)
{
	struct wire_out o = { out, false };

	wire_out_object(&o);
	wire_out_key(&o, STR("tools"));
	wire_out_array(&o);
	for (size_t i = 0; i < c->n; i++)
		catalogue_write_tool(&c->tools[i], &o);
	wire_out_array_end(&o);
	wire_out_object_end(&o);
}
