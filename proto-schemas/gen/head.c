/*
 * wire/msgs.h: enums and structs.
 */
#include <float.h>
#include <inttypes.h>

#include "gen.h"

static void
put_enum(struct buf *b, const struct gen_enum *e)
{
	buf_putc(b, '\n');
	if (e->desc != NULL)
		gen_comment(b, "", e->desc);
	buf_printf(b, "enum %s {\n", e->name);
	for (size_t i = 0; i < e->n; i++)
		buf_printf(b, "\t%s,\n", e->constants[i]);
	buf_printf(
	    b, "};\nextern const struct str %s_names[%zu];\n", e->name, e->n);
}

static const char *
c_type(const struct gen_type *t)
{
	switch ((enum wire_kind)t->t.kind) {
	case WIRE_STR:
	case WIRE_RAW:
		return "struct str ";
	case WIRE_I64:
		return "int64_t ";
	case WIRE_F64:
		return "double ";
	case WIRE_BOOL:
		return "bool ";
	case WIRE_ENUM:
		return gen_printf("enum %s ", t->names->name);
	case WIRE_OBJECT:
		return gen_printf("struct %s ", t->object->name);
	case WIRE_ARRAY:
		return gen_printf("%s*", c_type(t->elem));
	}
	return "";
}

/* "one of", a range: what the type in C does not say. */
void
gen_range(struct buf *b, const struct gen_type *t)
{
	const struct wire_type *w = &t->t;
	if (w->kind == WIRE_STR && w->max_bytes > 0)
		buf_printf(b,
		    "%" PRId64 "-%" PRId64 " characters, at most %" PRIu32
		    " bytes",
		    w->min.i, w->max.i, w->max_bytes);
	else if (w->kind == WIRE_STR)
		buf_printf(b, "%" PRId64 "-%" PRId64 " characters", w->min.i,
		    w->max.i);
	else if (w->kind == WIRE_ARRAY)
		buf_printf(
		    b, "%" PRId64 "-%" PRId64 " items", w->min.i, w->max.i);
	else if (w->kind == WIRE_RAW)
		buf_puts(b,
		    w->json == WIRE_JSON_OBJECT      ? "JSON object"
			: w->json == WIRE_JSON_ARRAY ? "JSON array"
						     : "JSON value");
	else if (w->kind == WIRE_I64 && w->min.i != INT64_MIN &&
	    w->max.i != INT64_MAX)
		buf_printf(b, "%" PRId64 " to %" PRId64, w->min.i, w->max.i);
	else if (w->kind == WIRE_I64 && w->min.i != INT64_MIN)
		buf_printf(b, "from %" PRId64, w->min.i);
	else if (w->kind == WIRE_I64 && w->max.i != INT64_MAX)
		buf_printf(b, "up to %" PRId64, w->max.i);
	else if (w->kind == WIRE_F64 && w->min.f > -DBL_MAX &&
	    w->max.f < DBL_MAX)
		buf_printf(b, "%g to %g", w->min.f, w->max.f);
	else if (w->kind == WIRE_F64 && w->min.f > -DBL_MAX)
		buf_printf(b, "from %g", w->min.f);
	else if (w->kind == WIRE_F64 && w->max.f < DBL_MAX)
		buf_printf(b, "up to %g", w->max.f);
}

/* Whether absence is told by a has_x. */
bool
gen_has(const struct gen_field *f)
{
	return (f->flags & (WIRE_REQUIRED | WIRE_DEFAULT)) == 0 &&
	    f->type->t.kind != WIRE_STR && f->type->t.kind != WIRE_RAW;
}

static void
put_field(struct buf *b, const struct gen_field *f)
{
	struct buf text = BUF_INIT(64 * 1024);
	struct buf range = BUF_INIT(1024);
	buf_puts(&text, f->desc);
	gen_range(&range, f->type);
	if (f->unit != NULL)
		buf_printf(&text, " [%s]", f->unit);
	if (range.n > 0)
		buf_printf(&text, " [%s]", range.p);
	if ((f->flags & WIRE_DEFAULT) != 0)
		buf_puts(&text, " [has a default]");
	else if ((f->flags & WIRE_REQUIRED) == 0)
		buf_puts(&text, " [optional]");
	gen_comment(b, "\t", text.p);
	buf_printf(b, "\t%s%s;\n", c_type(f->type), f->c);
	if (f->type->t.kind == WIRE_ARRAY)
		buf_printf(b, "\tsize_t n_%s;\n", f->c);
	if (gen_has(f))
		buf_printf(b, "\tbool has_%s;\n", f->c);
	buf_free(&text);
	buf_free(&range);
}

static const char *
section_of(const struct gen *g, const struct gen_record *r)
{
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].record == r)
			return g->files[i].section;
	return NULL;
}

static void
put_record(struct buf *b, const struct gen *g, const struct gen_record *r)
{
	const char *section = section_of(g, r);
	buf_putc(b, '\n');
	if (section != NULL)
		gen_comment(
		    b, "", gen_printf("%s\nProtocol: %s.", r->desc, section));
	else if (r->desc != NULL)
		gen_comment(b, "", r->desc);
	buf_printf(b, "struct %s {\n", r->name);
	for (size_t i = 0; i < r->n; i++)
		put_field(b, &r->fields[i]);
	buf_printf(b, "};\nextern const struct wire_desc %s_desc;\n", r->name);
}

void
gen_head(struct gen *g, struct buf *b)
{
	buf_puts(b,
	    "/* Generated from the JSON Schemas; do not edit. */\n"
	    "#ifndef WIRE_MSGS_H\n#define WIRE_MSGS_H\n\n"
	    "#include <stdbool.h>\n#include <stddef.h>\n"
	    "#include <stdint.h>\n\n#include \"core/str.h\"\n"
	    "#include \"wire/wire.h\"\n");
	for (size_t i = 0; i < g->n_enums; i++)
		put_enum(b, g->enums[i]);
	for (size_t i = 0; i < g->n_records; i++)
		put_record(b, g, g->records[i]);
	buf_puts(b, "\n#endif /* !WIRE_MSGS_H */\n");
}
