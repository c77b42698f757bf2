/*
 * admin: the admin port, /livez, /readyz and /metrics, and a client of /readyz
 * for health checks.
 *
 * The port is served on the HTTP server's own threads, so that it is accurate
 * while the loop is stuck.  The client is a plain socket, so that it needs no
 * thread, no NATS and no HTTP client in the image.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/jetstream.h"
#include "core/mem.h"
#include "svc/svc_internal.h"

/* A loop that has not run for this long is stuck. */
#define STUCK_MS    5000
#define READY_MAX   4096
#define METRICS_MAX (4 * 1024 * 1024)
#define TEXT        "text/plain; charset=utf-8"
#define PROBE_MAX   4096

static bool
admin_bus_missing(const struct svc *s)
{
	return s->bus != NULL && !bus_up(s->bus);
}

static bool
admin_bus_silent(const struct svc *s)
{
	return atomic_load(&s->started) && s->bus != NULL &&
	    bus_jetstream_silent(s->bus);
}

bool
svc_ready(struct svc *s)
{
	size_t i;

	if (!atomic_load(&s->started) || atomic_load(&s->draining) ||
	    admin_bus_missing(s) || admin_bus_silent(s))
		return false;
	for (i = 0; i < s->nneeds; i++) {
		if (!s->needs[i].up(s->needs[i].arg))
			return false;
	}
	return true;
}

static void
admin_on_livez(void *arg, struct httpd_req *r)
{
	struct svc *s = arg;

	if (loop_idle_ms(s->loop) < STUCK_MS)
		httpd_respond(r, 200, TEXT, STR("ok\n"));
	else
		httpd_respond(r, 503, TEXT, STR("the loop is stuck\n"));
}

bool
svc_ready_lines(void *arg, struct buf *out)
{
	struct svc *s = arg;
	size_t i;

	if (svc_ready(s)) {
		buf_puts(out, "ok\n");
		if (s->note != NULL)
			s->note(s->note_arg, out);
		return true;
	}
	if (atomic_load(&s->draining))
		buf_puts(out, "draining\n");
	else if (!atomic_load(&s->started))
		buf_puts(out, "starting\n");
	else if (admin_bus_missing(s))
		buf_puts(out, "NATS is not reachable\n");
	else if (admin_bus_silent(s))
		buf_puts(out, "NATS does not answer JetStream requests\n");
	for (i = 0; atomic_load(&s->started) && i < s->nneeds; i++) {
		if (!s->needs[i].up(s->needs[i].arg))
			buf_printf(
			    out, "%s is not reachable\n", s->needs[i].name);
	}
	return false;
}

static void
admin_on_readyz(void *arg, struct httpd_req *r)
{
	struct buf out = BUF_INIT(READY_MAX);
	bool ready = svc_ready_lines(arg, &out);

	httpd_respond(r, ready ? 200 : 503, TEXT, buf_str(&out));
	buf_free(&out);
}

static void
admin_on_metrics(void *arg, struct httpd_req *r)
{
	struct svc *s = arg;
	struct buf out = BUF_INIT(METRICS_MAX);

	metric_write(s->metrics, &out);
	httpd_respond(
	    r, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
	buf_free(&out);
}

static double
admin_loop_idle_seconds(void *arg)
{
	struct svc *s = arg;

	return (double)loop_idle_ms(s->loop) / 1e3;
}

static double
admin_inbox_len(void *arg)
{
	struct svc *s = arg;

	return (double)loop_inbox_len(s->loop);
}

static double
admin_ready(void *arg)
{
	return svc_ready(arg) ? 1 : 0;
}

enum rc
svc_admin_start(struct svc *s)
{
	static const char *const paths[] = { "/livez", "/readyz", "/metrics" };
	static const httpd_handler_fn fns[] = { admin_on_livez, admin_on_readyz,
		admin_on_metrics };
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
	    "Time since the loop last ran.", admin_loop_idle_seconds, s);
	metric_gauge_fn(s->metrics, "soul_loop_inbox_length",
	    "Posts that wait for the loop.", admin_inbox_len, s);
	metric_gauge_fn(s->metrics, "soul_ready",
	    "Whether the service can do its work (as /readyz).", admin_ready,
	    s);

	return httpd_new(&(struct httpd_opts){ .loop = s->loop,
			     .addr = s->conf.admin_addr,
			     .routes = s->admin_routes,
			     .nroutes = NELEM(s->admin_routes),
			     .workers = 20,
			     .timeout_ms = 5000 },
	    &s->admin);
}

