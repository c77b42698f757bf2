/*
 * navigator: what souls think between turns.
 *
 *	events	turn_completed, alarm_state: in (stream SOUL_EVENTS)
 *		navigator_suggestion, system_notification: out
 *	nats	soul.nav.hint: in and out
 *		out: soul.rpc.emotion.state, .psyche.apply, .memory.recall,
 *		.alarm.list, .speak
 *	jobs	soul.job.memory_store (stream SOUL_JOBS): out
 *	http	out: language model
 */
#include "context.h"
#include "svc/svc.h"

static const struct svc_def navigator_def = {
	.name = "navigator",
	.summary = "thinks between turns: suggestions, drives, memories",
	.http_addr = "",
	.admin_addr = "127.0.0.1:9120",
	.opts = navigator_opts,
	.nopts = NAVIGATOR_OPTS_N,
	.conf_size = sizeof(struct navigator_conf),
	.check = navigator_check,
	.start = navigator_start,
	.drain = navigator_drain,
	.stop = navigator_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&navigator_def, argc, argv);
}
