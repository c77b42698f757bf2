/*
 * hub_client: one open connection: what it is sent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"
#include "hub.h"
#include "wire/out.h"
#include "ws/handshake.h"

/* The largest queue is looked for at most so often. */
#define SHED_MS 100
#define SHED_S  30

/* The first heartbeat, which goes before what waits. */
#define HEARTBEAT_BYTES 2048

#define SUBPROTOCOL STR("star.v1")

static char *
client_put_text(char *p, struct str s, struct str *out)
{
	*out = (struct str){ s.p != NULL ? p : NULL, s.n };
	memcpy(p, s.n > 0 ? s.p : "", s.n);
	return p + s.n;
}

/* No user has a "/" in front. */
struct str
client_owner(const struct auth_caller *who, char text[CLIENT_OWNER_MAX])
{
	if (who->role != WIRE_ROLE_TERMINAL)
		return who->user;
	text[0] = '/';
	str_copy(who->terminal_id, text + 1, CLIENT_OWNER_MAX - 1);
	return str_of(text);
}

/* All texts of a client are in one block. */
static void
client_set_texts(
    struct client *c, const struct identity *i, const struct auth_caller *who)
{
	char owner_text[CLIENT_OWNER_MAX], *old = c->text, *p;
	struct str owner = client_owner(who, owner_text);
	struct buf sender = BUF_INIT(4096);
	struct wire_out o = { .b = &sender };

	wire_out_object(&o);
	wire_out_key(&o, STR("id"));
	wire_out_str(&o, i->id);
	wire_out_key(&o, STR("type"));
	wire_out_str(&o, client_class_names[i->class]);
	wire_out_object_end(&o);
	c->text = p = mem_alloc(i->tenant.n + i->env.n + i->id.n + owner.n +
	    who->user.n + who->terminal_id.n + sender.n + 1);
	c->identity.class = i->class;
	p = client_put_text(p, i->tenant, &c->identity.tenant);
	p = client_put_text(p, i->env, &c->identity.env);
	p = client_put_text(p, i->id, &c->identity.id);
	p = client_put_text(p, owner, &c->user);
	c->caller = *who;
	c->caller.tenant = c->identity.tenant;
	p = client_put_text(p, who->user, &c->caller.user);
	p = client_put_text(p, who->terminal_id, &c->caller.terminal_id);
	(void)client_put_text(p, buf_str(&sender), &c->sender);
	buf_free(&sender);
	free(old);
}

void
client_set_caller(struct client *c, const struct auth_caller *who)
{
	struct identity i = c->identity;

	i.tenant = who->tenant;
	client_set_texts(c, &i, who);
}

struct client *
client_new(
    struct ws_peer *p, const struct identity *i, const struct auth_caller *who)
{
	static const struct auth_caller nobody = { .role = WIRE_ROLE_OWNER };
	struct client *c = mem_zalloc(sizeof(*c));
	size_t n, k;

	c->peer = p;
	c->refs = 1;
	c->after_cursor = -1;
	client_set_texts(c, i, who != NULL ? who : &nobody);
	c->nrooms = i->class == CLASS_AGENT ? 1
	    : i->class == CLASS_HUMAN       ? HUB_ENVIRONMENTS_MAX
					    : 0;
	n = c->nrooms;
	if (n > 0)
		c->rooms = mem_calloc(n, sizeof(*c->rooms));
	for (k = 0; k < n; k++)
		c->rooms[k].client = c;
	return c;
}

struct client *
client_ref(struct client *c)
{
	c->refs++;
	return c;
}

void
client_accept(struct client *c, const struct http_head *head)
{
	const struct str none = { NULL, 0 };

	ws_accept(
	    c->peer, handshake_offers(head, SUBPROTOCOL) ? SUBPROTOCOL : none);
	c->accepted = true;
}

bool
client_is_operator(const struct client *c)
{
	return c->caller.role == WIRE_ROLE_OPERATOR;
}

