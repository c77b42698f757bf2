/*
 * The process: its configuration, its listener.
 */
#include "proxy/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "proxy/proxy_internal.h"
#include "proxy/proxy_secret.h"
#include "svc/svc.h"

const struct conf_opt proxy_opts[PROXY_OPTS_N] = {
	{ "ENGINE_PROXY_ADDR", CONF_STR, CONF_AT(proxy_conf, addr),
	    "127.0.0.1:9081", 0, 0,
	    "address and port of the model proxy, on loopback" },
	{ "RUNS_DIR", CONF_STR, CONF_AT(proxy_conf, runs_dir),
	    "/var/lib/soul/runs", 0, 0,
	    "folder of the runs, shared by runner and proxy" },
	{ "ENGINES", CONF_STR, CONF_AT(proxy_conf, engines), "", 0, 0,
	    "JSON file of the engines" },
	{ "ENGINE_PROXY_CA_FILE", CONF_STR, CONF_AT(proxy_conf, ca_file), "", 0,
	    0,
	    "CA of the providers' certificates (PEM); empty: the system's "
	    "CAs" },
	{ "ENGINE_PROXY_REQUEST_MAX", CONF_INT,
	    CONF_AT(proxy_conf, request_max), "33554432", 1024, 268435456,
	    "largest request to a model, bytes" },
	{ "ENGINE_PROXY_RESPONSE_MAX", CONF_INT,
	    CONF_AT(proxy_conf, response_max), "67108864", 1024, 1073741824,
	    "largest response of a model, bytes" },
	{ "ENGINE_PROXY_FIRST_BYTE_MS", CONF_INT,
	    CONF_AT(proxy_conf, first_byte_ms), "600000", 100, 3600000,
	    "until a model's response begins, ms" },
	{ "ENGINE_PROXY_IDLE_MS", CONF_INT, CONF_AT(proxy_conf, idle_ms),
	    "300000", 100, 3600000, "between two reads of a response, ms" },
	{ "ENGINE_PROXY_CALL_S", CONF_INT, CONF_AT(proxy_conf, call_max_s),
	    "3600", 1, 86400, "longest call of a model, seconds" },
};

/* ---- configuration ---- */

/* Only loopback: paths are no authentication of hosts. */
static enum rc
proxy_address(const char *text, struct sockaddr_in *sa)
{
	enum rc rc = tcp_address_parse(text, sa);

	if (rc == RC_OK && ntohl(sa->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		rc = RC_INVALID;
	return rc;
}

void
proxy_check(const void *conf, struct buf *errors, struct buf *known)
{
	const struct proxy_conf *c = conf;
	struct buf why = BUF_INIT(4096);
	struct proxy_engines engines = { 0 };
	struct sockaddr_in sa;

	(void)known;
	if (proxy_address(c->addr, &sa) != RC_OK)
		buf_printf(errors,
		    "ENGINE_PROXY_ADDR: must be an address of loopback, as "
		    "127.0.0.1:9081\n");
	if (c->engines[0] == '\0')
		buf_puts(errors, "ENGINES: must name a JSON file\n");
	else if (proxy_engines_load(c->engines, &engines, &why) != RC_OK)
		buf_printf(errors, "ENGINES: %.*s\n", STR_ARG(buf_str(&why)));
	proxy_engines_free(&engines);
	buf_free(&why);
}

/* ---- the listener ---- */

static void
proxy_on_accept(void *arg, int fd, const struct sockaddr_in *from)
{
	struct proxy *p = arg;

	(void)from;
	if (p->nclients >= PROXY_CLIENTS_MAX)
		close(fd);
	else
		proxy_client_new(p, fd);
}

static enum rc
proxy_listen(struct proxy *p)
{
	struct sockaddr_in sa;
	enum rc rc = proxy_address(p->conf->addr, &sa);

	p->listener = (struct tcp_listener){
		.loop = p->loop, .on_accept = proxy_on_accept, .arg = p
	};
	return rc == RC_OK ? tcp_listener_open(&p->listener, &sa) : rc;
}

/* ---- life ---- */

static void
proxy_make_metrics(struct proxy *p, struct metric_set *set)
{
	static const char *const kinds[PROXY_TOKENS_KINDS] = { "input",
		"output", "cached", "reasoning", "estimated" };
	char labels[256];
	size_t i, k;

	for (i = 0; i < p->engines.n; i++) {
		for (k = 0; k < PROXY_TOKENS_KINDS; k++) {
			snprintf(labels, sizeof(labels),
			    "engine=\"%s\",kind=\"%s\"",
			    p->engines.list[i].name, kinds[k]);
			p->engines.list[i].tokens[k] = metric_counter(set,
			    "soul_model_tokens_total",
			    "Tokens of models, by engine and kind.", labels);
		}
	}
	p->nclients_gauge = metric_gauge(set, "soul_model_proxy_connections",
	    "Connections of engines to the model proxy.", NULL);
}

void *
proxy_start(struct svc *s, const void *conf)
{
	struct proxy *p = mem_zalloc(sizeof(*p));
	struct buf why = BUF_INIT(4096);
	enum rc rc;

	p->svc = s;
	p->loop = svc_loop(s);
	p->conf = conf;
	TAILQ_INIT(&p->clients);
	rc = proxy_engines_load(p->conf->engines, &p->engines, &why);
	if (rc != RC_OK)
		log_error("proxy.no_engines", LOG_V("why", buf_str(&why)));
	buf_free(&why);
	p->budgets = run_budgets_new(PROXY_RUNS_MAX);
	p->httpc = httpc_new(&(struct httpc_opts){ .loop = p->loop,
	    .peer = "model",
	    .active_max = PROXY_CLIENTS_MAX,
	    .ca_file = p->conf->ca_file,
	    .metrics = svc_metrics(s) });
	proxy_make_metrics(p, svc_metrics(s));
	if (rc == RC_OK)
		rc = proxy_secret_load(p->conf->runs_dir, p->secret);
	if (rc == RC_OK)
		rc = proxy_listen(p);
	if (rc == RC_OK)
		return p;
	proxy_stop(p);
	return NULL;
}

void
proxy_drain(void *app)
{
	struct proxy *p = app;
	struct proxy_client *c, *next;

	tcp_listener_close(&p->listener);
	for (c = TAILQ_FIRST(&p->clients); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->phase == CLIENT_HEAD)
			proxy_client_free(c);
	}
}

void
proxy_stop(void *app)
{
	struct proxy *p = app;

	tcp_listener_close(&p->listener);
	while (!TAILQ_EMPTY(&p->clients))
		proxy_client_free(TAILQ_FIRST(&p->clients));
	httpc_free(p->httpc);
	run_budgets_free(p->budgets);
	proxy_engines_free(&p->engines);
	explicit_bzero(p->secret, sizeof(p->secret));
	free(p);
}
