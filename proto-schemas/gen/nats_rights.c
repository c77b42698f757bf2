/*
 * nats-permissions.conf: what each service may publish and subscribe to.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

/* Who looks on with the nats command; no row names it. */
#define OPERATOR "operator"

/* Subjects; some of them twice until they are written. */
struct subjects {
	char **v;
	size_t n;
};

struct says {
	struct subjects publish, subscribe;
};

static const char intro[] =
    "# What each service may say and hear on NATS.  Generated from\n"
    "# proto-schemas/interfaces.json by `make docs`; do not edit.\n"
    "#\n"
    "# These are entries of nats-server's list of users, without passwords: "
    "each is\n"
    "# the variable NATS_<USER>, of the environment or of the same "
    "configuration\n"
    "# (not of one that includes this file: an included file sees only "
    "itself).\n"
    "# All of them must be set, users of one's own may stand beside them:\n"
    "#\n"
    "#   { cat passwords.conf    # NATS_CHAT_GATEWAY: \"…\", one a line\n"
    "#     echo 'authorization { users: ['\n"
    "#     cat nats-permissions.conf\n"
    "#     echo ']}'; } >authorization.conf\n"
    "#\n"
    "# A service may send to the inboxes of those who may ask it, and read its "
    "own.\n";

static void
add(struct subjects *s, char *subject)
{
	s->v = mem_realloc(s->v, (s->n + 1) * sizeof(*s->v));
	s->v[s->n++] = subject;
}

/* ---- what the tables say ------------------------------------------------ */

static const json_t *
section(const struct gen *g, const char *name)
{
	return json_object_get(g->iface, name);
}

static void
add_events(const struct gen *g, const char *who, const char *template,
    struct says *out)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)section(g, "events"), i, e)
		if (gen_lists(e, "from", who)) {
			const char *lead = strstr(template, "{type}");
			add(&out->publish,
			    gen_fill(
				gen_printf("%.*s%s%s", (int)(lead - template),
				    template, gen_of(e, "type"),
				    lead + strlen("{type}")),
				"*"));
		}
}

/* Where the answers of a row go. */
static void
add_inboxes(const json_t *row, struct says *out)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(row, "from"), i, e)
		add(&out->publish,
		    gen_printf("_INBOX.%s.>", json_string_value(e)));
}

static void
add_rows(const struct gen *g, const char *who, struct says *out)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)section(g, "nats"), i, e) {
		const char *kind = gen_of(e, "kind");
		const char *subject = gen_of(e, "subject");
		const char *listens = gen_of(e, "listens");
		if (strcmp(kind, "event") == 0)
			add_events(g, who, subject, out);
		if (gen_lists(e, "from", who))
			add(&out->publish, gen_fill(subject, "*"));
		/* What a stream keeps is delivered by it. */
		if (strcmp(gen_of(e, "owner"), who) != 0 ||
		    strcmp(kind, "event") == 0 || strcmp(kind, "job") == 0)
			continue;
		add(&out->subscribe,
		    gen_fill(listens != NULL ? listens : subject, "*"));
		if (gen_of(e, "reply") != NULL)
			add_inboxes(e, out);
	}
}

/* Whether who puts anything on the stream. */
static bool
fills(const struct gen *g, const json_t *stream, const char *who)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)section(g, "nats"), i, e)
		if (strcmp(gen_of(e, "name"), gen_of(stream, "holds")) == 0 &&
		    gen_lists(e, "from", who))
			return true;
	if (strcmp(gen_of(stream, "holds"), "event") != 0)
		return false;
	json_array_foreach ((json_t *)(uintptr_t)section(g, "events"), i, e)
		if (gen_lists(e, "from", who))
			return true;
	return false;
}

