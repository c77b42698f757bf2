/*
 * alarm_tool: the tools by which a soul sets alarms.  Pure.
 */
#ifndef ALARM_CLOCK_ALARM_TOOL_H
#define ALARM_CLOCK_ALARM_TOOL_H

#include "tool/own_tools.h"

#define ALARM_PROVIDER "alarm-clock"

/* The tools, in their order. */
enum alarm_tool {
	ALARM_TOOL_SET,
	ALARM_TOOL_LIST,
	ALARM_TOOL_CHANGE,
	ALARM_TOOL_CANCEL,
	ALARM_TOOLS_N
};

/* alarm_tools_new(): As own_tools_new(). */
struct own_tools *alarm_tools_new(void);

#endif /* !ALARM_CLOCK_ALARM_TOOL_H */
