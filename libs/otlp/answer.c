/*
 * Statuses and partial success.
 */
#include "otlp/otlp_internal.h"

#include <stdint.h>
#include <string.h>

#include "wire/tree.h"

static enum otlp_fate
fate_of(enum rc rc, int status)
{
	if (status >= 200 && status <= 299)
		return OTLP_TAKEN;
	if (status == 429 || (status >= 502 && status <= 504))
		return OTLP_RETRY;
	if (rc == RC_DOWN || rc == RC_TIMEOUT)
		return OTLP_RETRY;
	return OTLP_REFUSED;
}

/* An int64 is a text in this JSON, but some write a number. */
static size_t
count_of(const struct wire_tree *v, size_t max)
{
	double f = wire_tree_number(v);
	int64_t n;

	if (str_to_i64(wire_tree_text(v), 0, INT64_MAX, &n) == RC_OK)
		f = (double)n;
	if (!(f > 0))
		return 0;
	return f < (double)max ? (size_t)f : max;
}

void
otlp_answer_read(
    enum rc rc, int status, struct str body, size_t n, struct otlp_answer *out)
{
	struct wire_tree *tree;

	memset(out, 0, sizeof(*out));
	out->fate = fate_of(rc, status);
	if (out->fate != OTLP_TAKEN || wire_tree_parse(body, &tree) != RC_OK)
		return;
	const struct wire_tree *partial =
	    wire_tree_get(tree, STR("partialSuccess"));
	out->rejected =
	    count_of(wire_tree_get(partial, STR("rejectedSpans")), n);
	str_copy(wire_tree_text(wire_tree_get(partial, STR("errorMessage"))),
	    out->text, sizeof(out->text));
	wire_tree_free(tree);
}
