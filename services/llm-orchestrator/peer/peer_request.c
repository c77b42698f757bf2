/*
 * Sending, retrying, decoding the reply.
 */
#include "peer/peer_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "wire/wire.h"

#define RETRY_MS 50

struct peer_request {
	TAILQ_ENTRY(peer_request) link;
	struct turn_run *run;
	char subject[PEER_SUBJECT_MAX];
	struct buf body;
	const struct wire_desc *reply;
	struct wall deadline, act_by;
	int64_t resend_ms;
	bool no_retry, takes_error;
	size_t call;
	peer_reply_fn fn;
	bool (*is_partial)(const void *msg);
	uint64_t id; /* of the request under way; 0: none */
	struct loop_timer timer;
};

static void peer_request_try(void *arg);

static void
peer_request_free(struct peer_request *k)
{
	struct orch *o = k->run->o;

	loop_timer_cancel(svc_loop(o->svc), &k->timer);
	if (k->id != 0)
		bus_request_cancel(o->bus, k->id);
	TAILQ_REMOVE(&k->run->requests, k, link);
	buf_free(&k->body);
	free(k);
}

static void
peer_request_end(struct peer_request *k, enum rc rc, const void *msg)
{
	static struct log_rate rate;
	struct turn_run *r = k->run;
	peer_reply_fn fn = k->fn;
	size_t call = k->call;
	int64_t missed;

	if (rc != RC_OK && log_every(&rate, 5, &missed))
		log_warn("peer.request_failed", LOG_S("subject", k->subject),
		    LOG_RC(rc), LOG_I("missed", missed));
	peer_request_free(k);
	fn(r, call, rc, msg);
}

/* There was no responder: retry until the deadline. */
static void
peer_request_retry(struct peer_request *k)
{
	struct mono now = clock_mono();
	struct mono end = clock_mono_of(k->deadline);

	if (k->no_retry || mono_diff_ms(end, now) <= RETRY_MS) {
		peer_request_end(k, RC_NOENT, NULL);
		return;
	}
	loop_timer_set(svc_loop(k->run->o->svc), &k->timer,
	    mono_add_ms(now, RETRY_MS), peer_request_try, k);
}

