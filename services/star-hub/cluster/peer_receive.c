/*
 * peer_receive: what another hub sends: messages to clients here, and what
 * became of those that were sent to it.
 */
#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "permission.h"

#define REASON_MAX 124

/* ---- confirming ---- */

static void
peer_confirm(void *arg)
{
	struct peer *p = arg;
	int64_t n = peer_link_received(p->messages);

	loop_timer_cancel(p->peers->hub->loop, &p->confirm);
	if (n == p->confirmed)
		return;
	p->confirmed = n;
	peer_put(p, &(struct link_record){ .kind = LINK_DONE, .n = n });
}

static void
peer_confirm_later(struct peer *p)
{
	struct loop *l = p->peers->hub->loop;

	if (peer_link_received(p->messages) - p->confirmed >= PEERS_CONFIRM_N)
		peer_confirm(p);
	else if (p->confirm.pos == 0)
		loop_timer_set(l, &p->confirm,
		    mono_add_ms(clock_mono(), PEERS_CONFIRM_MS), peer_confirm,
		    p);
}

/* ---- messages ---- */

/* False: it was received before, or a part of it is missing. */
static bool
receive_numbered(struct peer *p, const struct link_record *r)
{
	struct link_record lost = { .kind = LINK_LOST };
	bool is_whole = (size_t)r->prefix == p->part.n;
	int64_t missing;

	if (r->n == 0 || !peer_link_receive(p->messages, r->n, &missing))
		return false;
	peer_confirm_later(p);
	lost.n = r->n - missing;
	lost.seq = is_whole ? r->n - 1 : r->n;
	if (lost.n <= lost.seq)
		peer_put(p, &lost);
	return is_whole;
}

static struct frame *
receive_frame(struct peer *p, const struct link_record *r)
{
	if (r->prefix == 0)
		return frame_new(FRAME_TEXT, r->bytes);
	buf_put_str(&p->part, r->bytes);
	return frame_new(FRAME_TEXT, buf_str(&p->part));
}

static void
receive_reject(
    struct peer *p, const struct link_record *r, enum hub_error error)
{
	const bool moved = error == HUB_ERROR_TARGET;
	struct link_record rejected = { .kind = LINK_REJECTED,
		.n = r->n,
		.text = moved                 ? STR("moved")
		    : error == HUB_ERROR_SLOW ? STR("slow")
					      : STR("denied") };

	if (moved) {
		if (r->prefix > 0) {
			buf_put_str(&p->part, r->bytes);
			rejected.bytes = buf_str(&p->part);
		} else {
			rejected.bytes = r->bytes;
		}
	}
	peer_put(p, &rejected);
}

/* Whether a human may be written to is known here. */
static bool
receive_is_permitted(
    struct hub *h, const struct link_record *r, const struct client *to)
{
	struct recipient recipient = { .kind = RECIPIENT_CLIENT,
		.to = to->identity };
	struct relation relation = { .global = h->global };
	char text[IDENTITY_KEY_MAX];
	struct identity from;
	struct str key;

	/* Without a sender it is that hub's. */
	if (to->identity.class != CLASS_HUMAN || r->from.n == 0)
		return true;
	if (identity_parse(r->from, &from) != RC_OK)
		return false;
	key = identity_env_key(from.tenant, from.env, text);
	relation.member = client_membership(h, to, key) != NULL;
	relation.addressed = client_has_addressed(to, key);
	return permission_check(&from, &recipient, &relation) == NULL;
}

static void
receive_message(struct peer *p, const struct link_record *r)
{
	struct hub *h = p->peers->hub;
	struct client *to = directory_find(h->directory, r->to);
	struct frame *f;
	enum rc rc;

	if (!receive_numbered(p, r))
		return;
	if (to == NULL || to->gen != r->gen) {
		receive_reject(p, r, HUB_ERROR_TARGET);
		return;
	}
	if (!receive_is_permitted(h, r, to)) {
		receive_reject(p, r, HUB_ERROR_PERMISSION);
		return;
	}
	f = receive_frame(p, r);
	rc = client_send(h, to, f);
	frame_unref(f);
	if (rc == RC_RETRY)
		receive_reject(p, r, HUB_ERROR_SLOW);
	else if (rc != RC_OK)
		/* It is closing: the next to claim it is not known yet. */
		receive_reject(p, r, HUB_ERROR_TARGET);
}

