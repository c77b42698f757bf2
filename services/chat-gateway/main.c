/*
 * chat-gateway: the HTTP edge for owners, operators, provisioners and bodies.
 *
 * 	http		the routes of routes.c
 * 	requests	soul.rpc.turn.start, .cancel, .show, soul.rpc.run.*,
 * 			soul.rpc.{emotion,memory,mcp,alarm,push}.*, .speak
 * 	publishes	soul.run.wake.<runner>; reads stream SOUL_EVENTS
 * 	subscribes	soul.stream.<user>.<session>, soul.run.stream.<run>
 * 	cli		migrate
 */
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"

static const struct conf_opt gateway_opts[] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(gateway_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(gateway_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(gateway_conf, redis_timeout_ms),
	    "1000", 10, 10000, "timeout of a Redis command, ms" },
	{ "USER_ID", CONF_STR, CONF_AT(gateway_conf, user_id), "demo-user", 0,
	    0, "user_id of requests that have none" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT,
	    CONF_AT(gateway_conf, snapshot_ttl_s), "60", 1, 86400,
	    "time without a heartbeat after which a body is offline, s" },
	{ "SOUL_AUTO_CREATE", CONF_BOOL,
	    CONF_AT(gateway_conf, soul_auto_create), "off", 0, 0,
	    "create a soul for a body that chats without one" },
	{ "SOUL_DEFAULT_MBTI", CONF_STR, CONF_AT(gateway_conf, default_mbti),
	    "INTJ", 0, 0, "MBTI type of automatically created souls" },
	{ "SOUL_MODEL", CONF_STR, CONF_AT(gateway_conf, model),
	    "persona-pad-v3", 0, 0,
	    "emotion model of new souls: persona-pad-v3 or persona-pad-v2" },
};

static const struct svc_def gateway_def = {
	.name = "chat-gateway",
	.summary = "serves owners and operators over HTTP",
	.http_addr = "127.0.0.1:9010",
	.admin_addr = "127.0.0.1:9110",
	.http_workers = "256",
	.opts = gateway_opts,
	.nopts = NELEM(gateway_opts),
	.conf_size = sizeof(struct gateway_conf),
	.routes = routes,
	.nroutes = ROUTES_N,
	.commands = &migrate_command,
	.ncommands = 1,
	.check = gateway_check,
	.start = gateway_start,
	.put_error = routes_put_error,
	.drain = on_drain,
	.stop = gateway_stop,
};
int
main(int argc, char *argv[])
{
	return svc_main(&gateway_def, argc, argv);
}
