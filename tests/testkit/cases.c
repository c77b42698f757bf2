#include "testkit/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define CASE_MAX ((size_t)1 << 20)

static struct str
case_copy(struct str s)
{
	char *p = mem_alloc(s.n + 1);

	memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return (struct str){ p, s.n };
}

static struct str
case_bytes(const json_t *j)
{
	struct buf b = BUF_INIT(CASE_MAX);
	const char *text = json_string_value(json_object_get(j, "text"));
	struct str s;

	if (json_object_get(j, "data") != NULL) {
		char *p = json_dumps(
		    json_object_get(j, "data"), JSON_COMPACT | JSON_ENCODE_ANY);
		s = case_copy(str_of(p));
		free(p);
	} else if (text != NULL) {
		s = case_copy(str_of(text));
	} else {
		text = json_string_value(json_object_get(j, "base64"));
		ck_assert_ptr_nonnull(text);
		ck_assert_int_eq(base64_decode(str_of(text), &b), RC_OK);
		s = case_copy(buf_str(&b));
		buf_free(&b);
	}
	return s;
}

void
tk_cases_load(struct tk_cases *c, const char *message)
{
	char path[256];
	json_error_t e;
	json_t *j;
	size_t i;

	(void)snprintf(path, sizeof(path), TK_CASES_DIR "/%s.json", message);
	c->list = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
	ck_assert_msg(c->list != NULL, "%s: %s", path, e.text);
	c->n = json_array_size(c->list);
	ck_assert_msg(c->n > 0, "%s: no case", path);
	c->v = mem_zalloc(c->n * sizeof(*c->v));
	json_array_foreach (c->list, i, j) {
		struct tk_case *k = &c->v[i];
		const json_t *valid = json_object_get(j, "valid");

		k->description =
		    json_string_value(json_object_get(j, "description"));
		k->path = json_string_value(json_object_get(j, "path"));
		k->reason = json_string_value(json_object_get(j, "reason"));
		k->data = json_object_get(j, "data");
		k->valid = json_is_true(valid);
		ck_assert_msg(k->description != NULL &&
			json_is_boolean(valid) && k->valid == (k->path == NULL),
		    "%s: case %zu: a case has a description, valid, and an "
		    "invalid one a path",
		    path, i);
		k->bytes = case_bytes(j);
	}
}

void
tk_cases_free(struct tk_cases *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free((void *)(uintptr_t)c->v[i].bytes.p);
	free(c->v);
	json_decref(c->list);
}

json_t *
tk_case_data(const char *message, const char *description)
{
	struct tk_cases c;
	json_t *j = NULL;
	size_t i;

	tk_cases_load(&c, message);
	for (i = 0; i < c.n && j == NULL; i++)
		if (strcmp(c.v[i].description, description) == 0 &&
		    c.v[i].data != NULL)
			j = json_deep_copy(c.v[i].data);
	ck_assert_msg(
	    j != NULL, "%s has no case \"%s\" with data", message, description);
	tk_cases_free(&c);
	return j;
}
