/*
 * INTERFACES.md: every channel and every message, for readers.
 */
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

static void
put_escaped(struct buf *b, const char *s, const char *special)
{
	for (; *s != '\0'; s++) {
		if (strchr(special, *s) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
}

/* A table's cell. */
static void
put_cell(struct buf *b, const char *s)
{
	buf_putc(b, ' ');
	if (s != NULL && s[0] != '\0') {
		put_escaped(b, s, "|<");
		buf_putc(b, ' ');
	}
	buf_putc(b, '|');
}

static void
put_code(struct buf *b, const char *s)
{
	buf_puts(b, " `");
	put_escaped(b, s, "|");
	buf_puts(b, "` |");
}

/* A cell of names. */
void
gen_markdown_names(struct buf *b, const json_t *entry, const char *member)
{
	const json_t *list = json_object_get(entry, member);
	for (size_t i = 0; i < json_array_size(list); i++)
		buf_printf(b, "%s %s", i > 0 ? "," : "",
		    json_string_value(json_array_get(list, i)));
	buf_puts(b, json_array_size(list) > 0 ? " |" : " – |");
}

/* The name of a message or definition, linked to its section. */
static void
put_link(struct buf *b, const char *name)
{
	if (name == NULL)
		buf_puts(b, " – |");
	else
		buf_printf(b, " [%s](#%s) |", name, name);
}

static void
put_roles(struct buf *b, const json_t *roles)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)roles, i, e)
		buf_printf(b, "%s %s", i > 0 ? "," : "", json_string_value(e));
	buf_puts(b, " |");
}

static void
put_http(struct buf *b, const json_t *list)
{
	size_t i;
	size_t k;
	json_t *e;
	json_t *x;
	buf_puts(b,
	    "\n## HTTP\n\nWhere callers are known (`AUTH_TOKENS`, "
	    "`AUTH_JWKS`) every route wants an access token,\n"
	    "`Authorization: Bearer <token>`, of one of the roles under "
	    "*who*, and answers 401\nwithout a good one, 403 where role, user "
	    "or terminal do not fit, 429 with\n`Retry-After` where it is used "
	    "too often.\n\n| route | service | who | request | response | "
	    "§ |\n| --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(
		    b, "| `%s %s` |", gen_of(e, "method"), gen_of(e, "path"));
		put_cell(b, gen_of(e, "owner"));
		put_roles(b, json_object_get(e, "roles"));
		put_link(b, gen_of(e, "request"));
		put_link(b, gen_of(e, "response"));
		put_cell(b, gen_of(e, "section"));
		buf_putc(b, '\n');
	}
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(b, "\n### %s %s\n\n%s\n", gen_of(e, "method"),
		    gen_of(e, "path"), gen_of(e, "description"));
		const json_t *query = json_object_get(e, "query");
		if (json_array_size(query) > 0)
			buf_puts(b,
			    "\n| in the query | required | |\n"
			    "| --- | --- | --- |\n");
		json_array_foreach ((json_t *)(uintptr_t)query, k, x) {
			buf_puts(b, "|");
			put_code(b, gen_of(x, "name"));
			put_cell(b,
			    json_is_true(json_object_get(x, "required")) ? "yes"
									 : "");
			put_cell(b, gen_of(x, "description"));
			buf_putc(b, '\n');
		}
		const json_t *errors = json_object_get(e, "errors");
		if (json_array_size(errors) > 0)
			buf_puts(b, "\n| status | error |\n| --- | --- |\n");
		json_array_foreach ((json_t *)(uintptr_t)errors, k, x) {
			buf_printf(b, "| %" PRId64 " |",
			    (int64_t)json_integer_value(
				json_object_get(x, "status")));
			put_code(b, gen_of(x, "text"));
			buf_putc(b, '\n');
		}
	}
}

