/*
 * nats-permissions.conf: what each service may publish and subscribe to.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

/* The user of the nats command line; no row names it. */
#define OPERATOR "operator"
/* The service that shows the state of all. */
#define DISCOVERER "chat-gateway"

/* Subjects; duplicates are dropped when they are written. */
struct subjects {
	char **v;
	size_t n;
};

struct nats_rights {
	struct subjects publish, subscribe;
};

static const char nats_intro[] =
    "# What each service may publish and subscribe to.  Generated from\n"
    "# proto-schemas/interfaces.json by `make docs`; do not edit.\n"
    "#\n"
    "# These are entries of nats-server's list of users, without passwords: "
    "each is\n"
    "# the variable NATS_<USER>, of the environment or of the same "
    "configuration\n"
    "# (not of one that includes this file: an included file sees only "
    "itself).\n"
    "# All of them must be set; other users may be added beside them:\n"
    "#\n"
    "#   { cat passwords.conf    # NATS_CHAT_GATEWAY: \"…\", one a line\n"
    "#     echo 'authorization { users: ['\n"
    "#     cat nats-permissions.conf\n"
    "#     echo ']}'; } >authorization.conf\n"
    "#\n"
    "# A service may publish to the inboxes of its callers, and read its "
    "own.\n";

static void
nats_add(struct subjects *s, char *subject)
{
	s->v = mem_realloc(s->v, (s->n + 1) * sizeof(*s->v));
	s->v[s->n++] = subject;
}

/* ---- rows ---- */

static const json_t *
nats_section(const struct gen *g, const char *name)
{
	return json_object_get(g->iface, name);
}

static void
nats_add_events(const struct gen *g, const char *who, const char *template,
    struct nats_rights *out)
{
	size_t i;
	json_t *e;
	json_array_foreach (
	    (json_t *)(uintptr_t)nats_section(g, "events"), i, e)
		if (gen_lists(e, "from", who)) {
			const char *before = strstr(template, "{type}");
			nats_add(&out->publish,
			    gen_fill(
				gen_printf("%.*s%s%s", (int)(before - template),
				    template, gen_of(e, "type"),
				    before + strlen("{type}")),
				"*"));
		}
}

/*
 * A subject for who's permissions: a provider of tools has only those with its
 * own name, their callers have all.
 */
static char *
nats_subject_of(const struct gen *g, const char *who, const char *subject)
{
	static const char mark[] = "{provider}";
	const char *at = strstr(subject, mark);
	const json_t *peer = gen_entry(g, "peers", "name", who);
	if (at == NULL || !json_is_true(json_object_get(peer, "provider")))
		return gen_fill(subject, "*");
	return gen_fill(gen_printf("%.*s%s%s", (int)(at - subject), subject,
			    who, at + strlen(mark)),
	    "*");
}

/* The inboxes that replies of a row go to. */
static void
nats_add_inboxes(const json_t *row, struct nats_rights *out)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(row, "from"), i, e)
		nats_add(&out->publish,
		    gen_printf("_INBOX.%s.>", json_string_value(e)));
}

static void
nats_add_rows(const struct gen *g, const char *who, struct nats_rights *out)
{
	size_t i;
	json_t *e;
	json_array_foreach (
	    (json_t *)(uintptr_t)nats_section(g, "nats"), i, e) {
		const char *kind = gen_of(e, "kind");
		const char *subject = gen_of(e, "subject");
		const char *listens = gen_of(e, "listens");
		if (strcmp(kind, "event") == 0)
			nats_add_events(g, who, subject, out);
		if (gen_lists(e, "from", who))
			nats_add(
			    &out->publish, nats_subject_of(g, who, subject));
		/* Stored messages are delivered by the stream. */
		if ((strcmp(gen_of(e, "owner"), who) != 0 &&
			!gen_lists(e, "also", who)) ||
		    strcmp(kind, "event") == 0 || strcmp(kind, "job") == 0)
			continue;
		nats_add(&out->subscribe,
		    nats_subject_of(
			g, who, listens != NULL ? listens : subject));
		if (gen_of(e, "reply") != NULL)
			nats_add_inboxes(e, out);
	}
}

/* Whether who publishes to the stream. */
static bool
nats_publishes_to(const struct gen *g, const json_t *stream, const char *who)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)nats_section(g, "nats"), i, e)
		if (strcmp(gen_of(e, "name"), gen_of(stream, "holds")) == 0 &&
		    gen_lists(e, "from", who))
			return true;
	if (strcmp(gen_of(stream, "holds"), "event") != 0)
		return false;
	json_array_foreach (
	    (json_t *)(uintptr_t)nats_section(g, "events"), i, e)
		if (gen_lists(e, "from", who))
			return true;
	return false;
}

