/*
 * One connection to NATS: the handshake, on a worker, then what is sent and
 * received, on the loop.
 *
 * The protocol is spoken here, as libnats on an external loop does not tell
 * which request had no responders, delivers the messages of several
 * subscriptions out of order, and drains with threads.
 */
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/url.h"
#include "tls/tls_client.h"

#define CONNECT_MS 2000
#define CLOSE_MS   500
#define PORT       4222
/* Bytes of one read. */
#define READ_MAX (64 * 1024)
/* Output that is written at once, not at the end of the iteration. */
#define WRITE_BYTES (256 * 1024)
/* A buffer that is empty and larger than this is freed. */
#define SPARE_BYTES (256 * 1024)
#define INFO_ARENA  (16 * 1024)

/* Subscriptions of a connection; a sid is a serial number and a slot. */
#define SUB_SLOT_BITS 20
#define SUBS_MAX      (1U << SUB_SLOT_BITS)

struct bus_conn_sub {
	struct bus_conn *conn;
	struct bus_sub *sub;
	uint64_t sid;
};

struct bus_conn {
	struct nats_socket *socket;
	struct buf in, out;
	size_t written; /* of out */
	int64_t max_payload;
	bool broken;
	bool unwritable; /* the server has closed; its last messages are read */

	/* From bus_conn_start() on. */
	struct loop *loop;
	struct loop_fd fd;
	struct loop_deferred write, end;
	const struct bus_conn_handler *handler;
	struct bus *bus;

	struct bus_conn_sub **slots;
	uint32_t n_slots, n_free;
	uint32_t *free_slots; /* n_free numbers */
	uint64_t serial;
};

/* ---- ending ---- */

static void
conn_on_end(void *arg)
{
	struct bus_conn *c = arg;

	c->handler->on_end(c->bus);
}

void
bus_conn_break(struct bus_conn *c)
{
	if (c->broken)
		return;
	c->broken = true;
	loop_fd_watch(c->loop, &c->fd, 0);
	loop_defer(c->loop, &c->end, conn_on_end, c);
}

static void
conn_lost(struct bus_conn *c, const char *why)
{
	static struct log_rate rate;
	int64_t missed;

	if (!c->broken && log_every(&rate, 10, &missed))
		log_warn("bus.connection_lost", LOG_S("why", why),
		    LOG_I("missed", missed));
	bus_conn_break(c);
}

/* ---- writing ---- */

static bool
conn_can_send(const struct bus_conn *c)
{
	return !c->broken && !c->unwritable;
}

static size_t
conn_unwritten(const struct bus_conn *c)
{
	return c->out.n - c->written;
}

/* False: the connection has ended. */
static bool
conn_write_some(struct bus_conn *c)
{
	ssize_t n = 1;

	while (n > 0 && conn_unwritten(c) > 0) {
		n = nats_socket_write(
		    c->socket, c->out.p + c->written, conn_unwritten(c));
		if (n > 0)
			c->written += (size_t)n;
	}
	if (conn_unwritten(c) == 0) {
		c->written = 0;
		if (c->out.cap > SPARE_BYTES)
			buf_free(&c->out);
		else
			buf_reset(&c->out);
	} else if (c->written > WRITE_BYTES &&
	    c->written >= conn_unwritten(c)) {
		/* A server that is always a little behind must not fill it. */
		buf_drop(&c->out, c->written);
		c->written = 0;
	}
	return n >= 0;
}

static void
conn_write(void *arg)
{
	struct bus_conn *c = arg;

	if (!conn_can_send(c))
		return;
	if (!conn_write_some(c)) {
		/* Reading finds the end, after what was received before it. */
		c->unwritable = true;
		buf_free(&c->out);
		c->written = 0;
	}
	loop_fd_watch(c->loop, &c->fd,
	    conn_unwritten(c) > 0 ? LOOP_READ | LOOP_WRITE : LOOP_READ);
}

static void
conn_write_later(struct bus_conn *c)
{
	loop_defer(c->loop, &c->write, conn_write, c);
}

/* After something was put into out: RC_DOWN if it is too much. */
static enum rc
conn_put(struct bus_conn *c)
{
	if (conn_unwritten(c) > WRITE_BYTES)
		conn_write(c);
	if (!conn_can_send(c))
		return RC_DOWN;
	if (buf_rc(&c->out) == RC_OK && conn_unwritten(c) <= BUS_OUTPUT_MAX) {
		conn_write_later(c);
		return RC_OK;
	}
	conn_lost(c, "the server does not read what is sent");
	return RC_DOWN;
}

