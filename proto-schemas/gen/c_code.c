/*
 * Pieces of C text.
 */
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

/* Where a line of generated comment must end. */
#define COLUMNS 80

/* Columns of s; a tab counts eight, a code point one. */
static size_t
c_columns(const char *s)
{
	size_t n = 0;
	for (; *s != '\0'; s++) {
		if (*s == '\t')
			n += 8 - n % 8;
		else if (((unsigned char)*s & 0xc0) != 0x80)
			n++;
	}
	return n;
}

/* Words of text into lines that begin with lead. */
static void
c_put_words(struct buf *b, const char *first_indent, const char *text)
{
	size_t col = COLUMNS;
	bool first = true;
	const char *p = text + strspn(text, " \n");
	while (*p != '\0') {
		size_t len = strcspn(p, " \n");
		char *word = gen_printf("%.*s", (int)len, p);
		if (col + 1 + c_columns(word) > COLUMNS) {
			if (!first)
				buf_putc(b, '\n');
			buf_puts(b, first_indent);
			col = c_columns(first_indent);
			first = false;
		} else {
			buf_putc(b, ' ');
			col++;
		}
		buf_puts(b, word);
		col += c_columns(word);
		free(word);
		p += len + strspn(p + len, " \n");
	}
}

/* On one line where it fits. */
void
gen_comment(struct buf *b, const char *indent, const char *text)
{
	if (c_columns(indent) + c_columns(text) + 6 <= COLUMNS &&
	    strchr(text, '\n') == NULL) {
		buf_printf(b, "%s/* %s */\n", indent, text);
		return;
	}
	char *first_indent = gen_printf("%s * ", indent);
	buf_printf(b, "%s/*\n", indent);
	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, "\n");
		char *line = gen_printf("%.*s", (int)len, p);
		c_put_words(b, first_indent, line);
		buf_putc(b, '\n');
		free(line);
		p += len + (p[len] == '\n');
	}
	buf_printf(b, "%s */\n", indent);
	free(first_indent);
}

/* A string literal; octal, because it ends after three digits. */
void
gen_literal(struct buf *b, struct str s)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f || c == '?')
			buf_printf(b, "\\%03o", c);
		else
			buf_putc(b, (char)c);
	}
	buf_putc(b, '"');
}

/* Replace a file, whole or not at all. */
void
gen_write(const char *dir, const char *name, struct buf *b)
{
	struct where w = { gen_printf("%s/%s", dir, name), "" };
	if (buf_rc(b) != RC_OK)
		gen_fail(w, "would be too long");
	char *tmp = gen_printf("%s.new", w.file);
	FILE *f = fopen(tmp, "w");
	if (f == NULL)
		gen_fail(w, "cannot be written");
	bool ok = fwrite(b->p, 1, b->n, f) == b->n;
	if (fclose(f) != 0 || !ok || rename(tmp, w.file) != 0) {
		(void)remove(tmp);
		gen_fail(w, "cannot be written");
	}
	free(tmp);
	buf_reset(b);
}

/* ---- head ---- */

/*
 * wire/msgs.h: enums and structs.
 */

static void
header_put_enum(struct buf *b, const struct gen_enum *e)
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
header_c_type(const struct gen_type *t)
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
		return gen_printf("%s*", header_c_type(t->elem));
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

/* Whether a has_x member says that the field is present. */
bool
gen_has(const struct gen_field *f)
{
	return (f->flags & (WIRE_REQUIRED | WIRE_DEFAULT)) == 0 &&
	    f->type->t.kind != WIRE_STR && f->type->t.kind != WIRE_RAW;
}

static void
header_put_field(struct buf *b, const struct gen_field *f)
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
	buf_printf(b, "\t%s%s;\n", header_c_type(f->type), f->c);
	if (f->type->t.kind == WIRE_ARRAY)
		buf_printf(b, "\tsize_t n_%s;\n", f->c);
	if (gen_has(f))
		buf_printf(b, "\tbool has_%s;\n", f->c);
	buf_free(&text);
	buf_free(&range);
}

static const char *
header_section_of(const struct gen *g, const struct gen_record *r)
{
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].record == r)
			return g->files[i].section;
	return NULL;
}

static void
header_put_record(
    struct buf *b, const struct gen *g, const struct gen_record *r)
{
	const char *section = header_section_of(g, r);
	buf_putc(b, '\n');
	if (section != NULL)
		gen_comment(
		    b, "", gen_printf("%s\nProtocol: %s.", r->desc, section));
	else if (r->desc != NULL)
		gen_comment(b, "", r->desc);
	buf_printf(b, "struct %s {\n", r->name);
	for (size_t i = 0; i < r->n; i++)
		header_put_field(b, &r->fields[i]);
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
		header_put_enum(b, g->enums[i]);
	for (size_t i = 0; i < g->n_records; i++)
		header_put_record(b, g, g->records[i]);
	buf_puts(b, "\n#endif /* !WIRE_MSGS_H */\n");
}

/* ---- table ---- */

/*
 * wire/msgs.c: the tables that the interpreter reads.
 */

static const char *const table_kinds[] = { "WIRE_STR", "WIRE_ENUM", "WIRE_I64",
	"WIRE_F64", "WIRE_BOOL", "WIRE_OBJECT", "WIRE_ARRAY", "WIRE_RAW" };

static void
table_put_enum(struct buf *b, const struct gen_enum *e)
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
table_put_i64(struct buf *b, int64_t i)
{
	if (i == INT64_MIN)
		buf_puts(b, "INT64_MIN");
	else
		buf_printf(b, "INT64_C(%" PRId64 ")", i);
}

static void
table_put_bounds(struct buf *b, const struct wire_type *t)
{
	if (t->kind == WIRE_F64) {
		buf_printf(b, ", .min = { .f = %.17g }, .max = { .f = %.17g }",
		    t->min.f, t->max.f);
	} else if (t->kind != WIRE_OBJECT && t->kind != WIRE_ENUM &&
	    t->kind != WIRE_RAW) {
		buf_puts(b, ", .min = { .i = ");
		table_put_i64(b, t->min.i);
		buf_puts(b, " }, .max = { .i = ");
		table_put_i64(b, t->max.i);
		buf_puts(b, " }");
	}
}

/* A struct wire_type; elem names the type of an array's elements. */
static void
table_put_type(struct buf *b, const struct gen_type *t, const char *elem)
{
	static const char *const size[] = { "struct str", "int", "int64_t",
		"double", "bool", "", "", "struct str" };
	const struct wire_type *w = &t->t;
	buf_printf(b, "{ .kind = %s", table_kinds[w->kind]);
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
	table_put_bounds(b, w);
	buf_puts(b, " }");
}

static void
table_put_default(struct buf *b, const struct gen_field *f)
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
		table_put_i64(b, f->dflt.i);
		buf_puts(b, " }");
	}
}

static void
table_put_field(
    struct buf *b, const struct gen_record *r, const struct gen_field *f)
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
	table_put_type(b, f->type, gen_printf("elem_%s_%s", r->name, f->c));
	table_put_default(b, f);
	buf_puts(b, " },\n");
}

static void
table_put_record(struct buf *b, const struct gen_record *r)
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
		table_put_type(b, f->type->elem, NULL);
		buf_puts(b, ";\n");
	}
	buf_printf(
	    b, "\nstatic const struct wire_field fields_%s[] = {\n", r->name);
	for (size_t i = 0; i < r->n; i++)
		table_put_field(b, r, &r->fields[i]);
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
		table_put_enum(b, g->enums[i]);
	for (size_t i = 0; i < g->n_records; i++)
		table_put_record(b, g->records[i]);
}