static void
peer_request_decode(struct peer_request *k, struct str data)
{
	void *msg = arena_alloc(k->run->a, wire_desc_size(k->reply));
	struct wire_err err = { "", "" };
	enum rc rc = RC_TOOBIG;

	if (msg != NULL)
		rc = wire_decode(k->reply, data, k->run->a, msg, &err);
	if (rc == RC_INVALID)
		log_error("peer.invalid_reply", LOG_S("subject", k->subject),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	if (rc == RC_OK && k->is_partial != NULL && k->is_partial(msg))
		k->fn(k->run, k->call, rc, msg);
	else
		peer_request_end(k, rc, rc == RC_OK ? msg : NULL);
}

/* The decoded error, if it is wanted and valid. */
static const struct wire_error *
peer_request_error(struct peer_request *k, struct str data)
{
	struct wire_error *e;

	if (!k->takes_error || data.n == 0)
		return NULL;
	e = arena_alloc(k->run->a, sizeof(*e));
	if (e == NULL ||
	    wire_decode(&wire_error_desc, data, k->run->a, e, NULL) != RC_OK)
		return NULL;
	return e;
}

/* An empty error reply is the NATS server's: no responders. */
static void
peer_request_on_reply(void *arg, enum rc rc, struct str data)
{
	struct peer_request *k = arg;

	if (rc != RC_OK || k->is_partial == NULL)
		k->id = 0;
	if (rc == RC_OK)
		peer_request_decode(k, data);
	else if (data.n == 0 &&
	    (rc == RC_NOENT || (rc == RC_DOWN && k->resend_ms > 0)))
		peer_request_retry(k);
	else if (rc == RC_DOWN && data.n == 0)
		peer_request_end(k, RC_TIMEOUT, NULL);
	else
		peer_request_end(k, rc, peer_request_error(k, data));
}

static enum rc
peer_request_publish(struct peer_request *k)
{
	char by[STR_NUM_MAX];
	struct bus_header act_by = { BUS_HEADER_ACT_BY, by };
	struct bus_meta meta = { .deadline = k->deadline,
		.trace = &k->run->trace,
		.headers = &act_by,
		.nheaders = k->act_by.ms != 0 ? 1 : 0,
		.resend_ms = k->resend_ms };
	struct bus_reply_handler w = { .fn = peer_request_on_reply,
		.arg = k,
		.many = k->is_partial != NULL };

	(void)str_num(k->act_by.ms, by);
	return bus_request(
	    k->run->o->bus, k->subject, buf_str(&k->body), &meta, w, &k->id);
}

static void
peer_request_try(void *arg)
{
	struct peer_request *k = arg;

	enum rc rc = peer_request_publish(k);
	if (rc == RC_DOWN || rc == RC_RETRY)
		peer_request_retry(k);
	else if (rc == RC_TIMEOUT)
		peer_request_end(k, RC_NOENT, NULL);
	else if (rc != RC_OK)
		peer_request_end(k, rc, NULL);
}

static enum rc
peer_request_encode(
    struct peer_request *k, const struct peer_request_opts *opts)
{
	struct wire_err err = { "", "" };

	if (opts->request == NULL) {
		buf_put_str(&k->body, opts->json);
		return buf_rc(&k->body);
	}
	enum rc rc = wire_encode(opts->request, opts->msg, &k->body, &err);
	if (rc != RC_OK)
		log_error("peer.invalid_request", LOG_S("subject", k->subject),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	return rc;
}

static void
peer_request_reject(void *arg)
{
	peer_request_end(arg, RC_INVALID, NULL);
}

void
peer_request_send(struct turn_run *r, const struct peer_request_opts *opts)
{
	struct peer_request *k = mem_zalloc(sizeof(*k));

	k->run = r;
	k->reply = opts->reply;
	k->resend_ms = opts->resend_ms;
	k->act_by = opts->act_by;
	k->no_retry = opts->no_retry;
	k->takes_error = opts->takes_error;
	k->call = opts->call;
	k->fn = opts->fn;
	k->is_partial = opts->is_partial;
	k->deadline = turn_deadline(r, opts->timeout_ms);
	snprintf(k->subject, sizeof(k->subject), "%s", opts->subject);
	buf_init(&k->body, BUS_PAYLOAD_MAX);
	TAILQ_INSERT_TAIL(&r->requests, k, link);
	enum rc rc = peer_request_encode(k, opts);
	loop_fn later = rc == RC_OK ? peer_request_try : peer_request_reject;
	if (rc == RC_OK)
		rc = peer_request_publish(k);
	/* fn must not be called from within peer_request_send(). */
	if (rc != RC_OK)
		loop_timer_set(
		    svc_loop(r->o->svc), &k->timer, clock_mono(), later, k);
}

void
peer_request_cancel_all(struct turn_run *r)
{
	struct peer_request *k;

	while ((k = TAILQ_FIRST(&r->requests)) != NULL)
		peer_request_free(k);
}

enum rc
peer_subject(
    char dst[PEER_SUBJECT_MAX], const char *fmt, struct str a, struct str b)
{
	char x[ID_TOKEN_MAX], y[ID_TOKEN_MAX] = "";

	enum rc rc = id_token(a, x);
	if (rc == RC_OK && b.p != NULL)
		rc = id_token(b, y);
	if (rc != RC_OK)
		return rc;
	/* The formats are constants with one %s per id. */
	size_t n = 0, at = 0;
	for (; *fmt != '\0' && n < PEER_SUBJECT_MAX - 1; fmt++) {
		if (fmt[0] != '%' || fmt[1] != 's') {
			dst[n++] = *fmt;
			continue;
		}
		const char *token = at++ == 0 ? x : y;
		while (*token != '\0' && n < PEER_SUBJECT_MAX - 1)
			dst[n++] = *token++;
		fmt++;
	}
	dst[n] = '\0';
	return RC_OK;
}
