/*
 * wire/msgs.c: the tables that the interpreter reads.
 */
#include <inttypes.h>

#include "gen.h"

static const char *const kinds[] = { "WIRE_STR", "WIRE_ENUM", "WIRE_I64",
	"WIRE_F64", "WIRE_BOOL", "WIRE_OBJECT", "WIRE_ARRAY", "WIRE_RAW" };

static void
put_enum(struct buf *b, const struct gen_enum *e)
{
	buf_printf(b, "\nconst struct str %s_names[%zu] = {\n", e->name, e->n);
	for (size_t i = 0; i < e->n; i++) {
		buf_puts(b, "\tSTR_INIT(");
		gen_literal(b, e->names[i]);
		buf_puts(b, "),\n");
	}
	buf_puts(b, "};\n");
}

static void
put_i64(struct buf *b, int64_t i)
{
	if (i == INT64_MIN)
		buf_puts(b, "INT64_MIN");
	else
		buf_printf(b, "INT64_C(%" PRId64 ")", i);
}

static void
put_bounds(struct buf *b, const struct wire_type *t)
{
	if (t->kind == WIRE_F64) {
		buf_printf(b, ", .min = { .f = %.17g }, .max = { .f = %.17g }",
		    t->min.f, t->max.f);
	} else if (t->kind != WIRE_OBJECT && t->kind != WIRE_ENUM &&
	    t->kind != WIRE_RAW) {
		buf_puts(b, ", .min = { .i = ");
		put_i64(b, t->min.i);
		buf_puts(b, " }, .max = { .i = ");
		put_i64(b, t->max.i);
		buf_puts(b, " }");
	}
}

/* A struct wire_type; elem names the type of an array's elements. */
static void
put_type(struct buf *b, const struct gen_type *t, const char *elem)
{
	static const char *const size[] = { "struct str", "int", "int64_t",
		"double", "bool", "", "", "struct str" };
	const struct wire_type *w = &t->t;
	buf_printf(b, "{ .kind = %s", kinds[w->kind]);
	if (w->kind == WIRE_OBJECT)
		buf_printf(b, ", .size = sizeof(struct %s), .object = &%s_desc",
		    t->object->name, t->object->name);
	else if (w->kind == WIRE_ARRAY)
		buf_printf(b, ", .elem = &%s", elem);
	else
		buf_printf(b, ", .size = sizeof(%s)", size[w->kind]);
	if (w->kind == WIRE_ENUM)
		buf_printf(b, ", .names = %s_names, .n_names = %u",
		    t->names->name, w->n_names);
	if (w->chars != 0)
		buf_printf(b, ", .chars = %u", w->chars);
	if (w->json != 0)
		buf_printf(b, ", .json = %u", w->json);
	if (w->max_bytes != 0)
		buf_printf(b, ", .max_bytes = %" PRIu32, w->max_bytes);
	put_bounds(b, w);
	buf_puts(b, " }");
}

static void
put_default(struct buf *b, const struct gen_field *f)
{
	if ((f->flags & WIRE_DEFAULT) == 0)
		return;
	buf_puts(b, ",\n\t    ");
	if (f->type->t.kind == WIRE_STR) {
		buf_puts(b, ".dflt_s = STR_INIT(");
		gen_literal(b, f->dflt_s);
		buf_puts(b, ")");
	} else if (f->type->t.kind == WIRE_F64) {
		buf_printf(b, ".dflt = { .f = %.17g }", f->dflt.f);
	} else {
		buf_puts(b, ".dflt = { .i = ");
		put_i64(b, f->dflt.i);
		buf_puts(b, " }");
	}
}

static void
put_field(struct buf *b, const struct gen_record *r, const struct gen_field *f)
{
	buf_puts(b, "\t{ .name = STR_INIT(");
	gen_literal(b, str_of(f->name));
	buf_puts(b, "), .key = STR_INIT(");
	char *name = json_dumps(
	    json_string(f->name), JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	gen_literal(b, str_of(gen_printf(",%s:", name)));
	buf_printf(
	    b, "),\n\t    .off = offsetof(struct %s, %s)", r->name, f->c);
	if (gen_has(f))
		buf_printf(
		    b, ", .has = offsetof(struct %s, has_%s)", r->name, f->c);
	else
		buf_puts(b, ", .has = WIRE_NONE");
	if (f->type->t.kind == WIRE_ARRAY)
		buf_printf(b, ",\n\t    .count = offsetof(struct %s, n_%s)",
		    r->name, f->c);
	else
		buf_puts(b, ", .count = WIRE_NONE");
	buf_printf(b, ", .flags = %u,\n\t    .type = ", f->flags);
	put_type(b, f->type, gen_printf("elem_%s_%s", r->name, f->c));
	put_default(b, f);
	buf_puts(b, " },\n");
}

static void
put_record(struct buf *b, const struct gen_record *r)
{
	uint64_t required = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct gen_field *f = &r->fields[i];
		if ((f->flags & WIRE_REQUIRED) != 0)
			required |= UINT64_C(1) << i;
		if (f->type->t.kind != WIRE_ARRAY)
			continue;
		buf_printf(b,
		    "\nstatic const struct wire_type elem_%s_%s =\n    ",
		    r->name, f->c);
		put_type(b, f->type->elem, NULL);
		buf_puts(b, ";\n");
	}
	buf_printf(
	    b, "\nstatic const struct wire_field fields_%s[] = {\n", r->name);
	for (size_t i = 0; i < r->n; i++)
		put_field(b, r, &r->fields[i]);
	buf_printf(b,
	    "};\nconst struct wire_desc %s_desc = {\n\t.name = \"%s\",\n"
	    "\t.fields = fields_%s,\n\t.n = %zu,\n"
	    "\t.size = sizeof(struct %s),\n\t.flags = %u,\n\t.list = %zu,\n"
	    "\t.required = UINT64_C(0x%" PRIx64 "),\n"
	    "\t.choice = UINT64_C(0x%" PRIx64 "),\n};\n",
	    r->name, r->name + sizeof("wire_") - 1, r->name, r->n, r->name,
	    r->flags, r->list, required, r->choice);
}

void
gen_table(struct gen *g, struct buf *b)
{
	buf_puts(b,
	    "/* Generated from the JSON Schemas; do not edit. */\n"
	    "#include \"msgs.h\"\n\n#include <stddef.h>\n"
	    "#include <stdint.h>\n\n#include \"wire/desc.h\"\n");
	for (size_t i = 0; i < g->n_enums; i++)
		put_enum(b, g->enums[i]);
	for (size_t i = 0; i < g->n_records; i++)
		put_record(b, g->records[i]);
}