void
client_unref(struct hub *h, struct client *c)
{
	size_t i;

	if (--c->refs > 0)
		return;
	client_forget_replay(h, c);
	history_free(c);
	for (i = 0; i < c->naddressed; i++)
		free(c->addressed[i]);
	for (i = 0; i < c->nrejoin; i++)
		free(c->rejoin[i]);
	free(c->rejoin);
	free(c->addressed);
	free(c->rooms);
	free(c->trace);
	free(c->text);
	free(c);
}

struct str
client_key(const struct client *c, char dst[IDENTITY_KEY_MAX])
{
	return identity_key(&c->identity, dst);
}

void
client_close(struct client *c, unsigned code, struct str reason)
{
	c->closing = true;
	if (c->peer != NULL)
		ws_close(c->peer, code, reason);
}

/* ---- sending ---- */

/* Close whom most waits for. */
static void
client_shed_largest(struct hub *h)
{
	static struct log_rate rate;
	struct mono now = clock_mono();
	struct client *c, *largest = NULL;
	int64_t missed;

	if (h->shed_at.ns != 0 && mono_diff_ms(now, h->shed_at) < SHED_MS)
		return;
	h->shed_at = now;
	TAILQ_FOREACH (c, &h->clients, link)
		if (!c->closing &&
		    (largest == NULL ||
			ws_pending(c->peer) > ws_pending(largest->peer)))
			largest = c;
	if (largest == NULL)
		return;
	metric_add(h->metrics.shed, 1);
	if (log_every(&rate, SHED_S, &missed))
		log_warn("star.memory",
		    LOG_I("bytes", (int64_t)ws_pending_all(h->ws)),
		    LOG_I("largest", (int64_t)ws_pending(largest->peer)),
		    LOG_I("missed", missed));
	client_close(largest, WS_CLOSE_TRY_LATER,
	    STR("the hub has too much to send, most of it to you"));
}

static bool
client_memory_is_over(const struct hub *h, size_t n)
{
	return ws_pending_all(h->ws) + h->replay_bytes + n >
	    (size_t)h->conf->memory_mib * 1024 * 1024;
}

static void
client_put_replay(struct hub *h, struct client *c, struct frame *f)
{
	size_t before = c->replay.bytes;

	f->by = h->deliver_by;
	replay_put(&c->replay, f);
	h->replay_bytes += c->replay.bytes - before;
}

void
client_forget_replay(struct hub *h, struct client *c)
{
	h->replay_bytes -= c->replay.bytes;
	replay_clear(&c->replay);
}

/* Its queue will have room for all of them, and for a heartbeat. */
bool
client_may_wait(
    const struct hub *h, const struct client *c, uint64_t n, size_t bytes)
{
	size_t most = (size_t)h->conf->queue_bytes;

	if (most > REPLAY_BYTES)
		most = REPLAY_BYTES;
	return c->waiting + n <= REPLAY_FRAMES &&
	    c->waiting_bytes + bytes + HEARTBEAT_BYTES <= most;
}

/* To a client that is not there yet, or for a moment. */
static enum rc
client_wait(struct hub *h, struct client *c, struct frame *f)
{
	if (!client_may_wait(h, c, 1, f->bytes.n))
		return RC_RETRY;
	c->waiting++;
	c->waiting_bytes += f->bytes.n;
	client_put_replay(h, c, f);
	return RC_OK;
}

void
client_set_full(struct hub *h, struct client *c, bool full)
{
	if (c->full != full)
		metric_change(h->metrics.stalled, full ? 1 : -1);
	c->full = full;
}

bool
client_may_resume(const struct hub *h, const struct ws_end *end)
{
	if (h->conf->resume_ms == 0 || (h->draining && h->peers->n == 0))
		return false;
	if (end->by_peer)
		return end->code != WS_CLOSE_NORMAL;
	return end->code != WS_CLOSE_POLICY;
}

/* Its connection has ended; its on_end() follows. */
static bool
client_is_about_to_wait(const struct hub *h, const struct client *c)
{
	const struct ws_end *end = ws_peer_end(c->peer);

	return c->held && end != NULL && client_may_resume(h, end);
}

