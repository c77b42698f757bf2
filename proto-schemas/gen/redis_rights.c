/*
 * redis-users.acl: which keys and commands each service may use.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

static const char intro[] =
    "# Which keys and commands each service may use in Redis.  Generated from\n"
    "# proto-schemas/interfaces.json by `make docs`; do not edit.\n"
    "#\n"
    "# Nobody has a password here, so nobody may come in: add \" #<SHA-256 of "
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
    "# Nobody is the user default.  But Redis reads its append-only file as "
    "him, and\n"
    "# loses each transaction in it that he may not: he may do all.\n";

/* Commands that do no more than begin. */
#define BASE "+ping +select +client|setname +script|load +time"

static bool
has(char *const *v, size_t n, const char *s)
{
	while (n > 0)
		if (strcmp(v[--n], s) == 0)
			return true;
	return false;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add the commands of a row's member to v, each once; how many there are. */
static size_t
collect(char ***v, size_t n, const json_t *row, const char *member)
{
	size_t i;
	json_t *e;
	json_array_foreach (json_object_get(row, member), i, e) {
		const char *s = json_string_value(e);
		if (has(*v, n, s))
			continue;
		*v = mem_realloc(*v, (n + 1) * sizeof(**v));
		(*v)[n++] = mem_strdup(s);
	}
	return n;
}

static void
put_commands(struct buf *b, const json_t *rows, const char *who)
{
	char **v = NULL;
	size_t i, n = 0;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e) {
		if (gen_lists(e, "read", who) || gen_lists(e, "write", who))
			n = collect(&v, n, e, "reads");
		if (gen_lists(e, "write", who))
			n = collect(&v, n, e, "writes");
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), by_text);
	for (i = 0; i < n; i++) {
		buf_puts(b, " +");
		for (const char *s = v[i]; *s != '\0'; s++)
			buf_putc(b, (char)tolower(*s));
	}
}

static void
put_key(struct buf *b, const char *may, const char *key)
{
	buf_printf(b, " %s~", may);
	for (const char *s = key; *s != '\0'; s++)
		buf_putc(b, *s == '%' ? '*' : *s);
	/* More follows such a key. */
	if (key[0] != '\0' && key[strlen(key) - 1] == ':')
		buf_putc(b, '*');
}

static bool
is_user(const json_t *rows, const char *who)
{
	size_t i;
	json_t *e;
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e)
		if (gen_lists(e, "read", who) || gen_lists(e, "write", who))
			return true;
	return false;
}

static void
put_user(struct buf *b, const json_t *rows, const char *who)
{
	size_t i;
	json_t *e;
	buf_printf(b, "user %s reset on " BASE, who);
	put_commands(b, rows, who);
	json_array_foreach ((json_t *)(uintptr_t)rows, i, e) {
		if (gen_lists(e, "write", who))
			put_key(b, "", gen_of(e, "key"));
		else if (gen_lists(e, "read", who))
			put_key(b, "%R", gen_of(e, "key"));
	}
	buf_puts(b, " (+evalsha ~soul:*)\n");
}

void
gen_redis_rights(struct gen *g, struct buf *b)
{
	const json_t *rows = json_object_get(g->iface, "redis");
	size_t i;
	json_t *e;
	buf_puts(b, intro);
	buf_puts(b, "user default reset off allcommands allkeys allchannels\n");
	json_array_foreach (json_object_get(g->iface, "peers"), i, e)
		if (is_user(rows, gen_of(e, "name")))
			put_user(b, rows, gen_of(e, "name"));
	/* Health checks, and a look at what was refused. */
	buf_puts(b,
	    "user operator reset on +ping +info +acl|log +acl|whoami "
	    "+client|list +slowlog|get\n");
}
