/*
 * Merge patches of profiles: their leaves are within the limits, and the
 * document that they form, read as a patch, has the same leaves.
 */
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "profile/profile_store.h"
#include "wire/tree.h"

#define ARENA_MAX (4UL * 1024 * 1024)
#define DOC_MAX   (4UL * 1024 * 1024)

static int
by_path(const void *a, const void *b)
{
	return str_cmp(((const struct profile_leaf *)a)->path,
	    ((const struct profile_leaf *)b)->path);
}

/* Sorted, without removals. */
static void
sort_leaves(struct profile_leaves *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		if (l->leaf[i].value.n > 0)
			l->leaf[n++] = l->leaf[i];
	l->n = n;
	qsort(l->leaf, n, sizeof(*l->leaf), by_path);
}

static void
check(const struct profile_leaves *l)
{
	struct wire_tree *v;
	size_t i;

	must(l->n <= PROFILE_LEAVES_MAX);
	for (i = 0; i < l->n; i++) {
		must(l->leaf[i].path.p[0] == '/');
		must(l->leaf[i].path.n <= PROFILE_PATH_MAX);
		must(l->leaf[i].value.n <= PROFILE_VALUE_MAX);
		if (l->leaf[i].value.n == 0)
			continue;
		must(wire_tree_parse(l->leaf[i].value, &v) == RC_OK);
		wire_tree_free(v);
	}
}

static void
write_doc(const struct profile_leaves *l, struct buf *out)
{
	buf_puts(out, "{\"" PROFILE_USER "\":");
	profile_doc_part(l, PROFILE_USER, out);
	buf_puts(out, ",\"" PROFILE_SYSTEM "\":");
	profile_doc_part(l, PROFILE_SYSTEM, out);
	buf_puts(out, "}");
	must(buf_rc(out) == RC_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str patch = { (const char *)data, n };
	struct arena *a = arena_new(ARENA_MAX);
	struct buf doc = BUF_INIT(DOC_MAX);
	struct profile_leaves l, second;
	struct wire_err err = { "", "" };
	size_t i;

	if (profile_doc_patch(patch, a, &l, &err) == RC_OK) {
		check(&l);
		sort_leaves(&l);
		write_doc(&l, &doc);
		must(profile_doc_patch(buf_str(&doc), a, &second, &err) ==
		    RC_OK);
		sort_leaves(&second);
		must(second.n == l.n);
		for (i = 0; i < l.n; i++) {
			must(str_eq(second.leaf[i].path, l.leaf[i].path));
			must(str_eq(second.leaf[i].value, l.leaf[i].value));
		}
	} else {
		must(err.why[0] != '\0');
	}
	buf_free(&doc);
	arena_free(a);
	return 0;
}
