/*
 * The files of a schema folder.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

#define SUFFIX ".schema.json"

/* Names that hand-written headers of libs/wire have already. */
static const char *const own[] = { "wire_desc", "wire_err", "wire_out",
	"wire_schema", "wire_type", "wire_field", "wire_kind", "wire_chars",
	"wire_json", "wire_num", "wire_at", "wire_descs", "wire_topic",
	"wire_event", "wire_route", "wire_subject", "wire_subject_kind",
	"wire_routes", "wire_subjects", "wire_topics", "wire_events",
	"WIRE_SUBJECT_KIND_REQUEST", "WIRE_SUBJECT_KIND_PUBLISH",
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
is_schema(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), STR(SUFFIX));
}

static int
by_name(const struct dirent **a, const struct dirent **b)
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
read_file(struct gen *g, struct gen_file *f)
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
	for (size_t i = 0; i < NELEM(own); i++)
		gen_claim(g, own[i], (struct where){ "libs/wire", "" });
	struct dirent **list;
	int n = scandir(dir, &list, is_schema, by_name);
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
		read_file(g, &g->files[i]);
}
