/*
 * The events of a claimed webhook, one after the other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "auth/secret_box.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "httpc/httpc.h"
#include "live/event_log.h"
#include "svc/svc.h"
#include "webhooks/webhook_sign.h"
#include "webhooks/webhooks.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define RECORD_ARENA (2 * (size_t)WEBHOOK_MAX + 8192)
#define HEADER_MAX   128
#define N_HEADERS    5
/* What a response says is not read. */
#define RESPONSE_MAX ((size_t)64 * 1024)

struct webhook_send {
	struct webhooks *w;
	struct webhook_claimed hook; /* its texts are in a */
	struct arena *a;             /* of the record */
	struct event_batch events;   /* the event that is being sent */
	struct wire_webhook_record rec;
	struct buf secret;
	struct fiber *waits;
	struct webhook_attempt t;
	char why[WEBHOOK_WHY_MAX + 1];
	int64_t retry_after_ms;
};

/* ---- one attempt ---- */

static void
webhook_send_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *r)
{
	struct webhook_send *d = arg;

	(void)call;
	d->t.status = r->status;
	d->retry_after_ms = r->retry_after_ms;
	if (rc == RC_OK && r->status >= 200 && r->status < 300) {
		d->t.outcome = WEBHOOK_DONE;
	} else if (rc == RC_OK || rc == RC_TOOBIG) {
		(void)snprintf(d->why, sizeof(d->why), "status %d", r->status);
	} else if (rc == RC_DENIED) {
		str_copy(
		    STR("the address is not public"), d->why, sizeof(d->why));
	} else {
		str_copy(str_of(r->why), d->why, sizeof(d->why));
	}
	fiber_resume(d->waits);
}

/* RC_INVALID: the secret or the URL cannot be used. */
static enum rc
webhook_send_request(struct webhook_send *d, const struct event_view *e)
{
	char id[STR_NUM_MAX * 2], at[STR_NUM_MAX], mac[WEBHOOK_SIGNATURE_MAX];
	char text[3][HEADER_MAX], url[4096 + 1];
	const char *const headers[N_HEADERS] = {
		"Content-Type: application/json", "User-Agent: Soul", text[0],
		text[1], text[2]
	};
	enum rc rc;

	(void)snprintf(id, sizeof(id), "%lld-%lld", (long long)e->seq,
	    (long long)e->stored.ms);
	(void)str_num(clock_wall().ms / 1000, at);
	rc = webhook_sign(buf_str(&d->secret),
	    (const struct str[]){ str_of(id), str_of(at), e->json }, mac);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(text[0], HEADER_MAX, "webhook-id: %s", id);
	(void)snprintf(text[1], HEADER_MAX, "webhook-timestamp: %s", at);
	(void)snprintf(text[2], HEADER_MAX, "webhook-signature: %s", mac);
	str_copy(d->rec.url, url, sizeof(url));
	return httpc_start(d->w->http,
	    &(struct httpc_request){ .method = "POST",
		.url = url,
		.headers = headers,
		.nheaders = N_HEADERS,
		.body = e->json,
		.deadline = { clock_wall().ms + WEBHOOK_POST_MS },
		.body_max = RESPONSE_MAX,
		.on_done = webhook_send_on_done,
		.arg = d },
	    NULL);
}

/* False: the stream could not be read, the event waits. */
static bool
webhook_send_try(struct webhook_send *d, int64_t seq)
{
	enum rc rc;

	d->t = (struct webhook_attempt){ .seq = seq, .outcome = WEBHOOK_RETRY };
	d->retry_after_ms = -1;
	d->why[0] = '\0';
	arena_reset(d->events.a);
	rc = event_log_find(d->w->o.log, seq, &d->events);
	if (rc == RC_NOENT) {
		d->t.outcome = WEBHOOK_DROPPED;
		return true;
	}
	if (rc != RC_OK)
		return false;
	rc = webhook_send_request(d, &d->events.e[0]);
	if (rc == RC_OK) {
		d->waits = fiber_self();
		fiber_suspend();
	} else {
		str_copy(str_of(rc == RC_RETRY ? "too many requests at once"
					       : "url: not valid"),
		    d->why, sizeof(d->why));
	}
	return !d->w->stopping || d->t.outcome == WEBHOOK_DONE;
}

