#include "broker-plugin/topic_filter.h"

#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"

#define RULE STR("pattern read ")
#define USER STR("%u")

struct topic_filters {
	size_t n;
	struct str rules[TOPIC_FILTER_RULES_MAX]; /* point into text */
	char *text;
};

static bool
topic_has_level(struct str topic, struct str level)
{
	while (topic.p != NULL)
		if (str_eq(str_split(&topic, '/'), level))
			return true;
	return false;
}

static enum rc
topic_filter_add(struct topic_filters *f, struct str topic)
{
	if (!topic_has_level(topic, USER) || topic_has_level(topic, STR("#")))
		return RC_INVALID;
	if (f->n == TOPIC_FILTER_RULES_MAX)
		return RC_TOOBIG;
	f->rules[f->n++] = topic;
	return RC_OK;
}

enum rc
topic_filters_new(struct str text, struct topic_filters **out)
{
	struct topic_filters *f = mem_zalloc(sizeof(*f));
	enum rc rc = RC_OK;

	*out = NULL;
	f->text = str_dup(text);
	struct str rest = { f->text, text.n };
	while (rc == RC_OK && rest.p != NULL) {
		struct str line = str_trim(str_split(&rest, '\n'));
		if (str_starts(line, RULE))
			rc = topic_filter_add(f,
			    str_trim((struct str){
				line.p + RULE.n, line.n - RULE.n }));
	}
	if (rc == RC_OK && f->n == 0)
		rc = RC_NOENT;
	if (rc != RC_OK)
		topic_filters_free(f);
	else
		*out = f;
	return rc;
}

void
topic_filters_free(struct topic_filters *f)
{
	if (f == NULL)
		return;
	free(f->text);
	free(f);
}

/* Levels up to the user must be equal; after it, wildcards are allowed too. */
static bool
topic_filter_matches(struct str rule, struct str user, struct str filter)
{
	bool own = false;

	while (rule.p != NULL && filter.p != NULL) {
		struct str want = str_split(&rule, '/');
		struct str have = str_split(&filter, '/');
		if (str_eq(want, USER)) {
			if (!str_eq(have, user))
				return false;
			own = true;
		} else if (own && str_eq(have, STR("#"))) {
			return filter.p == NULL;
		} else if (!str_eq(have, want) &&
		    !(own && str_eq(have, STR("+")))) {
			return false;
		}
	}
	return rule.p == NULL && filter.p == NULL;
}

bool
topic_filters_allow(
    const struct topic_filters *f, struct str user, struct str filter)
{
	if (!id_terminal_valid(user))
		return false;
	for (size_t i = 0; i < f->n; i++)
		if (topic_filter_matches(f->rules[i], user, filter))
			return true;
	return false;
}

/* ---- topic names ---- */

#define RESULT STR("result")

const char *
topic_name_error(struct str user, struct str topic, bool retain)
{
	struct str rest = topic, before = STR(""), last = STR("");

	while (rest.p != NULL) {
		struct str level = str_split(&rest, '/');
		if (level.n > ID_MAX)
			return "PUBLISH with an id that is too long";
		if (retain && str_eq(before, user) && str_eq(last, RESULT))
			return "PUBLISH of a retained result";
		before = last;
		last = level;
	}
	return NULL;
}
