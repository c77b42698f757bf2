/*
 * INTERFACES.md: every channel and every message, for readers.
 */
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

static void
markdown_put_escaped(struct buf *b, const char *s, const char *special)
{
	for (; *s != '\0'; s++) {
		if (strchr(special, *s) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
}

/* A table's cell. */
static void
markdown_put_cell(struct buf *b, const char *s)
{
	buf_putc(b, ' ');
	if (s != NULL && s[0] != '\0') {
		markdown_put_escaped(b, s, "|<");
		buf_putc(b, ' ');
	}
	buf_putc(b, '|');
}

static void
markdown_put_code(struct buf *b, const char *s)
{
	buf_puts(b, " `");
	markdown_put_escaped(b, s, "|");
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
markdown_put_link(struct buf *b, const char *name)
{
	if (name == NULL)
		buf_puts(b, " – |");
	else
		buf_printf(b, " [%s](#%s) |", name, name);
}

static void
markdown_put_roles(struct buf *b, const json_t *roles)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)roles, i, e)
		buf_printf(b, "%s %s", i > 0 ? "," : "", json_string_value(e));
	buf_puts(b, " |");
}

static void
markdown_put_http(struct buf *b, const json_t *list)
{
	size_t i;
	size_t k;
	json_t *e;
	json_t *x;
	buf_puts(b,
	    "\n## HTTP\n\nWhere callers are known (`AUTH_TOKENS`, "
	    "`AUTH_JWKS`) every route requires an access token,\n"
	    "`Authorization: Bearer <token>`, of one of the roles under "
	    "*who*, and responds 401\nwithout a valid one, 403 where role, "
	    "user or terminal do not match, 429 with\n`Retry-After` where it "
	    "is used too often.\n\n| route | service | who | request | "
	    "response | § |\n| --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(
		    b, "| `%s %s` |", gen_of(e, "method"), gen_of(e, "path"));
		const char *also = gen_of(e, "also");
		markdown_put_cell(b,
		    also != NULL
			? gen_printf("%s, %s", gen_of(e, "owner"), also)
			: gen_of(e, "owner"));
		markdown_put_roles(b, json_object_get(e, "roles"));
		markdown_put_link(b, gen_of(e, "request"));
		markdown_put_link(b, gen_of(e, "response"));
		markdown_put_cell(b, gen_of(e, "section"));
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
			markdown_put_code(b, gen_of(x, "name"));
			markdown_put_cell(b,
			    json_is_true(json_object_get(x, "required")) ? "yes"
									 : "");
			markdown_put_cell(b, gen_of(x, "description"));
			buf_putc(b, '\n');
		}
		const json_t *errors = json_object_get(e, "errors");
		if (json_array_size(errors) > 0)
			buf_puts(b, "\n| status | error |\n| --- | --- |\n");
		json_array_foreach ((json_t *)(uintptr_t)errors, k, x) {
			buf_printf(b, "| %" PRId64 " |",
			    (int64_t)json_integer_value(
				json_object_get(x, "status")));
			markdown_put_code(b, gen_of(x, "text"));
			buf_putc(b, '\n');
		}
	}
}

static void
markdown_put_nats(struct buf *b, const json_t *list)
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
		markdown_put_code(b, gen_of(e, "subject"));
		markdown_put_cell(b, gen_of(e, "kind"));
		gen_markdown_names(b, e, "from");
		markdown_put_cell(b, gen_of(e, "owner"));
		markdown_put_cell(b, gen_of(e, "queue"));
		markdown_put_link(b, gen_of(e, "request"));
		markdown_put_link(b, gen_of(e, "reply"));
		markdown_put_cell(b,
		    ms == NULL ? NULL
			       : gen_printf("%" PRId64 " ms",
				     (int64_t)json_integer_value(ms)));
		markdown_put_cell(b, gen_of(e, "section"));
		markdown_put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

