/*
 * Sending, sending again, reading the answer.
 */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "orch.h"
#include "run.h"
#include "svc/svc.h"
#include "wire/wire.h"

#define AGAIN_MS 50

struct ask {
	TAILQ_ENTRY(ask) link;
	struct run *run;
	char subject[ASK_SUBJECT_MAX];
	struct buf body;
	const struct wire_desc *reply;
	struct wall deadline, act_by;
	int64_t resend_ms;
	bool once;
	size_t deed;
	ask_fn fn;
	uint64_t id; /* of the request under way; 0: none */
	struct loop_timer timer;
};

static void ask_try(void *arg);

static void
ask_free(struct ask *k)
{
	struct orch *o = k->run->o;

	loop_timer_cancel(svc_loop(o->svc), &k->timer);
	if (k->id != 0)
		bus_request_cancel(o->bus, k->id);
	TAILQ_REMOVE(&k->run->asks, k, link);
	buf_free(&k->body);
	free(k);
}

static void
ask_end(struct ask *k, enum rc rc, const void *msg)
{
	static struct log_rate rate;
	struct run *r = k->run;
	ask_fn fn = k->fn;
	size_t deed = k->deed;
	int64_t missed;

	if (rc != RC_OK && log_every(&rate, 5, &missed))
		log_warn("ask.failed", LOG_S("subject", k->subject), LOG_RC(rc),
		    LOG_I("missed", missed));
	ask_free(k);
	fn(r, deed, rc, msg);
}

/* Nobody took it; it may be sent again unless the time is up. */
static void
ask_again(struct ask *k)
{
	struct mono now = clock_mono();
	struct mono end = clock_mono_of(k->deadline);

	if (k->once || mono_diff_ms(end, now) <= AGAIN_MS) {
		ask_end(k, RC_NOENT, NULL);
		return;
	}
	loop_timer_set(svc_loop(k->run->o->svc), &k->timer,
	    mono_add_ms(now, AGAIN_MS), ask_try, k);
}

static void
ask_read(struct ask *k, struct str data)
{
	void *msg = arena_alloc(k->run->a, wire_desc_size(k->reply));
	struct wire_err err = { "", "" };
	enum rc rc = RC_TOOBIG;

	if (msg != NULL)
		rc = wire_decode(k->reply, data, k->run->a, msg, &err);
	if (rc == RC_INVALID)
		log_error("ask.answer", LOG_S("subject", k->subject),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	ask_end(k, rc, rc == RC_OK ? msg : NULL);
}

/* An answer without a body is the server's: nobody serves the subject. */
static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct ask *k = arg;

	k->id = 0;
	if (rc == RC_OK)
		ask_read(k, data);
	else if (data.n == 0 &&
	    (rc == RC_NOENT || (rc == RC_DOWN && k->resend_ms > 0)))
		ask_again(k);
	else if (rc == RC_DOWN && data.n == 0)
		ask_end(k, RC_TIMEOUT, NULL);
	else
		ask_end(k, rc, NULL);
}

static enum rc
ask_request(struct ask *k)
{
	char by[24];
	struct bus_header act_by = { BUS_HEADER_ACT_BY, by };
	struct bus_meta meta = { .deadline = k->deadline,
		.trace = run_trace(k->run),
		.headers = &act_by,
		.nheaders = k->act_by.ms != 0 ? 1 : 0,
		.resend_ms = k->resend_ms };
	struct bus_reply_handler w = { .fn = on_answer, .arg = k };

	snprintf(by, sizeof(by), "%lld", (long long)k->act_by.ms);
	return bus_request(
	    k->run->o->bus, k->subject, buf_str(&k->body), &meta, w, &k->id);
}

static void
ask_try(void *arg)
{
	struct ask *k = arg;

	enum rc rc = ask_request(k);
	if (rc == RC_DOWN || rc == RC_RETRY)
		ask_again(k);
	else if (rc == RC_TIMEOUT)
		ask_end(k, RC_NOENT, NULL);
	else if (rc != RC_OK)
		ask_end(k, rc, NULL);
}

static enum rc
ask_write(struct ask *k, const struct ask_opts *opts)
{
	struct wire_err err = { "", "" };

	if (opts->request == NULL) {
		buf_put_str(&k->body, opts->json);
		return buf_rc(&k->body);
	}
	enum rc rc = wire_encode(opts->request, opts->msg, &k->body, &err);
	if (rc != RC_OK)
		log_error("ask.invalid", LOG_S("subject", k->subject),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	return rc;
}

static void
ask_refused(void *arg)
{
	ask_end(arg, RC_INVALID, NULL);
}

void
ask_send(struct run *r, const struct ask_opts *opts)
{
	struct ask *k = mem_zalloc(sizeof(*k));

	k->run = r;
	k->reply = opts->reply;
	k->resend_ms = opts->resend_ms;
	k->act_by = opts->act_by;
	k->once = opts->once;
	k->deed = opts->deed;
	k->fn = opts->fn;
	k->deadline = run_by(r, opts->timeout_ms);
	snprintf(k->subject, sizeof(k->subject), "%s", opts->subject);
	buf_init(&k->body, BUS_PAYLOAD_MAX);
	TAILQ_INSERT_TAIL(&r->asks, k, link);
	enum rc rc = ask_write(k, opts);
	loop_fn later = rc == RC_OK ? ask_try : ask_refused;
	if (rc == RC_OK)
		rc = ask_request(k);
	/* The caller is not called back from inside. */
	if (rc != RC_OK)
		loop_timer_set(
		    svc_loop(r->o->svc), &k->timer, clock_mono(), later, k);
}

void
ask_cancel_all(struct run *r)
{
	struct ask *k;

	while ((k = TAILQ_FIRST(&r->asks)) != NULL)
		ask_free(k);
}

enum rc
ask_subject(
    char dst[ASK_SUBJECT_MAX], const char *fmt, struct str a, struct str b)
{
	char x[ID_TOKEN_MAX], y[ID_TOKEN_MAX] = "";

	enum rc rc = id_token(a, x);
	if (rc == RC_OK && b.p != NULL)
		rc = id_token(b, y);
	if (rc != RC_OK)
		return rc;
	/* The formats are constants with as many %s as there are ids. */
	size_t n = 0, at = 0;
	for (; *fmt != '\0' && n < ASK_SUBJECT_MAX - 1; fmt++) {
		if (fmt[0] != '%' || fmt[1] != 's') {
			dst[n++] = *fmt;
			continue;
		}
		const char *token = at++ == 0 ? x : y;
		while (*token != '\0' && n < ASK_SUBJECT_MAX - 1)
			dst[n++] = *token++;
		fmt++;
	}
	dst[n] = '\0';
	return RC_OK;
}
