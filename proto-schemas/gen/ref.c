/*
 * "$ref": types that have a name of their own.
 */
#include <string.h>

#include "core/mem.h"
#include "gen.h"

#define SUFFIX ".schema.json"

/* The file that a reference in w is about, and the part behind "#". */
static struct gen_file *
ref_file(
    const struct gen *g, struct where w, const char *ref, const char **pointer)
{
	const char *hash = strchr(ref, '#');
	*pointer = hash != NULL ? hash + 1 : "";
	if (ref == hash) {
		for (size_t i = 0; i < g->n_files; i++)
			if (strcmp(g->files[i].path, w.file) == 0)
				return &g->files[i];
	}
	struct str file = { ref,
		hash != NULL ? (size_t)(hash - ref) : strlen(ref) };
	struct gen_file *f = NULL;
	if (str_ends(file, STR(SUFFIX))) {
		file.n -= strlen(SUFFIX);
		f = gen_file_find(g, str_dup(file));
	}
	if (f == NULL)
		gen_fail(w, "%s: there is no such file", ref);
	return f;
}

static struct gen_type *
read_target(struct gen *g, struct where w, const char *ref, struct gen_file *f,
    const char *pointer)
{
	if (pointer[0] == '\0') {
		if (!f->message)
			gen_fail(w, "%s: has definitions only", ref);
		gen_message_read(g, w, f);
		if ((f->record->flags & (WIRE_TEXT | WIRE_LIST)) != 0)
			gen_fail(w, "%s: is not only an object", ref);
		struct gen_type *t = mem_zalloc(sizeof(*t));
		t->t.kind = WIRE_OBJECT;
		t->object = f->record;
		t->desc = f->record->desc;
		return t;
	}
	const char *def = pointer + strlen("/$defs/");
	const json_t *schema = NULL;
	if (strncmp(pointer, "/$defs/", strlen("/$defs/")) == 0)
		schema =
		    json_object_get(json_object_get(f->json, "$defs"), def);
	if (schema == NULL)
		gen_fail(w, "%s: there is no such definition", ref);
	struct where at = { f->path, "" };
	at = gen_down(at, "$defs", def);
	char *member = gen_member(def);
	if (member == NULL || strcmp(member, def) != 0)
		gen_fail(at, "must be snake_case and no keyword");
	/* In the documents messages and definitions are in one list. */
	gen_claim(g, gen_printf("#/components/schemas/%s", def), at);
	if (json_object_get(schema, "default") != NULL)
		gen_fail(gen_down(at, "default", NULL),
		    "is only supported at a member");
	return gen_type_read(g, at, schema, def);
}

struct gen_type *
gen_type_ref(struct gen *g, struct where w, const char *ref)
{
	const char *pointer;
	struct gen_file *f = ref_file(g, w, ref, &pointer);
	char *key = gen_printf("%s#%s", f->path, pointer);
	for (size_t i = 0; i < g->n_named; i++) {
		if (strcmp(g->named[i].key, key) != 0)
			continue;
		if (g->named[i].type == NULL)
			gen_fail(w, "%s: refers to itself", ref);
		return g->named[i].type;
	}
	size_t i = g->n_named++;
	g->named = mem_realloc(g->named, g->n_named * sizeof(*g->named));
	g->named[i] = (struct gen_named){ key, NULL };
	struct gen_type *t = read_target(g, w, ref, f, pointer);
	g->named[i].type = t;
	return t;
}
