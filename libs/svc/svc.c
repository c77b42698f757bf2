/*
 * svc: the life of a service: start, run, drain, stop.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/url.h"
#include "svc/svc_internal.h"
#include "svc/svc_ws.h"

const char *
svc_name(const struct svc *s)
{
	return s->def->name;
}

struct loop *
svc_loop(struct svc *s)
{
	return s->loop;
}

struct bus *
svc_bus(struct svc *s)
{
	return s->bus;
}

struct bus_opts
svc_bus_opts(const struct svc_def *def, const struct svc_conf *conf)
{
	return (struct bus_opts){ .url = conf->nats_url,
		.name = def->name,
		.user = conf->nats_user,
		.password = conf->nats_password,
		.ca_file = conf->nats_ca_file,
		.cert_file = conf->nats_cert_file,
		.key_file = conf->nats_key_file,
		.replicas = (int)conf->nats_replicas };
}

void
svc_end_unusable(void *arg)
{
	struct svc *s = arg;

	if (s->exit_code == 0)
		s->exit_code = SVC_EXIT_CONFIG;
	loop_stop(s->loop);
}

/* Going on would promise copies that do not exist. */
static void
svc_on_no_cluster(void *arg)
{
	struct svc *s = arg;

	if (s->exit_code != 0)
		return;
	log_error("svc.no_replicas",
	    LOG_I("nats_replicas", s->conf.nats_replicas),
	    LOG_S("why",
		"NATS_REPLICAS needs a cluster of that many servers, and this "
		"nats-server stands alone; use 1"));
	svc_end_unusable(s);
}

struct metric_set *
svc_metrics(struct svc *s)
{
	return s->metrics;
}

size_t
svc_http_calls(const struct svc *s)
{
	return (size_t)s->conf.http_workers - HTTPD_SPARE_WORKERS;
}

void
svc_require(struct svc *s, const char *name, bool (*up)(void *arg), void *arg)
{
	if (s->nneeds == SVC_REQUIRE_MAX)
		abort();
	s->needs[s->nneeds++] = (struct svc_need){ name, up, arg };
}

void
svc_ready_note(struct svc *s, void (*note)(const void *arg, struct buf *out),
    const void *arg)
{
	s->note = note;
	s->note_arg = arg;
}

void
svc_hold(struct svc *s)
{
	s->nopen++;
}

void
svc_release(struct svc *s)
{
	s->nopen--;
	svc_drain_step(s);
}

static void
svc_on_drained(void *arg)
{
	struct svc *s = arg;

	s->drained = true;
	svc_drain_step(s);
}

static void
svc_drain_bus(struct svc *s)
{
	if (s->bus_draining)
		return;
	s->bus_draining = true;
	if (s->bus != NULL)
		bus_drain(s->bus, svc_on_drained, s);
	else
		s->drained = true;
}

void
svc_drain_step(struct svc *s)
{
	if (!atomic_load(&s->draining) || s->nopen > 0 || !svc_ws_is_empty(s) ||
	    (s->http != NULL && httpd_busy(s->http) > 0))
		return;
	svc_drain_bus(s);
	if (s->drained && !svc_events_hold(s))
		loop_stop(s->loop);
}

/*
 * A request posted by an HTTP worker just before the stop may still be in the
 * inbox, so this polls until all are done.
 */
static void
svc_drain_poll(void *arg)
{
	struct svc *s = arg;

	if (mono_diff_ms(clock_mono(), s->drain_by) >= 0) {
		log_error("svc.drain_timeout", LOG_I("open", s->nopen));
		s->exit_code = SVC_EXIT_FAILED;
		loop_stop(s->loop);
		return;
	}
	loop_timer_set(s->loop, &s->poll, mono_add_ms(clock_mono(), 10),
	    svc_drain_poll, s);
	svc_drain_step(s);
}

static void
svc_drain(struct svc *s)
{
	log_info("svc.draining", LOG_I("open", s->nopen));
	atomic_store(&s->draining, true);
	if (s->http != NULL)
		httpd_stop(s->http);
	svc_ws_drain(s);
	s->drain_by = mono_add_ms(clock_mono(), s->conf.drain_timeout_ms);
	/* WebSocket clients are served until they have gone. */
	if (s->def->ws == NULL)
		svc_drain_bus(s);
	if (s->def->drain != NULL)
		s->def->drain(s->app);
	svc_drain_poll(s);
}

static void
svc_on_end(void *arg)
{
	struct svc *s = arg;

	if (!atomic_load(&s->draining))
		svc_drain(s);
}

void
svc_end(struct svc *s)
{
	if (!atomic_load(&s->draining))
		loop_timer_set(s->loop, &s->poll, clock_mono(), svc_on_end, s);
}

