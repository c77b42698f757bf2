/*
 * remote_route: messages to clients of other hubs: where the client is, from
 * what is known or from Redis, and then to that hub.
 *
 * What is known never decides that nobody has an identity: Redis does, whose
 * answer is remembered for a moment, so that a sender to nobody costs little.
 */
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/mem.h"
#include "records.h"
#include "state/star.h"

#define MISSING_MS   500
#define LOOKUPS_MAX  256
#define LOOKUP_ARENA (16UL * 1024)

static void remote_find(struct peers *c, struct remote *e);

/* ---- sending ---- */

/* o waits no more: its bytes are sent. */
static void
remote_send(
    struct peers *c, struct remote *e, struct outgoing *o, struct str bytes)
{
	struct link_record r = { .kind = LINK_MESSAGE,
		.gen = e->gen,
		.to = str_of(e->key),
		.bytes = bytes };
	char from[IDENTITY_KEY_MAX];
	enum rc rc;

	if (o->denied != NULL) {
		outgoing_fail(c, o, HUB_ERROR_PERMISSION);
		return;
	}
	if (!o->is_hubs)
		r.from = client_key(o->from, from);
	rc = peer_send(e->peer, &r, o);
	if (rc == RC_OK)
		e->newest = r.n;
	else
		outgoing_fail(c, o,
		    rc == RC_RETRY ? HUB_ERROR_SLOW : HUB_ERROR_UNREACHABLE);
	if (rc == RC_OK && o->bytes != NULL) {
		free(o->bytes);
		o->bytes = NULL;
	}
}

static enum hub_error
remote_missing(const struct outgoing *o)
{
	char own[IDENTITY_KEY_MAX];

	return o->from->identity.class == CLASS_AGENT &&
		str_eq(o->to, client_env_key(o->from, own))
	    ? HUB_ERROR_ENVIRONMENT
	    : HUB_ERROR_TARGET;
}

/* The client is at this hub after all. */
static void
remote_deliver_here(
    struct peers *c, struct client *to, struct outgoing *o, struct str bytes)
{
	struct frame *f;
	enum rc rc;

	if (o->denied != NULL) {
		outgoing_fail(c, o, HUB_ERROR_PERMISSION);
		return;
	}
	f = frame_new(FRAME_TEXT, bytes);
	rc = client_send(c->hub, to, f);
	frame_unref(f);
	if (rc == RC_OK)
		outgoing_end(c, o);
	else
		outgoing_fail(
		    c, o, rc == RC_RETRY ? HUB_ERROR_SLOW : remote_missing(o));
}

static void
remote_set_after(struct peers *c, struct remote *e, struct peer *after)
{
	c->moving += after != NULL;
	c->moving -= e->after != NULL;
	e->after = after;
}

static bool
remote_is_known(const struct remote *e)
{
	return e->peer != NULL ||
	    (e->missing_until.ns != 0 &&
		mono_diff_ms(e->missing_until, clock_mono()) > 0);
}

/* Where the client is may be known, or that nobody is it. */
static void
remote_flush(struct peers *c, struct remote *e)
{
	struct client *here = directory_find(c->hub->directory, str_of(e->key));
	struct outgoing *o;

	if (e->finding)
		return;
	if (e->after != NULL &&
	    !peer_link_is_done(e->after->messages, e->after_n))
		return;
	remote_set_after(c, e, NULL);
	if (here == NULL && e->nwaiting > 0 && !remote_is_known(e)) {
		remote_find(c, e);
		return;
	}
	while ((o = remote_take(c->remotes, e)) != NULL) {
		const struct str bytes = { o->bytes, o->n };

		if (here != NULL)
			remote_deliver_here(c, here, o, bytes);
		else if (e->peer != NULL)
			remote_send(c, e, o, bytes);
		else
			outgoing_fail(c, o, remote_missing(o));
	}
	if (here != NULL)
		remotes_forget(c->remotes, e);
}

static void
remote_hold(
    struct peers *c, struct remote *e, struct outgoing *o, struct str bytes)
{
	if (o->bytes == NULL)
		outgoing_set_bytes(o, bytes);
	if (!remote_wait(c->remotes, e, o))
		outgoing_fail(c, o, HUB_ERROR_SLOW);
}

void
remote_route(struct peers *c, struct outgoing *o, struct str bytes)
{
	struct remote *e = remotes_get(c->remotes, o->to);

	if (remotes_is_idle(e) && e->peer != NULL) {
		remote_send(c, e, o, bytes);
		return;
	}
	if (remotes_is_idle(e) && remote_is_known(e) && e->peer == NULL) {
		outgoing_fail(c, o, remote_missing(o));
		return;
	}
	remote_hold(c, e, o, bytes);
	if (!remote_is_known(e) && !e->finding)
		remote_find(c, e);
}

bool
remote_is_pending(const struct peers *c, struct str key)
{
	const struct remote *e;

	if (c->moving == 0 && c->lookups == 0)
		return false;
	e = remotes_find(c->remotes, key);
	return e != NULL && (!remotes_is_idle(e) || e->after != NULL);
}

void
remote_returned(struct peers *c, struct outgoing *o, struct str bytes)
{
	struct remote *e = remotes_get(c->remotes, o->to);

	if (o->returned) {
		outgoing_fail(c, o, remote_missing(o));
		return;
	}
	o->returned = true;
	remote_hold(c, e, o, bytes);
	/* A notice may have come of where it is now. */
	if (!e->finding && e->after == NULL)
		remote_find(c, e);
}