/* ---- all of them ---- */

/* What comes after the attempt; whether the next event is sent now. */
static bool
webhook_send_decide(struct webhook_send *d, bool last)
{
	struct backoff b = { d->w->o.retry_ms, WEBHOOK_RETRY_MAX_MS,
		(unsigned)d->hook.tries };

	d->t.why = str_of(d->why);
	if (d->t.outcome != WEBHOOK_RETRY) {
		d->hook.tries = 0;
		if (d->t.outcome == WEBHOOK_DONE)
			metric_add(d->w->sent, 1);
		d->t.wait_ms = last ? 0 : WEBHOOK_LEASE_MS;
		return !last;
	}
	metric_add(d->w->failed, 1);
	d->hook.tries++;
	if (d->hook.tries >= d->w->o.tries) {
		metric_add(d->w->dead, 1);
		d->t.outcome = WEBHOOK_DEAD;
	}
	d->t.wait_ms = backoff_next_ms(&b);
	if (d->retry_after_ms > d->t.wait_ms)
		d->t.wait_ms = d->retry_after_ms < WEBHOOK_RETRY_MAX_MS
		    ? d->retry_after_ms
		    : WEBHOOK_RETRY_MAX_MS;
	return false;
}

static void
webhook_send_all(struct webhook_send *d)
{
	struct webhooks *w = d->w;
	bool more = true;
	enum rc rc;

	for (size_t i = 0; more && i < d->hook.n && !w->stopping; i++) {
		if (!webhook_send_try(d, d->hook.seq[i]))
			return;
		more = webhook_send_decide(d, i + 1 == d->hook.n);
		if (w->stopping)
			d->t.wait_ms = 0;
		/* If this fails, the event is sent once more. */
		rc = webhook_end(w->o.state, &d->hook.key, &d->t);
		if (rc != RC_OK && rc != RC_UNREPLICATED)
			return;
	}
	/* The next one may be due before the claim would have ended. */
	webhooks_wake(w, d->hook.key.user_id);
}

/* False: it is logged. */
static bool
webhook_send_open(struct webhook_send *d)
{
	struct buf of = BUF_INIT(4 * ID_MAX);
	enum rc rc = wire_decode(
	    &wire_webhook_record_desc, d->hook.json, d->a, &d->rec, NULL);

	webhook_of(d->hook.key.user_id, d->hook.key.id, &of);
	if (rc == RC_OK)
		rc = secret_box_open(
		    d->w->box, buf_str(&of), d->rec.secret, &d->secret);
	buf_free(&of);
	if (rc != RC_OK)
		log_error("webhook.unusable", LOG_RC(rc),
		    LOG_V("webhook", d->hook.key.id),
		    LOG_S("hint",
			"was SECRETS_KEY changed? Add the old key behind the "
			"new one"));
	return rc == RC_OK;
}

static void
webhook_send_main(void *arg)
{
	struct webhook_send *d = arg;
	struct webhooks *w = d->w;

	if (webhook_send_open(d)) {
		d->events.a = arena_new(EVENT_ARENA_MAX);
		webhook_send_all(d);
		arena_free(d->events.a);
	}
	buf_free(&d->secret);
	arena_free(d->a);
	w->n_senders--;
	svc_release(w->o.svc);
	free(d);
}

void
webhook_send_start(struct webhooks *w, const struct webhook_claimed *c)
{
	struct webhook_send *d = mem_zalloc(sizeof(*d));

	d->w = w;
	d->a = arena_new(RECORD_ARENA + WIRE_ARENA_MAX);
	d->hook = *c;
	d->hook.key.user_id = arena_str(d->a, c->key.user_id);
	d->hook.key.id = arena_str(d->a, c->key.id);
	d->hook.json = arena_str(d->a, c->json);
	d->secret = (struct buf)BUF_INIT(WEBHOOK_SECRET_MAX);
	w->n_senders++;
	svc_hold(w->o.svc);
	fiber_start(webhook_send_main, d);
}
