/*
 * claims: identities of clients, from their connecting to their end.
 */

#include <stdlib.h>
#include <string.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "records.h"
#include "state/star.h"
#include "state/star_home.h"
#include "svc/svc.h"
#include "ws/handshake.h"

/* Fibers that claim, and those that update Redis. */
#define CLAIM_FIBERS 256
#define OP_FIBERS    16
#define OP_RETRY_MS  500
#define CLAIM_ARENA  (16UL * 1024)
/* A claim is extended after so long; it lasts for STAR_CLAIM_MS. */
#define EXTEND_MS (3600L * 1000)
/* While this hub drains, a client comes back at once, to another. */
#define DRAIN_RESUME_MS 2000

#define CLOSE_RESTART 1012

enum op_kind { OP_RELEASE, OP_LEAVE, OP_EXTEND };

/* An update that Redis has not got yet. */
struct claim_op {
	TAILQ_ENTRY(claim_op) link;
	enum op_kind kind;
	int64_t gen;
	char *key;  /* of the identity */
	char *room; /* of OP_LEAVE */
	bool late;  /* Redis was away meanwhile */
};
TAILQ_HEAD(claim_op_list, claim_op);

struct claims {
	struct hub *hub;
	size_t fibers, op_fibers;
	struct claim_op_list ops, running;
	struct loop_timer retry, expire;
};

static void claims_set_expiry(struct claims *s);

/* ---- updates of Redis ---- */

static void
op_free(struct claim_op *op)
{
	free(op->key);
	free(op->room);
	free(op);
}

static enum rc
op_run(struct claims *s, const struct claim_op *op)
{
	struct state *state = s->hub->state;
	struct star_holder holder = { str_of(s->hub->name), op->gen };
	struct record_identity id;
	struct record_room room;
	struct identity i;
	struct star_member m;

	if (identity_parse(str_of(op->key), &i) != RC_OK)
		return RC_BUG;
	record_identity(&i, &id);
	switch (op->kind) {
	case OP_RELEASE:
		return star_release(state, &id.star, &holder);
	case OP_EXTEND:
		return star_extend(state, &id.star, &holder);
	default:
		if (record_room_of(str_of(op->room), &room) != RC_OK)
			return RC_BUG;
		m = record_member(&i, holder.hub, op->gen);
		return star_room_leave(state, &room.star, &m);
	}
}

static bool
op_is_to_be_repeated(enum rc rc)
{
	return rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY;
}

/* Others may have read of Redis what it has changed only now. */
static void
op_notify(struct claims *s, const struct claim_op *op)
{
	struct link_record r = { .kind = LINK_LEFT,
		.gen = op->gen,
		.to = str_of(op->key),
		.text = STR("closed") };

	if (op->kind == OP_EXTEND)
		return;
	if (op->kind == OP_LEAVE) {
		r.kind = LINK_EXITED;
		r.from = str_of(op->room);
	}
	notice_put(s->hub->peers, &r);
}

static void
op_fiber(void *arg)
{
	struct claims *s = arg;
	struct claim_op *op;
	enum rc rc;

	while ((op = TAILQ_FIRST(&s->ops)) != NULL) {
		TAILQ_REMOVE(&s->ops, op, link);
		TAILQ_INSERT_TAIL(&s->running, op, link);
		rc = op_run(s, op);
		TAILQ_REMOVE(&s->running, op, link);
		if (op_is_to_be_repeated(rc)) {
			op->late = true;
			TAILQ_INSERT_HEAD(&s->ops, op, link);
			break;
		}
		if (op->late)
			op_notify(s, op);
		op_free(op);
	}
	s->op_fibers--;
}

static void
claims_run_ops(void *arg)
{
	struct claims *s = arg;

	if (!TAILQ_EMPTY(&s->ops))
		loop_timer_set(s->hub->loop, &s->retry,
		    mono_add_ms(clock_mono(), OP_RETRY_MS), claims_run_ops, s);
	if (s->op_fibers < OP_FIBERS && !TAILQ_EMPTY(&s->ops)) {
		s->op_fibers++;
		fiber_start(op_fiber, s);
	}
}

static void
claims_queue(struct claims *s, enum op_kind kind, const struct client *c,
    struct str room)
{
	struct claim_op *op = mem_zalloc(sizeof(*op));
	char key[IDENTITY_KEY_MAX];

	op->kind = kind;
	op->gen = c->gen;
	op->key = str_dup(client_key(c, key));
	if (room.p != NULL)
		op->room = str_dup(room);
	TAILQ_INSERT_TAIL(&s->ops, op, link);
	claims_run_ops(s);
}