/* How many of the requests for single messages it may send. */
static size_t
nats_reads(const json_t *stream, const char *who)
{
	if (gen_lists(stream, "readers", who))
		return 3;
	return gen_lists(stream, "viewers", who) ? 2 : 0;
}

static void
nats_add_consumer(const char *stream, const char *name, struct nats_rights *out)
{
	nats_add(&out->publish,
	    gen_printf("$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", stream, name));
	nats_add(&out->publish, gen_printf("$JS.ACK.%s.%s.>", stream, name));
	nats_add(
	    &out->subscribe, gen_printf("soul.deliver.%s.%s", stream, name));
}

/* Its durables have its name, or are listed, and their names begin with it. */
static void
nats_add_consumers(const json_t *e, const char *who, struct nats_rights *out)
{
	const char *stream = gen_of(e, "name");
	size_t n = strlen(who), found = 0, i;
	json_t *d;
	json_array_foreach (json_object_get(e, "durables"), i, d) {
		const char *name = json_string_value(d);
		if (strncmp(name, who, n) != 0 || name[n] != '-')
			continue;
		nats_add_consumer(stream, name, out);
		found++;
	}
	if (found == 0)
		nats_add_consumer(stream, who, out);
}

/* Publishers may create a stream; only its manager may change it. */
static void
nats_add_streams(const struct gen *g, const char *who, struct nats_rights *out)
{
	/* Who is a viewer may not do the last. */
	static const char *const reads[] = { "INFO", "MSG.GET", "MSG.DELETE" };
	struct subjects *p = &out->publish;
	size_t i;
	json_t *e;
	json_array_foreach (
	    (json_t *)(uintptr_t)nats_section(g, "streams"), i, e) {
		const char *name = gen_of(e, "name");
		bool keeps = strcmp(gen_of(e, "manager"), who) == 0;
		if (keeps || nats_publishes_to(g, e, who))
			nats_add(
			    p, gen_printf("$JS.API.STREAM.CREATE.%s", name));
		if (keeps) {
			nats_add(
			    p, gen_printf("$JS.API.STREAM.UPDATE.%s", name));
			/* It reads the number of replicas, which it never
			 * lowers. */
			nats_add(p, gen_printf("$JS.API.STREAM.INFO.%s", name));
		}
		for (size_t k = 0; k < nats_reads(e, who); k++)
			nats_add(p,
			    gen_printf("$JS.API.STREAM.%s.%s", reads[k], name));
		if (gen_lists(e, "consumers", who))
			nats_add_consumers(e, who, out);
	}
}

/* Probes of its own connection, and service discovery. */
static void
nats_add_self(const char *who, struct nats_rights *out)
{
	static const char *const verbs[] = { "PING", "INFO", "STATS" };
	char *inbox = gen_printf("_INBOX.%s.>", who);
	nats_add(&out->publish, inbox);
	nats_add(&out->publish, gen_printf("_INBOX." OPERATOR ".>"));
	nats_add(&out->publish, gen_printf("_INBOX." DISCOVERER ".>"));
	nats_add(&out->subscribe, inbox);
	if (strcmp(who, DISCOVERER) == 0)
		nats_add(&out->publish, gen_printf("$SRV.STATS"));
	for (size_t i = 0; i < NELEM(verbs); i++) {
		nats_add(&out->subscribe, gen_printf("$SRV.%s", verbs[i]));
		nats_add(
		    &out->subscribe, gen_printf("$SRV.%s.%s", verbs[i], who));
		nats_add(
		    &out->subscribe, gen_printf("$SRV.%s.%s.*", verbs[i], who));
	}
}

/* Read-only. */
static void
nats_add_operator(struct nats_rights *out)
{
	static const char *const may[] = { "$SRV.>", "$JS.API.INFO",
		"$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST",
		"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*",
		"$JS.API.CONSUMER.NAMES.*", "$JS.API.CONSUMER.LIST.*",
		"$JS.API.CONSUMER.INFO.*.*" };
	for (size_t i = 0; i < NELEM(may); i++)
		nats_add(&out->publish, mem_strdup(may[i]));
	nats_add(&out->subscribe, gen_printf("_INBOX." OPERATOR ".>"));
}

/* ---- writing ---- */

