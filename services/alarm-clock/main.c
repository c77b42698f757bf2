/*
 * alarm-clock: keeps times, rings, and is the only way to speech that nobody
 * has asked for.
 *	nats	soul.rpc.alarm.put, .list, .change, .cancel, .snooze
 *		soul.rpc.speak, soul.rpc.push.get
 *		soul.tool.alarm-clock.list, .call
 *		soul.alarm.hint; out: soul.rpc.turn.start
 */
#include "context.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define RPC(s, x, X, rep)                                                    \
	s, NULL, NULL, &wire_##x##_request_desc, &wire_##rep##_desc, on_##x, \
	    WIRE_DEADLINE_MS_##X, NULL, 0
#define OF(x, X, rep) RPC(WIRE_SUBJECT_##X, x, X, rep)
#define TOOL(x)       "soul.tool.alarm-clock." #x
static const struct svc_route clock_routes[] = {
	{ "alarm_put", OF(alarm_put, ALARM_PUT, alarm_reply) },
	{ "alarm_list", OF(alarm_list, ALARM_LIST, alarm_list) },
	{ "alarm_change", OF(alarm_change, ALARM_CHANGE, alarm_reply) },
	{ "alarm_cancel", OF(alarm_cancel, ALARM_CANCEL, alarm_list) },
	{ "alarm_snooze", OF(alarm_snooze, ALARM_SNOOZE, alarm_reply) },
	{ "speak", OF(speak, SPEAK, speak_reply) },
	{ "push_get", OF(push_get, PUSH_GET, push) },
	{ "tool_list", RPC(TOOL(list), tool_list, TOOL_LIST, tool_list_reply) },
	{ "tool_call", RPC(TOOL(call), tool_call, TOOL_CALL, tool_call_reply) },
};
static const struct svc_def clock_def = {
	.name = "alarm-clock",
	.summary = "rings alarms, and speaks unasked",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9121",
	.opts = clock_opts,
	.nopts = CLOCK_OPTS_N,
	.conf_size = sizeof(struct clock_conf),
	.routes = clock_routes,
	.nroutes = NELEM(clock_routes),
	.check = clock_check,
	.start = clock_start,
	.drain = clock_drain,
	.stop = clock_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&clock_def, argc, argv);
}
