/*
 * What goes out: publishing, answering, and the headers of both.
 */
#include <stdio.h>

#include "bus/internal.h"
#include "bus/json.h"
#include "core/buf.h"
#include "wire/out.h"

enum rc
bus_send(struct bus *b, const struct conn_out *m)
{
	enum rc rc;

	if (m->data.n > BUS_PAYLOAD_MAX)
		return RC_TOOBIG;
	if (b->conn == NULL)
		return RC_DOWN;
	rc = conn_send(b->conn, m);
	if (rc == RC_OK)
		metric_add(b->metric.published, 1);
	return rc;
}

static void
header_add(struct bus_headers *h, const char *key, const char *value)
{
	h->v[h->n++] = (struct conn_header){ key, value };
}

enum rc
bus_headers_of(const struct bus_meta *meta, struct bus_headers *h)
{
	size_t i;

	h->n = 0;
	if (meta == NULL)
		return RC_OK;
	if (meta->deadline.ms != 0) {
		(void)snprintf(h->deadline, sizeof(h->deadline), "%lld",
		    (long long)meta->deadline.ms);
		header_add(h, HEADER_DEADLINE, h->deadline);
	}
	if (meta->trace != NULL) {
		trace_format(meta->trace, h->trace);
		header_add(h, HEADER_TRACE, h->trace);
	}
	if (meta->msg_id != NULL) {
		if (!names_header_ok(meta->msg_id))
			return RC_INVALID;
		header_add(h, HEADER_MSG_ID, meta->msg_id);
	}
	if (meta->nheaders > BUS_HEADERS_MAX)
		return RC_INVALID;
	for (i = 0; i < meta->nheaders; i++) {
		if (!names_token_ok(meta->headers[i].key) ||
		    !names_header_ok(meta->headers[i].value))
			return RC_INVALID;
		header_add(h, meta->headers[i].key, meta->headers[i].value);
	}
	return RC_OK;
}

enum rc
bus_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta)
{
	struct bus_headers h;

	if (!names_subject_ok(subject, false) ||
	    bus_headers_of(meta, &h) != RC_OK)
		return RC_INVALID;
	return bus_send(b,
	    &(struct conn_out){ .subject = subject,
		.data = data,
		.headers = h.v,
		.n_headers = h.n });
}

/* Answer m, which stays; RC_OK rc is success, every other an error. */
static enum rc
answer(const struct bus_msg *m, enum rc rc, struct str data)
{
	struct conn_header h[2];
	char status[16];
	struct str to = conn_msg_reply(m);
	struct conn_out out = { .subject = to.p, .data = data };

	if (!bus_msg_wants_reply(m) || !names_subject_ok(to.p, false))
		return RC_INVALID;
	if (rc != RC_OK) {
		(void)snprintf(
		    status, sizeof(status), "%d", rc_http_status(rc));
		h[0] = (struct conn_header){ HEADER_ERROR, rc_name(rc) };
		h[1] = (struct conn_header){ HEADER_ERROR_CODE, status };
		out.headers = h;
		out.n_headers = 2;
	}
	return bus_send(m->bus, &out);
}

/* Answer m with an error that has no better body than its code. */
static void
answer_plainly(const struct bus_msg *m, enum rc rc)
{
	static const char *const why[RC_N] = {
		[RC_TIMEOUT] = "the deadline had passed on arrival",
		[RC_TOOBIG] = "the answer is too big",
	};
	struct buf b = BUF_INIT(1024);
	struct wire_out o = { .b = &b };

	wire_out_object(&o);
	json_str(&o, "error", why[rc] != NULL ? why[rc] : rc_name(rc));
	json_str(&o, "code", rc_name(rc));
	wire_out_object_end(&o);
	/* If it cannot be sent, the asker's own deadline ends the matter. */
	(void)answer(m, rc, buf_str(&b));
	buf_free(&b);
}

void
bus_msg_refuse(struct bus_msg *m, enum rc rc)
{
	if (bus_msg_wants_reply(m))
		answer_plainly(m, rc);
	bus_msg_free(m);
}

enum rc
bus_reply_partial(const struct bus_msg *m, struct str data)
{
	return answer(m, RC_OK, data);
}

enum rc
bus_reply(struct bus_msg *m, struct str data)
{
	return bus_reply_error(m, RC_OK, data);
}

enum rc
bus_reply_error(struct bus_msg *m, enum rc rc, struct str data)
{
	enum rc sent = answer(m, rc, data);

	/* Whoever asked shall not wait for what cannot come. */
	if (sent == RC_TOOBIG)
		answer_plainly(m, RC_TOOBIG);
	bus_msg_free(m);
	return sent;
}
