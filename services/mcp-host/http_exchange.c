#include "http_exchange.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "httpc/sse_reader.h"
#include "transport.h"

struct http_exchange {
	struct http_exchange_handler h;
	struct httpc_call *call; /* NULL: ended */
	bool begun;              /* the response's head is known */
	bool is_stream, finished;
	bool reading; /* inside on_event() */
	bool canceled;
	struct sse_reader sse;
	struct buf body, last_id;
};

static void
exchange_free(struct http_exchange *x)
{
	sse_reader_free(&x->sse);
	buf_free(&x->body);
	buf_free(&x->last_id);
	free(x);
}

static bool
exchange_is_success(int status)
{
	return status >= 200 && status < 300;
}

static void
exchange_begin(struct http_exchange *x)
{
	struct str type = httpc_header(x->call, "Content-Type"), first;

	first = str_trim(str_split(&type, ';'));
	x->begun = true;
	if (!exchange_is_success(httpc_status(x->call)))
		x->body.max = HTTP_EXCHANGE_ERROR_MAX;
	else
		x->is_stream = str_eq_nocase(first, STR("text/event-stream"));
}

static enum rc
exchange_on_event(void *arg, const struct sse_event *e)
{
	struct http_exchange *x = arg;

	buf_reset(&x->last_id);
	buf_put_str(&x->last_id, e->id);
	/* The first event may have an id alone. */
	if (e->data.n > 0)
		x->h.on_event(x->h.arg, x, e->type, e->data);
	return x->canceled ? RC_DOWN : RC_OK;
}

static enum rc
exchange_on_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	struct http_exchange *x = arg;
	enum rc rc;

	(void)call;
	if (!x->begun)
		exchange_begin(x);
	if (!x->is_stream) {
		buf_put_str(&x->body, chunk);
		/* The rest of an error's text is of no use. */
		return x->body.over &&
			exchange_is_success(httpc_status(x->call))
		    ? RC_TOOBIG
		    : RC_OK;
	}
	x->reading = true;
	rc = sse_reader_feed(&x->sse, chunk, exchange_on_event, x);
	x->reading = false;
	if (x->canceled) {
		exchange_free(x);
		return RC_DOWN;
	}
	return rc == RC_OK && x->finished ? RC_CONFLICT : rc;
}

static void
exchange_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response)
{
	struct http_exchange *x = arg;
	struct http_exchange_end e = { .rc = rc,
		.status = response->status,
		.was_sent = httpc_was_sent(call),
		.body = buf_str(&x->body),
		.session_id = httpc_header(call, "Mcp-Session-Id"),
		.location = httpc_location(call),
		.last_id = buf_str(&x->last_id),
		.retry_ms = x->sse.retry_ms,
		.why = str_of(response->why) };

	if (x->finished)
		e.rc = RC_OK;
	/* Without a body there was no chunk. */
	if (!x->begun)
		exchange_begin(x);
	e.is_stream = x->is_stream;
	x->call = NULL;
	x->reading = true;
	x->h.on_end(x->h.arg, x, &e);
	exchange_free(x);
}

enum rc
http_exchange_start(
    const struct http_exchange_opts *o, struct http_exchange **out)
{
	struct http_exchange *x = mem_zalloc(sizeof(*x));
	const struct httpc_request rq = { .method = o->method,
		.url = o->url,
		.headers = o->headers,
		.nheaders = o->n_headers,
		.body = o->body,
		.deadline = o->deadline,
		.idle_ms = o->idle_ms,
		.body_max = HTTP_EXCHANGE_MAX,
		.once = o->once,
		.on_chunk = exchange_on_chunk,
		.on_done = exchange_on_done,
		.arg = x };
	enum rc rc;

	x->h = o->handler;
	sse_reader_init(&x->sse, TRANSPORT_MESSAGE_MAX);
	buf_init(&x->body, TRANSPORT_MESSAGE_MAX);
	buf_init(&x->last_id, 1024);
	rc = httpc_start(o->client, &rq, &x->call);
	if (rc != RC_OK) {
		exchange_free(x);
		return rc;
	}
	*out = x;
	return RC_OK;
}

void
http_exchange_cancel(struct http_exchange *x)
{
	/* In on_end(), which frees it. */
	if (x->call == NULL || x->canceled)
		return;
	httpc_cancel(x->call);
	x->canceled = true;
	if (!x->reading)
		exchange_free(x);
}

void
http_exchange_finish(struct http_exchange *x)
{
	x->finished = true;
}
