#include "alarm_tool.h"

#define TIMEOUT_S 10

#define TEXT_OF(name, max, what)                                   \
	"\"" name "\":{\"type\":\"string\",\"maxLength\":" max "," \
	"\"description\":\"" what "\"}"
#define WHEN_WORDS                                                      \
	"The user's words for the time, unchanged "                     \
	"(下周四晚上九点, 每个工作日早上八点), or RFC " \
	"3339."
#define WHEN                               \
	TEXT_OF("when", "256", WHEN_WORDS) \
	"," TEXT_OF("repeat", "128",       \
	    "The user's words for how it repeats, unless when has them.")
#define TEXT                                                            \
	TEXT_OF("text", "1024",                                         \
	    "What to remind of, in the user's words; empty if nothing " \
	    "was said.")
#define SELECT                                              \
	TEXT_OF("alarm_id", "80", "As list_alarms has it.") \
	"," TEXT_OF("match_text", "256",                    \
	    "Without alarm_id: text that the alarm's text has.")

/* Words of a language model's context: each says what it needs to know. */
static const struct own_tool_row alarm_rows[ALARM_TOOLS_N] = {
	[ALARM_TOOL_SET] = { STR_INIT("set_alarm"),
	    STR_INIT(
		"Set an alarm, a timer or a reminder, which is spoken to the "
		"user at its time. The result has the moment in full: repeat "
		"it to the user. If it is an error, ask the user what it "
		"says, and never guess a time."),
	    STR_INIT("{\"type\":\"object\",\"properties\":{" WHEN "," TEXT
		     ",\"kind\":{\"type\":\"string\",\"enum\":[\"alarm\","
		     "\"timer\",\"reminder\"],\"description\":\"alarm: at a "
		     "time, to wake; timer: after a duration; reminder: of "
		     "something.\"}},\"required\":[\"when\"],"
		     "\"additionalProperties\":false}") },
	[ALARM_TOOL_LIST] = { STR_INIT("list_alarms"),
	    STR_INIT("The user's alarms, timers, reminders and scheduled "
		     "actions that will ring, with their ids."),
	    STR_INIT("{\"type\":\"object\",\"properties\":{\"when\":{"
		     "\"type\":\"string\",\"maxLength\":256,"
		     "\"description\":\"Only those of this time: 明天.\"}},"
		     "\"additionalProperties\":false}") },
	[ALARM_TOOL_CHANGE] = { STR_INIT("change_alarm"),
	    STR_INIT("Change the time or the text of one alarm. If several "
		     "match, the error names them: ask the user."),
	    STR_INIT("{\"type\":\"object\",\"properties\":{" SELECT
		     ",\"select_when\":{\"type\":\"string\","
		     "\"maxLength\":256,\"description\":\"Without alarm_id: "
		     "the time at which it rings now, in words.\"}," WHEN
		     "," TEXT "},\"additionalProperties\":false}") },
	[ALARM_TOOL_CANCEL] = { STR_INIT("cancel_alarm"),
	    STR_INIT("Cancel an alarm, or with all those that match. If "
		     "several match, the error names them: ask the user."),
	    STR_INIT("{\"type\":\"object\",\"properties\":{" SELECT
		     ",\"when\":{\"type\":\"string\",\"maxLength\":256,"
		     "\"description\":\"Without alarm_id: the time at which "
		     "it rings, in words: 明天早上.\"},\"all\":{\"type\":"
		     "\"boolean\",\"description\":\"All that match; only if "
		     "the user has said so.\"}},"
		     "\"additionalProperties\":false}") },
};

struct own_tools *
alarm_tools_new(void)
{
	return own_tools_new(
	    &(struct own_tools){
		.provider = STR(ALARM_PROVIDER), .timeout_s = TIMEOUT_S },
	    alarm_rows, ALARM_TOOLS_N);
}
