/*
 * chat-gateway: the HTTP edge: what owners ask, and who may.
 *
 *	http	/v1/chat, /v1/turns, /v1/souls, /v1/terminals, /v1/sessions,
 *		/v1/memories, /v1/users (routes.c)
 *	asks	soul.rpc.turn.start, .cancel, .show, soul.rpc.emotion.state,
 *		.history, soul.rpc.memory.list, .recall, .forget, .profile
 *	reads	soul.stream.<user>.<session>
 */
#include "core/mem.h"
#include "gateway.h"
#include "routes.h"
#include "svc/svc.h"

static const struct conf_opt opts[] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(gateway_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0, "Redis, with its password if any" },
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(gateway_conf, redis_timeout_ms),
	    "250", 10, 10000, "longest wait for an answer of Redis, ms" },
	{ "USER_ID", CONF_STR, CONF_AT(gateway_conf, user_id), "demo-user", 0,
	    0, "user of a request that names none" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT,
	    CONF_AT(gateway_conf, snapshot_ttl_s), "60", 1, 86400,
	    "silence after which a body is not present, s" },
	{ "SOUL_AUTO_CREATE", CONF_BOOL,
	    CONF_AT(gateway_conf, soul_auto_create), "off", 0, 0,
	    "make the missing soul of a body that chats without one" },
	{ "SOUL_DEFAULT_MBTI", CONF_STR, CONF_AT(gateway_conf, default_mbti),
	    "INTJ", 0, 0, "MBTI type of souls that are made that way" },
	{ "SOUL_MODEL", CONF_STR, CONF_AT(gateway_conf, model),
	    "persona-pad-v3", 0, 0,
	    "emotion model of new souls: persona-pad-v3 or persona-pad-v2" },
};

static const struct svc_def def = {
	.name = "chat-gateway",
	.summary = "serves owners and operators over HTTP",
	.http_addr = "127.0.0.1:9010",
	.admin_addr = "127.0.0.1:9110",
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct gateway_conf),
	.routes = routes,
	.nroutes = ROUTES_N,
	.check = gateway_check,
	.start = gateway_start,
	.drain = gateway_drain,
	.stop = gateway_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&def, argc, argv);
}