/* Who fills a stream may make it; only its keeper may change it. */
static void
add_streams(const struct gen *g, const char *who, struct says *out)
{
	static const char *const reads[] = { "INFO", "MSG.GET", "MSG.DELETE" };
	struct subjects *p = &out->publish;
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)section(g, "streams"), i, e) {
		const char *name = gen_of(e, "name");
		bool keeps = strcmp(gen_of(e, "keeper"), who) == 0;
		if (keeps || fills(g, e, who))
			add(p, gen_printf("$JS.API.STREAM.CREATE.%s", name));
		if (keeps) {
			add(p, gen_printf("$JS.API.STREAM.UPDATE.%s", name));
			/* Of how many replicas it must not take any away. */
			add(p, gen_printf("$JS.API.STREAM.INFO.%s", name));
		}
		for (size_t k = 0;
		     k < NELEM(reads) && gen_lists(e, "readers", who); k++)
			add(p,
			    gen_printf("$JS.API.STREAM.%s.%s", reads[k], name));
		if (!gen_lists(e, "consumers", who))
			continue;
		/* A durable consumer is called as its service. */
		add(p,
		    gen_printf(
			"$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", name, who));
		add(p, gen_printf("$JS.ACK.%s.%s.>", name, who));
		add(&out->subscribe,
		    gen_printf("soul.deliver.%s.%s", name, who));
	}
}

/* It makes sure of its own connection, and can be found. */
static void
add_self(const char *who, struct says *out)
{
	static const char *const verbs[] = { "PING", "INFO", "STATS" };
	char *inbox = gen_printf("_INBOX.%s.>", who);
	add(&out->publish, inbox);
	add(&out->publish, gen_printf("_INBOX." OPERATOR ".>"));
	add(&out->subscribe, inbox);
	for (size_t i = 0; i < NELEM(verbs); i++) {
		add(&out->subscribe, gen_printf("$SRV.%s", verbs[i]));
		add(&out->subscribe, gen_printf("$SRV.%s.%s", verbs[i], who));
		add(&out->subscribe, gen_printf("$SRV.%s.%s.*", verbs[i], who));
	}
}

/* Look, and change nothing. */
static void
add_operator(struct says *out)
{
	static const char *const may[] = { "$SRV.>", "$JS.API.INFO",
		"$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST",
		"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*",
		"$JS.API.CONSUMER.NAMES.*", "$JS.API.CONSUMER.LIST.*",
		"$JS.API.CONSUMER.INFO.*.*" };
	for (size_t i = 0; i < NELEM(may); i++)
		add(&out->publish, mem_strdup(may[i]));
	add(&out->subscribe, gen_printf("_INBOX." OPERATOR ".>"));
}

/* ---- writing ------------------------------------------------------------ */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
put_subjects(struct buf *b, const char *verb, struct subjects *s)
{
	qsort(s->v, s->n, sizeof(*s->v), by_text);
	buf_printf(b, "    %s: { allow: [\n", verb);
	for (size_t i = 0; i < s->n; i++)
		if (i == 0 || strcmp(s->v[i - 1], s->v[i]) != 0)
			buf_printf(b, "      \"%s\"\n", s->v[i]);
	buf_puts(b, "    ] }\n");
}

static void
put_user(struct buf *b, const char *who, const char *what, struct says *says)
{
	buf_printf(b, "\n# %s\n{ user: \"%s\", password: $NATS_", what, who);
	for (const char *s = who; *s != '\0'; s++)
		buf_putc(b, *s == '-' ? '_' : (char)toupper(*s));
	buf_puts(b, ", permissions: {\n");
	put_subjects(b, "publish", &says->publish);
	put_subjects(b, "subscribe", &says->subscribe);
	buf_puts(b, "} }\n");
}

void
gen_nats_rights(struct gen *g, struct buf *b)
{
	size_t i;
	json_t *e;
	struct says of;
	buf_puts(b, intro);
	json_array_foreach ((json_t *)(uintptr_t)section(g, "peers"), i, e) {
		const char *who = gen_of(e, "name");
		of = (struct says){ 0 };
		add_rows(g, who, &of);
		add_streams(g, who, &of);
		add_self(who, &of);
		put_user(b, who, gen_of(e, "description"), &of);
	}
	of = (struct says){ 0 };
	add_operator(&of);
	put_user(b, OPERATOR,
	    "Looks on: nats --user operator --inbox-prefix _INBOX." OPERATOR
	    " …",
	    &of);
}