/* What a session counts. */
static enum rc
client_put(struct hub *h, struct client *c, struct frame *f)
{
	enum rc rc;

	if (c->phase != CLIENT_OPEN)
		return client_wait(h, c, f);
	if (c->receive != NULL)
		return c->receive(c, frame_payload(f));
	rc = ws_send(c->peer, f);
	if (rc == RC_RETRY)
		client_set_full(h, c, true);
	if (rc == RC_DOWN && client_is_about_to_wait(h, c))
		return client_wait(h, c, f);
	if (rc == RC_OK && h->conf->resume_ms > 0)
		client_put_replay(h, c, f);
	return rc;
}

enum rc
client_send(struct hub *h, struct client *c, struct frame *f)
{
	if (c->closing || c->phase == CLIENT_ENDED)
		return RC_DOWN;
	if (c->dropped > 0 && !client_send_dropped(h, c))
		return RC_RETRY;
	if (client_memory_is_over(h, f->bytes.n)) {
		client_shed_largest(h);
		return RC_RETRY;
	}
	return client_put(h, c, f);
}

bool
client_send_text(struct hub *h, struct client *c)
{
	struct frame *f = frame_new(FRAME_TEXT, buf_str(&h->out));
	enum rc rc = client_send(h, c, f);

	frame_unref(f);
	buf_reset(&h->out);
	return rc == RC_OK;
}

void
client_send_uncounted(struct hub *h, struct client *c)
{
	struct frame *f = frame_new(FRAME_TEXT, buf_str(&h->out));

	buf_reset(&h->out);
	if (c->phase == CLIENT_OPEN && !c->closing && c->peer != NULL &&
	    ws_send(c->peer, f) == RC_RETRY)
		client_set_full(h, c, true);
	frame_unref(f);
}

void
client_drop(struct hub *h, struct client *c)
{
	c->dropped++;
	metric_add(h->metrics.dropped, 1);
}

/* An event that reports n messages that c does not get. */
static struct frame *
client_dropped_frame(struct hub *h, const struct client *c, uint64_t n)
{
	struct buf text = BUF_INIT(4096);
	struct wire_out o = { .b = &text };
	struct frame *f;

	hub_message_begin(&o, "message", &c->identity);
	hub_event_begin(&o, ++h->events, "messages_dropped");
	wire_out_key(&o, STR("count"));
	wire_out_i64(&o, (int64_t)n);
	hub_event_end(&o);
	hub_message_end(&o, hub_now(h));
	f = frame_new(FRAME_TEXT, buf_str(&text));
	buf_free(&text);
	return f;
}

bool
client_send_dropped(struct hub *h, struct client *c)
{
	struct frame *f;
	enum rc rc;

	if (c->dropped == 0)
		return true;
	f = client_dropped_frame(h, c, c->dropped);
	rc = client_put(h, c, f);
	frame_unref(f);
	if (rc == RC_OK)
		c->dropped = 0;
	return rc == RC_OK;
}

/* One of a replay, or, of one that is too late, what reports it. */
static enum rc
client_replay(struct hub *h, struct client *c, struct frame *next)
{
	struct frame *f = next->by.ms != 0 && next->by.ms <= clock_wall().ms
	    ? client_dropped_frame(h, c, 1)
	    : frame_ref(next);
	enum rc rc = c->receive != NULL ? c->receive(c, frame_payload(f))
					: ws_send(c->peer, f);

	frame_unref(f);
	return rc;
}

void
client_open(struct hub *h, struct client *c, uint64_t has)
{
	uint64_t n = has + 1;
	enum rc rc = RC_OK;

	/* All fit (client_may_wait()). */
	if (n < c->replay.first)
		n = c->replay.first;
	for (; n > 0 && n <= replay_sent(&c->replay) && rc == RC_OK; n++)
		rc = client_replay(h, c, replay_at(&c->replay, n));
	if (rc != RC_OK)
		client_close(c, WS_CLOSE_TRY_LATER,
		    STR("too much waits for this client"));
	c->waiting = c->waiting_bytes = 0;
	if (h->conf->resume_ms == 0 || c->receive != NULL)
		client_forget_replay(h, c);
}

