/*
 * The JSON-Schema-Test-Suite, from Debian's json-schema-test-suite: every case
 * of draft-07 and of draft-06, which draft-07 only adds to, outside optional/,
 * and the cases of optional/ about numbers.
 *
 * Groups that cannot pass are listed with the reason. A listed group must
 * contain a failing case, and each row must name a group.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "wire/schema.h"

#define SUITE "/usr/share/json-schema-test-suite/tests/"

struct skip {
	const char *file;
	const char *group; /* NULL: all groups of the file */
	const char *why;
};

struct counts {
	size_t files, groups, cases, skipped;
	unsigned used; /* bit i: row i of the skip list was needed */
};

#define REMOTE "fetches another document"
#define META6  "refers to draft-06's meta-schema, draft-07's is built in"

static const struct skip draft7_skips[] = {
	{ "refRemote.json", NULL, REMOTE },
};
static const struct skip draft6_skips[] = {
	{ "refRemote.json", NULL, REMOTE },
	{ "definitions.json", "valid definition", META6 },
	{ "definitions.json", "invalid definition", META6 },
	{ "ref.json", "remote ref, containing refs itself", META6 },
};
static char *
text_of(const json_t *v)
{
	char *s = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	ck_assert_ptr_nonnull(s);
	return s;
}

/*
 * Whether the verdict is that of the suite; otherwise why has the difference.
 */
static bool
right(struct wire_schema *s, const json_t *test, char *why, size_t size)
{
	struct wire_err err = { "", "" };
	char *data = text_of(json_object_get(test, "data"));
	bool valid = json_is_true(json_object_get(test, "valid"));
	enum rc rc = wire_schema_check(s, str_of(data), &err);
	bool ok =
	    rc == (valid ? RC_OK : RC_INVALID) && (valid || err.why[0] != '\0');
	if (!ok)
		(void)snprintf(why, size, "%s: %s: %s %s: %s",
		    json_string_value(json_object_get(test, "description")),
		    data, rc_name(rc), err.path, err.why);
	free(data);
	return ok;
}

/* The number of failing cases of a group; why has the last one. */
static size_t
run_group(const json_t *group, struct counts *n, char *why, size_t size)
{
	const json_t *tests = json_object_get(group, "tests");
	char *schema = text_of(json_object_get(group, "schema"));
	struct wire_schema *s = NULL;
	struct wire_err err = { "", "" };
	size_t wrong = 0;
	enum rc rc = wire_schema_new(str_of(schema), &s, &err);
	free(schema);
	n->groups++;
	n->cases += json_array_size(tests);
	if (rc != RC_OK) {
		(void)snprintf(
		    why, size, "does not compile: %s: %s", err.path, err.why);
		return json_array_size(tests);
	}
	for (size_t i = 0; i < json_array_size(tests); i++)
		wrong += !right(s, json_array_get(tests, i), why, size);
	wire_schema_free(s);
	return wrong;
}

static const struct skip *
find_skip(
    const struct skip *skips, size_t n, const char *file, const char *group)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(skips[i].file, file) == 0 &&
		    (skips[i].group == NULL ||
			strcmp(skips[i].group, group) == 0))
			return &skips[i];
	}
	return NULL;
}

static void
run_file(const char *dir, const char *file, const struct skip *skips,
    size_t n_skips, struct counts *n)
{
	char path[300];
	char why[1000];
	(void)snprintf(path, sizeof(path), SUITE "%s/%s", dir, file);
	json_t *groups = json_load_file(path, 0, NULL);
	if (groups == NULL) /* integers beyond 64 bits */
		groups = json_load_file(path, JSON_DECODE_INT_AS_REAL, NULL);
	ck_assert_msg(groups != NULL, "%s cannot be read", path);
	n->files++;
	for (size_t i = 0; i < json_array_size(groups); i++) {
		const json_t *group = json_array_get(groups, i);
		const char *name =
		    json_string_value(json_object_get(group, "description"));
		const struct skip *skip = find_skip(skips, n_skips, file, name);
		size_t cases = n->cases;
		size_t wrong = run_group(group, n, why, sizeof(why));
		if (skip == NULL) {
			ck_assert_msg(
			    wrong == 0, "%s: %s: %s", file, name, why);
			continue;
		}
		ck_assert_msg(wrong > 0,
		    "%s: %s passes; it must leave the list", file, name);
		n->skipped += n->cases - cases;
		n->used |= 1U << (skip - skips);
		printf("  skipped: %s: %s (%s)\n", file, name, skip->why);
	}
	json_decref(groups);
}

static void
report(const char *what, const struct counts *n, size_t n_skips)
{
	printf("%s: %zu files, %zu groups, %zu cases: %zu right, %zu skipped\n",
	    what, n->files, n->groups, n->cases, n->cases - n->skipped,
	    n->skipped);
	ck_assert_msg(n->used == (1U << n_skips) - 1,
	    "a row of the skip list names nothing");
}

static int
is_json(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static void
run_required(const char *dir, const struct skip *skips, size_t n_skips,
    size_t least_cases)
{
	struct counts n = { 0 };
	struct dirent **list;
	char path[200];
	(void)snprintf(path, sizeof(path), SUITE "%s", dir);
	int files = scandir(path, &list, is_json, alphasort);
	ck_assert_msg(files > 0, "%s is not there", path);
	for (int i = 0; i < files; i++) {
		run_file(dir, list[i]->d_name, skips, n_skips, &n);
		free(list[i]);
	}
	free(list);
	report(dir, &n, n_skips);
	ck_assert_msg(n.cases >= least_cases, "only %zu cases", n.cases);
}

TEST(required_cases_of_draft_7)
{
	run_required("draft7", draft7_skips, NELEM(draft7_skips), 400);
}

TEST(required_cases_of_draft_6)
{
	run_required("draft6", draft6_skips, NELEM(draft6_skips), 350);
}

TEST(optional_cases_about_numbers)
{
	struct counts n = { 0 };
	run_file("draft7", "optional/bignum.json", NULL, 0, &n);
	run_file("draft7", "optional/zeroTerminatedFloats.json", NULL, 0, &n);
	report("optional", &n, 0);
}
