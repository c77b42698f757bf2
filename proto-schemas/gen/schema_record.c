/*
 * Objects and messages.
 */
#include <string.h>

#include "core/mem.h"
#include "gen.h"

static const char *const record_allow_object[] = { "type", "properties",
	"required", "oneOf", "description", "title", "examples", "x-unit",
	"x-secret", "x-section", "default", NULL };
static const char *const record_allow_message[] = { "$schema", "$id", "$defs",
	"title", "description", "type", "properties", "required", "oneOf",
	"examples", "x-section", NULL };
static const char *const record_allow_choice[] = { "required", NULL };
static const char *const record_allow_text[] = { "$schema", "$id", "$defs",
	"title", "description", "type", "enum", "const", "minLength",
	"maxLength", "x-max-bytes", "pattern", "examples", "x-section",
	"x-encoding", NULL };
static const char *const record_allow_list[] = { "$schema", "$id", "$defs",
	"title", "description", "oneOf", "examples", "x-section", NULL };
static const char *const record_allow_branch[] = { "type", "items", "maxItems",
	"x-member", "description", NULL };

static bool
record_is_required(const json_t *schema, const char *name)
{
	const json_t *list = json_object_get(schema, "required");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), name) ==
		    0)
			return true;
	return false;
}

static void
record_check_required(struct where w, const json_t *schema)
{
	const json_t *list = json_object_get(schema, "required");
	const json_t *props = json_object_get(schema, "properties");
	w = gen_down(w, "required", NULL);
	if (list != NULL && !json_is_array(list))
		gen_fail(w, "must be an array");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);
		if (!json_is_string(v))
			gen_fail(gen_item(w, i), "must be a text");
		if (json_object_get(props, json_string_value(v)) == NULL)
			gen_fail(gen_item(w, i), "%s is not in properties",
			    json_string_value(v));
		for (size_t k = 0; k < i; k++)
			if (json_equal(v, json_array_get(list, k)))
				gen_fail(gen_item(w, i), "stands there twice");
	}
}

/* One branch of a "oneOf" of members: {"required": ["name"]}. */
static size_t
record_choice_member(
    struct where w, const json_t *branch, const struct gen_record *r)
{
	const json_t *list = json_object_get(branch, "required");
	const char *name = json_string_value(json_array_get(list, 0));
	gen_only(w, branch, record_allow_choice);
	w = gen_down(w, "required", NULL);
	if (json_array_size(list) != 1 || name == NULL)
		gen_fail(w, "must be the name of one member");
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->fields[i].name, name) != 0)
			continue;
		if ((r->fields[i].flags & (WIRE_REQUIRED | WIRE_DEFAULT)) != 0)
			gen_fail(w, "%s is always there", name);
		return i;
	}
	gen_fail(w, "%s is not in properties", name);
}

/* Members of which exactly one is there. */
static void
record_read_choice(struct where w, const json_t *schema, struct gen_record *r)
{
	const json_t *list = json_object_get(schema, "oneOf");
	if (list == NULL)
		return;
	w = gen_down(w, "oneOf", NULL);
	if (json_array_size(list) < 2)
		gen_fail(w, "must be an array of two members or more");
	for (size_t i = 0; i < json_array_size(list); i++) {
		uint64_t bit = UINT64_C(1) << record_choice_member(
				   gen_item(w, i), json_array_get(list, i), r);
		if ((r->choice & bit) != 0)
			gen_fail(gen_item(w, i), "stands there twice");
		r->choice |= bit;
	}
}

/* Every name that a field takes in its struct, once. */
static void
record_claim_members(struct where w, json_t *taken, const char *c)
{
	const char *const prefix[] = { "", "has_", "n_" };
	for (size_t i = 0; i < NELEM(prefix); i++) {
		char *name = gen_printf("%s%s", prefix[i], c);
		const json_t *by = json_object_get(taken, name);
		if (by != NULL)
			gen_fail(w, "needs the C member %s, as %s does", name,
			    json_string_value(by));
		(void)json_object_set_new(taken, name, json_string(w.path));
	}
}

static void
record_read_field(struct gen *g, struct where w, const json_t *schema,
    const char *owner, struct gen_field *f)
{
	f->c = gen_member(f->name);
	if (f->c == NULL)
		gen_fail(w, "the name makes no C identifier");
	f->type = gen_type_read(g, w, schema,
	    gen_printf("%s_%s", owner, gen_ident(f->name, false)));
	f->desc = f->type->desc;
	f->unit = f->type->unit;
	if (f->desc == NULL)
		gen_fail(w, "description is missing");
	if (f->type->secret)
		f->flags |= WIRE_SECRET;
	const json_t *dflt = json_object_get(schema, "default");
	if (dflt != NULL)
		gen_default(gen_down(w, "default", NULL), f, dflt);
}

struct gen_record *
gen_record_read(
    struct gen *g, struct where w, const json_t *schema, const char *name)
{
	struct gen_record *r = mem_zalloc(sizeof(*r));
	json_t *props = json_object_get(schema, "properties");
	struct where at = gen_down(w, "properties", NULL);
	gen_only(w, schema,
	    w.path[0] == '\0' ? record_allow_message : record_allow_object);
	if (!json_is_object(props) || json_object_size(props) == 0)
		gen_fail(at, "must be an object with members");
	if (json_object_size(props) > WIRE_FIELDS_MAX)
		gen_fail(at, "has more than %d members", WIRE_FIELDS_MAX);
	record_check_required(w, schema);

