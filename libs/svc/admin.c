/*
 * The admin port: /livez, /readyz and /metrics, answered on the HTTP server's
 * own threads, so that they tell the truth while the loop is stuck.
 */
#include <stdio.h>

#include "bus/jetstream.h"
#include "core/buf.h"
#include "core/mem.h"
#include "svc/internal.h"

/* A loop that has not come round for this long is stuck. */
#define STUCK_MS    5000
#define READY_MAX   4096
#define METRICS_MAX (4 * 1024 * 1024)
#define TEXT        "text/plain; charset=utf-8"

static bool
bus_missing(const struct svc *s)
{
	return s->bus != NULL && !bus_up(s->bus);
}

/* The second connection is made by the start. */
static bool
bus_is_silent(const struct svc *s)
{
	return atomic_load(&s->started) &&
	    ((s->bus != NULL && bus_jetstream_silent(s->bus)) ||
		(s->bulk != NULL && bus_jetstream_silent(s->bulk)));
}

bool
svc_ready(struct svc *s)
{
	size_t i;

	if (!atomic_load(&s->started) || atomic_load(&s->draining) ||
	    bus_missing(s) || bus_is_silent(s))
		return false;
	for (i = 0; i < s->nneeds; i++) {
		if (!s->needs[i].up(s->needs[i].arg))
			return false;
	}
	return true;
}

static void
on_livez(void *arg, struct httpd_req *r)
{
	struct svc *s = arg;

	if (loop_idle_ms(s->loop) < STUCK_MS)
		httpd_respond(r, 200, TEXT, STR("ok\n"));
	else
		httpd_respond(r, 503, TEXT, STR("the loop is stuck\n"));
}

static void
on_readyz(void *arg, struct httpd_req *r)
{
	struct svc *s = arg;
	struct buf out = BUF_INIT(READY_MAX);
	size_t i;

	if (svc_ready(s)) {
		buf_puts(&out, "ok\n");
		if (s->note != NULL)
			s->note(s->note_arg, &out);
		httpd_respond(r, 200, TEXT, buf_str(&out));
		buf_free(&out);
		return;
	}
	if (atomic_load(&s->draining))
		buf_puts(&out, "draining\n");
	else if (!atomic_load(&s->started))
		buf_puts(&out, "starting\n");
	else if (bus_missing(s))
		buf_puts(&out, "NATS is not reachable\n");
	else if (bus_is_silent(s))
		buf_puts(&out, "NATS does not answer JetStream requests\n");
	for (i = 0; atomic_load(&s->started) && i < s->nneeds; i++) {
		if (!s->needs[i].up(s->needs[i].arg))
			buf_printf(
			    &out, "%s is not reachable\n", s->needs[i].name);
	}
	httpd_respond(r, 503, TEXT, buf_str(&out));
	buf_free(&out);
}

static void
on_metrics(void *arg, struct httpd_req *r)
{
	struct svc *s = arg;
	struct buf out = BUF_INIT(METRICS_MAX);

	metric_write(s->metrics, &out);
	httpd_respond(
	    r, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
	buf_free(&out);
}

static double
loop_idle_seconds(void *arg)
{
	struct svc *s = arg;

	return (double)loop_idle_ms(s->loop) / 1e3;
}

static double
inbox_len(void *arg)
{
	struct svc *s = arg;

	return (double)loop_inbox_len(s->loop);
}

static double
ready(void *arg)
{
	return svc_ready(arg) ? 1 : 0;
}

enum rc
svc_admin_start(struct svc *s)
{
	static const char *const paths[] = { "/livez", "/readyz", "/metrics" };
	static const httpd_handler_fn fns[] = { on_livez, on_readyz,
		on_metrics };
	char labels[160];
	size_t i;

	for (i = 0; i < NELEM(paths); i++) {
		s->admin_routes[i] = (struct httpd_route){ .method = "GET",
			.path = paths[i],
			.fn = fns[i],
			.arg = s,
			.direct = true };
	}
	snprintf(labels, sizeof(labels), "service=\"%s\",version=\"%s\"",
	    s->def->name, svc_version());
	metric_set(
	    metric_gauge(s->metrics, "soul_build_info",
		"Always 1; says which program and version this is.", labels),
	    1);
	metric_gauge_fn(s->metrics, "soul_loop_idle_seconds",
	    "Time since the loop last came round.", loop_idle_seconds, s);
	metric_gauge_fn(s->metrics, "soul_loop_inbox_length",
	    "Posts that wait for the loop.", inbox_len, s);
	metric_gauge_fn(s->metrics, "soul_ready",
	    "Whether the service can do its work (as /readyz).", ready, s);

	return httpd_new(&(struct httpd_opts){ .loop = s->loop,
			     .addr = s->conf.admin_addr,
			     .routes = s->admin_routes,
			     .nroutes = NELEM(s->admin_routes),
			     .workers = 20,
			     .timeout_ms = 5000 },
	    &s->admin);
}