/* ---- finding ---- */

/* It is p's (NULL: this hub's) now, of another claim: what was sent to the
 * one before goes first, also if that returns. */
static void
remote_move(struct peers *c, struct remote *e, struct peer *p, int64_t gen)
{
	if (e->peer == p && e->gen == gen)
		return;
	if (e->peer != NULL &&
	    !peer_link_is_done(e->peer->messages, e->newest)) {
		remote_set_after(c, e, e->peer);
		e->after_n = e->newest;
	}
	e->peer = p;
	e->gen = gen;
	e->newest = 0;
	e->missing_until = (struct mono){ 0 };
}

enum rc
remote_locate(struct peers *c, struct str key, struct arena *a,
    struct remote_location *out)
{
	struct hub *h = c->hub;
	struct star_holder holder;
	struct record_identity id;
	enum rc rc;

	*out = (struct remote_location){ 0 };
	/* No client can have it. */
	if (record_identity_of(key, &id) != RC_OK)
		return RC_NOENT;
	rc = star_find(h->state, &id.star, a, &holder);
	metric_add(h->metrics.lookups, 1);
	if (rc != RC_OK)
		return rc;
	out->gen = holder.gen;
	if (str_eq(holder.hub, str_of(h->name)))
		return directory_find(h->directory, key) != NULL ? RC_OK
								 : RC_NOENT;
	out->peer = peers_find(c, holder.hub);
	if (out->peer == NULL) {
		/* It may have started a moment ago. */
		rc = peers_refresh(c);
		out->peer = peers_find(c, holder.hub);
	}
	return rc != RC_OK || out->peer != NULL ? rc : RC_NOENT;
}

struct lookup {
	struct peers *peers;
	char *key;
	int64_t gen; /* that was known before */
};

static void
remote_find_in_fiber(void *arg)
{
	struct lookup *l = arg;
	struct peers *c = l->peers;
	struct str key = str_of(l->key);
	struct arena *a = arena_new(LOOKUP_ARENA);
	struct remote_location at;
	struct outgoing *o;
	struct remote *e;
	bool is_newer;
	enum rc rc;

	rc = remote_locate(c, key, a, &at);
	arena_free(a);
	c->lookups--;
	/* One that is looked up is not forgotten. */
	e = remotes_find(c->remotes, key);
	is_newer = e->gen != l->gen;
	free(l->key);
	free(l);
	e->finding = false;
	if (rc != RC_OK && rc != RC_NOENT) {
		while ((o = remote_take(c->remotes, e)) != NULL)
			outgoing_fail(c, o, HUB_ERROR_UNREACHABLE);
		remote_set_after(c, e, NULL);
		remotes_forget(c->remotes, e);
		return;
	}
	/* Unless a notice has come of a newer claim meanwhile. */
	if (rc == RC_OK && at.gen >= e->gen) {
		remote_move(c, e, at.peer, at.gen);
	} else if (rc == RC_NOENT && !is_newer) {
		metric_add(c->hub->metrics.directory_misses, 1);
		e->peer = NULL;
		e->missing_until = mono_add_ms(clock_mono(), MISSING_MS);
	}
	remote_flush(c, e);
}

static void
remote_find(struct peers *c, struct remote *e)
{
	struct lookup *l;
	struct outgoing *o;

	if (c->lookups == LOOKUPS_MAX || c->stopped) {
		while ((o = remote_take(c->remotes, e)) != NULL)
			outgoing_fail(c, o, HUB_ERROR_UNREACHABLE);
		return;
	}
	l = mem_zalloc(sizeof(*l));
	l->peers = c;
	l->key = str_dup(str_of(e->key));
	l->gen = e->gen;
	e->finding = true;
	c->lookups++;
	fiber_start(remote_find_in_fiber, l);
}

/* ---- notices ---- */

void
remote_joined(struct peers *c, struct str key, struct peer *p, int64_t gen)
{
	struct remote *e = remotes_find(c->remotes, key);

	if (e == NULL || gen <= e->gen)
		return;
	remote_move(c, e, p, gen);
	remote_flush(c, e);
}

void
remote_left(struct peers *c, struct str key, int64_t gen)
{
	struct remote *e = remotes_find(c->remotes, key);

	if (e == NULL || e->gen != gen)
		return;
	e->peer = NULL;
	e->missing_until = mono_add_ms(clock_mono(), MISSING_MS);
	remote_flush(c, e);
}

void
remote_peer_done(struct peers *c, const struct peer *p)
{
	struct remote *e = NULL, *next;

	if (c->moving > 0)
		e = remotes_next(c->remotes, NULL);
	for (; e != NULL; e = next) {
		next = remotes_next(c->remotes, e);
		if (e->after == p)
			remote_flush(c, e);
	}
}

void
remote_forget(struct peers *c, const struct peer *p)
{
	struct remote *e, *next;

	for (e = remotes_next(c->remotes, NULL); e != NULL; e = next) {
		next = remotes_next(c->remotes, e);
		if (p != NULL && e->peer != p && e->after != p)
			continue;
		if (e->after == p && p != NULL)
			remote_set_after(c, e, NULL);
		if (p == NULL || e->peer == p)
			e->peer = NULL;
		e->missing_until = (struct mono){ 0 };
		if (remotes_is_idle(e))
			remotes_forget(c->remotes, e);
		else if (!e->finding && e->after == NULL && e->peer == NULL)
			remote_find(c, e);
		else
			remote_flush(c, e);
	}
}