static void
svc_on_signal(void *arg, unsigned events)
{
	struct svc *s = arg;
	struct signalfd_siginfo si;

	(void)events;
	if (read(s->signals.fd, &si, sizeof(si)) != (ssize_t)sizeof(si))
		return;
	if (atomic_load(&s->draining)) {
		log_warn("svc.killed_while_draining", LOG_I("open", s->nopen));
		s->exit_code = SVC_EXIT_FAILED;
		loop_stop(s->loop);
	} else {
		svc_drain(s);
	}
}

/* All threads inherit the mask, so only the loop gets signals. */
static void
svc_block_signals(struct svc *s)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	s->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	s->signals.fn = svc_on_signal;
	s->signals.arg = s;
}

static void
svc_on_bus_state(void *arg, bool up)
{
	struct svc *s = arg;
	struct buf url = BUF_INIT(4096);

	url_redact(str_of(s->conf.nats_url), &url);
	if (up)
		log_info("svc.bus_up", LOG_V("url", buf_str(&url)));
	else
		log_warn("svc.bus_down", LOG_V("url", buf_str(&url)));
	buf_free(&url);
}

static int
svc_start(struct svc *s)
{
	struct bus_opts o = svc_bus_opts(s->def, &s->conf);
	enum rc rc;

	o.loop = s->loop;
	o.metrics = s->metrics;
	o.on_state = svc_on_bus_state;
	o.on_no_cluster = svc_on_no_cluster;
	o.arg = s;
	/* It has logged why; the cause is the configuration. */
	if (svc_access_start(s) != RC_OK)
		return SVC_EXIT_CONFIG;
	rc = svc_admin_start(s);
	if (rc == RC_OK && !s->def->no_bus)
		rc = bus_new(&o, &s->bus);
	if (rc == RC_OK)
		rc = svc_endpoints_start(s);
	if (rc == RC_OK)
		rc = svc_ws_start(s);
	if (rc != RC_OK) {
		log_error("svc.start_failed", LOG_RC(rc));
		return rc == RC_DOWN ? SVC_EXIT_TAKEN : SVC_EXIT_FAILED;
	}
	s->app = s->def->start(s, s->app_conf);
	if (s->app == NULL || svc_endpoints_serve(s) != RC_OK)
		return SVC_EXIT_FAILED;
	/* A server that cannot have copies must fail the start. */
	if (s->bus != NULL && s->conf.nats_replicas > 1)
		svc_events_ensure_stream(s);
	atomic_store(&s->started, true);
	log_info("svc.started", LOG_S("version", svc_version()),
	    LOG_I("http_port",
		s->http != NULL     ? httpd_port(s->http)
		    : s->ws != NULL ? ws_port(svc_ws_listener(s))
				    : 0),
	    LOG_I("admin_port", httpd_port(s->admin)));
	return 0;
}

/*
 * The reverse of svc_start(), from wherever it got to; but the admin port
 * closes first, because its threads read all the rest.
 */
static void
svc_stop(struct svc *s)
{
	httpd_free(s->admin);
	httpd_free(s->http);
	svc_ws_free(s);
	svc_stream_limiter_free(s->stream_limiter);
	loop_timer_cancel(s->loop, &s->poll);
	worker_free(s->decoders);
	if (s->app != NULL && s->def->stop != NULL)
		s->def->stop(s->app);
	svc_events_stop(s);
	bus_free(s->bus);
	svc_events_free(s);
	svc_access_stop(s);
	svc_ws_forget(s);
	loop_free(s->loop);
	svc_endpoints_free(s);
	metric_set_free(s->metrics);
	close(s->signals.fd);
}

int
svc_main(const struct svc_def *def, int argc, char *argv[])
{
	struct svc s = { .def = def };
	struct conf_opt common[SVC_OPTS_N];
	enum log_level level;
	int code;

	TAILQ_INIT(&s.open);
	TAILQ_INIT(&s.spare);
	TAILQ_INIT(&s.waiting);
	s.app_conf = mem_zalloc(def->conf_size + 1);
	code = svc_args(def, argc, argv, &s.conf, s.app_conf);
	if (code == -1) {
		if (log_level_parse(str_of(s.conf.log_level), &level) != RC_OK)
			abort();
		log_init(def->name, level);
		svc_block_signals(&s);
		s.loop = loop_new((size_t)s.conf.inbox_max);
		s.metrics = metric_set_new();
		loop_fd_watch(s.loop, &s.signals, LOOP_READ);
		code = svc_start(&s);
		if (code == 0) {
			loop_run(s.loop);
			code = s.exit_code;
		}
		log_info("svc.stopped", LOG_I("code", code));
		/* With calls still open nothing can be freed safely. */
		if (s.exit_code != 0)
			_exit(s.exit_code);
		svc_stop(&s);
	}
	conf_free(common, svc_conf_opts(def, common), &s.conf);
	conf_free(def->opts, def->nopts, s.app_conf);
	free(s.app_conf);
	return code;
}
