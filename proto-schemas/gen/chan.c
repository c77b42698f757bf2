/*
 * wire/subjects.h and wire/tables.c: the channels as macros and tables, and the
 * table of all messages.
 */
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

char *
gen_fill(const char *template, const char *with)
{
	struct buf b = BUF_INIT(4096);
	const char *s = template;
	while (*s != '\0') {
		size_t n = strcspn(s, "{");
		buf_put(&b, s, n);
		s += n;
		if (*s == '{') {
			buf_puts(&b, with);
			s = strchr(s, '}') + 1;
		}
	}
	return b.p;
}

static void
put_macro(struct gen *g, struct buf *b, const char *prefix, const json_t *e,
    const char *value)
{
	const char *name = gen_of(e, "name");
	if (name == NULL)
		name = gen_of(e, "type");
	struct where w = { "interfaces.json", "" };
	char *id = gen_ident(name, true);
	if (id == NULL)
		gen_fail(w, "%s makes no C identifier", name);
	id = gen_printf("WIRE_%s_%s", prefix, id);
	gen_claim(g, id, w);
	buf_printf(b, "#define %s ", id);
	gen_literal(b, str_of(value));
	buf_putc(b, '\n');
}

static void
put_subjects(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b, "\n/* NATS subjects. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		const char *subject = gen_of(e, "subject");
		gen_comment(b, "", gen_of(e, "description"));
		if (strchr(subject, '{') == NULL) {
			put_macro(g, b, "SUBJECT", e, subject);
		} else {
			put_macro(
			    g, b, "SUBJECT_FMT", e, gen_fill(subject, "%s"));
			put_macro(
			    g, b, "SUBJECT_ALL", e, gen_fill(subject, "*"));
		}
		const json_t *ms = json_object_get(e, "deadline_ms");
		if (ms == NULL)
			continue;
		char *id = gen_printf(
		    "WIRE_DEADLINE_MS_%s", gen_ident(gen_of(e, "name"), true));
		gen_claim(g, id, (struct where){ "interfaces.json", "" });
		buf_printf(b, "#define %s %" PRId64 "\n", id,
		    (int64_t)json_integer_value(ms));
	}
}

static void
put_keepers(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b, "\n/* Who may change the settings of a stream. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e)
		put_macro(g, b, "KEEPER", e, gen_of(e, "keeper"));
}

static void
put_topics(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b, "\n/* MQTT topics. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		gen_comment(b, "", gen_of(e, "description"));
		put_macro(
		    g, b, "TOPIC_FMT", e, gen_fill(gen_of(e, "topic"), "%s"));
	}
	if (json_array_size(list) == 0)
		return;
	buf_puts(b, "\n/* Indexes into wire_topics. */\nenum {\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		char *id = gen_printf(
		    "WIRE_TOPIC_%s", gen_ident(gen_of(e, "name"), true));
		gen_claim(g, id, (struct where){ "interfaces.json", "" });
		buf_printf(b, "\t%s,\n", id);
	}
	buf_puts(b, "};\n");
}

void
gen_subjects(struct gen *g, struct buf *b)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "/* Generated from interfaces.json; do not edit. */\n"
	    "#ifndef WIRE_SUBJECTS_H\n#define WIRE_SUBJECTS_H\n\n"
	    "/* HTTP paths. */\n");
	json_array_foreach (json_object_get(g->iface, "http"), i, e) {
		gen_comment(b, "", gen_of(e, "description"));
		put_macro(g, b, "HTTP", e, gen_of(e, "path"));
	}
	put_subjects(g, b, json_object_get(g->iface, "nats"));
	put_keepers(g, b, json_object_get(g->iface, "streams"));
	put_topics(g, b, json_object_get(g->iface, "mqtt"));
	buf_puts(b, "\n/* Types of events. */\n");
	json_array_foreach (json_object_get(g->iface, "events"), i, e) {
		gen_comment(b, "", gen_of(e, "description"));
		put_macro(g, b, "EVENT", e, gen_of(e, "type"));
	}
	buf_puts(b, "\n#endif /* !WIRE_SUBJECTS_H */\n");
}

/* ", .member = " and a text, a descriptor, or NULL. */
static void
put_text(struct buf *b, const char *member, const char *s)
{
	buf_printf(b, "\n\t    .%s = ", member);
	if (s != NULL)
		gen_literal(b, str_of(s));
	else
		buf_puts(b, "NULL");
	buf_putc(b, ',');
}

