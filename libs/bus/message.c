/*
 * Messages: what a received one contains, what is sent, its headers, replies
 * and JetStream acknowledgements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"
#include "bus/jetstream.h"
#include "core/mem.h"

/* Tokens of a reply subject's two forms; the newer one may have more. */
#define ACK_TOKENS_V1    9
#define ACK_TOKENS_V2    11
#define NS_PER_MS        INT64_C(1000000)
#define ACK_DELAY_MAX_MS (INT64_MAX / NS_PER_MS)

void
bus_json_str(struct wire_out *o, const char *key, const char *value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value != NULL ? str_of(value) : STR(""));
}

void
bus_json_i64(struct wire_out *o, const char *key, int64_t value)
{
	wire_out_key(o, str_of(key));
	wire_out_i64(o, value);
}

void
bus_json_bool(struct wire_out *o, const char *key, bool value)
{
	wire_out_key(o, str_of(key));
	wire_out_bool(o, value);
}

/* ---- receiving ---- */

/* Copy s to *at, with a NUL. */
static struct str
msg_copy(struct str s, char **at)
{
	struct str copy = { *at, s.n };

	if (s.p == NULL)
		return s;
	memcpy(*at, s.p, s.n);
	(*at)[s.n] = '\0';
	*at += s.n + 1;
	return copy;
}

struct bus_msg *
bus_msg_new(struct bus *b, const struct bus_frame *f)
{
	struct bus_msg *m = mem_alloc(sizeof(*m) + f->subject.n + f->reply.n +
	    f->headers.n + f->data.n + 4);
	char *at = m->bytes, *headers;
	size_t i;

	*m = (struct bus_msg){ .bus = b };
	m->subject = msg_copy(f->subject, &at);
	m->reply = msg_copy(f->reply, &at);
	m->data = msg_copy(f->data, &at);
	headers = at;
	m->headers = msg_copy(f->headers, &at);
	/* So that values end with a NUL, too. */
	for (i = 0; i < m->headers.n; i++)
		if (headers[i] == '\r')
			headers[i] = '\0';
	return m;
}

bool
bus_msg_is_unserved(const struct bus_msg *m)
{
	return m->data.n == 0 && bus_headers_status(m->headers) == 503;
}

/* ---- sending ---- */

enum rc
bus_send(struct bus *b, const struct bus_out_msg *m)
{
	enum rc rc;

	if (m->data.n > BUS_PAYLOAD_MAX)
		return RC_TOOBIG;
	if (b->conn == NULL)
		return RC_DOWN;
	rc = bus_conn_send(b->conn, m);
	if (rc == RC_OK)
		metric_add(b->metric.published, 1);
	return rc;
}

static void
headers_add(struct bus_headers *h, const char *key, const char *value)
{
	h->v[h->n++] = (struct bus_header){ key, value };
}

enum rc
bus_headers_make(const struct bus_meta *meta, struct bus_headers *h)
{
	size_t i;

	h->n = 0;
	if (meta == NULL)
		return RC_OK;
	if (meta->deadline.ms != 0) {
		(void)str_num(meta->deadline.ms, h->deadline);
		headers_add(h, HEADER_DEADLINE, h->deadline);
	}
	if (meta->trace != NULL) {
		trace_format(meta->trace, h->trace);
		headers_add(h, HEADER_TRACE, h->trace);
	}
	if (meta->msg_id != NULL) {
		if (!bus_header_value_valid(meta->msg_id))
			return RC_INVALID;
		headers_add(h, HEADER_MSG_ID, meta->msg_id);
	}
	if (meta->nheaders > BUS_HEADERS_MAX)
		return RC_INVALID;
	for (i = 0; i < meta->nheaders; i++) {
		if (!bus_token_valid(meta->headers[i].key) ||
		    !bus_header_value_valid(meta->headers[i].value))
			return RC_INVALID;
		headers_add(h, meta->headers[i].key, meta->headers[i].value);
	}
	return RC_OK;
}

enum rc
bus_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta)
{
	struct bus_headers h;

	if (!bus_subject_valid(subject, false) ||
	    bus_headers_make(meta, &h) != RC_OK)
		return RC_INVALID;
	return bus_send(b,
	    &(struct bus_out_msg){ .subject = subject,
		.data = data,
		.headers = h.v,
		.n_headers = h.n });
}

/* ---- received messages ---- */

struct str
bus_msg_subject(const struct bus_msg *m)
{
	return m->subject;
}

struct str
bus_msg_data(const struct bus_msg *m)
{
	return m->data;
}

struct wall
bus_msg_deadline(const struct bus_msg *m)
{
	return m->deadline;
}

bool
bus_msg_wants_reply(const struct bus_msg *m)
{
	return !m->stored && m->reply.n > 0;
}

bool
bus_msg_trace(const struct bus_msg *m, struct trace *t)
{
	struct str text = bus_headers_find(m->headers, HEADER_TRACE);

	return text.p != NULL && trace_parse(text, t) == RC_OK;
}

struct str
bus_msg_header(const struct bus_msg *m, const char *key)
{
	return bus_headers_find(m->headers, key);
}

void
bus_msg_free(struct bus_msg *m)
{
	free(m);
}