void
claims_leave(struct claims *s, const struct client *c, struct str key)
{
	claims_queue(s, OP_LEAVE, c, key);
}

static bool
op_is_leave(const struct claim_op *op, const struct client *c, struct str room)
{
	char key[IDENTITY_KEY_MAX];

	return op->kind == OP_LEAVE && op->gen == c->gen &&
	    str_eq(str_of(op->room), room) &&
	    str_eq(str_of(op->key), client_key(c, key));
}

bool
claims_undo_leave(struct claims *s, const struct client *c, struct str key)
{
	struct claim_op *op, *next;

	TAILQ_FOREACH (op, &s->running, link)
		if (op_is_leave(op, c, key))
			return false;
	for (op = TAILQ_FIRST(&s->ops); op != NULL; op = next) {
		next = TAILQ_NEXT(op, link);
		if (!op_is_leave(op, c, key))
			continue;
		TAILQ_REMOVE(&s->ops, op, link);
		op_free(op);
	}
	return true;
}

void
claims_extend(struct claims *s, struct client *c)
{
	struct mono now = clock_mono();

	if (!c->held || mono_diff_ms(now, c->extended) < EXTEND_MS)
		return;
	c->extended = now;
	claims_queue(s, OP_EXTEND, c, (struct str){ NULL, 0 });
}

/* ---- the end of a claim ---- */

/* c holds nothing, and is in no room; nobody is notified. */
static void
claims_forget(struct claims *s, struct client *c)
{
	struct hub *h = s->hub;
	size_t i;

	c->held = false;
	if (c->identity.class == CLASS_ENVIRONMENT)
		bodies_down(h, c);
	directory_remove(h->directory, &c->identity, c);
	metric_change(h->metrics.clients[c->identity.class], -1);
	member_set_free(c->members);
	c->members = NULL;
	for (i = 0; i < c->nrooms; i++)
		room_leave(&c->rooms[i]);
}

/* It was not open, so no event of its connection follows. */
static void
claims_drop_unconnected(struct claims *s, struct client *c)
{
	struct hub *h = s->hub;

	if (c->phase == CLIENT_DETACHED) {
		TAILQ_REMOVE(&h->detached, c, link);
		c->phase = CLIENT_ENDED;
		if (c->drain_waits)
			svc_release(h->svc);
		client_forget_replay(h, c);
		client_unref(h, c);
	}
}

void
claims_end(struct claims *s, struct client *c, const char *reason)
{
	if (!c->held)
		return;
	membership_exit_all(s->hub, c, reason);
	undelivered_report(s->hub, c);
	claims_forget(s, c);
	notice_send_client(s->hub->peers, LINK_LEFT, c, reason);
	claims_queue(s, OP_RELEASE, c, (struct str){ NULL, 0 });
	claims_drop_unconnected(s, c);
}

/* Other hubs are notified by who has it now. */
static void
claims_close(struct claims *s, struct client *c)
{
	char key[IDENTITY_KEY_MAX];

	claims_forget(s, c);
	if (c->identity.class == CLASS_ENVIRONMENT)
		environment_went(
		    s->hub, client_key(c, key), c->gen, "replaced");
	if (c->phase == CLIENT_OPEN)
		client_close(c, CLOSE_REPLACED, str_of(CLOSE_REPLACED_REASON));
	claims_drop_unconnected(s, c);
}

/* A newer connection has it. */
static void
claims_lost(struct claims *s, struct client *c)
{
	if (!c->held)
		return;
	membership_exit_all(s->hub, c, "replaced");
	undelivered_report(s->hub, c);
	claims_close(s, c);
}

void
claims_outdate(struct claims *s, struct str key, int64_t gen)
{
	struct client *c = directory_find(s->hub->directory, key), *other;
	struct identity i;

	if (c != NULL && c->gen < gen)
		claims_lost(s, c);
	if (TAILQ_EMPTY(&s->hub->claiming) || identity_parse(key, &i) != RC_OK)
		return;
	/* Redis' reply about an older one may still be on its way. */
	TAILQ_FOREACH (other, &s->hub->claiming, link)
		if (other->gen == 0 && other->newer < gen &&
		    identity_equal(&other->identity, &i))
			other->newer = gen;
}

void
claims_moved(struct claims *s, struct client *c)
{
	if (c->held)
		claims_close(s, c);
}