/* ---- reading ---- */

/* The server's text: 'Permissions Violation for Publish to "<subject>"' */
static void
conn_on_error(struct bus_conn *c, struct str why)
{
	static struct log_rate rate;
	struct str text = why, subject = { NULL, 0 };
	bool denied = str_starts(why, STR("'Permissions Violation"));
	int64_t missed;

	if (denied)
		c->handler->on_denied(c->bus);
	if (!log_every(&rate, 1, &missed))
		return;
	(void)str_split(&text, '"');
	if (text.p != NULL)
		subject = str_split(&text, '"');
	log_error(denied ? "bus.denied" : "bus.nats_error",
	    LOG_V("subject", subject), LOG_V("why", why),
	    LOG_I("missed", missed));
}

static struct bus_conn_sub *
conn_find_sub(const struct bus_conn *c, uint64_t sid)
{
	uint64_t slot = sid & (SUBS_MAX - 1);
	struct bus_conn_sub *s = slot < c->n_slots ? c->slots[slot] : NULL;

	return s != NULL && s->sid == sid ? s : NULL;
}

static void
conn_on_frame(struct bus_conn *c, const struct bus_frame *f)
{
	struct bus_conn_sub *s;

	switch (f->op) {
	case BUS_OP_MSG:
		/* One that has ended may still get some. */
		s = conn_find_sub(c, f->sid);
		if (s != NULL)
			c->handler->on_msg(c->bus, s->sub, f);
		return;
	case BUS_OP_PING:
		if (conn_can_send(c)) {
			buf_puts(&c->out, "PONG\r\n");
			(void)conn_put(c);
		}
		return;
	case BUS_OP_PONG:
		c->handler->on_pong(c->bus);
		return;
	case BUS_OP_ERR:
		conn_on_error(c, f->text);
		return;
	case BUS_OP_OK:
	case BUS_OP_INFO:
		return;
	}
}

/* Handle the whole frames in s; what remains begins with a part of one. */
static struct str
conn_handle(struct bus_conn *c, struct str s)
{
	struct bus_frame f;
	size_t n;
	enum rc rc;

	while (s.n > 0 && !c->broken) {
		rc = bus_frame_parse(s, &f, &n);
		if (rc == RC_RETRY)
			break;
		if (rc != RC_OK) {
			conn_lost(c,
			    rc == RC_TOOBIG ? "a message over 64 MiB"
					    : "the server does not speak NATS");
			break;
		}
		s = (struct str){ s.p + n, s.n - n };
		conn_on_frame(c, &f);
	}
	return s;
}

static void
conn_take(struct bus_conn *c, struct str bytes)
{
	struct str rest;

	if (c->in.n == 0) {
		rest = conn_handle(c, bytes);
		buf_put_str(&c->in, rest);
		return;
	}
	buf_put_str(&c->in, bytes);
	rest = conn_handle(c, buf_str(&c->in));
	buf_drop(&c->in, c->in.n - rest.n);
	if (c->in.n == 0 && c->in.cap > SPARE_BYTES)
		buf_free(&c->in);
}

static void
conn_read(struct bus_conn *c)
{
	char bytes[READ_MAX];
	ssize_t n;

	do {
		n = nats_socket_read(c->socket, bytes, sizeof(bytes));
		if (n < 0)
			conn_lost(c, nats_socket_error(c->socket));
		else if (n > 0)
			conn_take(c, (struct str){ bytes, (size_t)n });
	} while (n > 0 && !c->broken && nats_socket_has_more(c->socket));
}

static void
conn_on_fd(void *arg, unsigned events)
{
	struct bus_conn *c = arg;

	if ((events & LOOP_READ) != 0)
		conn_read(c);
	/* TLS may have waited for either. */
	if (conn_unwritten(c) > 0)
		conn_write_later(c);
}

/* ---- handshake, on a worker ---- */

struct conn_attempt {
	struct bus_conn *c;
	const struct bus_conn_opts *o;
	bool tls;
	struct url url;
	struct mono at; /* its end */
	size_t used;    /* of c->in, by the frame read last */
	char why[NATS_WHY_MAX];
};

static enum rc
attempt_fail(struct conn_attempt *a, const char *why)
{
	str_copy(str_of(why), a->why, sizeof(a->why));
	return RC_DOWN;
}

