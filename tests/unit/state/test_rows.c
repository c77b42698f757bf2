/*
 * The table of records in interfaces.json and the code say the same: every key
 * of keys.h is a row of it, and the commands of the rows are those that are
 * used.
 */
#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/testkit.h"

#define KEYS "libs/state/keys.h"

static json_t *
rows(void)
{
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);
	json_t *redis = json_incref(json_object_get(all, "redis"));

	ck_assert(json_is_array(redis));
	json_decref(all);
	return redis;
}

/* What follows "#define <name>" in keys.h; NULL: not defined. */
static const char *
defined(const char *header, const char *name, size_t n)
{
	const char *at = header;

	while ((at = strstr(at, "#define ")) != NULL) {
		at += strlen("#define ");
		if (strncmp(at, name, n) == 0 && isspace(at[n]))
			return at + n;
	}
	return NULL;
}

/* A macro's text: its literals, and those of the macros it uses. */
static void
expand(const char *header, const char *name, size_t n, char *dst, size_t size)
{
	const char *s = defined(header, name, n);
	size_t len;

	ck_assert_msg(s != NULL, "no %.*s", (int)n, name);
	while (*s != '\n') {
		if (strncmp(s, "\\\n", 2) == 0) {
			s += 2;
		} else if (*s == '"') {
			len = strcspn(++s, "\"");
			snprintf(dst + strlen(dst), size - strlen(dst), "%.*s",
			    (int)len, s);
			s += len + 1;
		} else if (isupper(*s)) {
			len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
			expand(header, s, len, dst, size);
			s += len;
		} else {
			/* A continued line. */
			s += s[0] == '\\' && s[1] == '\n' ? 2 : 1;
		}
	}
}

static bool
ends(const char *s, size_t n, const char *end)
{
	return n > strlen(end) &&
	    strncmp(s + n - strlen(end), end, strlen(end)) == 0;
}

static const json_t *
row_of(const json_t *list, const char *name, size_t n)
{
	size_t i, k;
	json_t *e;

	json_array_foreach ((json_t *)(uintptr_t)list, i, e) {
		const char *s = json_string_value(json_object_get(e, "name"));

		for (k = 0; k < n && toupper(s[k]) == name[k]; k++)
			;
		if (k == n && s[n] == '\0')
			return e;
	}
	return NULL;
}

/* The key of x_PRE and x_POST; false if there is a macro x. */
static bool
from_parts(
    const char *header, const char *pre, size_t n, char *dst, size_t size)
{
	char post[64];
	size_t stem = n - strlen("_PRE");

	if (defined(header, pre, stem) != NULL)
		return false;
	snprintf(post, sizeof(post), "%.*s_POST", (int)stem, pre);
	if (defined(header, post, strlen(post)) == NULL)
		return false;
	expand(header, pre, n, dst, size);
	snprintf(dst + strlen(dst), size - strlen(dst), "%%");
	expand(header, post, strlen(post), dst, size);
	return true;
}

/* Whether a row has this key, whatever its name. */
static bool
has_key(const json_t *list, const char *key)
{
	size_t i;
	json_t *e;

	json_array_foreach ((json_t *)(uintptr_t)list, i, e)
		if (strcmp(json_string_value(json_object_get(e, "key")), key) ==
		    0)
			return true;
	return false;
}

TEST(every_key_is_a_row_and_every_row_a_key)
{
	char *header = tk_read_file(KEYS, NULL), key[200];
	json_t *list = rows();
	const char *at = header;
	const json_t *row;
	size_t n, found = 0;

	while ((at = strstr(at, "#define KEY_")) != NULL) {
		at += strlen("#define ");
		n = strcspn(at, " \t");
		key[0] = '\0';
		if (ends(at, n, "_POST"))
			continue;
		if (ends(at, n, "_PRE")) {
			/* Of a key that only scripts compute. */
			if (!from_parts(header, at, n, key, sizeof(key)))
				continue;
			n -= strlen("_PRE");
			if (row_of(list, at + strlen("KEY_"),
				n - strlen("KEY_")) == NULL &&
			    has_key(list, key))
				continue;
		} else {
			expand(header, at, n, key, sizeof(key));
		}
		row = row_of(list, at + strlen("KEY_"), n - strlen("KEY_"));
		ck_assert_msg(row != NULL,
		    "%.*s (%s) is no row of \"redis\" in interfaces.json",
		    (int)n, at, key);
		ck_assert_str_eq(
		    json_string_value(json_object_get(row, "key")), key);
		found++;
	}
	ck_assert_uint_gt(found, 20);
	ck_assert_uint_eq(found, json_array_size(list));
	json_decref(list);
	free(header);
}