void
claims_drop_all(struct claims *s)
{
	struct client_list *lists[] = { &s->hub->clients, &s->hub->claiming,
		&s->hub->detached, &s->hub->residents };
	struct client *c, *next;
	size_t i;

	for (i = 0; i < NELEM(lists); i++) {
		for (c = TAILQ_FIRST(lists[i]); c != NULL; c = next) {
			next = TAILQ_NEXT(c, link);
			if (!c->held)
				continue;
			claims_forget(s, c);
			if (c->phase == CLIENT_OPEN)
				client_close(c, CLOSE_RESTART,
				    STR("restart, resume at once"));
			claims_drop_unconnected(s, c);
		}
	}
}

/* ---- detached clients ---- */

static void
claims_on_expiry(void *arg)
{
	struct claims *s = arg;
	struct mono now = clock_mono();
	struct client *c;

	while ((c = TAILQ_FIRST(&s->hub->detached)) != NULL &&
	    mono_diff_ms(c->detached_until, now) <= 0)
		claims_end(s, c, c->left_reason);
	claims_set_expiry(s);
}

static void
claims_set_expiry(struct claims *s)
{
	const struct client *c = TAILQ_FIRST(&s->hub->detached);

	if (c != NULL)
		loop_timer_set(s->hub->loop, &s->expire, c->detached_until,
		    claims_on_expiry, s);
}

/* The drain waits for those that may come back to another hub at once. */
static void
claims_hasten(struct claims *s, struct client *c)
{
	struct mono most = mono_add_ms(clock_mono(), DRAIN_RESUME_MS);

	if (c->detached_until.ns > most.ns)
		c->detached_until = most;
	if (!c->drain_waits)
		svc_hold(s->hub->svc);
	c->drain_waits = true;
}

void
claims_drain(struct claims *s)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->hub->detached, link)
		claims_hasten(s, c);
	claims_set_expiry(s);
}

void
claims_detach(struct claims *s, struct client *c, const char *reason)
{
	struct hub *h = s->hub;
	c->phase = CLIENT_DETACHED;
	c->left_reason = reason;
	c->detached_until = mono_add_ms(clock_mono(), h->conf->resume_ms);
	/* The connection's own reference ends. */
	client_ref(c);
	/* What is sent to it now may come much later: no action of a soul. */
	if (c->identity.class == CLASS_ENVIRONMENT)
		bodies_down(h, c);
	TAILQ_INSERT_TAIL(&h->detached, c, link);
	if (h->draining)
		claims_hasten(s, c);
	claims_set_expiry(s);
	membership_detached(h, c);
}

/* ---- a new claim ---- */

/* Of one whose handshake is over: it goes on without an identity. */
static void
claim_reject_accepted(
    struct claims *s, struct client *c, enum rc rc, const char *why)
{
	struct hub *h = s->hub;

	TAILQ_REMOVE(&h->claiming, c, link);
	TAILQ_INSERT_TAIL(&h->clients, c, link);
	c->heartbeat = mono_add_ms(clock_mono(), h->conf->heartbeat_ms);
	c->phase = CLIENT_OPEN;
	client_auth_rejected(h, c, rc, why);
}

static void
claim_reject(struct claims *s, struct client *c, int status, const char *why)
{
	if (c->peer == NULL)
		return;
	if (c->accepted)
		claim_reject_accepted(
		    s, c, status == 503 ? RC_DOWN : RC_DENIED, why);
	else
		ws_reject(c->peer, status, why);
}

/* Who held it at this hub until now; its frames may be c's. */
static void
claim_replace_local(struct claims *s, struct client *old, struct client *c,
    struct client_beginning *first)
{
	if (c->resume_session[0] != '\0' &&
	    strcmp(old->session, c->session) == 0)
		session_resume_here(s->hub, c, old, first);
	if (first->resumed)
		claims_moved(s, old);
	else
		claims_lost(s, old);
}

/* Redis knows that c is in the room of key.  RC_RETRY: it is full. */
static enum rc
claim_enter_room(struct claims *s, const struct client *c, struct str key)
{
	struct hub *h = s->hub;
	struct star_member m =
	    record_member(&c->identity, str_of(h->name), c->gen);
	struct record_room room;
	enum rc rc;
	bool new;

	rc = record_room_of(key, &room);
	if (rc == RC_OK)
		rc = star_hub_add_room(h->state, str_of(h->name), &room.star);
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		rc = star_room_join(h->state, &room.star, &m, &new);
	/* A newer claim has entered: this one is closed soon. */
	return rc == RC_UNREPLICATED || rc == RC_CONFLICT ? RC_OK : rc;
}

/* The room becomes its i-th one. */
static enum rc
claim_enter(
    struct claims *s, struct client *c, size_t i, struct str key, bool resumed)
{
	enum rc rc = claim_enter_room(s, c, key);

