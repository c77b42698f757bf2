/*
 * on_message: a frame of a client: one message, or a batch, each to its
 * recipients.
 */
#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"
#include "envelope.h"
#include "handlers.h"
#include "permission.h"
#include "recipient.h"
#include "wire/slice.h"

/* Bytes of a timestamp as a member. */
#define TIMESTAMP_BYTES 40

/* ---- failures ---- */

static bool
fail_as(struct hub_failure *f, enum hub_error error, const char *message)
{
	f->error = error;
	f->message = message;
	return false;
}

static bool
fail_validation(struct hub_failure *f, const char *error)
{
	f->error = HUB_ERROR_VALIDATION;
	f->validation_error = error;
	return false;
}

/* At most one a second; enough of them close the connection. */
static void
message_strike(struct client *c, struct mono now)
{
	struct mono *s = c->strike;
	size_t i;

	if (s[0].ns != 0 && mono_diff_ms(now, s[0]) < 1000)
		return;
	for (i = HUB_STRIKES - 1; i > 0; i--)
		s[i] = s[i - 1];
	s[0] = now;
	if (s[HUB_STRIKES - 1].ns != 0 &&
	    mono_diff_ms(now, s[HUB_STRIKES - 1]) < HUB_STRIKES_S * 1000)
		client_close(c, WS_CLOSE_POLICY,
		    STR("too much was sent, for several seconds"));
}

static bool
fail_rate(struct client *c, struct hub_failure *f, int64_t ms, struct mono now)
{
	message_strike(c, now);
	f->retry_after_ms = ms;
	return fail_as(f, HUB_ERROR_RATE, NULL);
}

/* The same of a flood, which waits in its socket until it may go on. */
static bool
fail_flood(struct client *c, struct hub_failure *f, int64_t ms, struct mono now)
{
	if (c->peer != NULL)
		ws_pause(c->peer,
		    mono_add_ms(now, ms > HUB_PAUSE_MS ? ms : HUB_PAUSE_MS));
	return fail_rate(c, f, ms, now);
}

/* ---- delivery ---- */

/* Valid until the next. */
static struct str
message_write(struct hub *h, const struct client *c, const struct envelope *e,
    struct str cursor)
{
	const struct str none = { NULL, 0 };
	/* Some clients read no more bytes than a message may have. */
	bool has_room =
	    e->text.n + TIMESTAMP_BYTES <= (size_t)h->conf->message_bytes;

	buf_reset(&h->message);
	envelope_write(e, envelope_is_from(e, &c->identity) ? none : c->sender,
	    has_room ? hub_now(h) : none, cursor, &h->message);
	return buf_str(&h->message);
}

static void
message_count(struct hub *h, const struct client *c, enum hub_how how)
{
	metric_add(h->metrics.messages[c->identity.class][how], 1);
	h->span.how = how;
}

/*
 * What the two have to do with each other; r->global is set.  What a human of
 * another hub has, that hub checks.
 */
static void
message_relate(struct hub *h, const struct client *c, const struct identity *i,
    const struct client *to, struct relation *r)
{
	const struct identity *other = &c->identity;
	const struct client *human = to;
	char text[IDENTITY_KEY_MAX];
	struct str key;

	if (c->identity.class == CLASS_HUMAN) {
		human = c;
		other = i;
	} else if (i->class != CLASS_HUMAN) {
		return;
	}
	key = identity_env_key(other->tenant, other->env, text);
	r->member = human == NULL || client_membership(h, human, key) != NULL;
	r->addressed = human == NULL || client_has_addressed(human, key);
}

static enum hub_error
message_missing(const struct client *c, const struct recipient *to)
{
	return to->to.class == CLASS_ENVIRONMENT &&
		c->identity.class == CLASS_AGENT &&
		str_eq(to->to.id, c->identity.env)
	    ? HUB_ERROR_ENVIRONMENT
	    : HUB_ERROR_TARGET;
}