/* The next frame; its texts are valid until the next call. */
static enum rc
attempt_read(struct conn_attempt *a, struct bus_frame *f)
{
	struct bus_conn *c = a->c;
	char bytes[4096];
	ssize_t n;
	enum rc rc;

	buf_drop(&c->in, a->used);
	a->used = 0;
	for (;;) {
		rc = bus_frame_parse(buf_str(&c->in), f, &a->used);
		if (rc == RC_OK)
			return RC_OK;
		if (rc != RC_RETRY)
			return attempt_fail(
			    a, "the server does not speak NATS");
		n = nats_socket_read(c->socket, bytes, sizeof(bytes));
		if (n < 0)
			return attempt_fail(a, nats_socket_error(c->socket));
		buf_put(&c->in, bytes, (size_t)n);
		if (n == 0 && !nats_socket_wait(c->socket, false, a->at))
			return attempt_fail(a, "the server does not reply");
	}
}

static enum rc
attempt_read_info(struct conn_attempt *a)
{
	struct arena *arena = arena_new(INFO_ARENA);
	struct wire_nats_info info;
	struct bus_frame f;
	enum rc rc;

	rc = attempt_read(a, &f);
	if (rc == RC_OK &&
	    (f.op != BUS_OP_INFO ||
		wire_decode(&wire_nats_info_desc, f.text, arena, &info, NULL) !=
		    RC_OK))
		rc = attempt_fail(a, "the server does not speak NATS");
	else if (rc == RC_OK && !info.headers)
		rc = attempt_fail(a, "the server is older than 2.2");
	else if (rc == RC_OK && a->tls && !info.tls_required &&
	    !info.tls_available)
		rc = attempt_fail(a, "the server has no TLS");
	else if (rc == RC_OK && !a->tls && info.tls_required)
		rc = attempt_fail(a,
		    "the server requires TLS: a URL that begins with "
		    "tls://");
	if (rc == RC_OK)
		a->c->max_payload = info.max_payload;
	arena_free(arena);
	return rc;
}

/* A user without a password is a token, as in nats-server's own clients. */
static void
attempt_put_login(const struct conn_attempt *a, struct wire_out *out)
{
	const struct bus_conn_opts *o = a->o;
	const char *user = a->url.user, *password = a->url.password;

	if (user[0] == '\0' && o->user != NULL) {
		user = o->user;
		password = o->password != NULL ? o->password : "";
	} else if (user[0] != '\0' && password[0] == '\0') {
		bus_json_str(out, "auth_token", user);
		return;
	}
	if (user[0] == '\0')
		return;
	bus_json_str(out, "user", user);
	bus_json_str(out, "pass", password);
}

static void
attempt_put_connect(const struct conn_attempt *a)
{
	struct buf *b = &a->c->out;
	struct wire_out out = { .b = b };

	buf_puts(b, "CONNECT ");
	wire_out_object(&out);
	attempt_put_login(a, &out);
	bus_json_str(&out, "name", a->o->name);
	bus_json_str(&out, "lang", "c");
	bus_json_str(&out, "version", "soul");
	bus_json_i64(&out, "protocol", 1);
	bus_json_bool(&out, "verbose", false);
	bus_json_bool(&out, "pedantic", false);
	bus_json_bool(&out, "tls_required", a->tls);
	bus_json_bool(&out, "headers", true);
	bus_json_bool(&out, "no_responders", true);
	wire_out_object_end(&out);
	buf_puts(b, "\r\nPING\r\n");
}

static enum rc
attempt_write(struct conn_attempt *a)
{
	struct bus_conn *c = a->c;

	for (;;) {
		if (!conn_write_some(c))
			return attempt_fail(a, nats_socket_error(c->socket));
		if (conn_unwritten(c) == 0)
			return RC_OK;
		if (!nats_socket_wait(c->socket, true, a->at))
			return attempt_fail(a, "the server does not read");
	}
}

static enum rc
attempt_log_in(struct conn_attempt *a)
{
	struct bus_frame f;
	enum rc rc;

	attempt_put_connect(a);
	rc = attempt_write(a);
	while (rc == RC_OK) {
		rc = attempt_read(a, &f);
		if (rc == RC_OK && f.op == BUS_OP_PONG)
			return RC_OK;
		if (rc == RC_OK && f.op == BUS_OP_ERR) {
			str_copy(f.text, a->why, sizeof(a->why));
			return str_starts(f.text, STR("'Authoriz")) ||
				str_starts(f.text, STR("'Authentic"))
			    ? RC_DENIED
			    : RC_DOWN;
		}
	}
	return rc;
}

