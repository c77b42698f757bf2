/* Both sides are walked level by level. */
#include "broker-plugin/topic_filter.h"

#include <stdlib.h>

#include "core/id.h"
#include "core/mem.h"

#define RULE STR("pattern read ")
#define USER STR("%u")

struct topic_filters {
	size_t n;
	struct str rules[TOPIC_FILTER_RULES_MAX]; /* into text */
	char *text;
};

static bool
has_level(struct str topic, struct str level)
{
	while (topic.p != NULL)
		if (str_eq(str_split(&topic, '/'), level))
			return true;
	return false;
}

static enum rc
add(struct topic_filters *f, struct str topic)
{
	if (!has_level(topic, USER) || has_level(topic, STR("#")))
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
			rc = add(f,
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

/* Up to the user, word for word; behind it, wildcards too. */
static bool
matches(struct str rule, struct str user, struct str filter)
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
		if (matches(f->rules[i], user, filter))
			return true;
	return false;
}
