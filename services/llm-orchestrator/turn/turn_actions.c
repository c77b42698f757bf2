/*
 * The action table: what each action of the state machine needs, and its
 * handler.
 */
#include "handlers.h"
#include "reply/reply_stream.h"
#include "tools/tool_catalog.h"
#include "tools/tool_providers.h"
#include "turn/queue_head.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "turn/turn_timeline.h"

static void
actions_release(struct turn_run *r)
{
	queue_head_stop(r);
	reply_stream_free(r);
	turn_trace_free(r);
	tool_providers_release(r);
	tool_catalog_free(r->facts.tools);
}

#define NONE TURN_FENCE_NONE
#define HEAD TURN_FENCE_HEAD
#define BODY TURN_FENCE_BODY

const struct turn_run_hooks turn_action_hooks = {
	.handler = {
		[TURN_DO_LOAD] = { turn_load, NONE, TURN_LOADED },
		[TURN_DO_OBSERVE_EMOTION] =
		    { perception_observe_emotion, NONE, TURN_LOST },
		[TURN_DO_CHECK_GATE] = { unasked_check_gate, NONE, TURN_LOST },
		[TURN_DO_FILTER_INTENTS] =
		    { perception_filter_intents, NONE, TURN_LOST },
		[TURN_DO_CHECK_MEMORY] =
		    { perception_check_memory, NONE, TURN_LOST },
		[TURN_DO_LIST_TOOLS] = { tool_providers_list, NONE, TURN_LOST },
		[TURN_DO_SEND_INTENTS] = { dispatch_intents, BODY, TURN_LOST },
		[TURN_DO_CALL_ALARM] = { alarm_call_send, HEAD, TURN_LOST },
		[TURN_DO_CALL_MODEL] =
		    { completion_start, NONE, TURN_COMPLETION },
		[TURN_DO_INVOKE] = { dispatch_skill, BODY, TURN_LOST },
		[TURN_DO_SPEAK] = { unasked_speak, BODY, TURN_LOST },
		[TURN_DO_FORGET] = { memory_tool_forget, BODY, TURN_LOST },
		[TURN_DO_CALL_TOOL] = { provided_call, BODY, TURN_LOST },
		[TURN_DO_READ_TOOL] = { provided_call, HEAD, TURN_LOST },
		[TURN_DO_FIND_TOOLS] = { tool_providers_find, NONE, TURN_LOST },
		[TURN_DO_REPORT_SEARCHING] =
		    { memory_tool_report, HEAD, TURN_LOST },
		[TURN_DO_RECALL] = { memory_tool_recall, NONE, TURN_LOST },
		[TURN_DO_REPORT_FOUND] =
		    { memory_tool_report, HEAD, TURN_LOST },
		[TURN_DO_REPORT_FAILED] =
		    { memory_tool_report, HEAD, TURN_LOST },
		[TURN_DO_COMMIT] = { turn_commit, NONE, TURN_COMMITTED },
		[TURN_DO_REPLY] = { turn_end_reply, NONE, TURN_LOST },
		[TURN_DO_FAIL] = { turn_end_fail, NONE, TURN_LOST },
		[TURN_DO_CANCELED] = { turn_end_canceled, NONE, TURN_LOST },
	},
	.before_action = turn_trace_action,
	.before_event = turn_trace_event,
	.release = actions_release,
};