static enum rc
attempt_run(struct conn_attempt *a, const char *url)
{
	const struct tls_files files = { a->o->ca_file, a->o->cert_file,
		a->o->key_file };
	struct bus_conn *c = a->c;
	enum rc rc;

	if (url_parse(str_of(url), &a->url, NULL) != RC_OK)
		return attempt_fail(a, "the URL cannot be used");
	a->tls = bus_url_is_tls(url);
	a->at = mono_add_ms(clock_mono(), CONNECT_MS);
	c->socket = nats_socket_open(
	    a->url.host, a->url.port != 0 ? a->url.port : PORT, a->at, a->why);
	if (c->socket == NULL)
		return RC_DOWN;
	rc = attempt_read_info(a);
	if (rc == RC_OK && a->tls &&
	    !nats_socket_start_tls(c->socket, &files, a->url.host, a->at))
		rc = attempt_fail(a, nats_socket_error(c->socket));
	if (rc == RC_OK)
		rc = attempt_log_in(a);
	buf_drop(&c->in, a->used);
	return rc;
}

static struct bus_conn *
conn_new(void)
{
	struct bus_conn *c = mem_zalloc(sizeof(*c));

	/* One frame that is not complete, and one read. */
	buf_init(&c->in, BUS_FRAME_MAX + BUS_LINE_MAX + READ_MAX);
	/* What is written is removed once it is as much as what is not. */
	buf_init(
	    &c->out, 2 * BUS_OUTPUT_MAX + 2 * WRITE_BYTES + BUS_PAYLOAD_MAX);
	return c;
}

static void
conn_free(struct bus_conn *c)
{
	/* Its subscriptions have ended before. */
	free(c->slots);
	free(c->free_slots);
	nats_socket_close(c->socket);
	buf_free(&c->in);
	buf_free(&c->out);
	free(c);
}

enum rc
bus_conn_open(const struct bus_conn_opts *o, struct bus_conn **out)
{
	static struct log_rate rate;
	struct conn_attempt a = { .o = o };
	size_t n = (size_t)o->n_urls, i;
	enum rc rc = RC_DOWN;
	int64_t missed;

	for (i = 0; i < n; i++) {
		a.c = conn_new();
		a.used = 0;
		rc = attempt_run(&a, o->urls[(o->first + i) % n]);
		if (rc == RC_OK) {
			*out = a.c;
			return RC_OK;
		}
		conn_free(a.c);
	}
	if (log_every(&rate, 10, &missed))
		log_warn("bus.no_connection", LOG_S("host", a.url.host),
		    LOG_S("why", a.why), LOG_I("missed", missed));
	return rc;
}

/* ---- on the loop ---- */

void
bus_conn_start(struct bus_conn *c, struct loop *l,
    const struct bus_conn_handler *handler, struct bus *b)
{
	c->loop = l;
	c->handler = handler;
	c->bus = b;
	c->fd.fd = nats_socket_fd(c->socket);
	c->fd.fn = conn_on_fd;
	c->fd.arg = c;
	loop_fd_watch(l, &c->fd, LOOP_READ);
}

/* The server closes first: bytes that are not read would reset the connection
 * and could lose what it has not read yet. */
static void
conn_finish(struct bus_conn *c)
{
	struct mono at = mono_add_ms(clock_mono(), CLOSE_MS);

	while (conn_write_some(c)) {
		if (conn_unwritten(c) == 0) {
			nats_socket_finish(c->socket, at);
			return;
		}
		if (!nats_socket_wait(c->socket, true, at))
			return;
	}
}

void
bus_conn_close(struct bus_conn *c)
{
	if (c == NULL)
		return;
	if (c->loop != NULL) {
		loop_defer_cancel(c->loop, &c->write);
		loop_defer_cancel(c->loop, &c->end);
		loop_fd_watch(c->loop, &c->fd, 0);
	}
	if (conn_can_send(c))
		conn_finish(c);
	conn_free(c);
}

/* ---- subscriptions ---- */

static uint32_t
conn_take_slot(struct bus_conn *c)
{
	if (c->n_free > 0)
		return c->free_slots[--c->n_free];
	/* Powers of two. */
	if ((c->n_slots & (c->n_slots - 1)) == 0) {
		size_t cap = c->n_slots == 0 ? 1 : 2 * (size_t)c->n_slots;

		c->slots = mem_realloc(c->slots, cap * sizeof(*c->slots));
		c->free_slots =
		    mem_realloc(c->free_slots, cap * sizeof(*c->free_slots));
	}
	return c->n_slots++;
}

