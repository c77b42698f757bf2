/*
 * The names of tools that providers themselves have.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tool/own_tool_names.h"

TEST(a_tool_is_found_by_its_name_with_or_without_its_provider)
{
	static const struct {
		const char *name, *provider, *tool; /* NULL: there is none */
	} rows[] = {
		{ "set_alarm", "alarm-clock", "set_alarm" },
		{ "alarm-clock__cancel_alarm", "alarm-clock", "cancel_alarm" },
		{ "engine-runner__run_task", "engine-runner", "run_task" },
		{ "alarm-clock__run_task", NULL, NULL },
		{ "alarm-clock_set_alarm", NULL, NULL },
		{ "alarm-clock-_set_alarm", NULL, NULL },
		{ "alarm-clock__set_alar", NULL, NULL },
		{ "alarm-clock__", NULL, NULL },
		{ "alarm-clock", NULL, NULL },
		{ "set_alrm", NULL, NULL },
		{ "", NULL, NULL },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		const struct own_tool_name *t =
		    own_tool_named(str_of(rows[i].name));

		ck_assert_int_eq(t != NULL, rows[i].tool != NULL);
		if (t == NULL)
			continue;
		ck_assert(str_eq(t->provider, str_of(rows[i].provider)));
		ck_assert(str_eq(t->tool, str_of(rows[i].tool)));
		ck_assert_ptr_nonnull(
		    strstr(OWN_TOOL_NAMES_TEXT, rows[i].tool));
	}
}

TEST(providers_are_known)
{
	ck_assert(own_tool_provider_is(STR("alarm-clock")));
	ck_assert(own_tool_provider_is(STR("engine-runner")));
	ck_assert(!own_tool_provider_is(STR("mcp-host")));
	ck_assert(!own_tool_provider_is(STR("")));
}