	if (rc == RC_OK && c->held) {
		membership_enter(s->hub, &c->rooms[i], key, resumed);
		return rc;
	}
	/* Redis may have it, although it failed, or ended meanwhile. */
	claims_leave(s, c, key);
	c->rooms[i].seq = c->rooms[i].gen = 0;
	return rc;
}

/* The room of an agent, and those that a human was in before. */
static bool
claim_enter_rooms(
    struct claims *s, struct client *c, const struct client_beginning *first)
{
	char text[IDENTITY_KEY_MAX];
	enum rc rc = RC_OK;
	size_t i;

	if (c->identity.class == CLASS_AGENT) {
		struct str key = client_env_key(c, text);

		rc = claim_enter(s, c, 0, key, first->resumed);
	}
	/* One that is full is no reason to reject it. */
	for (i = 0;
	     c->identity.class == CLASS_HUMAN && rc == RC_OK && i < c->nrejoin;
	     i++) {
		rc = claim_enter(s, c, i, str_of(c->rejoin[i]), true);
		rc = rc == RC_RETRY ? RC_OK : rc;
	}
	if (rc != RC_OK)
		claim_reject(s, c, 503,
		    rc == RC_RETRY ? "the environment has too many members"
				   : "Redis cannot be reached: try again "
				     "later");
	return rc == RC_OK;
}

/* There is no connection, and none is needed. */
static void
claim_open_resident(struct claims *s, struct client *c)
{
	struct hub *h = s->hub;

	TAILQ_REMOVE(&h->claiming, c, link);
	TAILQ_INSERT_TAIL(&h->residents, c, link);
	c->phase = CLIENT_OPEN;
	client_open(h, c, 0);
}

/* Everything is prepared: the client is served from now on. */
static void
claim_open(struct claims *s, struct client *c, struct client_beginning *first)
{
	struct hub *h = s->hub;
	struct http_head head;

	if (!c->accepted && ws_peer_head(c->peer, &head))
		client_accept(c, &head);
	else if (c->accepted)
		first->authenticated = true;
	TAILQ_REMOVE(&h->claiming, c, link);
	TAILQ_INSERT_TAIL(&h->clients, c, link);
	c->heartbeat = mono_add_ms(clock_mono(), h->conf->heartbeat_ms);
	c->phase = CLIENT_OPEN;
	if (first->authenticated)
		client_auth_accepted(h, c);
	/* The session's id is in the result. */
	if (!first->authenticated || first->wanted || first->history)
		client_heartbeat(h, c, first);
	client_open(h, c, first->resumed ? (uint64_t)c->resume_last : 0);
	if (c->identity.class == CLASS_ENVIRONMENT) {
		bodies_up(h, c);
		membership_load(h, c);
	}
}

/* From here on, what is sent to it waits in its replay. */
static void
claim_hold(struct claims *s, struct client *c, const struct star_claim *claim,
    struct client *old, struct client_beginning *first)
{
	struct hub *h = s->hub;
	const struct peer *before = peers_find(h->peers, claim->before.hub);
	bool replaces = old != NULL || before != NULL;
	char key[IDENTITY_KEY_MAX];

	c->cursor = claim->seq;
	c->held = true;
	c->extended = clock_mono();
	if (old != NULL) {
		client_ref(old);
		claim_replace_local(s, old, c, first);
	}
	(void)directory_put(h->directory, &c->identity, c);
	metric_change(h->metrics.clients[c->identity.class], 1);
	if (c->identity.class == CLASS_ENVIRONMENT)
		c->members = member_set_new();
	remote_joined(h->peers, client_key(c, key), NULL, c->gen);
	if (old == NULL && before != NULL)
		takeover_begin(h->peers, c, before, first);
	if (replaces && !first->resumed)
		hub_audit_replaced(h, c, old != NULL ? old->user : c->user);
	if (old != NULL)
		client_unref(h, old);
	metric_add(h->metrics.claims[first->resumed ? HUB_CLAIM_RESUMED
			   : replaces               ? HUB_CLAIM_REPLACED
						    : HUB_CLAIM_NEW],
	    1);
}

/* What a user may have deleted, or get as an export, is found by this. */
static enum rc
claim_index(
    struct claims *s, const struct client *c, const struct star_identity *id)
{
	if (c->caller.user.n == 0)
		return RC_OK;
	return star_user_add(s->hub->state, c->caller.user, id);
}