static void
put_nats(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## NATS\n\n| subject | kind | from | consumer | queue group | "
	    "message | reply | deadline | § | |\n| --- | --- | --- | --- | "
	    "--- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		const json_t *ms = json_object_get(e, "deadline_ms");
		buf_puts(b, "|");
		put_code(b, gen_of(e, "subject"));
		put_cell(b, gen_of(e, "kind"));
		gen_markdown_names(b, e, "from");
		put_cell(b, gen_of(e, "owner"));
		put_cell(b, gen_of(e, "queue"));
		put_link(b, gen_of(e, "request"));
		put_link(b, gen_of(e, "reply"));
		put_cell(b,
		    ms == NULL ? NULL
			       : gen_printf("%" PRId64 " ms",
				     (int64_t)json_integer_value(ms)));
		put_cell(b, gen_of(e, "section"));
		put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

static void
put_mqtt(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## MQTT\n\n| topic | from | QoS | retain | message | § "
	    "| |\n| --- | --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_puts(b, "|");
		put_code(b, gen_of(e, "topic"));
		put_cell(b, gen_of(e, "from"));
		buf_printf(b, " %d |",
		    (int)json_integer_value(json_object_get(e, "qos")));
		put_cell(
		    b, json_is_true(json_object_get(e, "retain")) ? "yes" : "");
		put_link(b, gen_of(e, "message"));
		put_cell(b, gen_of(e, "section"));
		put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

static void
put_events(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Events\n\nThe types of events, each on "
	    "`soul.event.<type>.<key>` in an envelope.\n\n"
	    "| type | from | payload | |\n| --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_puts(b, "|");
		put_code(b, gen_of(e, "type"));
		gen_markdown_names(b, e, "from");
		put_link(b, gen_of(e, "payload"));
		put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

/* A record that is no message and has no definition: part of one. */
static bool
is_inline(const struct gen *g, const struct gen_record *r)
{
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].record == r)
			return false;
	return strncmp(r->from.path, "/$defs/", strlen("/$defs/")) != 0 ||
	    strchr(r->from.path + strlen("/$defs/"), '/') != NULL;
}

static void
put_type(struct buf *b, const struct gen_type *t)
{
	static const char *const names[] = { "string", "string", "integer",
		"number", "boolean", "object", "array", "any" };
	if (t->t.kind == WIRE_OBJECT) {
		const char *name = t->object->name + strlen("wire_");
		buf_printf(b, "[%s](#%s)", name, name);
	} else if (t->t.kind == WIRE_ARRAY) {
		buf_puts(b, "array of ");
		put_type(b, t->elem);
	} else if (t->t.kind == WIRE_RAW) {
		buf_puts(b,
		    t->t.json == WIRE_JSON_OBJECT      ? "object"
			: t->t.json == WIRE_JSON_ARRAY ? "array"
						       : "any JSON");
	} else {
		buf_puts(b, names[t->t.kind]);
	}
}

/* Values, ranges and units of a member. */
static void
put_bounds(struct buf *b, const struct gen_field *f)
{
	const struct gen_enum *e = f->type->names;
	if (f->type->t.kind == WIRE_ARRAY)
		e = f->type->elem->names;
	struct buf range = BUF_INIT(4096);
	for (size_t i = 0; e != NULL && i < e->n; i++)
		buf_printf(&range, "%s`%s`", i > 0 ? ", " : "", e->names[i].p);
	if (e != NULL && f->type->t.kind == WIRE_ARRAY)
		buf_puts(&range, "; ");
	if (f->type->t.kind != WIRE_RAW)
		gen_range(&range, f->type);
	if (f->unit != NULL)
		buf_printf(
		    &range, "%s%s", range.n > 0 ? ", in " : "in ", f->unit);
	put_cell(b, range.p);
	buf_free(&range);
}

static void
put_fields(struct buf *b, const struct gen_record *r)
{
	buf_puts(b,
	    "\n| member | type | | values | |\n"
	    "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct gen_field *f = &r->fields[i];
		buf_puts(b, "|");
		put_code(b, f->name);
		buf_putc(b, ' ');
		put_type(b, f->type);
		buf_puts(b, " |");
		if ((f->flags & WIRE_REQUIRED) != 0) {
			put_cell(b, "required");
		} else if ((f->flags & WIRE_DEFAULT) != 0) {
			char *dflt = json_dumps(
			    json_object_get(f->type->schema, "default"),
			    JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
			put_cell(b, gen_printf("default `%s`", dflt));
		} else if ((r->choice & UINT64_C(1) << i) != 0) {
			put_cell(b, "one of these");
		} else {
			put_cell(b, NULL);
		}
		put_bounds(b, f);
		put_cell(b, f->desc);
		buf_putc(b, '\n');
	}
}

/* A record, and after it the ones that are part of it alone. */
static void
put_record(struct buf *b, const struct gen *g, const struct gen_record *r,
    const char *level)
{
	buf_printf(b, "\n%s %s\n", level, r->name + strlen("wire_"));
	if (r->desc != NULL)
		buf_printf(b, "\n%s\n", r->desc);
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].record == r)
			buf_printf(b, "\nProtocol: %s.%s\n",
			    g->files[i].section,
			    (r->flags & WIRE_TEXT) != 0
				? " The payload is the bare text of `value`."
				: "");
	if ((r->flags & WIRE_LIST) != 0)
		buf_printf(b,
		    "\nThe bare array of `%s` is understood as well.\n",
		    r->fields[r->list].name);
	put_fields(b, r);
	for (size_t i = 0; i < r->n; i++) {
		const struct gen_type *t = r->fields[i].type;
		if (t->t.kind == WIRE_ARRAY)
			t = t->elem;
		if (t->t.kind == WIRE_OBJECT && is_inline(g, t->object) &&
		    str_starts(str_of(t->object->name), str_of(r->name)))
			put_record(b, g, t->object, "####");
	}
}

void
gen_markdown(struct gen *g, struct buf *b)
{
	buf_puts(b,
	    "# Interfaces\n\nEvery channel of Soul and every message on it. "
	    "Generated from the schemas in this\nfolder by `make docs`; do "
	    "not edit. § is the section of the protocol.\n");
	put_http(b, json_object_get(g->iface, "http"));
	put_nats(b, json_object_get(g->iface, "nats"));
	put_mqtt(b, json_object_get(g->iface, "mqtt"));
	put_events(b, json_object_get(g->iface, "events"));
	gen_markdown_records(g, b);
	buf_puts(b, "\n## Messages\n");
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].message)
			put_record(b, g, g->files[i].record, "###");
	buf_puts(b, "\n## Shared definitions\n");
	for (size_t i = 0; i < g->n_records; i++) {
		const struct gen_record *r = g->records[i];
		if (!is_inline(g, r) &&
		    strncmp(r->from.path, "/$defs/", 7) == 0)
			put_record(b, g, r, "###");
	}
}
