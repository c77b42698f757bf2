/*
 * The files of a schema folder.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

#define SUFFIX ".schema.json"

/* Names that hand-written headers of libs/wire have already. */
static const char *const load_copy_string[] = { "wire_desc", "wire_err",
	"wire_out", "wire_schema", "wire_type", "wire_field", "wire_kind",
	"wire_chars", "wire_json", "wire_num", "wire_at", "wire_descs",
	"wire_topic", "wire_event", "wire_route", "wire_subject",
	"wire_subject_kind", "wire_routes", "wire_subjects", "wire_topics",
	"wire_events", "WIRE_SUBJECT_KIND_REQUEST", "WIRE_SUBJECT_KIND_PUBLISH",
	"WIRE_SUBJECT_KIND_EVENT", "WIRE_SUBJECT_KIND_JOB",
	"WIRE_SUBJECT_KIND_STREAM", "WIRE_STR", "WIRE_ENUM", "WIRE_I64",
	"WIRE_F64", "WIRE_BOOL", "WIRE_OBJECT", "WIRE_ARRAY", "WIRE_RAW",
	"WIRE_REQUIRED", "WIRE_DEFAULT", "WIRE_SECRET", "WIRE_NONE",
	"WIRE_TEXT", "WIRE_LIST", "WIRE_DEFAULTS", "WIRE_DEPTH_MAX",
	"WIRE_MESSAGE_MAX", "WIRE_ARENA_MAX", "WIRE_FIELDS_MAX",
	"WIRE_SCHEMA_MAX", "WIRE_CHARS_ANY", "WIRE_CHARS_ID",
	"WIRE_CHARS_TERMINAL", "WIRE_CHARS_SNAKE", "WIRE_CHARS_TOKEN",
	"WIRE_CHARS_HEX32", "WIRE_CHARS_HEX64", "WIRE_JSON_ANY",
	"WIRE_JSON_OBJECT", "WIRE_JSON_ARRAY" };

static int
load_is_schema(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), STR(SUFFIX));
}

static int
load_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
load_file(struct gen_file *f, const char *dir, const char *base)
{
	f->path = gen_printf("%s/%s", dir, base);
	f->name =
	    gen_printf("%.*s", (int)(strlen(base) - strlen(SUFFIX)), base);
	json_error_t e;
	f->json = json_load_file(f->path, JSON_REJECT_DUPLICATES, &e);
	struct where top = { f->path, "" };
	if (f->json == NULL)
		gen_fail(top, "line %d: %s", e.line, e.text);
	if (!json_is_object(f->json))
		gen_fail(top, "must be an object");
	f->message = json_object_get(f->json, "type") != NULL ||
	    json_object_get(f->json, "oneOf") != NULL;
}

struct gen_file *
gen_file_find(const struct gen *g, const char *name)
{
	for (size_t i = 0; i < g->n_files; i++)
		if (strcmp(g->files[i].name, name) == 0)
			return &g->files[i];
	return NULL;
}

/* A file's own words, and its definitions, used or not. */
static void
load_read_file(struct gen *g, struct gen_file *f)
{
	static const char *const defs_only[] = { "$schema", "$id", "title",
		"description", "$defs", NULL };
	struct where top = { f->path, "" };
	const char *draft = gen_text(top, f->json, "$schema");
	if (draft != NULL &&
	    strcmp(draft, "https://json-schema.org/draft/2020-12/schema") != 0)
		gen_fail(gen_down(top, "$schema", NULL),
		    "must be the 2020-12 draft");
	const char *title = gen_text(top, f->json, "title");
	if (title == NULL)
		gen_fail(top, "title is missing");
	if (strcmp(title, f->name) != 0)
		gen_fail(gen_down(top, "title", NULL),
		    "is \"%s\", but the file is called %s", title, f->name);
	char *member = gen_member(title);
	if (member == NULL || strcmp(member, title) != 0)
		gen_fail(gen_down(top, "title", NULL),
		    "must be snake_case and no keyword");
	if (gen_text(top, f->json, "description") == NULL)
		gen_fail(top, "description is missing");
	if (f->message)
		gen_message_read(g, top, f);
	else
		gen_only(top, f->json, defs_only);

	const json_t *defs = json_object_get(f->json, "$defs");
	if (defs == NULL)
		return;
	if (!json_is_object(defs))
		gen_fail(gen_down(top, "$defs", NULL), "must be an object");
	const char *key;
	json_t *def;
	json_object_foreach (json_object_get(f->json, "$defs"), key, def)
		(void)gen_type_ref(
		    g, top, gen_printf("%s" SUFFIX "#/$defs/%s", f->name, key));
}