/* False: it was rejected, or is gone. */
static bool
claim_take(struct claims *s, struct client *c, struct client_beginning *first)
{
	struct hub *h = s->hub;
	struct star_claim claim = { .hub = str_of(h->name),
		.user = record_user(c->user),
		.session = str_of(c->session),
		.any_user = client_is_operator(c) };
	struct arena *a = arena_new(CLAIM_ARENA);
	struct record_identity id;
	char key[IDENTITY_KEY_MAX], name[sizeof(h->name)];
	struct client *old;
	enum rc rc;

	record_identity(&c->identity, &id);
	rc = claim_index(s, c, &id.star);
	str_copy(claim.hub, name, sizeof(name));
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		rc = star_claim(h->state, &id.star, &claim, a);
	/* Whose hub is dead is nobody. */
	if (strcmp(name, h->name) != 0) {
		claim.gen = 0;
		rc = RC_RETRY;
	}
	if (rc == RC_DENIED)
		claim_reject(s, c, 403, "the id is of another user");
	else if (rc != RC_OK && rc != RC_UNREPLICATED)
		claim_reject(
		    s, c, 503, "Redis cannot be reached: try again later");
	c->gen = claim.gen;
	old = directory_find(h->directory, client_key(c, key));
	if (c->gen != 0 &&
	    (c->newer > c->gen || (old != NULL && old->gen > c->gen))) {
		claim_reject(s, c, 409, "a newer connection has this id");
		c->gen = 0;
	}
	if (c->gen != 0)
		claim_hold(s, c, &claim, old, first);
	arena_free(a);
	return c->gen != 0;
}

/* Its connection has ended. */
static bool
claim_has_ended(const struct client *c)
{
	return c->peer == NULL && c->receive == NULL;
}

static void
claim_one(struct claims *s, struct client *c)
{
	struct client_beginning first = {
		.wanted = c->resume_session[0] != '\0', .lost = -1
	};

	if (claim_has_ended(c) || !claim_take(s, c, &first))
		return;
	if (c->held)
		notice_send_client(s->hub->peers, LINK_JOINED, c, NULL);
	if (c->held && !claim_enter_rooms(s, c, &first)) {
		claims_end(s, c, "closed");
		return;
	}
	if (c->held && c->after_cursor >= 0)
		history_catch_up(s->hub, c, &first);
	/* Meanwhile its connection may have ended, or a newer one begun. */
	if (c->held && c->receive != NULL) {
		claim_open_resident(s, c);
		return;
	}
	if (c->held && c->peer != NULL) {
		claim_open(s, c, &first);
		return;
	}
	claims_end(s, c, "closed");
	claim_reject(s, c, 409, "a newer connection has this id");
}

static void
claim_run(struct claims *s, struct client *c)
{
	TAILQ_INSERT_TAIL(&s->hub->claiming, c, link);
	claim_one(s, c);
	if (c->phase == CLIENT_CLAIMING)
		TAILQ_REMOVE(&s->hub->claiming, c, link);
	client_unref(s->hub, c);
}

static void
claim_fiber(void *arg)
{
	struct claims *s = arg;
	struct client *c;

	while ((c = TAILQ_FIRST(&s->hub->queued)) != NULL) {
		TAILQ_REMOVE(&s->hub->queued, c, link);
		claim_run(s, c);
	}
	s->fibers--;
}

void
claims_enter(struct claims *s, struct client *c)
{
	claim_run(s, client_ref(c));
}

void
claims_begin(struct claims *s, struct client *c)
{
	client_ref(c);
	TAILQ_INSERT_TAIL(&s->hub->queued, c, link);
	if (s->fibers == CLAIM_FIBERS)
		return;
	s->fibers++;
	fiber_start(claim_fiber, s);
}

/* ---- its life ---- */

struct claims *
claims_new(struct hub *h)
{
	struct claims *s = mem_zalloc(sizeof(*s));

	s->hub = h;
	TAILQ_INIT(&s->ops);
	TAILQ_INIT(&s->running);
	return s;
}

void
claims_free(struct claims *s)
{
	struct claim_op *op;
	struct client *c;

	if (s == NULL)
		return;
	loop_timer_cancel(s->hub->loop, &s->retry);
	loop_timer_cancel(s->hub->loop, &s->expire);
	while ((c = TAILQ_FIRST(&s->hub->detached)) != NULL) {
		claims_forget(s, c);
		claims_drop_unconnected(s, c);
	}
	while ((op = TAILQ_FIRST(&s->ops)) != NULL) {
		TAILQ_REMOVE(&s->ops, op, link);
		op_free(op);
	}
	free(s);
}
