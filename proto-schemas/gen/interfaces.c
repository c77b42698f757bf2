/*
 * interfaces.json: every channel, checked.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "gen.h"

enum need {
	OPTIONAL = 1, /* may be absent */
	NULLABLE = 2, /* may be null */
	MESSAGE = 4,  /* names a message */
	UNIQUE = 8    /* no two entries of the section have the same */
};

struct member {
	const char *name;
	json_type type; /* JSON_TRUE: a boolean */
	unsigned int need;
};

static const struct member iface_http[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "method", JSON_STRING, 0 },
	{ "path", JSON_STRING, 0 },
	{ "owner", JSON_STRING, 0 },
	/* Another service that responds to it, too. */
	{ "also", JSON_STRING, OPTIONAL },
	/* Who may ask, where callers are known. */
	{ "roles", JSON_ARRAY, 0 },
	{ "request", JSON_STRING, NULLABLE | MESSAGE },
	{ "response", JSON_STRING, NULLABLE | MESSAGE },
	/* Of the server-sent events that it answers instead, or may. */
	{ "stream", JSON_STRING, OPTIONAL | MESSAGE },
	{ "lines", JSON_STRING, OPTIONAL | MESSAGE },
	/* Of the response; absent: 200. */
	{ "status", JSON_INTEGER, OPTIONAL },
	{ "description", JSON_STRING, 0 },
	{ "section", JSON_STRING, 0 },
	{ "errors", JSON_ARRAY, 0 },
	{ "query", JSON_ARRAY, OPTIONAL },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_http_error[] = {
	{ "status", JSON_INTEGER, 0 },
	{ "text", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_http_query[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "description", JSON_STRING, 0 },
	{ "required", JSON_TRUE, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_nats[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "subject", JSON_STRING, UNIQUE },
	{ "kind", JSON_STRING, 0 },
	{ "owner", JSON_STRING, 0 },
	/* Who sends it; of an event its type says so. */
	{ "from", JSON_ARRAY, OPTIONAL },
	/* Services that subscribe to some of it, too. */
	{ "also", JSON_ARRAY, OPTIONAL },
	/* What the owner subscribes to, if that is not the subject. */
	{ "listens", JSON_STRING, OPTIONAL },
	{ "queue", JSON_STRING, OPTIONAL },
	{ "request", JSON_STRING, MESSAGE },
	{ "reply", JSON_STRING, OPTIONAL | MESSAGE },
	{ "deadline_ms", JSON_INTEGER, OPTIONAL },
	{ "description", JSON_STRING, 0 },
	{ "section", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_mqtt[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "topic", JSON_STRING, UNIQUE },
	{ "from", JSON_STRING, 0 },
	{ "qos", JSON_INTEGER, 0 },
	{ "retain", JSON_TRUE, 0 },
	{ "message", JSON_STRING, MESSAGE },
	{ "description", JSON_STRING, 0 },
	{ "section", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_ws[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "path", JSON_STRING, UNIQUE },
	{ "owner", JSON_STRING, 0 },
	{ "receives", JSON_ARRAY, 0 },
	{ "sends", JSON_ARRAY, 0 },
	{ "description", JSON_STRING, 0 },
	{ "section", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_events[] = {
	{ "type", JSON_STRING, UNIQUE },
	{ "payload", JSON_STRING, MESSAGE },
	{ "from", JSON_ARRAY, 0 },
	{ "description", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_streams[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "holds", JSON_STRING, UNIQUE },
	{ "manager", JSON_STRING, 0 },
	{ "consumers", JSON_ARRAY, 0 },
	/* Names of durable consumers, each its consumer's, '-' and a word. */
	{ "durables", JSON_ARRAY, OPTIONAL },
	{ "readers", JSON_ARRAY, 0 },
	{ "viewers", JSON_ARRAY, 0 },
	{ "description", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_peers[] = {
	{ "name", JSON_STRING, UNIQUE },
	/* Of a subject with {provider} it uses only the one with its name. */
	{ "provider", JSON_TRUE, OPTIONAL },
	{ "description", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};
static const struct member iface_redis[] = {
	{ "name", JSON_STRING, UNIQUE },
	{ "key", JSON_STRING, UNIQUE },
	{ "kind", JSON_STRING, 0 },
	{ "of", JSON_ARRAY, 0 },
	{ "read", JSON_ARRAY, 0 },
	{ "write", JSON_ARRAY, 0 },
	{ "reads", JSON_ARRAY, 0 },
	{ "writes", JSON_ARRAY, 0 },
	/* What becomes of it when the user's data are deleted. */
	{ "user_data", JSON_STRING, 0 },
	{ "description", JSON_STRING, 0 },
	{ NULL, JSON_NULL, 0 },
};

static void
iface_check_member(const struct gen *g, struct where at, const json_t *entry,
    const struct member *m)
{
	const json_t *v = json_object_get(entry, m->name);
	struct where w = gen_down(at, m->name, NULL);
	if (v == NULL && (m->need & OPTIONAL) == 0)
		gen_fail(w, "is missing");
	if (v == NULL || (json_is_null(v) && (m->need & NULLABLE) != 0))
		return;
	bool same = m->type == JSON_TRUE ? json_is_boolean(v)
					 : json_typeof(v) == m->type;
	if (!same)
		gen_fail(w, "is of another type");
	if (m->type == JSON_STRING)
		(void)gen_text(at, entry, m->name);
	if ((m->need & MESSAGE) == 0)
		return;
	const struct gen_file *f = gen_file_find(g, json_string_value(v));
	if (f == NULL || !f->message)
		gen_fail(w, "there is no message %s", json_string_value(v));
}

static void
iface_check_unique(
    struct where w, const json_t *list, size_t i, const char *name)
{
	const json_t *v = json_object_get(json_array_get(list, i), name);
	for (size_t k = 0; k < i; k++)
		if (json_equal(
			v, json_object_get(json_array_get(list, k), name)))
			gen_fail(gen_down(w, name, NULL), "%s is listed twice",
			    json_string_value(v));
}

/* An array of objects with exactly these members. */
static void
iface_check_list(const struct gen *g, struct where w, const json_t *list,
    const struct member *members)
{
	const char *allowed[16] = { NULL };
	for (size_t i = 0; members[i].name != NULL; i++)
		allowed[i] = members[i].name;
	if (!json_is_array(list))
		gen_fail(w, "must be an array");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		struct where at = gen_item(w, i);
		if (!json_is_object(entry))
			gen_fail(at, "must be an object");
		gen_only(at, entry, allowed);
		for (const struct member *m = members; m->name != NULL; m++) {
			iface_check_member(g, at, entry, m);
			if ((m->need & UNIQUE) != 0)
				iface_check_unique(at, list, i, m->name);
		}
	}
}

/* A member's text must be one of a list (NULL at the end). */
static void
iface_check_one_of(struct where w, const json_t *entry, const char *member,
    const char *const list[])
{
	const char *s = gen_string(w, entry, member);
	size_t i = 0;
	while (list[i] != NULL && strcmp(list[i], s) != 0)
		i++;
	if (list[i] == NULL)
		gen_fail(gen_down(w, member, NULL), "%s is not known", s);
}

/* Every "{…}" of a template is one of a list (NULL: any). */
static void
iface_check_template(struct where w, const json_t *entry, const char *member,
    const char *const list[])
{
	const char *s = gen_string(w, entry, member);
	w = gen_down(w, member, NULL);
	if (strpbrk(s, " *>%\"\\") != NULL)
		gen_fail(w, "has a character that it must not have");
	while ((s = strpbrk(s, "{}")) != NULL) {
		const char *end = strchr(s, '}');
		if (*s == '}' || end == NULL || end == s + 1)
			gen_fail(w, "has braces that do not match");
		char *name = gen_printf("%.*s", (int)(end - s) - 1, s + 1);
		size_t i = 0;
		while (list != NULL && list[i] != NULL &&
		    strcmp(list[i], name) != 0)
			i++;
		if (list != NULL && list[i] == NULL)
			gen_fail(w, "{%s} is not known", name);
		s = end + 1;
	}
}

/* The roles of an access token; the same as enum wire_role. */
static void
iface_check_roles(struct where w, const json_t *list)
{
	static const char *const roles[] = { "owner", "terminal", "provisioner",
		"notifier", "operator", NULL };
	size_t i;
	json_t *e;
	w = gen_down(w, "roles", NULL);
	if (json_array_size(list) == 0)
		gen_fail(w, "is empty: no caller has permission");
	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		const char *s = json_string_value(e);
		size_t k = 0;
		while (
		    s != NULL && roles[k] != NULL && strcmp(roles[k], s) != 0)
			k++;
		if (s == NULL || roles[k] == NULL)
			gen_fail(gen_item(w, i), "is no role");
	}
}

static void
iface_check_http(
    const struct gen *g, struct where w, const json_t *list, size_t i)
{
	static const char *const methods[] = { "GET", "POST", "PUT", "PATCH",
		"DELETE", NULL };
	const json_t *e = json_array_get(list, i);
	w = gen_item(w, i);
	iface_check_one_of(w, e, "method", methods);
	iface_check_template(w, e, "path", NULL);
	iface_check_roles(w, json_object_get(e, "roles"));
	for (size_t k = 0; k < i; k++) {
		const json_t *other = json_array_get(list, k);
		if (json_equal(json_object_get(e, "path"),
			json_object_get(other, "path")) &&
		    json_equal(json_object_get(e, "method"),
			json_object_get(other, "method")))
			gen_fail(w, "method and path are listed twice");
	}
	const json_t *errors = json_object_get(e, "errors");
	iface_check_list(
	    g, gen_down(w, "errors", NULL), errors, iface_http_error);
	const json_t *query = json_object_get(e, "query");
	if (query != NULL)
		iface_check_list(
		    g, gen_down(w, "query", NULL), query, iface_http_query);
}

static void
iface_check_nats(struct where w, const json_t *list, size_t i)
{
	static const char *const kinds[] = { "request", "publish", "event",
		"job", "stream", NULL };
	static const char *const tokens[] = { "broker", "terminal",
		"request_id", "turn_id", "instance", "hub", "user", "session",
		"runner", "run", "provider", "type", "key", "kind", NULL };
	const json_t *e = json_array_get(list, i);
	w = gen_item(w, i);
	iface_check_one_of(w, e, "kind", kinds);
	iface_check_template(w, e, "subject", tokens);
	bool request = strcmp(gen_string(w, e, "kind"), "request") == 0;
	if (request != (json_object_get(e, "reply") != NULL))
		gen_fail(w, "a request has a reply, and nothing else has");
	if (request !=
	    (json_integer_value(json_object_get(e, "deadline_ms")) > 0))
		gen_fail(w, "a request has a deadline, and nothing else has");
}

static void
iface_check_mqtt(struct where w, const json_t *list, size_t i)
{
	static const char *const from[] = { "body", "server", NULL };
	static const char *const tokens[] = { "prefix", "terminal",
		"request_id", NULL };
	const json_t *e = json_array_get(list, i);
	w = gen_item(w, i);
	iface_check_one_of(w, e, "from", from);
	iface_check_template(w, e, "topic", tokens);
	if (!str_starts(
		str_of(gen_string(w, e, "topic")), STR(GEN_TOPIC_PREFIX)))
		gen_fail(gen_down(w, "topic", NULL),
		    "must begin with " GEN_TOPIC_PREFIX);
	json_int_t qos = json_integer_value(json_object_get(e, "qos"));
	if (qos != 0 && qos != 1)
		gen_fail(gen_down(w, "qos", NULL), "must be 0 or 1");
}

/* A list of messages. */
static void
iface_check_messages(const struct gen *g, struct where at, const json_t *entry,
    const char *member)
{
	const json_t *list = json_object_get(entry, member);
	struct where w = gen_down(at, member, NULL);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		const struct gen_file *f =
		    name != NULL ? gen_file_find(g, name) : NULL;
		if (f == NULL || !f->message)
			gen_fail(gen_item(w, i), "there is no such message");
	}
}

static void
iface_check_ws(
    const struct gen *g, struct where w, const json_t *list, size_t i)
{
	const json_t *e = json_array_get(list, i);
	w = gen_item(w, i);
	iface_check_template(w, e, "path", NULL);
	iface_check_messages(g, w, e, "receives");
	iface_check_messages(g, w, e, "sends");
}

void
gen_iface_load(struct gen *g)
{
	static const char *const sections[] = { "http", "nats", "mqtt", "ws",
		"events", "streams", "peers", "redis", NULL };
	static const struct member *const members[] = { iface_http, iface_nats,
		iface_mqtt, iface_ws, iface_events, iface_streams, iface_peers,
		iface_redis };
	struct where top = { gen_printf("%s/interfaces.json", g->dir), "" };
	if (access(top.file, F_OK) != 0) {
		g->iface = json_object();
		return;
	}
	json_error_t e;
	g->iface = json_load_file(top.file, JSON_REJECT_DUPLICATES, &e);
	if (g->iface == NULL)
		gen_fail(top, "line %d: %s", e.line, e.text);
	if (!json_is_object(g->iface))
		gen_fail(top, "must be an object");
	gen_only(top, g->iface, sections);
	for (size_t s = 0; sections[s] != NULL; s++) {
		const json_t *list = json_object_get(g->iface, sections[s]);
		struct where w = gen_down(top, sections[s], NULL);
		/* Few suites have any. */
		if (list == NULL && members[s] == iface_ws)
			continue;
		iface_check_list(g, w, list, members[s]);
		for (size_t i = 0; i < json_array_size(list); i++) {
			if (members[s] == iface_http)
				iface_check_http(g, w, list, i);
			else if (members[s] == iface_nats)
				iface_check_nats(w, list, i);
			else if (members[s] == iface_mqtt)
				iface_check_mqtt(w, list, i);
			else if (members[s] == iface_ws)
				iface_check_ws(g, w, list, i);
		}
	}
	gen_access_check(g, top);
}

const char *
gen_of(const json_t *entry, const char *member)
{
	return json_string_value(json_object_get(entry, member));
}

/* ---- access ---- */

/*
 * interfaces.json: senders, managers, readers and writers of each row, checked.
 */

bool
gen_lists(const json_t *entry, const char *member, const char *s)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(entry, member), i, e)
		if (s != NULL && strcmp(json_string_value(e), s) == 0)
			return true;
	return false;
}

const json_t *
gen_entry(
    const struct gen *g, const char *section, const char *member, const char *s)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(g->iface, section), i, e)
		if (strcmp(gen_of(e, member), s) == 0)
			return e;
	return NULL;
}

/* A list of strings without duplicates. */
static void
check_texts(struct where w, const json_t *entry, const char *member)
{
	const json_t *list = json_object_get(entry, member);
	w = gen_down(w, member, NULL);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		if (!json_is_string(e))
			gen_fail(gen_item(w, i), "must be a string");
		for (size_t k = 0; k < i; k++)
			if (json_equal(e, json_array_get(list, k)))
				gen_fail(gen_item(w, i), "is listed twice");
	}
}

static void
check_peer(const struct gen *g, struct where w, const char *name)
{
	if (gen_entry(g, "peers", "name", name) == NULL)
		gen_fail(w, "%s is not among the peers", name);
}

static void
check_peers(const struct gen *g, struct where w, const json_t *entry,
    const char *member)
{
	const json_t *list = json_object_get(entry, member);
	check_texts(w, entry, member);
	w = gen_down(w, member, NULL);
	for (size_t i = 0; i < json_array_size(list); i++)
		check_peer(g, gen_item(w, i),
		    json_string_value(json_array_get(list, i)));
}

/* Names are used in subjects, files and variables unchanged. */
static void
check_name(struct where w, const json_t *entry, const char *more)
{
	const char *name = gen_of(entry, "name");
	struct buf b = BUF_INIT(128);
	buf_printf(&b, "abcdefghijklmnopqrstuvwxyz0123456789%s", more);
	if (name[0] == '\0' || name[strspn(name, b.p)] != '\0')
		gen_fail(gen_down(w, "name", NULL),
		    "has a character that it must not have");
	buf_free(&b);
}

static void
check_nats(const struct gen *g, struct where w, const json_t *e)
{
	bool event = strcmp(gen_of(e, "kind"), "event") == 0;
	if (event == (json_object_get(e, "from") != NULL))
		gen_fail(
		    w, "from lists the senders; for an event, the type does");
	check_peers(g, w, e, "from");
	check_peers(g, w, e, "also");
	if (!event)
		check_peer(g, gen_down(w, "owner", NULL), gen_of(e, "owner"));
}

static void
check_event(const struct gen *g, struct where w, const json_t *e)
{
	check_peers(g, w, e, "from");
}

static void
check_stream(const struct gen *g, struct where w, const json_t *e)
{
	check_name(w, e, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	if (gen_entry(g, "nats", "name", gen_of(e, "holds")) == NULL)
		gen_fail(gen_down(w, "holds", NULL), "%s is not a row of nats",
		    gen_of(e, "holds"));
	check_peer(g, gen_down(w, "manager", NULL), gen_of(e, "manager"));
	check_peers(g, w, e, "consumers");
	check_peers(g, w, e, "readers");
	check_peers(g, w, e, "viewers");
}

static void
check_peer_row(const struct gen *g, struct where w, const json_t *e)
{
	(void)g;
	check_name(w, e, "-");
	if (strcmp(gen_of(e, "name"), "operator") == 0)
		gen_fail(w, "operator is predefined");
}

/* What of a user is stored is deleted on request, or expires. */
static void
check_user_data(struct where w, const json_t *e)
{
	static const char *const of[] = { "exported", "deleted", "expires",
		"none", NULL };
	iface_check_one_of(w, e, "user_data", of);
	if (gen_lists(e, "of", "user") &&
	    strcmp(gen_of(e, "user_data"), "none") == 0)
		gen_fail(gen_down(w, "user_data", NULL),
		    "a user's record is exported, deleted or expires");
}

static void
check_record(const struct gen *g, struct where w, const json_t *e)
{
	size_t ids = 0;
	check_name(w, e, "_");
	check_user_data(w, e);
	check_peers(g, w, e, "read");
	check_peers(g, w, e, "write");
	check_texts(w, e, "of");
	check_texts(w, e, "reads");
	check_texts(w, e, "writes");
	const char *key = gen_of(e, "key");
	const char *bucket = strchr(key, '#');
	if (strpbrk(key, " *?[]\\\"'") != NULL ||
	    (bucket != NULL &&
		(bucket == key || strncmp(bucket - 1, "{#}", 3) != 0)))
		gen_fail(gen_down(w, "key", NULL),
		    "has a character that it must not have");
	for (const char *s = key; *s != '\0'; s++)
		ids += *s == '%';
	if (ids != json_array_size(json_object_get(e, "of")))
		gen_fail(gen_down(w, "of", NULL),
		    "does not have a name for each %%");
	for (size_t i = 0; i < json_array_size(json_object_get(e, "write"));
	     i++)
		if (gen_lists(e, "read",
			json_string_value(
			    json_array_get(json_object_get(e, "write"), i))))
			gen_fail(w, "a writer reads as well; list it once");
}

void
gen_access_check(const struct gen *g, struct where top)
{
	static const struct {
		const char *section;
		void (*check)(
		    const struct gen *g, struct where w, const json_t *e);
	} checks[] = {
		{ "peers", check_peer_row },
		{ "nats", check_nats },
		{ "events", check_event },
		{ "streams", check_stream },
		{ "redis", check_record },
	};
	size_t i;
	json_t *e;
	for (size_t k = 0; k < NELEM(checks); k++) {
		struct where w = gen_down(top, checks[k].section, NULL);
		json_array_foreach (
		    json_object_get(g->iface, checks[k].section), i, e)
			checks[k].check(g, gen_item(w, i), e);
	}
}
