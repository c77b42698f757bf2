/*
 * The examples in proto-schemas/examples: ok-* are taken and survive, bad-*
 * are refused where their .err says.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>

#include "codec.h"
#include "wire/desc.h"

#define EXAMPLES "proto-schemas/examples"

static json_t *
parse(struct str text, const char *path)
{
	json_t *v = json_loadb(
	    text.p, text.n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(v != NULL, "%s: is not JSON", path);
	return v;
}

static void same_object(const struct wire_desc *d, const json_t *a,
    const json_t *b, const char *path);

/* That b is a, as far as the schema knows a. */
static void
same_value(const struct wire_type *t, const json_t *a, const json_t *b,
    const char *path)
{
	if (t->kind == WIRE_OBJECT) {
		same_object(t->object, a, b, path);
	} else if (t->kind == WIRE_ARRAY) {
		ck_assert_msg(json_array_size(a) == json_array_size(b),
		    "%s: an array has another length", path);
		for (size_t i = 0; i < json_array_size(a); i++)
			same_value(t->elem, json_array_get(a, i),
			    json_array_get(b, i), path);
	} else if (t->kind == WIRE_I64 || t->kind == WIRE_F64) {
		ck_assert_msg(json_number_value(a) == json_number_value(b),
		    "%s: a number changed", path);
	} else {
		ck_assert_msg(json_equal(a, b), "%s: a value changed", path);
	}
}

static void
same_object(const struct wire_desc *d, const json_t *a, const json_t *b,
    const char *path)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];
		const json_t *old = json_object_get(a, f->name.p);
		const json_t *new = json_object_get(b, f->name.p);
		if (old == NULL ||
		    (json_is_null(old) && (f->flags & WIRE_REQUIRED) == 0))
			continue;
		ck_assert_msg(new != NULL, "%s: %s is lost", path, f->name.p);
		same_value(&f->type, old, new, path);
	}
}

static void
check_same(const struct wire_desc *d, struct str old, struct str again,
    const char *path)
{
	if ((d->flags & WIRE_TEXT) != 0) {
		ck_assert_msg(str_eq_nocase(str_trim(old), again),
		    "%s: the text changed", path);
		return;
	}
	json_t *a = parse(old, path);
	json_t *b = parse(again, path);
	if (json_is_array(a))
		same_value(&d->fields[d->list].type, a,
		    json_object_get(b, d->fields[d->list].name.p), path);
	else
		same_object(d, a, b, path);
	json_decref(a);
	json_decref(b);
}

static void
check_ok(const struct wire_desc *d, struct str text, const char *path)
{
	struct codec first;
	struct codec second;
	codec_both(&first, d, text);
	ck_assert_msg(first.rc == RC_OK, "%s: %s: %s", path, first.err.path,
	    first.err.why);
	check_same(d, text, buf_str(&first.out), path);
	codec_both(&second, d, buf_str(&first.out));
	ck_assert_msg(second.rc == RC_OK, "%s: written again: %s: %s", path,
	    second.err.path, second.err.why);
	ck_assert_str_eq(first.out.p, second.out.p);
	codec_free(&first);
	codec_free(&second);
}

static void
check_bad(const struct wire_desc *d, struct str text, const char *path)
{
	struct codec c;
	char name[512];
	size_t n;
	(void)snprintf(name, sizeof(name), "%.*s.err",
	    (int)(strrchr(path, '.') - path), path);
	char *err = tk_read_file(name, &n);
	struct str rest = { err, n };
	struct str at = str_split(&rest, '\n');
	struct str why = str_split(&rest, '\n');
	codec_read(&c, d, text);
	ck_assert_msg(c.rc != RC_OK, "%s: was taken", path);
	ck_assert_msg(str_eq(at, str_of(c.err.path)),
	    "%s: refused at \"%s\" (%s), not \"%.*s\"", path, c.err.path,
	    c.err.why, STR_ARG(at));
	ck_assert_msg(why.n == 0 || str_find(str_of(c.err.why), why) >= 0,
	    "%s: refused for \"%s\", not \"%.*s\"", path, c.err.why,
	    STR_ARG(why));
	codec_free(&c);
	free(err);
}

/* Every example of d in its folder that is called like pattern; how many. */
static size_t
each(const struct wire_desc *d, const char *pattern,
    void (*check)(const struct wire_desc *, struct str, const char *))
{
	char path[512];
	size_t n = 0;
	(void)snprintf(path, sizeof(path), EXAMPLES "/%s", wire_desc_name(d));
	DIR *dir = opendir(path);
	if (dir == NULL)
		return 0;
	const struct dirent *e;
	while ((e = readdir(dir)) != NULL) {
		if (fnmatch(pattern, e->d_name, 0) != 0)
			continue;
		(void)snprintf(path, sizeof(path), EXAMPLES "/%s/%s",
		    wire_desc_name(d), e->d_name);
		struct str text;
		char *p = tk_read_file(path, &text.n);
		text.p = p;
		check(d, text, path);
		free(p);
		n++;
	}
	(void)closedir(dir);
	return n;
}

static const char *
suffix(const struct wire_desc *d)
{
	return (d->flags & WIRE_TEXT) != 0 ? "txt" : "json";
}

TEST(good_examples_survive)
{
	const struct wire_desc *d;
	for (size_t i = 0; (d = wire_desc_at(i)) != NULL; i++) {
		char pattern[16];
		(void)snprintf(pattern, sizeof(pattern), "ok-*.%s", suffix(d));
		ck_assert_msg(each(d, pattern, check_ok) > 0,
		    "%s has no ok- example", wire_desc_name(d));
	}
}

TEST(bad_examples_are_refused_where_they_say)
{
	const struct wire_desc *d;
	for (size_t i = 0; (d = wire_desc_at(i)) != NULL; i++) {
		char pattern[16];
		(void)snprintf(pattern, sizeof(pattern), "bad-*.%s", suffix(d));
		ck_assert_msg(each(d, pattern, check_bad) > 0,
		    "%s has no bad- example", wire_desc_name(d));
	}
}

static void
check_name(const struct wire_desc *d, struct str text, const char *path)
{
	char pattern[32];
	const char *base = strrchr(path, '/') + 1;
	(void)d;
	(void)text;
	(void)snprintf(pattern, sizeof(pattern), "ok-*.%s", suffix(d));
	if (base[0] == '.' || fnmatch(pattern, base, 0) == 0)
		return;
	(void)snprintf(pattern, sizeof(pattern), "bad-*.%s", suffix(d));
	ck_assert_msg(fnmatch(pattern, base, 0) == 0 ||
		fnmatch("bad-*.err", base, 0) == 0,
	    "%s is no example", path);
}

TEST(every_example_belongs_to_a_message)
{
	DIR *dir = opendir(EXAMPLES);
	ck_assert_msg(
	    dir != NULL, "%s: run this from the repository's root", EXAMPLES);
	const struct dirent *e;
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		const struct wire_desc *d = wire_desc_find(str_of(e->d_name));
		ck_assert_msg(
		    d != NULL, EXAMPLES "/%s is no message", e->d_name);
		(void)each(d, "[!.]*", check_name);
	}
	(void)closedir(dir);
}
