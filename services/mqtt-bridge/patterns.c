/*
 * Compiling, for the answer alone.
 */
#include "patterns.h"

#include <stdio.h>

#include "core/clock.h"
#include "rx/rx.h"

struct check {
	struct budget budget;
	const char *where;
	size_t intent;
	struct wire_err *err;
};

static enum rc
compile(struct check *c, struct str pattern, const char *member, size_t i)
{
	struct wire_err *err = c->err;
	struct rx *rx = NULL;
	enum rc rc;

	rc = rx_new(pattern, RX_NOCASE, &rx, err->why, sizeof(err->why));
	rx_free(rx);
	if (rc == RC_OK && budget_over(&c->budget)) {
		(void)snprintf(err->why, sizeof(err->why),
		    "is where the patterns have taken too long to compile");
		rc = RC_TOOBIG;
	}
	if (rc != RC_OK)
		(void)snprintf(err->path, sizeof(err->path), "%s/%zu/%s/%zu%s",
		    c->where, c->intent, member, i,
		    member[0] == 's' ? "/regex" : "");
	return rc;
}

static enum rc
compile_list(
    struct check *c, const struct str *list, size_t n, const char *member)
{
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i++)
		rc = compile(c, list[i], member, i);
	return rc;
}

static enum rc
check_intent(struct check *c, const struct wire_intent *in)
{
	enum rc rc;
	size_t i;

	rc = compile_list(
	    c, in->match.regex_any, in->match.n_regex_any, "match/regex_any");
	if (rc == RC_OK)
		rc = compile_list(c, in->match.regex_all, in->match.n_regex_all,
		    "match/regex_all");
	for (i = 0; i < in->n_slots && rc == RC_OK; i++)
		if (in->slots[i].regex.p != NULL)
			rc = compile(c, in->slots[i].regex, "slots", i);
	return rc;
}

enum rc
patterns_check(const struct wire_intent *intents, size_t n, const char *where,
    struct wire_err *err)
{
	struct check c = { .where = where, .err = err };
	enum rc rc = RC_OK;

	budget_start(&c.budget, PATTERNS_MS * INT64_C(1000000));
	for (c.intent = 0; c.intent < n && rc == RC_OK; c.intent++)
		rc = check_intent(&c, &intents[c.intent]);
	return rc;
}
