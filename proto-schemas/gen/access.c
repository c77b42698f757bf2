/*
 * interfaces.json: who sends, keeps, reads and writes what, checked.
 */
#include <string.h>

#include "core/mem.h"
#include "gen.h"

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

/* The entry of a section whose member has the text s; NULL if none has. */
static const json_t *
entry_of(
    const struct gen *g, const char *section, const char *member, const char *s)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(g->iface, section), i, e)
		if (strcmp(gen_of(e, member), s) == 0)
			return e;
	return NULL;
}

/* A list of texts, none of them twice. */
static void
check_texts(struct where w, const json_t *entry, const char *member)
{
	const json_t *list = json_object_get(entry, member);
	w = gen_down(w, member, NULL);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *e = json_array_get(list, i);
		if (!json_is_string(e))
			gen_fail(gen_item(w, i), "must be a text");
		for (size_t k = 0; k < i; k++)
			if (json_equal(e, json_array_get(list, k)))
				gen_fail(gen_item(w, i), "stands there twice");
	}
}

static void
check_peer(const struct gen *g, struct where w, const char *name)
{
	if (entry_of(g, "peers", "name", name) == NULL)
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

/* A name goes into subjects, files and variables as it is. */
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
		    w, "from says who sends it; of an event, its type does");
	check_peers(g, w, e, "from");
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
	if (entry_of(g, "nats", "name", gen_of(e, "holds")) == NULL)
		gen_fail(gen_down(w, "holds", NULL), "%s is no row of nats",
		    gen_of(e, "holds"));
	check_peer(g, gen_down(w, "keeper", NULL), gen_of(e, "keeper"));
	check_peers(g, w, e, "consumers");
	check_peers(g, w, e, "readers");
}

static void
check_one(const struct gen *g, struct where w, const json_t *e)
{
	(void)g;
	check_name(w, e, "-");
	if (strcmp(gen_of(e, "name"), "operator") == 0)
		gen_fail(w, "operator is always there");
}

static void
check_record(const struct gen *g, struct where w, const json_t *e)
{
	size_t ids = 0;
	check_name(w, e, "_");
	check_peers(g, w, e, "read");
	check_peers(g, w, e, "write");
	check_texts(w, e, "of");
	check_texts(w, e, "reads");
	check_texts(w, e, "writes");
	const char *key = gen_of(e, "key");
	if (strpbrk(key, " *?[]\\\"'#") != NULL)
		gen_fail(gen_down(w, "key", NULL),
		    "has a character that it must not have");
	for (const char *s = key; *s != '\0'; s++)
		ids += *s == '%';
	if (ids != json_array_size(json_object_get(e, "of")))
		gen_fail(gen_down(w, "of", NULL), "has not a name for each %%");
	for (size_t i = 0; i < json_array_size(json_object_get(e, "write"));
	     i++)
		if (gen_lists(e, "read",
			json_string_value(
			    json_array_get(json_object_get(e, "write"), i))))
			gen_fail(w, "who writes reads as well");
}

void
gen_access_check(const struct gen *g, struct where top)
{
	static const struct {
		const char *section;
		void (*check)(
		    const struct gen *g, struct where w, const json_t *e);
	} checks[] = {
		{ "peers", check_one },
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
