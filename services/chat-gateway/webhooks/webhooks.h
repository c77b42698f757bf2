/*
 * webhooks: sending events of users to their webhooks.
 *
 * One replica at a time takes the next event of the stream and adds it to the
 * queues of its user's webhooks (state/webhook.h), so that these have the order
 * of the stream.  The replicas share the buckets of users; a webhook is sent
 * its events one after the other, and waits while one fails.  A receiver that
 * is down holds up nobody else, which is why this is not libs/work: there all
 * items depend on the same, and order ends at the first retry.
 *
 * Everything runs on the loop thread.
 */
#ifndef CHAT_GATEWAY_WEBHOOKS_WEBHOOKS_H
#define CHAT_GATEWAY_WEBHOOKS_WEBHOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/webhook.h"

struct bucket_poll;
struct bus_sub;
struct event_log;
struct httpc;
struct secret_box;
struct svc;

/* Longest attempt; a claim lasts longer than one. */
#define WEBHOOK_POST_MS  10000
#define WEBHOOK_LEASE_MS 30000
/* Webhooks that a process sends to at a time. */
#define WEBHOOK_SENDERS_MAX 32
/* Longest time between two attempts. */
#define WEBHOOK_RETRY_MAX_MS 3600000

struct webhooks_opts {
	struct svc *svc;
	struct state *state;
	struct event_log *log;
	const char *secrets_key; /* "": there are none */
	bool allow_private;
	int64_t retry_ms; /* after the first failure */
	int64_t tries;    /* of an event */
};

struct webhooks {
	struct webhooks_opts o;
	struct secret_box *box;
	struct httpc *http;
	struct bucket_poll *poll;
	struct bus_sub *hints;
	size_t n_senders;
	bool stopping; /* no new attempt begins */
	struct metric *sent, *failed, *dead;
};

/*
 * webhooks_new(o, out):
 * *out is NULL without a key, which must be valid.  Fails as bus_consume().
 *
 * webhooks_drain(w): Begin no attempt more.
 * webhooks_free(w): After state_stop(); w may be NULL, as in all of this.
 */
enum rc webhooks_new(
    const struct webhooks_opts *o, struct webhooks **out) RC_CHECK;
void webhooks_drain(struct webhooks *w);
void webhooks_free(struct webhooks *w);

/*
 * webhooks_hint(w, user): There is something to be sent for this user.
 * webhooks_wake(w, user): The same, for this replica alone.
 */
void webhooks_hint(struct webhooks *w, struct str user);
void webhooks_wake(struct webhooks *w, struct str user);

/*
 * webhook_of(user, id, out): What a sealed secret belongs to.
 */
void webhook_of(struct str user, struct str id, struct buf *out);

/* ---- webhook_route.c, webhook_send.c ---- */

/* webhook_route_begin(w): Join the consumer of events. */
enum rc webhook_route_begin(struct webhooks *w) RC_CHECK;

/* webhook_send_start(w, c): Send the events of a claim, which is copied. */
void webhook_send_start(struct webhooks *w, const struct webhook_claimed *c);

#endif /* !CHAT_GATEWAY_WEBHOOKS_WEBHOOKS_H */
