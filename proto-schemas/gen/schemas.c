/*
 * Schemas as components of OpenAPI and AsyncAPI documents, which are JSON
 * Schema 2020-12 too: references point into the document, and what names a
 * file goes.
 */
#include <string.h>

#include "core/mem.h"
#include "gen.h"

#define PREFIX "#/components/schemas/"

static json_t *convert(const struct gen *g, json_t *components,
    const struct gen_file *f, const json_t *v);

/* The component that ref, standing in f, is about; added if it is new. */
static const char *
add_ref(const struct gen *g, json_t *components, const struct gen_file *f,
    const char *ref)
{
	const char *hash = strchr(ref, '#');
	const char *def = strstr(ref, "#/$defs/");
	if (hash != ref) {
		char *name = gen_printf("%.*s", (int)strcspn(ref, "."), ref);
		f = gen_file_find(g, name);
	}
	if (def == NULL) {
		gen_component(g, components, f->name);
		return f->name;
	}
	def += strlen("#/$defs/");
	if (json_object_get(components, def) == NULL) {
		/* Taken before it is filled, which keeps the order. */
		(void)json_object_set_new(components, def, json_null());
		json_t *schema = convert(g, components, f,
		    json_object_get(json_object_get(f->json, "$defs"), def));
		(void)json_object_set_new(components, def, schema);
	}
	return def;
}

static json_t *
convert_object(const struct gen *g, json_t *components,
    const struct gen_file *f, const json_t *v)
{
	const char *const files[] = { "$schema", "$id", "$defs" };
	json_t *out = json_object();
	const char *key;
	json_t *item;
	json_object_foreach ((json_t *)(uintptr_t)v, key, item) {
		bool skip = false;
		for (size_t i = 0; i < NELEM(files); i++)
			skip = skip ||
			    (v == f->json && strcmp(key, files[i]) == 0);
		if (skip)
			continue;
		json_t *to;
		if (strcmp(key, "$ref") == 0 && json_is_string(item))
			to = json_string(gen_printf(PREFIX "%s",
			    add_ref(
				g, components, f, json_string_value(item))));
		else
			to = convert(g, components, f, item);
		(void)json_object_set_new(out, key, to);
	}
	return out;
}

static json_t *
convert(const struct gen *g, json_t *components, const struct gen_file *f,
    const json_t *v)
{
	if (json_is_object(v))
		return convert_object(g, components, f, v);
	if (!json_is_array(v))
		return json_deep_copy(v);
	json_t *out = json_array();
	size_t i;
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)v, i, item)
		(void)json_array_append_new(
		    out, convert(g, components, f, item));
	return out;
}

void
gen_component(const struct gen *g, json_t *components, const char *message)
{
	const struct gen_file *f = gen_file_find(g, message);
	if (json_object_get(components, message) != NULL)
		return;
	(void)json_object_set_new(components, message, json_null());
	json_t *schema = convert(g, components, f, f->json);
	(void)json_object_set_new(components, message, schema);
}

json_t *
gen_schema_ref(const char *message)
{
	return json_pack(
	    "{s:o}", "$ref", json_string(gen_printf(PREFIX "%s", message)));
}