/* ---- commands ---- */

/* Add the command at s, "GET'" or "GET\"", to a set. */
static void
note(json_t *set, const char *s)
{
	char name[32];
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (n == 0 || (s[n] != '\'' && s[n] != '"'))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)n, s);
	json_object_set_new(set, name, json_true());
}

/* Add what follows each prefix in a file. */
static void
note_file(json_t *set, const char *path)
{
	static const char *const prefixes[] = { "call('", "[0] = STR(\"",
		"STATE_ARGS(STR(\"", "STATE_ARGS(\n\t\tSTR(\"" };
	char *text = tk_read_file(path, NULL);
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		for (at = text; (at = strstr(at, prefixes[i])) != NULL;) {
			at += strlen(prefixes[i]);
			note(set, at);
		}
	free(text);
}

/* All commands of libs/state, except those of connections. */
static json_t *
used(void)
{
	static const char *const begin[] = { "ASKING", "AUTH", "CLIENT",
		"CLUSTER", "DBSIZE", "EVALSHA", "PING", "ROLE", "SCAN",
		"SCRIPT", "SELECT", "SENTINEL", "TIME", "WAIT" };
	json_t *set = json_object();
	glob_t g;
	size_t i;

	ck_assert_int_eq(glob("libs/state/*.[ch]", 0, NULL, &g), 0);
	ck_assert_int_eq(
	    glob("libs/state/scripts/*.lua", GLOB_APPEND, NULL, &g), 0);
	for (i = 0; i < g.gl_pathc; i++)
		note_file(set, g.gl_pathv[i]);
	globfree(&g);
	for (i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		ck_assert_msg(json_object_del(set, begin[i]) == 0,
		    "%s was not found", begin[i]);
	return set;
}

TEST(the_commands_are_those_that_are_used)
{
	static const char *const of[] = { "reads", "writes" };
	json_t *list = rows(), *code = used(), *table = json_object(), *e, *c;
	const char *name;
	size_t i, k, m;

	json_array_foreach (list, i, e)
		for (k = 0; k < 2; k++)
			json_array_foreach (json_object_get(e, of[k]), m, c)
				json_object_set_new(
				    table, json_string_value(c), json_true());
	json_object_foreach (code, name, c)
		ck_assert_msg(json_object_get(table, name) != NULL,
		    "%s is used, but in no row of \"redis\"", name);
	json_object_foreach (table, name, c)
		ck_assert_msg(json_object_get(code, name) != NULL,
		    "%s is in a row of \"redis\", but not used", name);
	json_decref(table);
	json_decref(code);
	json_decref(list);
}

/* One part of two keys, between colons: an id may be any text but a colon. */
static bool
may_be_equal(const char *a, size_t n, const char *b, size_t m)
{
	if (memchr(a, '%', n) != NULL || memchr(b, '%', m) != NULL)
		return (*a == '{') == (*b == '{') || *a == '%' || *b == '%';
	return n == m && memcmp(a, b, n) == 0;
}

static bool
may_collide(const char *a, const char *b)
{
	for (;;) {
		size_t n = strcspn(a, ":"), m = strcspn(b, ":");

		if (!may_be_equal(a, n, b, m))
			return false;
		a += n;
		b += m;
		if (*a != *b || *a == '\0')
			return *a == *b;
		a++;
		b++;
	}
}

static const char *
key_at(const json_t *redis, size_t i)
{
	return json_string_value(
	    json_object_get(json_array_get(redis, i), "key"));
}

/* Whatever the ids are. */
TEST(no_key_is_that_of_another_row)
{
	json_t *redis = rows();
	size_t i, j;

	ck_assert(may_collide("soul:nav:{#}:%:%", "soul:nav:{#}:due:1"));
	ck_assert(may_collide("soul:a:{%}", "soul:a:{b}"));
	ck_assert(!may_collide("soul:a:{#}:%", "soul:a:{#}:%:1"));
	ck_assert(!may_collide("soul:a:{#}:%", "soul:b:{#}:%"));
	for (i = 0; i < json_array_size(redis); i++)
		for (j = i + 1; j < json_array_size(redis); j++) {
			const char *a = key_at(redis, i);
			const char *b = key_at(redis, j);

			ck_assert_msg(!may_collide(a, b), "%s may be %s", a, b);
		}
	json_decref(redis);
}