enum rc
bus_conn_subscribe(struct bus_conn *c, const char *subject, const char *queue,
    struct bus_sub *sub, struct bus_conn_sub **out)
{
	struct bus_conn_sub *s;
	uint32_t slot;
	enum rc rc;

	if (!conn_can_send(c))
		return RC_DOWN;
	if (c->n_free == 0 && c->n_slots == SUBS_MAX) {
		log_error("bus.too_many_subscriptions", LOG_I("max", SUBS_MAX),
		    LOG_S("subject", subject));
		return RC_RETRY;
	}
	slot = conn_take_slot(c);
	s = mem_zalloc(sizeof(*s));
	s->conn = c;
	s->sub = sub;
	s->sid = ++c->serial << SUB_SLOT_BITS | slot;
	c->slots[slot] = s;
	buf_printf(&c->out, "SUB %s %s%s%llu\r\n", subject,
	    queue != NULL ? queue : "", queue != NULL ? " " : "",
	    (unsigned long long)s->sid);
	rc = conn_put(c);
	if (rc == RC_OK)
		*out = s;
	else
		bus_conn_sub_end(s);
	return rc;
}

void
bus_conn_sub_drain(struct bus_conn_sub *s)
{
	if (!conn_can_send(s->conn))
		return;
	buf_printf(&s->conn->out, "UNSUB %llu\r\n", (unsigned long long)s->sid);
	(void)conn_put(s->conn);
}

void
bus_conn_sub_end(struct bus_conn_sub *s)
{
	struct bus_conn *c;
	uint32_t slot;

	if (s == NULL)
		return;
	c = s->conn;
	slot = (uint32_t)(s->sid & (SUBS_MAX - 1));
	c->slots[slot] = NULL;
	c->free_slots[c->n_free++] = slot;
	bus_conn_sub_drain(s);
	free(s);
}

/* ---- sending ---- */

static void
conn_put_headers(struct buf *b, const struct bus_out_msg *m)
{
	size_t i;

	buf_puts(b, "NATS/1.0\r\n");
	for (i = 0; i < m->n_headers; i++) {
		buf_puts(b, m->headers[i].key);
		buf_puts(b, ": ");
		buf_puts(b, m->headers[i].value);
		buf_puts(b, "\r\n");
	}
	buf_puts(b, "\r\n");
}

/* The line before the headers, or before the data if there are none. */
static void
conn_put_pub(struct buf *b, const struct bus_out_msg *m, size_t n_headers)
{
	buf_puts(b, n_headers > 0 ? "HPUB " : "PUB ");
	buf_puts(b, m->subject);
	if (m->reply != NULL) {
		buf_putc(b, ' ');
		buf_puts(b, m->reply);
	}
	buf_putc(b, ' ');
	if (n_headers > 0) {
		buf_put_i64(b, (int64_t)n_headers);
		buf_putc(b, ' ');
	}
	buf_put_i64(b, (int64_t)(n_headers + m->data.n));
	buf_puts(b, "\r\n");
}

static size_t
conn_headers_size(const struct bus_out_msg *m)
{
	size_t n = strlen("NATS/1.0\r\n\r\n"), i;

	for (i = 0; i < m->n_headers; i++)
		n += strlen(m->headers[i].key) + strlen(": \r\n") +
		    strlen(m->headers[i].value);
	return n;
}

enum rc
bus_conn_send(struct bus_conn *c, const struct bus_out_msg *m)
{
	size_t n_headers = m->n_headers > 0 ? conn_headers_size(m) : 0;

	if (!conn_can_send(c))
		return RC_DOWN;
	if (n_headers + m->data.n > (size_t)c->max_payload)
		return RC_TOOBIG;
	conn_put_pub(&c->out, m, n_headers);
	if (n_headers > 0)
		conn_put_headers(&c->out, m);
	buf_put_str(&c->out, m->data);
	buf_puts(&c->out, "\r\n");
	return conn_put(c);
}

enum rc
bus_conn_ping(struct bus_conn *c)
{
	if (!conn_can_send(c))
		return RC_DOWN;
	buf_puts(&c->out, "PING\r\n");
	return conn_put(c);
}
