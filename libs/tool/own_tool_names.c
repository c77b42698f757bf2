#include "tool/own_tool_names.h"

#include <stddef.h>

#include "core/mem.h"

/* Between the names of a provider and of its tool. */
#define NAME_SEPARATOR STR("__")

static const struct own_tool_name own_tool_names[] = {
	{ STR_INIT("alarm-clock"), STR_INIT("set_alarm") },
	{ STR_INIT("alarm-clock"), STR_INIT("list_alarms") },
	{ STR_INIT("alarm-clock"), STR_INIT("change_alarm") },
	{ STR_INIT("alarm-clock"), STR_INIT("cancel_alarm") },
	{ STR_INIT("engine-runner"), STR_INIT("run_task") },
	{ STR_INIT("engine-runner"), STR_INIT("answer_task") },
};

static bool
name_is(const struct own_tool_name *t, struct str s)
{
	size_t head = t->provider.n + NAME_SEPARATOR.n;

	if (str_eq(s, t->tool))
		return true;
	return s.n == head + t->tool.n && str_starts(s, t->provider) &&
	    str_eq((struct str){ s.p + t->provider.n, NAME_SEPARATOR.n },
		NAME_SEPARATOR) &&
	    str_eq((struct str){ s.p + head, t->tool.n }, t->tool);
}

const struct own_tool_name *
own_tool_named(struct str name)
{
	for (size_t i = 0; i < NELEM(own_tool_names); i++)
		if (name_is(&own_tool_names[i], name))
			return &own_tool_names[i];
	return NULL;
}

bool
own_tool_provider_is(struct str name)
{
	for (size_t i = 0; i < NELEM(own_tool_names); i++)
		if (str_eq(name, own_tool_names[i].provider))
			return true;
	return false;
}