void
client_fail(struct hub *h, struct client *c, const struct hub_failure *f)
{
	metric_add(h->metrics.errors[f->error], 1);
	hub_error_write(f, &c->identity, hub_now(h), &h->out);
	if (!client_send_text(h, c) && !c->closing)
		client_drop(h, c);
}

static void
heartbeat_put_flag(struct wire_out *o, const char *key, bool is)
{
	wire_out_key(o, str_of(key));
	wire_out_bool(o, is);
}

static void
heartbeat_put_beginning(struct hub *h, const struct client *c,
    const struct client_beginning *first, struct wire_out *o)
{
	if (h->conf->resume_ms > 0) {
		hub_put(o, "session", str_of(c->session));
		wire_out_key(o, STR("resume"));
		wire_out_object(o);
		wire_out_key(o, STR("ms"));
		wire_out_i64(o, h->conf->resume_ms);
		wire_out_key(o, STR("frames"));
		wire_out_i64(o, REPLAY_FRAMES);
		wire_out_object_end(o);
	}
	if (first->wanted) {
		heartbeat_put_flag(o, "resumed", first->resumed);
		if (!first->resumed)
			wire_out_key(o, STR("lost"));
		if (!first->resumed && first->lost >= 0)
			wire_out_i64(o, first->lost);
		else if (!first->resumed)
			wire_out_str(o, STR("unknown"));
	}
	if (first->history) {
		heartbeat_put_flag(o, "gap", first->gap);
		heartbeat_put_flag(o, "more", first->more);
	}
}

void
client_heartbeat(
    struct hub *h, struct client *c, const struct client_beginning *first)
{
	struct wire_out o = { .b = &h->out };
	struct str now = hub_now(h);

	hub_message_begin(&o, "heartbeat", &c->identity);
	wire_out_object(&o);
	hub_put(&o, "timestamp", now);
	hub_put(&o, "server_status",
	    h->draining ? STR("draining") : STR("running"));
	hub_put(&o, "ping", STR("pong"));
	/* As version 1 of the hub has them. */
	heartbeat_put_flag(&o, "pong", true);
	hub_put(&o, "status", STR("connected"));
	hub_put(&o, "server_time", now);
	hub_put(&o, "client_id", c->identity.id);
	hub_put(&o, "client_type", client_class_names[c->identity.class]);
	hub_put(&o, "hub", str_of(h->name));
	if (first != NULL)
		heartbeat_put_beginning(h, c, first, &o);
	wire_out_object_end(&o);
	hub_message_end(&o, now);
	client_send_uncounted(h, c);
}

/* ---- environments of a client ---- */

struct str
client_env_key(const struct client *c, char dst[IDENTITY_KEY_MAX])
{
	return identity_env_key(c->identity.tenant, c->identity.env, dst);
}

struct room_member *
client_membership(const struct hub *h, const struct client *c, struct str key)
{
	const struct room *room = rooms_find(h->rooms, key);
	size_t i;

	for (i = 0; room != NULL && i < c->nrooms; i++)
		if (c->rooms[i].room == room)
			return &c->rooms[i];
	return NULL;
}

bool
client_has_addressed(const struct client *c, struct str key)
{
	size_t i;

	for (i = 0; i < c->naddressed; i++)
		if (str_eq(str_of(c->addressed[i]), key))
			return true;
	return false;
}

void
client_add_addressed(struct client *c, struct str key)
{
	if (client_has_addressed(c, key))
		return;
	if (c->addressed == NULL)
		c->addressed = mem_calloc(HUB_ENVIRONMENTS_MAX, sizeof(char *));
	/* The oldest goes. */
	if (c->naddressed == HUB_ENVIRONMENTS_MAX) {
		free(c->addressed[0]);
		memmove(c->addressed, c->addressed + 1,
		    --c->naddressed * sizeof(char *));
	}
	c->addressed[c->naddressed++] = str_dup(key);
}
