/*
 * The table.
 */
#include "tool/tool_approval.h"

static const struct wire_question_option
    approval_options[2][TOOL_APPROVAL_OPTIONS_N] = {
	    { { STR_INIT(TOOL_APPROVAL_THIS_TIME), STR_INIT("this time") },
		{ STR_INIT(TOOL_APPROVAL_ALWAYS), STR_INIT("always") },
		{ STR_INIT(TOOL_APPROVAL_NO), STR_INIT("no") } },
	    { { STR_INIT(TOOL_APPROVAL_THIS_TIME), STR_INIT("这次可以") },
		{ STR_INIT(TOOL_APPROVAL_ALWAYS), STR_INIT("一直可以") },
		{ STR_INIT(TOOL_APPROVAL_NO), STR_INIT("不要") } },
    };

const struct wire_question_option *
tool_approval_options(bool chinese)
{
	return approval_options[chinese];
}