static int
nats_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
nats_put_subjects(struct buf *b, const char *verb, struct subjects *s)
{
	qsort(s->v, s->n, sizeof(*s->v), nats_by_text);
	buf_printf(b, "    %s: { allow: [\n", verb);
	for (size_t i = 0; i < s->n; i++)
		if (i == 0 || strcmp(s->v[i - 1], s->v[i]) != 0)
			buf_printf(b, "      \"%s\"\n", s->v[i]);
	buf_puts(b, "    ] }\n");
}

static void
nats_put_user(struct buf *b, const char *who, const char *what,
    struct nats_rights *nats_rights)
{
	buf_printf(b, "\n# %s\n{ user: \"%s\", password: $NATS_", what, who);
	for (const char *s = who; *s != '\0'; s++)
		buf_putc(b, *s == '-' ? '_' : (char)toupper(*s));
	buf_puts(b, ", permissions: {\n");
	nats_put_subjects(b, "publish", &nats_rights->publish);
	nats_put_subjects(b, "subscribe", &nats_rights->subscribe);
	buf_puts(b, "} }\n");
}

void
gen_nats_rights(struct gen *g, struct buf *b)
{
	size_t i;
	json_t *e;
	struct nats_rights of;
	buf_puts(b, nats_intro);
	json_array_foreach (
	    (json_t *)(uintptr_t)nats_section(g, "peers"), i, e) {
		const char *who = gen_of(e, "name");
		of = (struct nats_rights){ 0 };
		nats_add_rows(g, who, &of);
		nats_add_streams(g, who, &of);
		nats_add_self(who, &of);
		nats_put_user(b, who, gen_of(e, "description"), &of);
	}
	of = (struct nats_rights){ 0 };
	nats_add_operator(&of);
	nats_put_user(b, OPERATOR,
	    "Read-only access: nats --user operator "
	    "--inbox-prefix _INBOX." OPERATOR " …",
	    &of);
}

/* ---- redis rights ---- */

/*
 * redis-users.acl: which keys and commands each service may use.
 */

static const char redis_intro[] =
    "# Which keys and commands each service may use in Redis.  Generated from\n"
    "# proto-schemas/interfaces.json by `make docs`; do not edit.\n"
    "#\n"
    "# No user has a password here, so no login succeeds: add \" #<SHA-256 of "
    "the\n"
    "# password, in hex>\" to a user's line.  The lines that begin with "
    "\"user\" make\n"
    "# redis-server's aclfile, which has no comments; they may stand in its\n"
    "# configuration as well.\n"
    "#\n"
    "# A script may name any key of the suite (the selector in parentheses); "
    "what it\n"
    "# does there is checked command by command.\n"
    "#\n"
    "# The user default cannot log in.  Redis replays its append-only file as "
    "this\n"
    "# user and drops transactions that it may not execute, so it has all "
    "rights.\n";

/* Commands of a connection's set-up. */
#define BASE                                                            \
	"+ping +select +client|setname +script|load +time +role +wait " \
	"+asking +cluster|slots +dbsize"

/*
 * The user of "chat-gateway migrate": all keys of the suite, and who is
 * connected.
 */
static const char redis_migrate[] =
    "user migrate reset on " BASE " +eval +scan +client|list +type +del "
    "+exists +get +set +incr +rename +pexpire +hdel +hget +hkeys +hmget +hset "
    "+hsetnx +hincrby +lindex +lrange +pttl +rpush +sadd +smembers +xadd "
    "+xrange +zadd +zcard +zrange +zrem ~soul:*\n";

static bool
redis_has(char *const *v, size_t n, const char *s)
{
	while (n > 0)
		if (strcmp(v[--n], s) == 0)
			return true;
	return false;
}

static int
redis_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add the commands of a row's member to v, each once; how many there are. */
static size_t
redis_collect(char ***v, size_t n, const json_t *row, const char *member)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(row, member), i, e) {
		const char *s = json_string_value(e);
		if (redis_has(*v, n, s))
			continue;
		*v = mem_realloc(*v, (n + 1) * sizeof(**v));
		(*v)[n++] = mem_strdup(s);
	}
	return n;
}

static void
redis_put_commands(struct buf *b, const json_t *rows, const char *who)
{
	char **v = NULL;
	size_t i, n = 0;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e) {
		if (gen_lists(e, "read", who) || gen_lists(e, "write", who))
			n = redis_collect(&v, n, e, "reads");
		if (gen_lists(e, "write", who))
			n = redis_collect(&v, n, e, "writes");
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), redis_by_text);
	for (i = 0; i < n; i++) {
		buf_puts(b, " +");
		for (const char *s = v[i]; *s != '\0'; s++)
			buf_putc(b, (char)tolower(*s));
	}
}

