/*
 * The tools of engine-runner.
 */
#include <string.h>

#include "task_tool.h"
#include "testkit/testkit.h"
#include "tool/own_tool_names.h"

/* Else users cannot decide of it. */
TEST(the_names_of_all_are_known_to_other_services)
{
	struct own_tools *t = task_tools_new(true);

	for (size_t i = 0; i < t->n; i++) {
		struct str name = t->list[i].row->name;
		const struct own_tool_name *known = own_tool_named(name);

		ck_assert_ptr_nonnull(known);
		ck_assert(str_eq(known->provider, t->provider));
		ck_assert_ptr_nonnull(strstr(OWN_TOOL_NAMES_TEXT, name.p));
	}
	own_tools_free(t);
}
