/*
 * JSON values as YAML in block style.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "gen.h"
#include "wire/out.h"

/* Where a folded line should end. */
#define COLUMNS 80

static void yaml_put_value(
    struct buf *b, const json_t *v, size_t indent, bool inside);

static void
yaml_put_indent(struct buf *b, size_t n)
{
	buf_printf(b, "%*s", (int)n, "");
}

/* Whether s stands for itself without quotes, by a cautious rule. */
static bool
yaml_is_plain(const char *s)
{
	static const char *const words[] = { "true", "false", "null", "yes",
		"no", "on", "off", "y", "n" };
	const char *ok = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_/.-$ ,;()'";
	for (size_t i = 0; i < NELEM(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return false;
	return s[0] != '\0' && strchr("0123456789.- ,;()'", s[0]) == NULL &&
	    s[strspn(s, ok)] == '\0' && s[strlen(s) - 1] != ' ';
}

static void
yaml_put_quoted(struct buf *b, const char *s)
{
	struct wire_out o = { b, false };
	if (yaml_is_plain(s))
		buf_puts(b, s);
	else
		wire_out_str(&o, str_of(s));
}

/* Prose: lines of words, which YAML joins with one space again. */
static void
yaml_put_folded(struct buf *b, const char *s, size_t indent)
{
	size_t col = COLUMNS;
	buf_puts(b, ">-");
	while (*s != '\0') {
		size_t n = strcspn(s, " ");
		if (col + 1 + n > COLUMNS) {
			buf_putc(b, '\n');
			yaml_put_indent(b, indent);
			col = indent;
		} else {
			buf_putc(b, ' ');
			col++;
		}
		buf_put(b, s, n);
		col += n;
		s += n + (s[n] == ' ');
	}
}

static void
yaml_put_string(struct buf *b, const char *s, size_t indent)
{
	bool prose = strlen(s) > 50 && strchr(s, ' ') != NULL &&
	    strstr(s, "  ") == NULL && s[0] != ' ' && s[strlen(s) - 1] != ' ';
	for (const char *p = s; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20)
			prose = false;
	if (prose)
		yaml_put_folded(b, s, indent);
	else
		yaml_put_quoted(b, s);
}

static void
yaml_put_scalar(struct buf *b, const json_t *v, size_t indent)
{
	struct wire_out o = { b, false };
	if (json_is_string(v))
		yaml_put_string(b, json_string_value(v), indent);
	else if (json_is_integer(v))
		wire_out_i64(&o, json_integer_value(v));
	else if (json_is_real(v))
		wire_out_f64(&o, json_real_value(v));
	else if (json_is_boolean(v))
		wire_out_bool(&o, json_is_true(v));
	else
		wire_out_null(&o);
}

static bool
yaml_is_block(const json_t *v)
{
	return json_object_size(v) > 0 || json_array_size(v) > 0;
}

/* What follows "key:" or "-"; a mapping in a list begins on its line. */
static void
yaml_put_after(struct buf *b, const json_t *v, size_t indent, bool item)
{
	if (yaml_is_block(v)) {
		bool inside = item && json_is_object(v);
		buf_putc(b, inside ? ' ' : '\n');
		yaml_put_value(b, v, indent, inside);
		return;
	}
	buf_putc(b, ' ');
	if (json_is_object(v))
		buf_puts(b, "{}");
	else if (json_is_array(v))
		buf_puts(b, "[]");
	else
		yaml_put_scalar(b, v, indent);
	buf_putc(b, '\n');
}

static void
yaml_put_value(struct buf *b, const json_t *v, size_t indent, bool inside)
{
	const char *key;
	json_t *item;
	size_t i;
	json_object_foreach ((json_t *)(uintptr_t)v, key, item) {
		if (!inside)
			yaml_put_indent(b, indent);
		inside = false;
		yaml_put_quoted(b, key);
		buf_putc(b, ':');
		yaml_put_after(b, item, indent + 2, false);
	}
	json_array_foreach ((json_t *)(uintptr_t)v, i, item) {
		yaml_put_indent(b, indent);
		buf_putc(b, '-');
		yaml_put_after(b, item, indent + 2, true);
	}
}

void
gen_yaml(struct buf *b, const json_t *v)
{
	yaml_put_value(b, v, 0, false);
}

/* ---- schemas ---- */

/*
 * Schemas as components of OpenAPI and AsyncAPI documents, which are JSON
 * Schema 2020-12 too: references point into the document, and what names a
 * file goes.
 */

#define PREFIX "#/components/schemas/"

static json_t *component_convert(const struct gen *g, json_t *components,
    const struct gen_file *f, const json_t *v);

/* The component that ref, standing in f, is about; added if it is new. */
static const char *
component_add_ref(const struct gen *g, json_t *components,
    const struct gen_file *f, const char *ref)
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
		json_t *schema = component_convert(g, components, f,
		    json_object_get(json_object_get(f->json, "$defs"), def));
		(void)json_object_set_new(components, def, schema);
	}
	return def;
}

static json_t *
component_convert_object(const struct gen *g, json_t *components,
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
			    component_add_ref(
				g, components, f, json_string_value(item))));
		else
			to = component_convert(g, components, f, item);
		(void)json_object_set_new(out, key, to);
	}
	return out;
}

static json_t *
component_convert(const struct gen *g, json_t *components,
    const struct gen_file *f, const json_t *v)
{
	if (json_is_object(v))
		return component_convert_object(g, components, f, v);
	if (!json_is_array(v))
		return json_deep_copy(v);
	json_t *out = json_array();
	size_t i;
	json_t *item;
	json_array_foreach ((json_t *)(uintptr_t)v, i, item)
		(void)json_array_append_new(
		    out, component_convert(g, components, f, item));
	return out;
}

void
gen_component(const struct gen *g, json_t *components, const char *message)
{
	const struct gen_file *f = gen_file_find(g, message);
	if (json_object_get(components, message) != NULL)
		return;
	(void)json_object_set_new(components, message, json_null());
	json_t *schema = component_convert(g, components, f, f->json);
	(void)json_object_set_new(components, message, schema);
}

json_t *
gen_schema_ref(const char *message)
{
	return json_pack(
	    "{s:o}", "$ref", json_string(gen_printf(PREFIX "%s", message)));
}