	r->name = gen_printf("wire_%s", name);
	r->from = w;
	r->desc = gen_text(w, schema, "description");
	gen_claim(g, r->name, w);
	gen_claim(g, gen_printf("%s_desc", r->name), w);
	r->fields = mem_calloc(json_object_size(props), sizeof(*r->fields));
	json_t *taken = json_object();
	const char *key;
	json_t *prop;
	json_object_foreach (props, key, prop) {
		struct gen_field *f = &r->fields[r->n++];
		f->name = key;
		f->flags = record_is_required(schema, key) ? WIRE_REQUIRED : 0;
		record_read_field(g, gen_down(at, key, NULL), prop, name, f);
		record_claim_members(gen_down(at, key, NULL), taken, f->c);
		const struct gen_record *sub = f->type->object;
		if ((f->flags & WIRE_DEFAULT) != 0 ||
		    (f->type->t.kind == WIRE_OBJECT &&
			(sub->flags & WIRE_DEFAULTS) != 0))
			r->flags |= WIRE_DEFAULTS;
	}
	json_decref(taken);
	record_read_choice(w, schema, r);
	g->records = mem_realloc(
	    g->records, (g->n_records + 1) * sizeof(struct gen_record *));
	g->records[g->n_records++] = r;
	return r;
}

/* A payload that is bare text, as a record with the one member "value". */
static struct gen_record *
record_read_text(struct gen *g, struct where w, const struct gen_file *f)
{
	gen_only(w, f->json, record_allow_text);
	const char *encoding = gen_text(w, f->json, "x-encoding");
	if (encoding == NULL || strcmp(encoding, "text") != 0)
		gen_fail(w, "a text needs \"x-encoding\": \"text\"");
	json_t *bare = json_deep_copy(f->json);
	const char *const above[] = { "$schema", "$id", "$defs", "title",
		"examples", "x-section", "x-encoding" };
	for (size_t i = 0; i < NELEM(above); i++)
		(void)json_object_del(bare, above[i]);
	json_t *object = json_pack("{s:s, s:s, s:{s:o}, s:[s]}", "type",
	    "object", "description", gen_text(w, f->json, "description"),
	    "properties", "value", bare, "required", "value");
	struct gen_record *r = gen_record_read(g, w, object, f->name);
	r->flags |= WIRE_TEXT;
	return r;
}

/* The object form, and beside it the bare array of one of its members. */
static struct gen_record *
record_read_list(struct gen *g, struct where w, const struct gen_file *f)
{
	gen_only(w, f->json, record_allow_list);
	const json_t *both = json_object_get(f->json, "oneOf");
	w = gen_down(w, "oneOf", NULL);
	if (json_array_size(both) != 2)
		gen_fail(w, "must be an object schema and an array schema");
	const json_t *object = json_array_get(both, 0);
	const json_t *bare = json_array_get(both, 1);
	if (json_object_get(object, "properties") == NULL)
		gen_fail(gen_item(w, 0), "properties is missing");
	struct gen_record *r =
	    gen_record_read(g, gen_item(w, 0), object, f->name);

	w = gen_item(w, 1);
	gen_only(w, bare, record_allow_branch);
	const char *member = gen_text(w, bare, "x-member");
	if (member == NULL)
		gen_fail(w, "x-member is missing");
	while (r->list < r->n && strcmp(r->fields[r->list].name, member) != 0)
		r->list++;
	if (r->list == r->n)
		gen_fail(gen_down(w, "x-member", NULL),
		    "%s is not a member of the object", member);
	for (size_t i = 0; i < r->n; i++)
		if (i != r->list && (r->fields[i].flags & WIRE_REQUIRED) != 0)
			gen_fail(w, "the object requires %s beside %s",
			    r->fields[i].name, member);
	if (r->fields[r->list].type->t.kind != WIRE_ARRAY)
		gen_fail(w, "%s is not an array", member);
	const json_t *same = r->fields[r->list].type->schema;
	const char *const keys[] = { "type", "items", "maxItems" };
	for (size_t i = 0; i < NELEM(keys); i++)
		if (!json_equal(json_object_get(bare, keys[i]),
			json_object_get(same, keys[i])))
			gen_fail(gen_down(w, keys[i], NULL),
			    "must be as in the member %s", member);
	r->flags |= WIRE_LIST;
	if (r->desc == NULL)
		r->desc = gen_text(
		    (struct where){ f->path, "" }, f->json, "description");
	return r;
}

void
gen_message_read(struct gen *g, struct where w, struct gen_file *f)
{
	struct where top = { f->path, "" };
	if (f->is_open)
		gen_fail(w, "refers to itself");
	if (f->record != NULL)
		return;
	f->is_open = true;
	gen_claim(g, gen_printf("#/components/schemas/%s", f->name), top);
	f->section = gen_text(top, f->json, "x-section");
	if (f->section == NULL)
		gen_fail(top, "x-section is missing");
	const json_t *type = json_object_get(f->json, "type");
	if (type == NULL && json_object_get(f->json, "oneOf") != NULL)
		f->record = record_read_list(g, top, f);
	else if (json_is_string(type) &&
	    strcmp(json_string_value(type), "string") == 0)
		f->record = record_read_text(g, top, f);
	else if (json_is_string(type) &&
	    strcmp(json_string_value(type), "object") == 0)
		f->record = gen_record_read(g, top, f->json, f->name);
	else
		gen_fail(top, "must be an object, a text or one of two");
	f->is_open = false;
}
