/*
 * mqtt-bridge: connects the terminals' MQTT broker to the bus.
 *
 * 	mqtt	in: <prefix>/terminal/<terminal>/online, heartbeat, skills,
 * 		intent_catalog, result/<request>; out: invoke/<request>, status,
 * 		emotion_update, intent_action
 * 	nats	in: soul.body.<broker>.<terminal>.invoke, intent_action, status,
 * 		emotion_update; out: soul.result.<terminal>.<request>
 */
#include "bridge.h"
#include "credentials/password_sync.h"
#include "svc/svc.h"

static const struct svc_def bridge_def = {
	.name = "mqtt-bridge",
	.summary = "connects the terminals' MQTT broker to the bus",
	.http_addr = "127.0.0.1:0",
	.admin_addr = "127.0.0.1:9116",
	.opts = bridge_opts,
	.nopts = BRIDGE_OPTS_N,
	.conf_size = sizeof(struct bridge_conf),
	.check = bridge_check,
	.start = bridge_start,
	.stop = bridge_stop,
	.commands = &password_command,
	.ncommands = 1,
};

int
main(int argc, char *argv[])
{
	return svc_main(&bridge_def, argc, argv);
}