/* ---- replies ---- */

/* Reply to m without ending it; any rc but RC_OK makes it an error. */
static enum rc
msg_send_reply(const struct bus_msg *m, enum rc rc, struct str data)
{
	struct bus_header h[2];
	char status[16];
	struct str to = m->reply;
	struct bus_out_msg out = { .subject = to.p, .data = data };

	if (!bus_msg_wants_reply(m) || !bus_subject_valid(to.p, false))
		return RC_INVALID;
	if (rc != RC_OK) {
		(void)snprintf(
		    status, sizeof(status), "%d", rc_http_status(rc));
		h[0] = (struct bus_header){ HEADER_ERROR, rc_name(rc) };
		h[1] = (struct bus_header){ HEADER_ERROR_CODE, status };
		out.headers = h;
		out.n_headers = 2;
	}
	return bus_send(m->bus, &out);
}

/* Reply to m with an error whose body is only text and code. */
static void
msg_send_error(const struct bus_msg *m, enum rc rc)
{
	static const char *const why[RC_N] = {
		[RC_TIMEOUT] = "the deadline had passed on arrival",
		[RC_TOOBIG] = "the reply is too big",
	};
	struct buf b = BUF_INIT(1024);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	bus_json_str(&o, "error", why[rc] != NULL ? why[rc] : rc_name(rc));
	bus_json_str(&o, "code", rc_name(rc));
	wire_out_object_end(&o);
	/* If this fails, the requester's deadline ends its request. */
	(void)msg_send_reply(m, rc, buf_str(&b));
	buf_free(&b);
}

void
bus_msg_reject(struct bus_msg *m, enum rc rc)
{
	if (bus_msg_wants_reply(m))
		msg_send_error(m, rc);
	bus_msg_free(m);
}

enum rc
bus_reply_partial(const struct bus_msg *m, struct str data)
{
	return msg_send_reply(m, RC_OK, data);
}

enum rc
bus_reply(struct bus_msg *m, struct str data)
{
	return bus_reply_error(m, RC_OK, data);
}

enum rc
bus_reply_error(struct bus_msg *m, enum rc rc, struct str data)
{
	enum rc sent = msg_send_reply(m, rc, data);

	/* Otherwise the requester would wait until its deadline. */
	if (sent == RC_TOOBIG)
		msg_send_error(m, RC_TOOBIG);
	bus_msg_free(m);
	return sent;
}

/* ---- deliveries of a consumer ---- */

enum rc
bus_ack_subject_parse(struct str subject, struct bus_delivery *d)
{
	struct str t[ACK_TOKENS_V2], rest = subject;
	struct bus_delivery r;
	size_t n = 0, at;
	int64_t ns;

	while (rest.p != NULL && n < ACK_TOKENS_V2)
		t[n++] = str_split(&rest, '.');
	if (n < ACK_TOKENS_V1 || n == ACK_TOKENS_V1 + 1 ||
	    !str_eq(t[0], STR("$JS")) || !str_eq(t[1], STR("ACK")))
		return RC_INVALID;
	at = n == ACK_TOKENS_V1 ? 4 : 6;
	if (str_to_i64(t[at], 1, INT64_MAX, &r.delivered) != RC_OK ||
	    str_to_i64(t[at + 1], 1, INT64_MAX, &r.seq) != RC_OK ||
	    str_to_i64(t[at + 3], 0, INT64_MAX, &ns) != RC_OK ||
	    str_to_i64(t[at + 4], 0, INT64_MAX, &r.pending) != RC_OK)
		return RC_INVALID;
	r.stored.ms = ns / NS_PER_MS;
	*d = r;
	return RC_OK;
}

bool
bus_msg_delivery(const struct bus_msg *m, struct bus_delivery *d)
{
	return m->stored && bus_ack_subject_parse(m->reply, d) == RC_OK;
}

struct str
bus_msg_id(const struct bus_msg *m)
{
	return bus_headers_find(m->headers, HEADER_MSG_ID);
}

static enum rc
msg_send_ack(const struct bus_msg *m, struct str ack)
{
	struct str to = m->reply;
	struct bus_delivery j;

	if (!bus_msg_delivery(m, &j))
		return RC_INVALID;
	return bus_send(
	    m->bus, &(struct bus_out_msg){ .subject = to.p, .data = ack });
}

enum rc
bus_ack(struct bus_msg *m)
{
	enum rc rc = msg_send_ack(m, STR("+ACK"));

	bus_msg_free(m);
	return rc;
}

enum rc
bus_nak(struct bus_msg *m, int64_t delay_ms)
{
	char text[64] = "-NAK";
	enum rc rc;

	if (delay_ms > ACK_DELAY_MAX_MS)
		delay_ms = ACK_DELAY_MAX_MS;
	if (delay_ms > 0)
		(void)snprintf(text, sizeof(text), "-NAK {\"delay\":%lld}",
		    (long long)(delay_ms * NS_PER_MS));
	rc = msg_send_ack(m, str_of(text));
	bus_msg_free(m);
	return rc;
}

enum rc
bus_ack_progress(struct bus_msg *m)
{
	return msg_send_ack(m, STR("+WPI"));
}
