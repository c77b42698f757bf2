/*
 * A result is kept under an id that the body chooses: kept by the broker, each
 * would be told to every bridge that comes, for good.
 */
#include "broker-plugin/topic_name.h"

#include "core/id.h"

#define RESULT STR("result")

const char *
topic_name_refused(struct str user, struct str topic, bool retain)
{
	struct str rest = topic, before = STR(""), last = STR("");

	while (rest.p != NULL) {
		struct str level = str_split(&rest, '/');
		if (level.n > ID_MAX)
			return "PUBLISH with an id that is too long";
		if (retain && str_eq(before, user) && str_eq(last, RESULT))
			return "PUBLISH of a result to be retained";
		before = last;
		last = level;
	}
	return NULL;
}