static void
redis_put_key(struct buf *b, const char *may, const char *key)
{
	buf_printf(b, " %s~", may);
	for (const char *s = key; *s != '\0'; s++)
		if (*s == '#') {
			buf_puts(b, "b????");
		} else if (*s == '%' && s[strspn(s, "%:0123456789")] == '\0') {
			/* Redis tries each place for a star, but the last. */
			buf_putc(b, '*');
			return;
		} else {
			buf_putc(b, *s == '%' ? '*' : *s);
		}
	/* Such a key is a prefix. */
	if (key[0] != '\0' && key[strlen(key) - 1] == ':')
		buf_putc(b, '*');
}

static bool
redis_is_user(const json_t *rows, const char *who)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e)
		if (gen_lists(e, "read", who) || gen_lists(e, "write", who))
			return true;
	return false;
}

static void
redis_put_user(struct buf *b, const json_t *rows, const char *who)
{
	size_t i;
	json_t *e;
	buf_printf(b, "user %s reset on " BASE, who);
	redis_put_commands(b, rows, who);
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e) {
		if (gen_lists(e, "write", who))
			redis_put_key(b, "", gen_of(e, "key"));
		else if (gen_lists(e, "read", who))
			redis_put_key(b, "%R", gen_of(e, "key"));
	}
	buf_puts(b, " (+evalsha ~soul:*)\n");
}

void
gen_redis_rights(struct gen *g, struct buf *b)
{
	const json_t *rows = json_object_get(g->iface, "redis");
	size_t i;
	json_t *e;
	buf_puts(b, redis_intro);
	buf_puts(b, "user default reset off allcommands allkeys allchannels\n");
	json_array_foreach (json_object_get(g->iface, "peers"), i, e)
		if (redis_is_user(rows, gen_of(e, "name")))
			redis_put_user(b, rows, gen_of(e, "name"));
	buf_puts(b, redis_migrate);
	/* Health checks, and the log of denied commands. */
	buf_puts(b,
	    "user operator reset on +ping +info +acl|log +acl|whoami "
	    "+client|list +slowlog|get\n");
}

/* ---- acl ---- */

/*
 * mosquitto.acl, mosquitto-services.acl: read and write rights of topics at the
 * broker.
 */

/* As shipped; see the head of the files. */
#define PREFIX "soul"

static const char acl_head[] =
    "# Generated from proto-schemas/interfaces.json by make docs; do not "
    "edit.\n"
    "# With another MQTT_TOPIC_PREFIX than soul, a/b for one:\n"
    "#\n"
    "#\tsed 's,soul/terminal/,a/b/terminal/,' %s\n"
    "#\n";

/* The topic of an entry, with terminal for its terminal. */
static void
acl_put_topic(struct buf *b, const json_t *e, const char *terminal)
{
	const char *s = gen_of(e, "topic");
	while (*s != '\0') {
		size_t n = strcspn(s, "{");
		buf_put(b, s, n);
		s += n;
		if (*s != '{')
			break;
		if (strncmp(s, "{prefix}", 8) == 0)
			buf_puts(b, PREFIX);
		else if (strncmp(s, "{terminal}", 10) == 0)
			buf_puts(b, terminal);
		else
			buf_putc(b, '+');
		s = strchr(s, '}') + 1;
	}
	buf_putc(b, '\n');
}

static void
acl_put_rights(const struct gen *g, struct buf *b, const char *from,
    const char *right, const char *terminal)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(g->iface, "mqtt"), i, e)
		if (strcmp(gen_of(e, "from"), from) == 0) {
			buf_puts(b, right);
			acl_put_topic(b, e, terminal);
		}
}

void
gen_acl_bodies(struct gen *g, struct buf *b)
{
	buf_printf(b, acl_head, "mosquitto.acl");
	buf_puts(b,
	    "# For the listeners of terminals.  The user is the terminal id: "
	    "it publishes\n# its own reports and receives its own commands.\n");
	acl_put_rights(g, b, "body", "pattern write ", "%u");
	acl_put_rights(g, b, "server", "pattern read ", "%u");
}

void
gen_acl_services(struct gen *g, struct buf *b)
{
	buf_printf(b, acl_head, "mosquitto-services.acl");
	buf_puts(b,
	    "# For the listener of services.  The bridge receives all reports "
	    "and sends commands;\n# it writes to report topics to clear "
	    "retained messages.  The user health\n# reads the broker's "
	    "uptime.\n"
	    "user mqtt-bridge\n");
	acl_put_rights(g, b, "body", "topic readwrite ", "+");
	acl_put_rights(g, b, "server", "topic write ", "+");
	buf_puts(b, "\nuser health\ntopic read $SYS/broker/uptime\n");
}
