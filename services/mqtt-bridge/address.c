#include "address.h"

#include <stdio.h>

#define TERMINAL_LEVEL "/terminal/"
#define ANY_LEVEL      "+"
#define REQUEST_LEVEL  "/+" /* end of a leaf with a request id */

static bool
address_level_valid(struct str s)
{
	return id_terminal_valid(s);
}

bool
address_prefix_valid(struct str s)
{
	struct str rest = s, level;

	/* Topics that start with '$' have special meanings in a broker. */
	if (s.n == 0 || s.n > ADDRESS_PREFIX_MAX || s.p[0] == '$')
		return false;
	while (rest.p != NULL) {
		level = str_split(&rest, '/');
		if (!address_level_valid(level))
			return false;
	}
	return true;
}

/* The leaf without its trailing request id; absent if it has none. */
static struct str
address_leaf_prefix(const struct wire_topic *t)
{
	struct str leaf = str_of(t->leaf);

	if (!str_ends(leaf, STR(REQUEST_LEVEL)))
		return (struct str){ NULL, 0 };
	leaf.n -= strlen(ANY_LEVEL);
	return leaf;
}

static bool
address_leaf_matches(
    const struct wire_topic *t, struct str leaf, struct str *request)
{
	struct str fixed = address_leaf_prefix(t);

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
	const struct str middle = STR(TERMINAL_LEVEL);
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
		    address_leaf_matches(
			&wire_topics[i], leaf, &out->request_id))
			break;
	if (i == wire_topics_n)
		return RC_NOENT;
	out->row = i;
	if (!address_level_valid(out->terminal) ||
	    (out->request_id.p != NULL &&
		!address_level_valid(out->request_id)))
		return RC_INVALID;
	return RC_OK;
}

struct str
address_filter(struct str prefix, size_t row, char dst[ADDRESS_TOPIC_MAX])
{
	(void)snprintf(dst, ADDRESS_TOPIC_MAX,
	    "%.*s" TERMINAL_LEVEL ANY_LEVEL "/%s", STR_ARG(prefix),
	    wire_topics[row].leaf);
	return str_of(dst);
}

enum rc
address_topic(struct str prefix, const struct address *a,
    char dst[ADDRESS_TOPIC_MAX], struct str *out)
{
	const struct wire_topic *t = &wire_topics[a->row];
	struct str fixed = address_leaf_prefix(t);
	struct str leaf = fixed.p != NULL ? fixed : str_of(t->leaf);

	if (!address_level_valid(a->terminal) ||
	    (fixed.p != NULL && !address_level_valid(a->request_id)))
		return RC_INVALID;
	(void)snprintf(dst, ADDRESS_TOPIC_MAX,
	    "%.*s" TERMINAL_LEVEL "%.*s/%.*s%.*s", STR_ARG(prefix),
	    STR_ARG(a->terminal), STR_ARG(leaf),
	    fixed.p != NULL ? (int)a->request_id.n : 0,
	    fixed.p != NULL ? a->request_id.p : "");
	*out = str_of(dst);
	return RC_OK;
}

enum rc
address_command_terminal(struct str subject, char terminal[ID_MAX + 1])
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
