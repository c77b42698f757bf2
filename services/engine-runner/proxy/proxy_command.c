#include "proxy/proxy_command.h"

#include "proxy/proxy.h"
#include "svc/svc.h"

static const struct svc_def proxy_def = {
	.name = "engine-runner proxy",
	.summary = "passes the engines' requests to their models",
	.admin_addr = "127.0.0.1:9124",
	.drain_ms = "60000",
	.no_bus = true,
	.opts = proxy_opts,
	.nopts = PROXY_OPTS_N,
	.conf_size = sizeof(struct proxy_conf),
	.check = proxy_check,
	.start = proxy_start,
	.drain = proxy_drain,
	.stop = proxy_stop,
};

int
proxy_command(const struct svc_run *r)
{
	return svc_main(&proxy_def, r->argc, r->argv);
}
