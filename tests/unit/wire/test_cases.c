/*
 * The cases of proto-schemas/cases: a valid message is decoded and survives
 * encoding, an invalid one is rejected at its path. Messages with a missing
 * required member are derived from the valid ones.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>

#include "codec.h"
#include "testkit/cases.h"
#include "wire/desc.h"

static json_t *
case_parse(struct str text, const char *path)
{
	json_t *v = json_loadb(
	    text.p, text.n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(v != NULL, "%s: is not JSON", path);
	return v;
}

static void same_object(const struct wire_desc *d, const json_t *a,
    const json_t *b, const char *path);

/* Check that b equals a, as far as the schema covers a. */
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
check_same(const struct wire_desc *d, struct str before, struct str after,
    const char *path)
{
	if ((d->flags & WIRE_TEXT) != 0) {
		ck_assert_msg(str_eq_nocase(str_trim(before), after),
		    "%s: the text changed", path);
		return;
	}
	json_t *a = case_parse(before, path);
	json_t *b = case_parse(after, path);
	if (json_is_array(a))
		same_value(&d->fields[d->list].type, a,
		    json_object_get(b, d->fields[d->list].name.p), path);
	else
		same_object(d, a, b, path);
	json_decref(a);
	json_decref(b);
}

static void
check_valid(const struct wire_desc *d, struct str text, const char *what)
{
	struct codec first;
	struct codec second;
	codec_both(&first, d, text);
	ck_assert_msg(first.rc == RC_OK, "%s: %s: %s", what, first.err.path,
	    first.err.why);
	check_same(d, text, buf_str(&first.out), what);
	codec_both(&second, d, buf_str(&first.out));
	ck_assert_msg(second.rc == RC_OK, "%s: encoded a second time: %s: %s",
	    what, second.err.path, second.err.why);
	ck_assert_str_eq(first.out.p, second.out.p);
	codec_free(&first);
	codec_free(&second);
}

static void
check_invalid(
    const struct wire_desc *d, const struct tk_case *k, const char *what)
{
	struct codec c;
	codec_read(&c, d, k->bytes);
	ck_assert_msg(c.rc != RC_OK, "%s: was accepted", what);
	ck_assert_msg(strcmp(k->path, c.err.path) == 0,
	    "%s: rejected at \"%s\" (%s), not \"%s\"", what, c.err.path,
	    c.err.why, k->path);
	ck_assert_msg(k->reason == NULL || strstr(c.err.why, k->reason) != NULL,
	    "%s: rejected for \"%s\", not \"%s\"", what, c.err.why, k->reason);
	codec_free(&c);
}

TEST(each_case_has_its_verdict)
{
	const struct wire_desc *d;
	char what[256];
	size_t valid;
	size_t invalid;
	for (size_t i = 0; (d = wire_desc_at(i)) != NULL; i++) {
		struct tk_cases c;
		tk_cases_load(&c, wire_desc_name(d));
		valid = invalid = 0;
		for (size_t k = 0; k < c.n; k++) {
			(void)snprintf(what, sizeof(what), "%s: %s",
			    wire_desc_name(d), c.v[k].description);
			if (c.v[k].valid) {
				check_valid(d, c.v[k].bytes, what);
				valid++;
			} else {
				check_invalid(d, &c.v[k], what);
				invalid++;
			}
		}
		ck_assert_msg(valid > 0 && (invalid > 0 || d->required != 0),
		    "%s has no valid or no invalid case", wire_desc_name(d));
		tk_cases_free(&c);
	}
}

/* ---- required members ---- */

/* A message whose required members are removed one by one. */
struct missing {
	const struct wire_desc *d; /* of the message */
	json_t *whole;
	size_t n; /* messages that were rejected */
};

static void
missing_check(struct missing *m, const char *path)
{
	struct codec c;
	char *text = json_dumps(m->whole, JSON_COMPACT);
	codec_read(&c, m->d, str_of(text));
	ck_assert_msg(c.rc != RC_OK, "%s without %s was accepted",
	    wire_desc_name(m->d), path);
	ck_assert_msg(strcmp(c.err.path, path) == 0,
	    "%s without %s: rejected at %s (%s)", wire_desc_name(m->d), path,
	    c.err.path, c.err.why);
	codec_free(&c);
	free(text);
	m->n++;
}

static void missing_in_object(
    struct missing *m, const struct wire_desc *d, json_t *j, const char *path);

static void
missing_in_value(
    struct missing *m, const struct wire_type *t, json_t *j, const char *path)
{
	char elem[512];
	if (t->kind == WIRE_OBJECT && json_is_object(j))
		missing_in_object(m, t->object, j, path);
	if (t->kind != WIRE_ARRAY)
		return;
	for (size_t i = 0; i < json_array_size(j); i++) {
		(void)snprintf(elem, sizeof(elem), "%s/%zu", path, i);
		missing_in_value(m, t->elem, json_array_get(j, i), elem);
	}
}

static void
missing_in_object(
    struct missing *m, const struct wire_desc *d, json_t *j, const char *path)
{
	char at[512];
	for (uint32_t i = 0; i < d->n; i++) {
		const struct wire_field *f = &d->fields[i];
		json_t *v = json_incref(json_object_get(j, f->name.p));
		(void)snprintf(at, sizeof(at), "%s/%s", path, f->name.p);
		if (v == NULL)
			continue;
		if ((f->flags & WIRE_REQUIRED) != 0) {
			/* Its position among the members does not matter. */
			ck_assert_int_eq(json_object_del(j, f->name.p), 0);
			missing_check(m, at);
			json_object_set(j, f->name.p, v);
		}
		missing_in_value(m, &f->type, v, at);
		json_decref(v);
	}
}

TEST(a_message_without_a_required_member_is_rejected_at_its_path)
{
	const struct wire_desc *d;
	size_t n = 0;
	for (size_t i = 0; (d = wire_desc_at(i)) != NULL; i++) {
		struct tk_cases c;
		if ((d->flags & WIRE_TEXT) != 0)
			continue;
		tk_cases_load(&c, wire_desc_name(d));
		struct missing m = { .d = d };
		for (size_t k = 0; k < c.n; k++) {
			if (!c.v[k].valid || c.v[k].data == NULL ||
			    c.v[k].bytes.n > 10000)
				continue;
			m.whole = json_deep_copy(c.v[k].data);
			if (json_is_array(m.whole))
				missing_in_value(
				    &m, &d->fields[d->list].type, m.whole, "");
			else
				missing_in_object(&m, d, m.whole, "");
			json_decref(m.whole);
		}
		ck_assert_msg(m.n > 0 || d->required == 0,
		    "%s: no case has its required members", wire_desc_name(d));
		n += m.n;
		tk_cases_free(&c);
	}
	ck_assert_uint_gt(n, 500);
}

TEST(each_file_of_cases_belongs_to_a_message)
{
	DIR *dir = opendir(TK_CASES_DIR);
	ck_assert_msg(dir != NULL, "run this from the repository's root");
	const struct dirent *e;
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		struct str name = str_of(e->d_name);
		ck_assert_msg(str_ends(name, STR(".json")),
		    TK_CASES_DIR "/%s is not .json", e->d_name);
		name.n -= strlen(".json");
		ck_assert_msg(wire_desc_find(name) != NULL,
		    TK_CASES_DIR "/%s is no message", e->d_name);
	}
	(void)closedir(dir);
}
