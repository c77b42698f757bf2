/*
 * Wanted members of a line beside jansson, which allows repeated members: both
 * accept the same texts, unless a member on the way to a wanted one is
 * repeated, and find the same values.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "must.h"
#include "wire/slice.h"
#include "wire/wire.h"

static const char *const paths[] = { "a", "b.c", "b.d.e", "type", "item",
	"item.id", "\xe4\xbd\xa0" };

/* Nesting of brackets outside of strings, of a text that jansson accepts. */
static size_t
paths_depth(struct str s)
{
	size_t depth = 0, most = 0;
	bool in_string = false;

	for (size_t i = 0; i < s.n; i++) {
		if (in_string && s.p[i] == '\\')
			i++;
		else if (s.p[i] == '"')
			in_string = !in_string;
		else if (!in_string && (s.p[i] == '{' || s.p[i] == '['))
			most = ++depth > most ? depth : most;
		else if (!in_string && (s.p[i] == '}' || s.p[i] == ']'))
			depth--;
	}
	return most;
}

static json_t *
paths_parse(struct str s)
{
	return json_loadb(s.p, s.n, JSON_DECODE_ANY, NULL);
}

/* The value of a path, as jansson sees it; NULL: none. */
static const json_t *
paths_value(const json_t *v, const char *path)
{
	struct str rest = str_of(path);

	while (rest.p != NULL && v != NULL) {
		struct str key = str_split(&rest, '.');

		v = json_is_object(v) ? json_object_getn(v, key.p, key.n)
				      : NULL;
	}
	return v;
}

static void
paths_check_value(const struct wire_found *f, const json_t *want)
{
	struct buf text = BUF_INIT(1024UL * 1024);
	json_t *v;

	must((f->value.p == NULL) == (want == NULL));
	if (want == NULL)
		return;
	v = paths_parse(f->value);
	must(v != NULL && json_equal(v, want));
	must(wire_found_is_text(f) == json_is_string(want));
	wire_found_put(f, &text);
	if (json_is_string(want))
		must(str_eq(buf_str(&text),
		    (struct str){
			json_string_value(want), json_string_length(want) }));
	else
		must(text.n == 0);
	buf_free(&text);
	json_decref(v);
}

/* Rejected though jansson accepts it: it is too deep, or a member is repeated.
 */
static void
paths_check_rejected(struct str text)
{
	json_t *strict;

	if (paths_depth(text) > WIRE_DEPTH_MAX)
		return;
	strict = json_loadb(
	    text.p, text.n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	must(strict == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct wire_paths *table;
	struct wire_found found[NELEM(paths)];
	/* A separate copy, so that a sanitizer sees a read past its end. */
	char *copy = mem_alloc(n > 0 ? n : 1);
	struct str text = { copy, n }, rest = text, line;
	json_t *v;
	enum rc rc;

	if (table == NULL)
		table = wire_paths_new(paths, NELEM(paths));
	memcpy(copy, data, n);
	v = paths_parse(text);
	rc = wire_slice_paths(table, text, found);
	must(rc == RC_OK || rc == RC_INVALID);
	must(rc != RC_OK || v != NULL);
	/* jansson takes a NUL as the end of the text. */
	if (n > 0 && memchr(copy, '\0', n) != NULL) {
		must(rc == RC_INVALID);
		json_decref(v);
		v = NULL;
	}
	if (rc == RC_OK) {
		for (size_t i = 0; i < NELEM(paths); i++)
			paths_check_value(&found[i], paths_value(v, paths[i]));
	} else if (v != NULL) {
		paths_check_rejected(text);
	}
	/* Lines are what is between their ends. */
	while (wire_line_next(&rest, &line))
		must(memchr(line.p, '\n', line.n) == NULL);
	must(rest.n == 0 || memchr(rest.p, '\n', rest.n) == NULL);
	json_decref(v);
	free(copy);
	return 0;
}