static void
receive_broadcast(struct peer *p, const struct link_record *r)
{
	struct hub *h = p->peers->hub;
	enum client_class audience;
	struct frame *f;

	if (!receive_numbered(p, r) || r->audience > CLASS_HUB)
		return;
	audience = (enum client_class)r->audience;
	f = receive_frame(p, r);
	if (r->kind == LINK_ROOM)
		broadcast_here(h, r, f);
	else
		broadcast_here_all(h, r->to, audience, NULL, f);
	frame_unref(f);
}

/* ---- what became of messages ---- */

static void
receive_done(struct peer *p, const struct link_record *r)
{
	struct peers *c = p->peers;
	struct mono now = clock_mono();
	struct link_sent s;
	int64_t n = 0;

	for (; peer_link_take_done(p->messages, r->n, &s); n++) {
		if (n == 0)
			metric_observe(c->hub->metrics.remote_seconds,
			    (double)mono_diff_ns(now, s.at) / 1e9);
		outgoing_end(c, s.message);
	}
	metric_change(c->hub->metrics.unconfirmed, -n);
	remote_peer_done(c, p);
}

static void
receive_rejected(struct peer *p, const struct link_record *r)
{
	struct peers *c = p->peers;
	struct outgoing *o = peer_link_take(p->messages, r->n);

	if (o == NULL)
		return;
	metric_change(c->hub->metrics.unconfirmed, -1);
	if (str_eq(r->text, STR("moved")) && o->to.p != NULL)
		remote_returned(c, o, r->bytes);
	else
		outgoing_fail(c, o,
		    str_eq(r->text, STR("slow")) ? HUB_ERROR_SLOW
						 : HUB_ERROR_PERMISSION);
}

static void
receive_lost(struct peer *p, const struct link_record *r)
{
	struct peers *c = p->peers;
	struct outgoing *o;
	int64_t n;

	for (n = r->n; n <= r->seq && n <= peer_link_newest(p->messages); n++) {
		o = peer_link_take(p->messages, n);
		if (o == NULL)
			continue;
		metric_change(c->hub->metrics.unconfirmed, -1);
		outgoing_fail(c, o, HUB_ERROR_UNKNOWN);
	}
	remote_peer_done(c, p);
}

static void
receive_kick(struct peer *p, const struct link_record *r)
{
	struct hub *h = p->peers->hub;
	char reason[REASON_MAX];

	str_copy(r->text, reason, sizeof(reason));
	(void)hub_kick(h, r->to, reason);
}

static void
receive_cursor(struct peer *p, const struct link_record *r)
{
	struct hub *h = p->peers->hub;
	struct client *c = directory_find(h->directory, r->to);
	struct room_member *m =
	    c != NULL ? client_membership(h, c, r->from) : NULL;

	if (m != NULL)
		broadcast_skip(h, m, r->gen, r->seq);
}

/* ---- records ---- */

static void
peer_receive(struct peer *p, const struct link_record *r)
{
	switch (r->kind) {
	case LINK_PART:
		buf_put_str(&p->part, r->bytes);
		return;
	case LINK_MESSAGE:
		receive_message(p, r);
		break;
	case LINK_ROOM:
	case LINK_ALL:
		receive_broadcast(p, r);
		break;
	case LINK_DONE:
		receive_done(p, r);
		break;
	case LINK_REJECTED:
		receive_rejected(p, r);
		break;
	case LINK_LOST:
		receive_lost(p, r);
		break;
	case LINK_KICK:
		receive_kick(p, r);
		break;
	case LINK_CURSOR:
		receive_cursor(p, r);
		break;
	default:
		break;
	}
	buf_reset(&p->part);
}

void
peer_on_message(void *arg, struct bus_msg *m)
{
	struct peers *c = arg;
	struct str in = bus_msg_data(m);
	static struct log_rate rate;
	struct link_record r;
	struct peer *p = NULL;
	int64_t missed;
	enum rc rc = RC_OK;

	/* Clients that others may have taken over get nothing more; it was
	 * sent to a hub of another name. */
	if (peers_is_overdue(c, clock_mono())) {
		bus_msg_free(m);
		return;
	}
	while (!c->stopped && (rc = link_record_next(&in, &r)) == RC_OK) {
		if (r.kind == LINK_HUB)
			p = peers_add(c, r.text);
		else if (p != NULL)
			peer_receive(p, &r);
	}
	if (rc == RC_INVALID && log_every(&rate, 10, &missed))
		log_error("star.link_record", LOG_I("missed", missed));
	bus_msg_free(m);
}
