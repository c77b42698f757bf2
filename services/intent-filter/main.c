/*
 * intent-filter: which of a terminal's intents a command means, if any.
 *	nats	soul.rpc.intent.filter
 *	http	POST /v1/intents/filter
 *	schemas	proto-schemas/intent_filter_{request,response}.schema.json
 */
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static const struct conf_opt filter_opts[] = {
	{ "INTENT_FILTER_DEFAULT_LOCALE", CONF_STR,
	    CONF_AT(filter_conf, locale), "zh-CN", 0, 0,
	    "locale of commands without letters" },
	{ "INTENT_FILTER_DEFAULT_TIMEZONE", CONF_STR,
	    CONF_AT(filter_conf, timezone), "Asia/Shanghai", 0, 0,
	    "IANA time zone of requests without one" },
	{ "INTENT_FILTER_CACHE_MIB", CONF_INT, CONF_AT(filter_conf, cache_mib),
	    "64", 1, 4096, "memory limit of compiled catalogs, MiB" },
	{ "REDIS_URL", CONF_URL, CONF_AT(filter_conf, redis_url), "", 0, 0,
	    "Redis URL, for catalogs by reference; empty: none" },
	STATE_CONF_OPTS(filter_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(filter_conf, redis_timeout_ms),
	    "100", 10, 10000, "timeout of a Redis command, ms" },
};
static const struct svc_route filter_routes[] = {
	{ .name = "filter",
	    .subject = WIRE_SUBJECT_INTENT_FILTER,
	    .method = "POST",
	    .path = WIRE_HTTP_INTENTS_FILTER,
	    .request = &wire_intent_filter_request_desc,
	    .reply = &wire_intent_filter_response_desc,
	    .fn = on_filter,
	    .deadline_ms = WIRE_DEADLINE_MS_INTENT_FILTER },
};
static const struct svc_def filter_def = {
	.name = "intent-filter",
	.summary = "matches commands to a terminal's intents",
	.http_addr = "127.0.0.1:9013",
	.admin_addr = "127.0.0.1:9113",
	.opts = filter_opts,
	.nopts = NELEM(filter_opts),
	.conf_size = sizeof(struct filter_conf),
	.routes = filter_routes,
	.nroutes = NELEM(filter_routes),
	.check = filter_check,
	.start = filter_start,
	.decode = filter_decode,
	.reply_early = filter_reply_early,
	.on_worker = true,
	.stop = filter_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&filter_def, argc, argv);
}