/* To a client of another hub, or of none; denied: why it may not be sent. */
static void
message_to_remote(struct hub *h, struct client *c, const struct hub_failure *f,
    struct str key, const char *denied)
{
	struct outgoing *o =
	    outgoing_new(client_ref(c), f->seq, f->message_id, key);

	o->denied = denied;
	message_span_deliver(h, o);
	remote_route(h->peers, o, buf_str(&h->message));
}

static bool
message_to_client(struct hub *h, struct client *c, const struct envelope *e,
    const struct recipient *r, struct hub_failure *f)
{
	struct relation relation = { .global = h->global };
	char text[IDENTITY_KEY_MAX];
	struct str key = identity_key(&r->to, text), bytes;
	struct client *to =
	    key.p != NULL ? directory_find(h->directory, key) : NULL;
	const struct str none = { NULL, 0 };
	struct frame *frame;
	const char *why;
	enum rc rc;

	if (key.p == NULL)
		return fail_as(f, message_missing(c, r), NULL);
	message_relate(h, c, &r->to, to, &relation);
	why = permission_check(&c->identity, r, &relation);
	if (why != NULL && to != NULL)
		return fail_as(f, HUB_ERROR_PERMISSION, why);
	if (why == NULL && c->identity.class == CLASS_HUMAN &&
	    r->to.class == CLASS_ENVIRONMENT) {
		client_add_addressed(c, key);
		human_autojoin(h, c, e, key);
	}
	bytes = message_write(h, c, e, none);
	message_count(h, c, to != NULL ? HUB_LOCAL : HUB_REMOTE);
	if (to == NULL || remote_is_pending(h->peers, key)) {
		message_to_remote(h, c, f, key, why);
		return true;
	}
	frame = frame_new(FRAME_TEXT, bytes);
	rc = client_send(h, to, frame);
	frame_unref(frame);
	if (rc == RC_OK)
		return true;
	return fail_as(
	    f, rc == RC_RETRY ? HUB_ERROR_SLOW : message_missing(c, r), NULL);
}

/* To the hubs that have members, or all of them. */
static void
message_to_peers(struct hub *h, struct client *c, struct link_record *r,
    const struct hub_failure *f)
{
	const struct str none = { NULL, 0 };
	char text[IDENTITY_KEY_MAX];
	struct outgoing *o;
	struct peer *p;
	enum rc rc;

	r->from = client_key(c, text);
	TAILQ_FOREACH (p, &h->peers->list, link) {
		if (r->seq > 0 && !member_set_may_have(c->members, p))
			continue;
		o = outgoing_new(client_ref(c), f->seq, f->message_id, none);
		message_span_deliver(h, o);
		rc = peer_send(p, r, o);
		if (rc != RC_OK)
			outgoing_fail(h->peers, o,
			    rc == RC_RETRY ? HUB_ERROR_SLOW
					   : HUB_ERROR_UNREACHABLE);
	}
}

static void
message_broadcast(struct hub *h, struct client *c, const struct envelope *e,
    const struct recipient *r, struct link_record *out,
    const struct hub_failure *f)
{
	char cursor[HUB_CURSOR_MAX];
	struct str text = { NULL, 0 };
	struct frame *frame;

	/* Only those to all its members are what an environment went through.
	 */
	if (r->kind == RECIPIENT_ROOM && c->members != NULL &&
	    str_eq(r->to.env, c->identity.env)) {
		text = history_cursor(c, cursor);
		out->gen = c->gen;
		out->seq = c->cursor;
	}
	out->bytes = message_write(h, c, e, text);
	out->audience = r->audience;
	frame = frame_new(FRAME_TEXT, out->bytes);
	if (r->kind == RECIPIENT_ALL)
		broadcast_here_all(h, out->to, r->audience, c, frame);
	else
		broadcast_soon(h, out, frame);
	if (out->seq > 0 && h->conf->history > 0)
		history_store(h, c, out->bytes);
	message_to_peers(h, c, out, f);
	frame_unref(frame);
}