/* ---- the client of /readyz ---- */

/* As httpd_new() does; a server on all addresses is on loopback too. */
static bool
probe_addr_parse(struct str addr, struct sockaddr_in *to)
{
	struct str rest = addr, name = str_split(&rest, ':');
	char host[INET_ADDRSTRLEN];
	int64_t port;

	if (name.n >= sizeof(host) ||
	    str_to_i64(rest, 1, 65535, &port) != RC_OK)
		return false;
	str_copy(name, host, sizeof(host));
	*to = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	if (name.n > 0 && inet_pton(AF_INET, host, &to->sin_addr) != 1)
		return false;
	if (to->sin_addr.s_addr == htonl(INADDR_ANY))
		to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return true;
}

/* Wait until fd has events; otherwise errno is set. */
static bool
probe_wait(int fd, short events, struct mono until)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t ms;
	int n;

	do {
		ms = mono_diff_ms(until, clock_mono());
		n = poll(&p, 1, ms > 0 ? (int)ms : 0);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0;
}

static bool
probe_connect(int fd, const struct sockaddr_in *to, struct mono until)
{
	int e = 0;
	socklen_t n = sizeof(e);

	if (connect(fd, (const struct sockaddr *)(const void *)to,
		sizeof(*to)) == 0)
		return true;
	if (errno != EINPROGRESS || !probe_wait(fd, POLLOUT, until))
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n) != 0)
		return false;
	errno = e;
	return e == 0;
}

/* Read to the end, or to the limit of in. */
static bool
probe_read(int fd, struct buf *in, struct mono until)
{
	char chunk[1024];
	ssize_t n;

	while (buf_rc(in) == RC_OK) {
		if (!probe_wait(fd, POLLIN, until))
			return false;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return true;
		if (n < 0)
			return false;
		buf_put(in, chunk, (size_t)n);
	}
	return true;
}

static bool
probe_get(int fd, struct buf *in, struct mono until)
{
	static const char request[] = "GET /readyz HTTP/1.1\r\n"
				      "Host: localhost\r\n"
				      "Connection: close\r\n\r\n";

	return send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) ==
	    (ssize_t)sizeof(request) - 1 &&
	    probe_read(fd, in, until);
}

/* Join the lines of a body. */
static void
probe_join_lines(struct str body, struct buf *why)
{
	struct str line;
	size_t i;

	while (body.p != NULL) {
		line = str_trim(str_split(&body, '\n'));
		if (line.n > 0 && why->n > 0)
			buf_puts(why, "; ");
		for (i = 0; i < line.n; i++)
			buf_putc(why,
			    (unsigned char)line.p[i] < ' ' ? '?' : line.p[i]);
	}
}

/* RC_OK for status 200; otherwise RC_DOWN, and why. */
static enum rc
probe_status(struct str response, struct buf *why)
{
	static const struct str blank = STR_INIT("\r\n\r\n");
	struct str rest = response, line = str_split(&rest, '\r');
	ptrdiff_t at = str_find(response, blank);
	int64_t code;

	if (!str_starts(line, STR("HTTP/1.")) || at < 0 ||
	    str_split(&line, ' ').n == 0 ||
	    str_to_i64(str_split(&line, ' '), 100, 599, &code) != RC_OK) {
		buf_puts(why, "not a service's response");
		return RC_DOWN;
	}
	if (code == 200)
		return RC_OK;
	probe_join_lines((struct str){ response.p + (size_t)at + blank.n,
			     response.n - (size_t)at - blank.n },
	    why);
	if (why->n == 0)
		buf_printf(why, "status %lld", (long long)code);
	return RC_DOWN;
}

enum rc
svc_probe(const char *admin_addr, struct buf *why)
{
	struct mono until = mono_add_ms(clock_mono(), SVC_PROBE_MS);
	struct buf in = BUF_INIT(PROBE_MAX);
	struct sockaddr_in to;
	enum rc rc = RC_DOWN;
	int fd;

	if (!probe_addr_parse(str_of(admin_addr), &to)) {
		buf_printf(
		    why, "ADMIN_ADDR: %s is not a.b.c.d:port", admin_addr);
		return RC_INVALID;
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && probe_connect(fd, &to, until) &&
	    probe_get(fd, &in, until))
		rc = probe_status(buf_str(&in), why);
	else
		buf_printf(why, "%s: %s", admin_addr, strerror(errno));
	if (fd >= 0)
		close(fd);
	buf_free(&in);
	return rc;
}
