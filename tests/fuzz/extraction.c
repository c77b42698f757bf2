/*
 * Completions of a model asked for a summary: what is extracted is within the
 * limits, and nothing is extracted without a statement of the user. The input
 * is the user's text, an empty line, and the completion.
 */
#include "summary/extraction.h"

#include "must.h"
#include "summary/summary_prompt.h"
#include "wire/tree.h"

#define ARENA_MAX (4UL * 1024 * 1024)
#define KNOWN     3

static void
check_text(struct str s, size_t max)
{
	must(s.n > 0);
	must(str_utf8_count(s) > 0 && str_utf8_count(s) <= (ptrdiff_t)max);
}

static void
check_profile(struct str json)
{
	const struct wire_tree *inner;
	struct wire_tree *v;

	must(json.n <= EXTRACTION_PROFILE_MAX);
	must(wire_tree_parse(json, &v) == RC_OK);
	inner = wire_tree_get(v, STR("user_profile"));
	must(wire_tree_kind(inner) == WIRE_TREE_OBJECT);
	must(wire_tree_len(v) == 1 && wire_tree_len(inner) > 0);
	wire_tree_free(v);
}

static void
check(const struct extraction *e, const struct memory_policy *policy)
{
	size_t i, k;

	must(e->n <= EXTRACTION_MAX);
	must(policy->stated.n > 0 || (e->n == 0 && e->profile.p == NULL));
	for (i = 0; i < e->n; i++) {
		const struct extraction_memory *m = &e->memory[i];

		check_text(m->text, SUMMARY_LINE_MAX);
		must(m->n_replaces <= EXTRACTION_REPLACES_MAX);
		for (k = 0; k < m->n_replaces; k++)
			must(m->replaces[k] < KNOWN);
		must(m->n_tags <= EXTRACTION_TAGS_MAX);
		for (k = 0; k < m->n_tags; k++)
			check_text(m->tags[k], EXTRACTION_TAG_MAX);
	}
	if (e->profile.p != NULL)
		check_profile(e->profile);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str all = { (const char *)data, n }, text = all, answer = all;
	ptrdiff_t at = str_find(all, STR("\n\n"));
	struct buf stated = BUF_INIT(1UL << 20);
	struct arena *a = arena_new(ARENA_MAX);
	struct memory_policy policy = { { NULL, 0 }, { NULL, 0 }, NULL, 0 };
	struct extraction e;

	if (at >= 0) {
		text.n = (size_t)at;
		answer.p += at + 2;
		answer.n -= (size_t)at + 2;
	}
	memory_policy_statements(text, &stated);
	policy.stated = buf_str(&stated);
	policy.recalled = text;
	policy.forgotten = &text;
	policy.n_forgotten = n > 0 && data[0] % 2;
	if (extraction_read(answer, &policy, KNOWN, a, &e) == RC_OK)
		check(&e, &policy);
	buf_free(&stated);
	arena_free(a);
	return 0;
}
