/*
 * A connection of an engine: reading its request, sending the response.  Each
 * connection serves one request: they are local and cost little.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/metric.h"
#include "proxy/proxy_internal.h"
#include "svc/svc.h"

#define CLIENT_READS_MAX 16 /* of one callback */
#define CLIENT_HEAD_MS   10000
#define CLIENT_BODY_MS   60000
#define CLIENT_STALL_MS  60000 /* the engine does not read */
#define CLIENT_LINGER_MS 2000
#define CLIENT_ERROR_MAX 8192

static void client_on_timer(void *arg);

static void
client_set_timer(struct proxy_client *c, int64_t ms)
{
	loop_timer_set(c->p->loop, &c->timer, mono_add_ms(clock_mono(), ms),
	    client_on_timer, c);
}

static void
client_watch(struct proxy_client *c)
{
	loop_fd_watch(
	    c->p->loop, &c->watch, LOOP_READ | (c->out.n > 0 ? LOOP_WRITE : 0));
}

void
proxy_client_free(struct proxy_client *c)
{
	struct proxy *p = c->p;

	if (c->call != NULL)
		proxy_call_stop(c);
	if (c->run != NULL) {
		run_budget_end(c->run, 0);
		p->bodies -= c->body_n;
		svc_release(p->svc);
	}
	loop_timer_cancel(p->loop, &c->timer);
	loop_fd_watch(p->loop, &c->watch, 0);
	close(c->watch.fd);
	TAILQ_REMOVE(&p->clients, c, link);
	p->nclients--;
	metric_change(p->nclients_gauge, -1);
	buf_free(&c->in);
	buf_free(&c->out);
	buf_free(&c->target);
	key_filter_free(&c->filter);
	free(c);
}

/* ---- sending ---- */

/* All is sent: the engine's close is awaited, so that a reset does not take
 * the response from it. */
static void
client_linger(struct proxy_client *c)
{
	c->phase = CLIENT_LINGER;
	(void)shutdown(c->watch.fd, SHUT_WR);
	client_set_timer(c, CLIENT_LINGER_MS);
}

bool
proxy_client_flush(struct proxy_client *c)
{
	size_t sent = 0;
	ssize_t n = 0;

	while (sent < c->out.n) {
		n = send(c->watch.fd, c->out.p + sent, c->out.n - sent,
		    MSG_NOSIGNAL);
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	if (n == -1 && errno != EAGAIN && errno != EINTR) {
		proxy_client_free(c);
		return false;
	}
	buf_drop(&c->out, sent);
	if (c->out.n > 0) {
		if (sent > 0 || c->timer.pos == 0)
			client_set_timer(c, CLIENT_STALL_MS);
	} else if (c->phase == CLIENT_END && c->truncated) {
		proxy_client_free(c);
		return false;
	} else if (c->phase == CLIENT_END) {
		client_linger(c);
	} else if (c->phase == CLIENT_CALL) {
		loop_timer_cancel(c->p->loop, &c->timer);
	}
	client_watch(c);
	return true;
}

void
proxy_client_end(struct proxy_client *c)
{
	c->phase = CLIENT_END;
	(void)proxy_client_flush(c);
}

void
proxy_client_fail(struct proxy_client *c, int status, const char *text)
{
	enum provider_api api =
	    c->engine != NULL ? c->engine->api : PROVIDER_OPENAI;
	struct buf body = BUF_INIT(CLIENT_ERROR_MAX);

	provider_api_error(api, status, text, &body);
	buf_printf(&c->out,
	    "HTTP/1.1 %d Error\r\n"
	    "Content-Type: application/json\r\n"
	    "Content-Length: %zu\r\n"
	    "Connection: close\r\n\r\n%.*s",
	    status, body.n, STR_ARG(buf_str(&body)));
	buf_free(&body);
	proxy_count_status(c->p, status);
	proxy_client_end(c);
}

/* ---- reading ---- */

/* Every part of the request that has arrived. */
static void
client_read_head(struct proxy_client *c)
{
	struct http_head h;
	const char *why = NULL;
	enum rc rc = http_head_read(buf_str(&c->in), &h, &c->head_n, &why);

	if (rc == RC_RETRY)
		return;
	if (rc == RC_TOOBIG) {
		proxy_client_fail(c, 431, "the header is too large");
	} else if (rc != RC_OK) {
		proxy_client_fail(c, 400, why);
	} else if (proxy_admit(c, &h)) {
		c->phase = CLIENT_BODY;
		client_set_timer(c, CLIENT_BODY_MS);
		if (c->out.n > 0)
			(void)proxy_client_flush(c);
	}
}

static void
client_read_request(struct proxy_client *c)
{
	if (c->phase == CLIENT_HEAD)
		client_read_head(c);
	if (c->phase != CLIENT_BODY || c->in.n < c->head_n + c->body_n)
		return;
	c->phase = CLIENT_CALL;
	loop_timer_cancel(c->p->loop, &c->timer);
	proxy_call_start(c);
}

/* False: c was freed, or nothing more is to be read now. */
static bool
client_read(struct proxy_client *c)
{
	char *part = c->p->part;
	bool wanted = c->phase == CLIENT_HEAD || c->phase == CLIENT_BODY;
	ssize_t n = recv(c->watch.fd, part, PROXY_READ_BYTES, 0);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		proxy_client_free(c);
		return false;
	}
	/* What follows a request is ignored. */
	if (!wanted)
		return true;
	buf_put(&c->in, part, (size_t)n);
	if (c->phase == CLIENT_BODY && c->in.n < c->head_n + c->body_n)
		return true;
	client_read_request(c);
	return false;
}

static void
client_on_fd(void *arg, unsigned events)
{
	struct proxy_client *c = arg;
	int i;

	if ((events & LOOP_WRITE) != 0 && c->out.n > 0 &&
	    !proxy_client_flush(c))
		return;
	if ((events & LOOP_READ) == 0)
		return;
	for (i = 0; i < CLIENT_READS_MAX && client_read(c); i++)
		;
}

static void
client_on_timer(void *arg)
{
	struct proxy_client *c = arg;

	if (c->phase == CLIENT_HEAD || c->phase == CLIENT_BODY)
		proxy_client_fail(c, 408, "the request is incomplete");
	else
		proxy_client_free(c);
}

void
proxy_client_new(struct proxy *p, int fd)
{
	struct proxy_client *c = mem_zalloc(sizeof(*c));

	c->p = p;
	c->watch = (struct loop_fd){ .fd = fd, .fn = client_on_fd, .arg = c };
	buf_init(&c->in, HTTP_HEAD_MAX + PROXY_READ_BYTES);
	buf_init(&c->out, PROXY_QUEUE_MAX);
	buf_init(&c->target, HTTP_HEAD_MAX);
	TAILQ_INSERT_TAIL(&p->clients, c, link);
	p->nclients++;
	metric_change(p->nclients_gauge, 1);
	client_set_timer(c, CLIENT_HEAD_MS);
	client_watch(c);
}