void
gen_load(struct gen *g, const char *dir)
{
	*g = (struct gen){ .dir = dir, .taken = json_object() };
	struct where at = { dir, "" };
	for (size_t i = 0; i < NELEM(load_copy_string); i++)
		gen_claim(
		    g, load_copy_string[i], (struct where){ "libs/wire", "" });
	struct dirent **list;
	int n = scandir(dir, &list, load_is_schema, load_by_name);
	if (n < 0)
		gen_fail(at, "cannot be read");
	g->files = mem_calloc((size_t)n, sizeof(*g->files));
	g->n_files = (size_t)n;
	for (int i = 0; i < n; i++)
		load_file(&g->files[i], dir, list[i]->d_name);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	for (size_t i = 0; i < g->n_files; i++)
		load_read_file(g, &g->files[i]);
}

/* ---- ident ---- */

/*
 * Names in C.
 */

/* Keywords, and macros of the headers that generated code includes. */
static const char *const ident_reserved[] = { "auto", "bool", "break", "case",
	"char", "const", "continue", "default", "do", "double", "else", "enum",
	"errno", "extern", "false", "float", "for", "goto", "if", "inline",
	"int", "long", "register", "restrict", "return", "short", "signed",
	"sizeof", "static", "stderr", "stdin", "stdout", "struct", "switch",
	"true", "typedef", "union", "unsigned", "void", "volatile", "while" };

/*
 * ASCII letters and digits stay; all else becomes one "_".  A text without any
 * of them has no identifier.
 */
char *
gen_ident(const char *text, bool upper)
{
	char *id = mem_strdup(text);
	size_t n = 0;
	bool any = false;
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		if (c < 0x80 && isalnum(c)) {
			id[n++] = (char)(upper ? toupper(c) : tolower(c));
			any = true;
		} else if (c == '_' || n == 0 || id[n - 1] != '_') {
			id[n++] = '_';
		}
	}
	id[n] = '\0';
	return any ? id : NULL;
}

char *
gen_member(const char *text)
{
	char *id = gen_ident(text, false);
	if (id == NULL || isdigit((unsigned char)id[0]))
		return NULL;
	for (size_t i = 0; i < NELEM(ident_reserved); i++)
		if (strcmp(id, ident_reserved[i]) == 0)
			return gen_printf("%s_", id);
	return id;
}

void
gen_claim(struct gen *g, const char *ident, struct where w)
{
	const json_t *by = json_object_get(g->taken, ident);
	if (by != NULL)
		gen_fail(w, "%s is already the name of %s", ident,
		    json_string_value(by));
	(void)json_object_set_new(
	    g->taken, ident, json_sprintf("%s#%s", w.file, w.path));
}

/* ---- fail ---- */

/*
 * Places in a schema, and refusing what stands there.
 */

void
gen_fail(struct where w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)fprintf(
	    stderr, "%s: %s%s", w.file, w.path, w.path[0] != '\0' ? ": " : "");
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

char *
gen_printf(const char *fmt, ...)
{
	struct buf b = BUF_INIT(1024 * 1024);
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (buf_rc(&b) != RC_OK)
		abort();
	return b.p != NULL ? b.p : mem_strdup("");
}

static void
gen_put_step(struct buf *b, const char *step)
{
	buf_putc(b, '/');
	for (; *step != '\0'; step++) {
		if (*step == '~')
			buf_puts(b, "~0");
		else if (*step == '/')
			buf_puts(b, "~1");
		else
			buf_putc(b, *step);
	}
}

struct where
gen_down(struct where w, const char *a, const char *b)
{
	struct buf path = BUF_INIT(64 * 1024);
	buf_puts(&path, w.path);
	gen_put_step(&path, a);
	if (b != NULL)
		gen_put_step(&path, b);
	return (struct where){ w.file, path.p };
}

struct where
gen_item(struct where w, size_t i)
{
	return (struct where){ w.file, gen_printf("%s/%zu", w.path, i) };
}