/* To a human that has no environment the empty one is nobody's. */
static bool
message_to_room(struct hub *h, struct client *c, const struct envelope *e,
    const struct recipient *r, struct hub_failure *f)
{
	const struct relation relation = { .global = h->global };
	const char *why = permission_check(&c->identity, r, &relation);
	struct link_record out = {
		.kind = r->kind == RECIPIENT_ALL ? LINK_ALL : LINK_ROOM
	};
	struct mono now = clock_mono();
	char text[IDENTITY_KEY_MAX];
	size_t n;
	int64_t ms;

	if (why != NULL)
		return fail_as(f, HUB_ERROR_PERMISSION, why);
	out.to = r->kind == RECIPIENT_ALL
	    ? c->identity.tenant
	    : identity_env_key(c->identity.tenant, r->to.env, text);
	n = r->kind == RECIPIENT_ALL ? ws_count(h->ws)
				     : room_count(rooms_find(h->rooms, out.to));
	if (r->kind == RECIPIENT_ROOM && n == 0 && h->peers->n == 0 &&
	    (out.to.p == NULL || directory_find(h->directory, out.to) == NULL))
		return fail_as(f, HUB_ERROR_ENVIRONMENT, NULL);
	ms = throttle_take(&c->broadcasts, &h->broadcasts, 1, now);
	if (ms == 0)
		ms = throttle_take(
		    &h->delivered, &h->deliveries, (int64_t)n, now);
	if (ms > 0)
		return fail_rate(c, f, ms, now);
	message_broadcast(h, c, e, r, &out, f);
	message_count(h, c, HUB_ROOM);
	return true;
}

/* ---- one message ---- */

static void
message_context(
    const struct hub *h, const struct client *c, struct recipient_context *x)
{
	size_t i;

	*x = (struct recipient_context){ .from = &c->identity,
		.global = h->global };
	if (c->identity.class != CLASS_HUMAN)
		return;
	for (i = 0; i < c->nrooms; i++) {
		if (c->rooms[i].room == NULL)
			continue;
		x->environments++;
		x->environment = room_env(c->rooms[i].room);
	}
}

static bool
message_route(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f)
{
	struct recipient_context x;
	struct recipient r;
	const char *error;

	message_context(h, c, &x);
	error = recipient_of(&e->recipient, &x, &r);
	if (error != NULL)
		return fail_validation(f, error);
	if (r.kind != RECIPIENT_ROOM)
		broadcast_now(h);
	switch (r.kind) {
	case RECIPIENT_HUB:
		message_count(h, c, HUB_TO_HUB);
		/* There is nothing to do about a client's error. */
		return e->type == ENVELOPE_ERROR || on_command(h, c, e, f);
	case RECIPIENT_CLIENT:
		return message_to_client(h, c, e, &r, f);
	case RECIPIENT_ROOM:
	case RECIPIENT_ALL:
		return message_to_room(h, c, e, &r, f);
	default:
		return fail_as(f, HUB_ERROR_TARGET, NULL);
	}
}

static bool
message_by_type(struct hub *h, struct client *c, const struct envelope *e,
    struct hub_failure *f)
{
	if (e->type != ENVELOPE_MESSAGE)
		broadcast_now(h);
	if (!h->rewrite && !envelope_is_from(e, &c->identity))
		return fail_as(f, HUB_ERROR_PERMISSION,
		    "the sender is not this connection's identity");
	/* It is never routed, since nothing of it may reach anybody. */
	if (!c->held && client_auth_is_request(h, e))
		return client_auth_handle(h, c, e, f);
	if (!c->held && e->type != ENVELOPE_HEARTBEAT)
		return fail_as(f, HUB_ERROR_PERMISSION,
		    "the connection is not authenticated yet");
	switch (e->type) {
	case ENVELOPE_HEARTBEAT:
		message_count(h, c, HUB_TO_HUB);
		client_heartbeat(h, c, NULL);
		return true;
	case ENVELOPE_AUTHENTICATE:
		return client_auth_handle(h, c, e, f);
	default:
		return message_route(h, c, e, f);
	}
}

