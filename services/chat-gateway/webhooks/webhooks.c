#include "webhooks/webhooks.h"

#include <stdlib.h>

#include "auth/secret_box.h"
#include "bus/bus.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "httpc/public_address.h"
#include "state/bucket_poll.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define SWEEP_MS   10000
#define HINT_BYTES 1024
#define CLAIMS_MAX ((size_t)8 * 1024 * 1024)
/* While all senders are busy, buckets are polled this often. */
#define FULL_MS 100

/* ---- what is due ---- */

static bool
webhooks_are_ready(void *arg)
{
	const struct webhooks *w = arg;

	return state_up(w->o.state) && bus_up(svc_bus(w->o.svc)) &&
	    !w->stopping;
}

static enum rc
webhooks_poll(void *arg, unsigned bucket, int64_t *in_ms)
{
	struct webhooks *w = arg;
	struct webhook_claims claims;
	struct arena *a;
	enum rc rc;

	*in_ms = FULL_MS;
	if (w->n_senders >= WEBHOOK_SENDERS_MAX)
		return RC_OK;
	a = arena_new(CLAIMS_MAX);
	rc = webhook_claim(w->o.state, bucket, WEBHOOK_LEASE_MS,
	    WEBHOOK_SENDERS_MAX - w->n_senders, a, &claims);
	for (size_t i = 0; rc == RC_OK && i < claims.n && !w->stopping; i++)
		webhook_send_start(w, &claims.hook[i]);
	if (rc == RC_OK)
		*in_ms = bucket_poll_in_ms(claims.now, claims.next);
	arena_free(a);
	return rc;
}

static void
webhooks_on_hint(void *arg, struct bus_msg *m)
{
	struct arena *a = arena_new(HINT_BYTES);
	struct webhooks *w = arg;
	struct wire_timer_tick msg;

	if (!w->stopping &&
	    wire_decode(
		&wire_timer_tick_desc, bus_msg_data(m), a, &msg, NULL) == RC_OK)
		bucket_poll_hint(w->poll, (unsigned)msg.bucket);
	arena_free(a);
	bus_msg_free(m);
}

void
webhooks_wake(struct webhooks *w, struct str user)
{
	unsigned bucket;

	if (!w->stopping && state_bucket(user, &bucket) == RC_OK)
		bucket_poll_hint(w->poll, bucket);
}

void
webhooks_hint(struct webhooks *w, struct str user)
{
	struct buf json = BUF_INIT(HINT_BYTES);
	struct wire_timer_tick m = { 0 };
	unsigned bucket;

	if (w == NULL || w->stopping || state_bucket(user, &bucket) != RC_OK)
		return;
	bucket_poll_hint(w->poll, bucket);
	m.bucket = bucket;
	/* All buckets are polled: a hint may be lost. */
	if (wire_encode(&wire_timer_tick_desc, &m, &json, NULL) == RC_OK)
		(void)!bus_publish(svc_bus(w->o.svc), WIRE_SUBJECT_WEBHOOK_HINT,
		    buf_str(&json), NULL);
	buf_free(&json);
}

void
webhook_of(struct str user, struct str id, struct buf *out)
{
	buf_printf(out, "webhook %.*s %.*s", STR_ARG(user), STR_ARG(id));
}

/* ---- begin and end ---- */

static void
webhooks_count(struct webhooks *w)
{
	struct metric_set *set = svc_metrics(w->o.svc);

	w->sent = metric_counter(set, "soul_webhook_sent_total",
	    "Events that webhooks have confirmed.", NULL);
	w->failed = metric_counter(set, "soul_webhook_failed_total",
	    "Attempts to send an event to a webhook that failed.", NULL);
	w->dead = metric_counter(set, "soul_webhook_dead_total",
	    "Events that were given up after too many attempts.", NULL);
}

enum rc
webhooks_new(const struct webhooks_opts *o, struct webhooks **out)
{
	struct webhooks *w;
	const char *why;
	enum rc rc;

	*out = NULL;
	if (o->secrets_key[0] == '\0')
		return RC_OK;
	*out = w = mem_zalloc(sizeof(*w));
	w->o = *o;
	/* Its caller has checked it. */
	(void)!secret_box_new(str_of(o->secrets_key), &w->box, &why);
	webhooks_count(w);
	w->http = httpc_new(&(struct httpc_opts){ .loop = svc_loop(o->svc),
	    .peer = "webhook",
	    .may_connect = o->allow_private ? NULL : public_address_is,
	    .metrics = svc_metrics(o->svc) });
	w->poll = bucket_poll_new(
	    &(struct bucket_poll_opts){ .loop = svc_loop(o->svc),
		.state = o->state,
		.role = "webhooks",
		.sweep_ms = SWEEP_MS,
		.ready = webhooks_are_ready,
		.poll = webhooks_poll,
		.arg = w });
	rc = bus_subscribe(svc_bus(o->svc), WIRE_SUBJECT_WEBHOOK_HINT, NULL,
	    webhooks_on_hint, w, &w->hints);
	return rc == RC_OK ? webhook_route_begin(w) : rc;
}

static void
webhooks_leave(void *arg)
{
	struct webhooks *w = arg;
	struct svc *s = w->o.svc;
	enum rc rc = bucket_poll_leave(w->poll);

	if (rc != RC_OK)
		log_debug("webhook.timers_not_left", LOG_RC(rc));
	svc_release(s);
}

void
webhooks_drain(struct webhooks *w)
{
	if (w == NULL || w->stopping)
		return;
	w->stopping = true;
	bucket_poll_stop(w->poll);
	svc_hold(w->o.svc);
	fiber_start(webhooks_leave, w);
}

void
webhooks_free(struct webhooks *w)
{
	if (w == NULL)
		return;
	w->stopping = true;
	httpc_free(w->http);
	bucket_poll_free(w->poll);
	secret_box_free(w->box);
	free(w);
}
