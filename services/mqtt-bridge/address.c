/*
 * Taking topics apart, and making them.
 */
#include "address.h"

#include <stdio.h>

#define MIDDLE   "/terminal/"
#define ANY      "+"
#define REQUESTS "/+" /* at the end of a leaf: a request's id follows */

/* Whether s can be one level of a topic. */
static bool
is_level(struct str s)
{
	return id_terminal_valid(s);
}

bool
address_prefix_ok(struct str s)
{
	struct str rest = s, level;

	/* A broker has a meaning of its own for topics that begin with '$'. */
	if (s.n == 0 || s.n > ADDRESS_PREFIX_MAX || s.p[0] == '$')
		return false;
	while (rest.p != NULL) {
		level = str_split(&rest, '/');
		if (!is_level(level))
			return false;
	}
	return true;
}

/* The part of a leaf in front of a request's id; absent if it has none. */
static struct str
before_request(const struct wire_topic *t)
{
	struct str leaf = str_of(t->leaf);

	if (!str_ends(leaf, STR(REQUESTS)))
		return (struct str){ NULL, 0 };
	leaf.n -= strlen(ANY);
	return leaf;
}

static bool
leaf_matches(const struct wire_topic *t, struct str leaf, struct str *request)
{
	struct str fixed = before_request(t);

	*request = (struct str){ NULL, 0 };
	if (fixed.p == NULL)
		return str_eq(leaf, str_of(t->leaf));
	if (!str_starts(leaf, fixed))
		return false;
	*request = (struct str){ leaf.p + fixed.n, leaf.n - fixed.n };
	return true;
}

enum rc
address_parse(struct str prefix, struct str topic, struct address *out)
{
	const struct str middle = STR(MIDDLE);
	struct str rest = topic, leaf;
	size_t i;

	if (!str_starts(rest, prefix))
		return RC_NOENT;
	rest.p += prefix.n;
	rest.n -= prefix.n;
	if (!str_starts(rest, middle))
		return RC_NOENT;
	rest.p += middle.n;
	rest.n -= middle.n;
	leaf = rest;
	out->terminal = str_split(&leaf, '/');
	if (leaf.p == NULL)
		return RC_NOENT;
	for (i = 0; i < wire_topics_n; i++)
		if (wire_topics[i].from_body &&
		    leaf_matches(&wire_topics[i], leaf, &out->request_id))
			break;
	if (i == wire_topics_n)
		return RC_NOENT;
	out->row = i;
	if (!is_level(out->terminal) ||
	    (out->request_id.p != NULL && !is_level(out->request_id)))
		return RC_INVALID;
	return RC_OK;
}

struct str
address_filter(struct str prefix, size_t row, char dst[ADDRESS_TOPIC_MAX])
{
	(void)snprintf(dst, ADDRESS_TOPIC_MAX, "%.*s" MIDDLE ANY "/%s",
	    STR_ARG(prefix), wire_topics[row].leaf);
	return str_of(dst);
}

enum rc
address_topic(struct str prefix, const struct address *a,
    char dst[ADDRESS_TOPIC_MAX], struct str *out)
{
	const struct wire_topic *t = &wire_topics[a->row];
	struct str fixed = before_request(t);
	struct str leaf = fixed.p != NULL ? fixed : str_of(t->leaf);

	if (!is_level(a->terminal) ||
	    (fixed.p != NULL && !is_level(a->request_id)))
		return RC_INVALID;
	(void)snprintf(dst, ADDRESS_TOPIC_MAX, "%.*s" MIDDLE "%.*s/%.*s%.*s",
	    STR_ARG(prefix), STR_ARG(a->terminal), STR_ARG(leaf),
	    fixed.p != NULL ? (int)a->request_id.n : 0,
	    fixed.p != NULL ? a->request_id.p : "");
	*out = str_of(dst);
	return RC_OK;
}

enum rc
address_of_command(struct str subject, char terminal[ID_MAX + 1])
{
	struct str rest = subject, token = { NULL, 0 };
	int i;

	/* soul, body, broker, terminal */
	for (i = 0; i < 4 && rest.p != NULL; i++)
		token = str_split(&rest, '.');
	if (i < 4 || id_untoken(token, terminal) != RC_OK ||
	    !id_terminal_valid(str_of(terminal)))
		return RC_INVALID;
	return RC_OK;
}
