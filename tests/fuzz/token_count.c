/*
 * Responses of models: however the bytes are divided, the tokens are the same
 * and within their limits; for JSON they are those that a parser finds; and a
 * key in them does not pass.
 */
#include "proxy/token_count.h"
#include "core/buf.h"
#include "must.h"
#include "proxy/key_filter.h"
#include "wire/tree.h"

#define KEY "aba"

static void
count(struct str s, size_t at, bool sse, struct tokens *out)
{
	struct token_count t;

	token_count_init(&t, sse);
	token_count_feed(&t, (struct str){ s.p, at });
	token_count_feed(&t, (struct str){ s.p + at, s.n - at });
	token_count_end(&t, 100, out);
	must(out->input >= 0 && out->output >= 0);
	must(out->input <= 4 * TOKEN_COUNT_MAX);
	must(out->output <= 4 * TOKEN_COUNT_MAX);
}

/* Of a response that is JSON: a whole number in its usage. */
static void
check_parsed(struct str s, const struct tokens *t)
{
	const struct wire_tree *v;
	struct wire_tree *tree;
	double n;

	if (memchr(s.p, '\\', s.n) != NULL ||
	    wire_tree_parse(s, &tree) != RC_OK)
		return;
	v = wire_tree_get(
	    wire_tree_get(tree, STR("usage")), STR("input_tokens"));
	n = wire_tree_number(v);
	if (wire_tree_kind(v) == WIRE_TREE_NUMBER && n >= 0 && n < 1e9 &&
	    str_find(s, STR(".")) < 0 && str_find(s, STR("e+")) < 0 &&
	    memchr(s.p, 'E', s.n) == NULL)
		must(!t->estimated && t->input >= (int64_t)n);
	wire_tree_free(tree);
}

static void
check_key(struct str s, size_t at)
{
	struct buf out = BUF_INIT(1 << 20);
	struct key_filter f;

	key_filter_init(&f, STR(KEY));
	key_filter_feed(&f, (struct str){ s.p, at }, &out);
	key_filter_feed(&f, (struct str){ s.p + at, s.n - at }, &out);
	key_filter_end(&f, &out);
	must(out.n == s.n && str_find(buf_str(&out), STR(KEY)) < 0);
	key_filter_free(&f);
	buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tokens whole, parts;
	struct str s;
	size_t at;
	bool sse;

	if (n < 2)
		return 0;
	sse = (bytes[0] & 1) != 0;
	s = (struct str){ (const char *)bytes + 2, n - 2 };
	at = bytes[1] % (s.n + 1);
	count(s, 0, sse, &whole);
	count(s, at, sse, &parts);
	must(whole.input == parts.input && whole.output == parts.output);
	must(whole.cached == parts.cached);
	must(whole.reasoning == parts.reasoning);
	must(whole.estimated == parts.estimated);
	if (!sse)
		check_parsed(s, &whole);
	check_key(s, at);
	return 0;
}
