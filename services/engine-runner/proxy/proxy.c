/*
 * The process: its configuration, its listener.
 */
#include "proxy/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "proxy/proxy_internal.h"
#include "proxy/proxy_secret.h"
#include "svc/svc.h"

#define PROXY_BACKLOG     128
#define PROXY_ACCEPT_MAX  64 /* of one iteration */
#define PROXY_PAUSE_MS    100
#define PROXY_LOG_EVERY_S 30

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
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN];
	int64_t port;

	*sa = (struct sockaddr_in){ .sin_family = AF_INET };
	if (colon == NULL || (size_t)(colon - text) >= sizeof(host) ||
	    str_to_i64(str_of(colon + 1), 0, UINT16_MAX, &port) != RC_OK)
		return RC_INVALID;
	str_copy(
	    (struct str){ text, (size_t)(colon - text) }, host, sizeof(host));
	sa->sin_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, host, &sa->sin_addr) != 1 ||
	    ntohl(sa->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return RC_INVALID;
	return RC_OK;
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

static void proxy_on_pause_end(void *arg);

/* A connection that cannot be accepted would wake the loop all the time. */
static void
proxy_pause(struct proxy *p)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, PROXY_LOG_EVERY_S, &missed))
		log_warn("proxy.no_descriptors", LOG_S("why", strerror(errno)),
		    LOG_I("connections", p->nclients));
	loop_fd_watch(p->loop, &p->listener, 0);
	loop_timer_set(p->loop, &p->pause,
	    mono_add_ms(clock_mono(), PROXY_PAUSE_MS), proxy_on_pause_end, p);
}

static void
proxy_on_pause_end(void *arg)
{
	struct proxy *p = arg;

	if (!p->stopped)
		loop_fd_watch(p->loop, &p->listener, LOOP_READ);
}

static bool
proxy_accept(struct proxy *p)
{
	struct sockaddr_in from;
	socklen_t n = sizeof(from);
	int one = 1, fd;

	fd = accept4(p->listener.fd, (struct sockaddr *)(void *)&from, &n,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			proxy_pause(p);
		/* Others are errors of that connection. */
		return errno == ECONNABORTED || errno == EINTR;
	}
	if (p->nclients >= PROXY_CLIENTS_MAX) {
		close(fd);
		return true;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	proxy_client_new(p, fd);
	return true;
}

static void
proxy_on_listener(void *arg, unsigned events)
{
	struct proxy *p = arg;
	int i;

	(void)events;
	for (i = 0; i < PROXY_ACCEPT_MAX && proxy_accept(p); i++)
		;
}

static enum rc
proxy_listen(struct proxy *p)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in sa;
	int one = 1;

	if (fd == -1 || proxy_address(p->conf->addr, &sa) != RC_OK)
		return RC_DOWN;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	p->listener =
	    (struct loop_fd){ .fd = fd, .fn = proxy_on_listener, .arg = p };
	if (bind(fd, (const struct sockaddr *)(const void *)&sa, sizeof(sa)) ==
		-1 ||
	    listen(fd, PROXY_BACKLOG) == -1) {
		log_error("proxy.cannot_listen",
		    LOG_S("address", p->conf->addr),
		    LOG_S("why", strerror(errno)));
		return RC_DOWN;
	}
	loop_fd_watch(p->loop, &p->listener, LOOP_READ);
	return RC_OK;
}

static void
proxy_stop_listening(struct proxy *p)
{
	if (p->stopped || p->listener.fd == -1)
		return;
	p->stopped = true;
	loop_timer_cancel(p->loop, &p->pause);
	loop_fd_watch(p->loop, &p->listener, 0);
	close(p->listener.fd);
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
	p->listener.fd = -1;
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

	proxy_stop_listening(p);
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

	proxy_stop_listening(p);
	while (!TAILQ_EMPTY(&p->clients))
		proxy_client_free(TAILQ_FIRST(&p->clients));
	httpc_free(p->httpc);
	run_budgets_free(p->budgets);
	proxy_engines_free(&p->engines);
	explicit_bzero(p->secret, sizeof(p->secret));
	free(p);
}