static void
markdown_put_mqtt(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## MQTT\n\n| topic | from | QoS | retain | message | § "
	    "| |\n| --- | --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_puts(b, "|");
		markdown_put_code(b, gen_of(e, "topic"));
		markdown_put_cell(b, gen_of(e, "from"));
		buf_printf(b, " %d |",
		    (int)json_integer_value(json_object_get(e, "qos")));
		markdown_put_cell(
		    b, json_is_true(json_object_get(e, "retain")) ? "yes" : "");
		markdown_put_link(b, gen_of(e, "message"));
		markdown_put_cell(b, gen_of(e, "section"));
		markdown_put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

static void
markdown_put_links(struct buf *b, const json_t *entry, const char *member)
{
	const json_t *list = json_object_get(entry, member);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		buf_printf(b, "%s [%s](#%s)", i > 0 ? "," : "", name, name);
	}
	buf_puts(b, " |");
}

static void
markdown_put_ws(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## WebSocket\n\n| path | service | it receives | it sends | § "
	    "| |\n| --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_puts(b, "|");
		markdown_put_code(b, gen_of(e, "path"));
		markdown_put_cell(b, gen_of(e, "owner"));
		markdown_put_links(b, e, "receives");
		markdown_put_links(b, e, "sends");
		markdown_put_cell(b, gen_of(e, "section"));
		markdown_put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

static void
markdown_put_events(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Events\n\nThe types of events, each on "
	    "`soul.event.<type>.<key>` in an envelope.\n\n"
	    "| type | from | payload | |\n| --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_puts(b, "|");
		markdown_put_code(b, gen_of(e, "type"));
		gen_markdown_names(b, e, "from");
		markdown_put_link(b, gen_of(e, "payload"));
		markdown_put_cell(b, gen_of(e, "description"));
		buf_putc(b, '\n');
	}
}

/* A record that is no message and has no definition: part of one. */
static bool
markdown_is_inline(const struct gen *g, const struct gen_record *r)
{
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].record == r)
			return false;
	return strncmp(r->from.path, "/$defs/", strlen("/$defs/")) != 0 ||
	    strchr(r->from.path + strlen("/$defs/"), '/') != NULL;
}

