/*
 * Looking things up in the generated tables of channels.
 */
#include "wire/iface.h"

const struct wire_event *
wire_event_find(struct str type)
{
	for (size_t i = 0; i < wire_events_n; i++)
		if (str_eq(str_of(wire_events[i].type), type))
			return &wire_events[i];
	return NULL;
}