static void
message_handle(
    struct hub *h, struct client *c, struct str text, struct mono now)
{
	struct hub_failure f = { .seq = ++c->seq };
	struct envelope_errors errors;
	struct envelope e;
	enum rc rc;
	int64_t ms;
	bool done;

	arena_reset(h->arena);
	rc = envelope_read(
	    text, (size_t)h->conf->message_bytes, h->arena, &e, &errors);
	f.message_id = e.message_id;
	ms = throttle_take(&c->messages, &h->messages, 1, now);
	if (ms > 0) {
		done = fail_flood(c, &f, ms, now);
	} else if (rc != RC_OK) {
		done = fail_as(&f,
		    errors.unknown_class ? HUB_ERROR_CLASS
					 : HUB_ERROR_VALIDATION,
		    NULL);
		f.validation_errors = errors.text;
		f.nvalidation_errors = errors.n;
	} else {
		message_span_begin(h, c, &e, now);
		done = message_by_type(h, c, &e, &f);
		message_span_routed(h, c, done ? NULL : &f);
		if (h->nmonitors > 0)
			broadcast_now(h);
		if (done && h->nmonitors > 0 && e.type == ENVELOPE_MESSAGE)
			monitors_report(h, c, &e);
	}
	if (!done)
		broadcast_now(h);
	/* An error is never answered with an error. */
	if (!done && e.type != ENVELOPE_ERROR)
		client_fail(h, c, &f);
	else if (!done)
		metric_add(h->metrics.errors[f.error], 1);
}

void
hub_receive(struct hub *h, struct client *c, struct str text)
{
	message_handle(h, c, text, clock_mono());
	broadcast_now(h);
}

/* ---- batches ---- */

struct batch {
	struct str text[HUB_BATCH_MAX];
	size_t n; /* may be more than there is room for */
};

static void
batch_on_element(void *arg, const struct wire_slice *s)
{
	struct batch *b = arg;

	if (b->n < HUB_BATCH_MAX)
		b->text[b->n] = s->value;
	b->n++;
}

static void
batch_handle(struct hub *h, struct client *c, struct str text, struct mono now)
{
	const char *error = NULL;
	struct hub_failure f = { 0 };
	struct batch b;
	size_t i;

	b.n = 0;
	if (envelope_members(text, batch_on_element, &b) != RC_OK)
		error = "/: is not valid JSON";
	else if (b.n == 0)
		error = "/: has no message";
	else if (b.n > HUB_BATCH_MAX)
		error = "/: has more than 256 messages";
	if (error != NULL) {
		f.seq = ++c->seq;
		(void)fail_validation(&f, error);
		client_fail(h, c, &f);
		return;
	}
	for (i = 0; i < b.n && !c->closing; i++)
		message_handle(h, c, b.text[i], now);
}

void
on_message(void *app, struct ws_peer *p, struct str data, bool binary)
{
	struct hub *h = app;
	struct client *c = ws_peer_arg(p);
	struct mono now = clock_mono();
	struct str text = str_trim(data);
	struct hub_failure f = { 0 };
	int64_t ms;

	/* A binary frame is JSON, too. */
	(void)binary;
	if (c->closing)
		return;
	/* Others may have taken over its identity. */
	if (peers_is_overdue(h->peers, now))
		return;
	ms = throttle_take(&c->bytes, &h->bytes, (int64_t)data.n, now);
	if (ms > 0) {
		f.seq = ++c->seq;
		(void)fail_flood(c, &f, ms, now);
		client_fail(h, c, &f);
	} else if (text.n > 0 && text.p[0] == '[') {
		batch_handle(h, c, text, now);
	} else {
		message_handle(h, c, text, now);
	}
	metric_observe(h->metrics.route_seconds,
	    (double)mono_diff_ns(clock_mono(), now) / 1e9);
}

void
on_read(void *app, struct ws_peer *p)
{
	(void)p;
	broadcast_now(app);
}