static void
markdown_put_type(struct buf *b, const struct gen_type *t)
{
	static const char *const names[] = { "string", "string", "integer",
		"number", "boolean", "object", "array", "any" };
	if (t->t.kind == WIRE_OBJECT) {
		const char *name = t->object->name + strlen("wire_");
		buf_printf(b, "[%s](#%s)", name, name);
	} else if (t->t.kind == WIRE_ARRAY) {
		buf_puts(b, "array of ");
		markdown_put_type(b, t->elem);
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
markdown_put_bounds(struct buf *b, const struct gen_field *f)
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
	markdown_put_cell(b, range.p);
	buf_free(&range);
}

static void
markdown_put_fields(struct buf *b, const struct gen_record *r)
{
	buf_puts(b,
	    "\n| member | type | | values | |\n"
	    "| --- | --- | --- | --- | --- |\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct gen_field *f = &r->fields[i];
		buf_puts(b, "|");
		markdown_put_code(b, f->name);
		buf_putc(b, ' ');
		markdown_put_type(b, f->type);
		buf_puts(b, " |");
		if ((f->flags & WIRE_REQUIRED) != 0) {
			markdown_put_cell(b, "required");
		} else if ((f->flags & WIRE_DEFAULT) != 0) {
			char *dflt = json_dumps(
			    json_object_get(f->type->schema, "default"),
			    JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
			markdown_put_cell(b, gen_printf("default `%s`", dflt));
		} else if ((r->choice & UINT64_C(1) << i) != 0) {
			markdown_put_cell(b, "one of these");
		} else {
			markdown_put_cell(b, NULL);
		}
		markdown_put_bounds(b, f);
		markdown_put_cell(b, f->desc);
		buf_putc(b, '\n');
	}
}

/* A record, and after it the ones that are part of it alone. */
static void
markdown_put_record(struct buf *b, const struct gen *g,
    const struct gen_record *r, const char *level)
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
		buf_printf(b, "\nThe bare array of `%s` is accepted as well.\n",
		    r->fields[r->list].name);
	markdown_put_fields(b, r);
	for (size_t i = 0; i < r->n; i++) {
		const struct gen_type *t = r->fields[i].type;
		if (t->t.kind == WIRE_ARRAY)
			t = t->elem;
		if (t->t.kind == WIRE_OBJECT &&
		    markdown_is_inline(g, t->object) &&
		    str_starts(str_of(t->object->name), str_of(r->name)))
			markdown_put_record(b, g, t->object, "####");
	}
}

void
gen_markdown(struct gen *g, struct buf *b)
{
	buf_puts(b,
	    "# Interfaces\n\nEvery channel of Soul and every message on it. "
	    "Generated from the schemas in this\nfolder by `make docs`; do "
	    "not edit. § is the section of the protocol.\n");
	markdown_put_http(b, json_object_get(g->iface, "http"));
	markdown_put_nats(b, json_object_get(g->iface, "nats"));
	markdown_put_mqtt(b, json_object_get(g->iface, "mqtt"));
	markdown_put_ws(b, json_object_get(g->iface, "ws"));
	markdown_put_events(b, json_object_get(g->iface, "events"));
	gen_markdown_records(g, b);
	buf_puts(b, "\n## Messages\n");
	for (size_t i = 0; i < g->n_files; i++)
		if (g->files[i].message)
			markdown_put_record(b, g, g->files[i].record, "###");
	buf_puts(b, "\n## Shared definitions\n");
	for (size_t i = 0; i < g->n_records; i++) {
		const struct gen_record *r = g->records[i];
		if (!markdown_is_inline(g, r) &&
		    strncmp(r->from.path, "/$defs/", 7) == 0)
			markdown_put_record(b, g, r, "###");
	}
}

/* ---- records ---- */

/*
 * INTERFACES.md: streams and Redis records.
 */

static void
markdown_put_streams(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Streams\n\nStreams of JetStream. The manager changes the "
	    "stream's settings, consumers receive its\nmessages in order, "
	    "readers get and delete single messages, viewers get them.\n\n"
	    "| stream | holds | manager | consumers | readers | viewers | |\n"
	    "| --- | --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(b, "| `%s` | %s | %s |", gen_of(e, "name"),
		    gen_of(e, "holds"), gen_of(e, "manager"));
		gen_markdown_names(b, e, "consumers");
		gen_markdown_names(b, e, "readers");
		gen_markdown_names(b, e, "viewers");
		buf_printf(b, " %s |\n", gen_of(e, "description"));
	}
}

/* "soul:turn:{#}:%:%" with the names of its ids; "{#}" stays. */
static void
markdown_put_record_key(struct buf *b, const json_t *e)
{
	const char *key = gen_of(e, "key");
	size_t i = 0;
	buf_puts(b, "| `");
	for (; *key != '\0'; key++)
		if (*key == '%')
			buf_printf(b, "<%s>",
			    json_string_value(
				json_array_get(json_object_get(e, "of"), i++)));
		else
			buf_putc(b, *key);
	buf_puts(b, "` |");
}

static void
markdown_put_records(struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n## Redis\n\nThe records of libs/state, their users, and the "
	    "commands they use. An id appears in a\nkey as its token, and `#` "
	    "stands for the bucket of the user, `b0000` to `b1023`. A "
	    "writer\nof a record reads it as well. When a user's data are "
	    "deleted, so is what is\n`exported` or `deleted`; what "
	    "`expires` does within hours.\n\n"
	    "| key | kind | read by | written by | reading | writing | user's "
	    "data | |\n"
	    "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		markdown_put_record_key(b, e);
		buf_printf(b, " %s |", gen_of(e, "kind"));
		gen_markdown_names(b, e, "read");
		gen_markdown_names(b, e, "write");
		gen_markdown_names(b, e, "reads");
		gen_markdown_names(b, e, "writes");
		buf_printf(b, " %s | %s |\n", gen_of(e, "user_data"),
		    gen_of(e, "description"));
	}
}

void
gen_markdown_records(const struct gen *g, struct buf *b)
{
	markdown_put_streams(b, json_object_get(g->iface, "streams"));
	markdown_put_records(b, json_object_get(g->iface, "redis"));
}