static void
put_desc(struct buf *b, const char *member, const char *message)
{
	if (message != NULL)
		buf_printf(b, "\n\t    .%s = &wire_%s_desc,", member, message);
	else
		buf_printf(b, "\n\t    .%s = NULL,", member);
}

static void
put_roles(struct buf *b, const json_t *list)
{
	const char *sep = "";
	size_t i;
	json_t *e;
	buf_puts(b, "\n\t    .roles = ");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		buf_printf(b, "%s1U << WIRE_ROLE_%s", sep,
		    gen_ident(json_string_value(e), true));
		sep = " | ";
	}
	buf_putc(b, ',');
}

static void
put_route(struct buf *b, const json_t *e)
{
	put_text(b, "name", gen_of(e, "name"));
	put_text(b, "method", gen_of(e, "method"));
	put_text(b, "path", gen_of(e, "path"));
	put_text(b, "owner", gen_of(e, "owner"));
	put_roles(b, json_object_get(e, "roles"));
	put_desc(b, "request", gen_of(e, "request"));
	put_desc(b, "response", gen_of(e, "response"));
}

static void
put_subject(struct buf *b, const json_t *e)
{
	put_text(b, "name", gen_of(e, "name"));
	put_text(b, "subject", gen_fill(gen_of(e, "subject"), "*"));
	put_text(b, "owner", gen_of(e, "owner"));
	put_text(b, "queue", gen_of(e, "queue"));
	put_desc(b, "request", gen_of(e, "request"));
	put_desc(b, "reply", gen_of(e, "reply"));
	buf_printf(b,
	    "\n\t    .deadline_ms = %" PRId64 ", .kind = WIRE_SUBJECT_KIND_%s,",
	    (int64_t)json_integer_value(json_object_get(e, "deadline_ms")),
	    gen_ident(gen_of(e, "kind"), true));
}

static void
put_topic(struct buf *b, const json_t *e)
{
	put_text(b, "name", gen_of(e, "name"));
	put_text(b, "leaf",
	    gen_fill(gen_of(e, "topic") + strlen(GEN_TOPIC_LEAD), "+"));
	put_desc(b, "message", gen_of(e, "message"));
	buf_printf(b, "\n\t    .qos = %d, .retain = %s, .from_body = %s,",
	    (int)json_integer_value(json_object_get(e, "qos")),
	    json_is_true(json_object_get(e, "retain")) ? "true" : "false",
	    strcmp(gen_of(e, "from"), "body") == 0 ? "true" : "false");
}

static void
put_event(struct buf *b, const json_t *e)
{
	put_text(b, "type", gen_of(e, "type"));
	put_desc(b, "payload", gen_of(e, "payload"));
}

/* All messages, in order of name as the files are. */
static void
put_descs(const struct gen *g, struct buf *b)
{
	size_t n = 0;
	buf_puts(b, "\nconst struct wire_desc *const wire_descs[] = {\n");
	for (size_t i = 0; i < g->n_files; i++) {
		if (!g->files[i].message)
			continue;
		n++;
		buf_printf(b, "\t&%s_desc,\n", g->files[i].record->name);
	}
	buf_printf(b, "\tNULL,\n};\nconst size_t wire_descs_n = %zu;\n", n);
}

void
gen_tables(struct gen *g, struct buf *b)
{
	static const struct {
		const char *section;
		const char *row;
		void (*put)(struct buf *b, const json_t *e);
	} kinds[] = {
		{ "http", "route", put_route },
		{ "nats", "subject", put_subject },
		{ "mqtt", "topic", put_topic },
		{ "events", "event", put_event },
	};
	buf_puts(b,
	    "/* Generated from interfaces.json; do not edit. */\n"
	    "#include \"wire/iface.h\"\n\n#include \"msgs.h\"\n"
	    "#include \"wire/desc.h\"\n");
	put_descs(g, b);
	for (size_t k = 0; k < NELEM(kinds); k++) {
		const char *row = kinds[k].row;
		size_t i;
		json_t *e;
		buf_printf(
		    b, "\nconst struct wire_%s wire_%ss[] = {\n", row, row);
		json_array_foreach (
		    json_object_get(g->iface, kinds[k].section), i, e) {
			buf_puts(b, "\t{");
			kinds[k].put(b, e);
			buf_puts(b, "\n\t},\n");
		}
		/* A row of zeros, so that no table is empty. */
		buf_printf(b, "\t{ 0 },\n};\nconst size_t wire_%ss_n = %zu;\n",
		    row,
		    json_array_size(
			json_object_get(g->iface, kinds[k].section)));
	}
}
