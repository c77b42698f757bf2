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
channel_put_macro(struct gen *g, struct buf *b, const char *prefix,
    const json_t *e, const char *value)
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
channel_put_subjects(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b, "\n/* NATS subjects. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		const char *subject = gen_of(e, "subject");
		gen_comment(b, "", gen_of(e, "description"));
		if (strchr(subject, '{') == NULL) {
			channel_put_macro(g, b, "SUBJECT", e, subject);
		} else {
			channel_put_macro(
			    g, b, "SUBJECT_FMT", e, gen_fill(subject, "%s"));
			channel_put_macro(
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
channel_put_managers(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b,
	    "\n/* The service that may change the settings of a stream. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e)
		channel_put_macro(g, b, "MANAGER", e, gen_of(e, "manager"));
}

static void
channel_put_topics(struct gen *g, struct buf *b, const json_t *list)
{
	size_t i;
	json_t *e;
	buf_puts(b, "\n/* MQTT topics. */\n");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		gen_comment(b, "", gen_of(e, "description"));
		channel_put_macro(
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
		channel_put_macro(g, b, "HTTP", e, gen_of(e, "path"));
	}
	channel_put_subjects(g, b, json_object_get(g->iface, "nats"));
	channel_put_managers(g, b, json_object_get(g->iface, "streams"));
	channel_put_topics(g, b, json_object_get(g->iface, "mqtt"));
	buf_puts(b, "\n/* Types of events. */\n");
	json_array_foreach (json_object_get(g->iface, "events"), i, e) {
		gen_comment(b, "", gen_of(e, "description"));
		channel_put_macro(g, b, "EVENT", e, gen_of(e, "type"));
	}
	buf_puts(b, "\n#endif /* !WIRE_SUBJECTS_H */\n");
}

/* ", .member = " and a text, a descriptor, or NULL. */
static void
channel_put_text(struct buf *b, const char *member, const char *s)
{
	buf_printf(b, "\n\t    .%s = ", member);
	if (s != NULL)
		gen_literal(b, str_of(s));
	else
		buf_puts(b, "NULL");
	buf_putc(b, ',');
}

static void
channel_put_desc(struct buf *b, const char *member, const char *message)
{
	if (message != NULL)
		buf_printf(b, "\n\t    .%s = &wire_%s_desc,", member, message);
	else
		buf_printf(b, "\n\t    .%s = NULL,", member);
}

static void
channel_put_roles(struct buf *b, const json_t *list)
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
channel_put_route(struct buf *b, const json_t *e)
{
	channel_put_text(b, "name", gen_of(e, "name"));
	channel_put_text(b, "method", gen_of(e, "method"));
	channel_put_text(b, "path", gen_of(e, "path"));
	channel_put_text(b, "owner", gen_of(e, "owner"));
	channel_put_text(b, "also", gen_of(e, "also"));
	channel_put_roles(b, json_object_get(e, "roles"));
	channel_put_desc(b, "request", gen_of(e, "request"));
	channel_put_desc(b, "response", gen_of(e, "response"));
}

static void
channel_put_subject(struct buf *b, const json_t *e)
{
	channel_put_text(b, "name", gen_of(e, "name"));
	channel_put_text(b, "subject", gen_fill(gen_of(e, "subject"), "*"));
	channel_put_text(b, "owner", gen_of(e, "owner"));
	channel_put_text(b, "queue", gen_of(e, "queue"));
	channel_put_desc(b, "request", gen_of(e, "request"));
	channel_put_desc(b, "reply", gen_of(e, "reply"));
	buf_printf(b,
	    "\n\t    .deadline_ms = %" PRId64 ", .kind = WIRE_SUBJECT_KIND_%s,",
	    (int64_t)json_integer_value(json_object_get(e, "deadline_ms")),
	    gen_ident(gen_of(e, "kind"), true));
}

static void
channel_put_topic(struct buf *b, const json_t *e)
{
	channel_put_text(b, "name", gen_of(e, "name"));
	channel_put_text(b, "leaf",
	    gen_fill(gen_of(e, "topic") + strlen(GEN_TOPIC_PREFIX), "+"));
	channel_put_desc(b, "message", gen_of(e, "message"));
	buf_printf(b, "\n\t    .qos = %d, .retain = %s, .from_body = %s,",
	    (int)json_integer_value(json_object_get(e, "qos")),
	    json_is_true(json_object_get(e, "retain")) ? "true" : "false",
	    strcmp(gen_of(e, "from"), "body") == 0 ? "true" : "false");
}

static void
channel_put_event(struct buf *b, const json_t *e)
{
	channel_put_text(b, "type", gen_of(e, "type"));
	channel_put_desc(b, "payload", gen_of(e, "payload"));
}

/* All messages, in order of name as the files are. */
static void
channel_put_descs(const struct gen *g, struct buf *b)
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
		{ "http", "route", channel_put_route },
		{ "nats", "subject", channel_put_subject },
		{ "mqtt", "topic", channel_put_topic },
		{ "events", "event", channel_put_event },
	};
	buf_puts(b,
	    "/* Generated from interfaces.json; do not edit. */\n"
	    "#include \"wire/iface.h\"\n\n#include \"msgs.h\"\n"
	    "#include \"wire/desc.h\"\n");
	channel_put_descs(g, b);
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
