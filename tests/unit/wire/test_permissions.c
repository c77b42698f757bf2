/*
 * interfaces.json and the code agree on publishers and subscribers: a service
 * names only the subjects and events of rows that name the service.
 */
#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/testkit.h"

/* All C files of a service, concatenated; freed by the caller. */
static char *
sources(const char *service)
{
	char pattern[128], *all = NULL, *text;
	FILE *f;
	size_t i, n;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "services/%s/*.[ch]", service);
	ck_assert_int_eq(glob(pattern, 0, NULL, &g), 0);
	snprintf(pattern, sizeof(pattern), "services/%s/*/*.[ch]", service);
	(void)glob(pattern, GLOB_APPEND, NULL, &g);
	f = open_memstream(&all, &n);
	ck_assert_ptr_nonnull(f);
	for (i = 0; i < g.gl_pathc; i++) {
		text = tk_read_file(g.gl_pathv[i], NULL);
		fputs(text, f);
		free(text);
	}
	fclose(f);
	globfree(&g);
	return all;
}

/* Whether text contains the word "<lead><NAME>". */
static bool
subjects_named(const char *text, const char *before, const char *name)
{
	char word[128];
	const char *at = text;
	size_t n = (size_t)snprintf(word, sizeof(word), "%s%s", before, name),
	       i;

	for (i = strlen(before); i < n; i++)
		word[i] = (char)toupper(word[i]);
	while ((at = strstr(at, word)) != NULL) {
		at += n;
		if (*at != '_' && !isalnum(*at))
			return true;
	}
	return false;
}

static const char *
of(const json_t *e, const char *member)
{
	return json_string_value(json_object_get(e, member));
}

static bool
lists(const json_t *e, const char *member, const char *s)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(e, member), i, v)
		if (strcmp(json_string_value(v), s) == 0)
			return true;
	return false;
}

/* One that consumes events names their types, too. */
static bool
consumes_events(const json_t *all, const char *service)
{
	size_t i;
	json_t *s;

	json_array_foreach (json_object_get(all, "streams"), i, s)
		if (strcmp(of(s, "holds"), "event") == 0 &&
		    lists(s, "consumers", service))
			return true;
	return false;
}

static void
check_subjects(const json_t *all, const char *service, const char *text)
{
	static const char *const prefixes[] = { "WIRE_SUBJECT_",
		"WIRE_SUBJECT_FMT_", "WIRE_SUBJECT_ALL_" };
	size_t i, k;
	json_t *e;

	json_array_foreach (json_object_get(all, "nats"), i, e)
		for (k = 0; k < sizeof(prefixes) / sizeof(*prefixes); k++)
			if (subjects_named(text, prefixes[k], of(e, "name")))
				ck_assert_msg(
				    strcmp(of(e, "owner"), service) == 0 ||
					lists(e, "from", service) ||
					lists(e, "also", service),
				    "%s uses the row %s, which does not name "
				    "it",
				    service, of(e, "name"));
	json_array_foreach (json_object_get(all, "events"), i, e) {
		bool publishes =
		    subjects_named(text, "WIRE_EVENT_", of(e, "type"));

		/* libs/svc audits rejections for services with HTTP. */
		if (strcmp(of(e, "type"), "audit") == 0)
			publishes = strstr(text, "svc_audit") != NULL ||
			    (strstr(text, ".http_addr = \"127.") != NULL &&
				strstr(text, ".no_bus = true") == NULL);
		if (strcmp(of(e, "type"), "system_notification") == 0)
			publishes = strstr(text, "svc_notify") != NULL;
		ck_assert_msg(publishes == lists(e, "from", service) ||
			(publishes && consumes_events(all, service)),
		    "%s and the event %s: code and \"from\" differ", service,
		    of(e, "type"));
	}
}

TEST(services_use_only_rows_that_name_them)
{
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);
	size_t i;
	json_t *e;
	char *text;

	ck_assert_uint_gt(json_array_size(json_object_get(all, "peers")), 5);
	json_array_foreach (json_object_get(all, "peers"), i, e) {
		text = sources(of(e, "name"));
		check_subjects(all, of(e, "name"), text);
		free(text);
	}
	json_decref(all);
}

/* Whether a literal of the code is a part of a template. */
static bool
matches(const char *literal, size_t n, const char *template)
{
	for (; n > 0 && *template != '\0'; literal++, n--) {
		if (*template == '{') {
			bool provider =
			    strncmp(template, "{provider}", 10) == 0;

			template = strchr(template, '}') + 1;
			if (n >= 2 && strncmp(literal, "%s", 2) == 0) {
				literal++;
				n--;
			} else if (provider) {
				/* A provider has its own name there. */
				for (; n > 1 && literal[1] != '.'; n--)
					literal++;
			} else if (*literal != '*') {
				return false;
			}
		} else if (*literal != *template ++) {
			return false;
		}
	}
	/* The rest of it may be appended after a token's dot. */
	return n == 0 && (*template == '\0' || literal[-1] == '.');
}

static void
check_literals(const json_t *all, const char *path)
{
	char *text = tk_read_file(path, NULL);
	const char *at = text;
	size_t i, n;
	json_t *e;

	while ((at = strstr(at, "\"soul.")) != NULL) {
		bool is = false;

		n = strcspn(++at, "\"");
		json_array_foreach (json_object_get(all, "nats"), i, e)
			is = is || matches(at, n, of(e, "subject")) ||
			    (of(e, "listens") != NULL &&
				matches(at, n, of(e, "listens")));
		/* Delivery subjects of streams; a WebSocket subprotocol; names
		 * of measurements. */
		is = is || strncmp(at, "soul.deliver.", 13) == 0 ||
		    strncmp(at, "soul.bearer.", 12) == 0 ||
		    memchr(at + 5, '.', n - 5) == NULL;
		ck_assert_msg(is, "%s: \"%.*s\" is no subject of the table",
		    path, (int)n, at);
	}
	free(text);
}

TEST(no_other_subject_stands_in_the_code)
{
	static const char *const where[] = { "libs/*/*.[ch]",
		"services/*/*.[ch]", "services/*/*/*.[ch]" };
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);
	glob_t g;
	size_t i, k;

	for (k = 0; k < sizeof(where) / sizeof(where[0]); k++) {
		ck_assert_int_eq(glob(where[k], 0, NULL, &g), 0);
		for (i = 0; i < g.gl_pathc; i++)
			check_literals(all, g.gl_pathv[i]);
		globfree(&g);
	}
	json_decref(all);
}
