/*
 * resident: a soul in an environment: its lease, its agent, its terminal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "body/body.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"
#include "envelope.h"
#include "records.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "svc/tick_hint.h"
#include "wire/msgs.h"
#include "wire/slice.h"
#include "wire/subjects.h"

/* Signs of life of a terminal, per time to live of its snapshots. */
#define ALIVE_PER_TTL 6
/* Reports of one call. */
#define REPORTS_MAX 4
#define ARENA_BYTES (64UL * 1024)
#define LOG_EVERY_S 10

/* A message in the inbox. */
struct resident_message {
	struct resident_message *next;
	size_t n;
	char text[];
};

static struct hub *
resident_hub(const struct resident *r)
{
	return r->body->all->h;
}

bool
resident_holds(const struct resident *r)
{
	return !r->ended && r->epoch > 0 &&
	    mono_diff_ns(r->until, clock_mono()) > 0;
}

void
resident_hold(struct resident *r)
{
	r->users++;
	body_hold(r->body);
}

static void
resident_free(struct resident *r)
{
	struct resident_message *m;

	loop_defer_cancel(resident_hub(r)->loop, &r->drain);
	while ((m = r->first) != NULL) {
		r->first = m->next;
		free(m);
	}
	body_forget_actions(r, true);
	dialogue_free(r->dialogue);
	free(r);
}

void
resident_release(struct resident *r)
{
	struct body *b = r->body;

	if (--r->users == 0 && r->ended)
		resident_free(r);
	body_release(b);
}

/* ---- messages to its agent ---- */

static void
resident_identity_of(
    const struct resident *r, const struct envelope *e, struct identity *out)
{
	*out = (struct identity){ .class = e->sender.class,
		.tenant = r->body->identity.tenant,
		.id = e->sender.id };
	if (out->class == CLASS_AGENT)
		out->env = r->body->identity.id;
	else if (out->class == CLASS_ENVIRONMENT)
		out->env = out->id;
}

static void
resident_handle(struct resident *r, struct str text, struct arena *a)
{
	struct envelope_errors errors;
	struct body_payload p;
	struct identity from;
	struct envelope e;
	struct trace trace;

	if (envelope_read(text, text.n, a, &e, &errors) != RC_OK ||
	    body_payload_read(e.payload, a, &p) != RC_OK)
		return;
	resident_identity_of(r, &e, &from);
	if (str_eq(p.type, STR("outcome")))
		body_on_outcome(r, &p);
	else
		dialogue_receive(r->dialogue, &from, &p,
		    envelope_trace(&e, &trace) ? &trace : NULL);
}

static void
resident_read_inbox(void *arg)
{
	struct resident *r = arg;
	struct arena *a = arena_new(
	    (size_t)resident_hub(r)->conf->message_bytes + ARENA_BYTES);
	struct resident_message *m;

	resident_hold(r);
	while ((m = r->first) != NULL) {
		r->first = m->next;
		if (r->first == NULL)
			r->last = &r->first;
		r->n_inbox--;
		arena_reset(a);
		resident_handle(r, (struct str){ m->text, m->n }, a);
		free(m);
	}
	r->draining = false;
	arena_free(a);
	resident_release(r);
}

static void
resident_start_drain(void *arg)
{
	fiber_start(resident_read_inbox, arg);
}

/* Handled later: the sender's message is still being handled. */
static enum rc
resident_put_inbox(struct resident *r, struct str text)
{
	struct resident_message *m;

	if (r->n_inbox >= BODY_INBOX_MAX)
		return RC_RETRY;
	m = mem_alloc(sizeof(*m) + text.n);
	m->next = NULL;
	m->n = text.n;
	memcpy(m->text, text.p, text.n);
	*r->last = m;
	r->last = &m->next;
	r->n_inbox++;
	if (!r->draining) {
		r->draining = true;
		loop_defer(
		    resident_hub(r)->loop, &r->drain, resident_start_drain, r);
	}
	return RC_OK;
}

static void
resident_observe(struct resident *r, const struct body_payload *p)
{
	struct buf b = BUF_INIT((size_t)OBSERVATION_BYTES * 4);

	buf_put_str(&b, p->event);
	if (p->data.p != NULL && p->data.n < OBSERVATION_BYTES * 2) {
		buf_putc(&b, ' ');
		buf_put_str(&b, p->data);
	}
	observation_add(&r->observations, buf_str(&b), clock_mono());
	metric_add(r->body->all->metrics.observations, 1);
	buf_free(&b);
}

struct error_id {
	struct str details, id;
};

static void
error_on_member(void *arg, const struct wire_slice *s)
{
	struct error_id *e = arg;

	if (str_eq(s->key, STR("details")))
		e->details = s->value;
	else if (str_eq(s->key, STR("original_message_id")))
		e->id = s->value;
}

/* The hub did not deliver a message of its agent. */
static void
resident_take_error(struct resident *r, struct str payload, struct arena *a)
{
	struct error_id e = { { NULL, 0 }, { NULL, 0 } };
	struct str id;

	if (envelope_members(payload, error_on_member, &e) == RC_OK &&
	    e.details.n > 0 && e.details.p[0] == '{' &&
	    envelope_members(e.details, error_on_member, &e) == RC_OK &&
	    envelope_string(e.id, a, &id) == RC_OK)
		body_on_undelivered(r, id);
}

static enum rc
resident_receive(struct client *c, struct str text)
{
	struct resident *r = c->arg;
	struct arena *a = arena_new(text.n + ARENA_BYTES);
	struct envelope_errors errors;
	struct body_payload p;
	struct envelope e;
	enum rc rc = RC_OK;
	bool environment;

	if (envelope_read(text, text.n, a, &e, &errors) != RC_OK)
		goto out;
	if (e.type == ENVELOPE_ERROR && e.sender.class == CLASS_HUB)
		resident_take_error(r, e.payload, a);
	if (e.type != ENVELOPE_MESSAGE || e.sender.class == CLASS_HUB ||
	    body_payload_read(e.payload, a, &p) != RC_OK)
		goto out;
	environment = e.sender.class == CLASS_ENVIRONMENT;
	if (environment && str_eq(p.type, STR("event")) &&
	    !str_eq(p.event, STR("dialogue")) && !p.attention)
		resident_observe(r, &p);
	else if ((environment && str_eq(p.type, STR("outcome"))) ||
	    str_eq(p.type, STR("event")) || e.sender.class == CLASS_HUMAN)
		rc = resident_put_inbox(r, text);
out:
	arena_free(a);
	return rc;
}

/* It has ended. */
static enum rc
resident_ignore(struct client *c, struct str text)
{
	(void)c;
	(void)text;
	return RC_DOWN;
}

/* ---- its agent ---- */

/* Whether a connection has the identity, at any hub. */
static bool
resident_is_replaced(struct hub *h, const struct identity *i)
{
	struct record_identity id;
	struct star_holder holder;
	struct arena *a = arena_new(4096);
	char text[IDENTITY_KEY_MAX];
	bool is;

	record_identity(i, &id);
	is = directory_find(h->directory, identity_key(i, text)) != NULL ||
	    (star_find(h->state, &id.star, a, &holder) == RC_OK &&
		peers_find(h->peers, holder.hub) != NULL);
	arena_free(a);
	return is;
}

static void
resident_leave(struct resident *r)
{
	struct hub *h = resident_hub(r);
	struct client *c = r->client;

	if (c == NULL)
		return;
	r->client = NULL;
	c->closing = true;
	claims_end(h->claims, c, "closed");
	if (c->phase == CLIENT_OPEN)
		TAILQ_REMOVE(&h->residents, c, link);
	c->phase = CLIENT_ENDED;
	/* Messages of it may be under way. */
	c->receive = resident_ignore;
	client_unref(h, c);
}

static void
resident_enter(struct resident *r)
{
	struct hub *h = resident_hub(r);
	struct identity i = r->body->identity;
	const struct auth_caller who = { .role = WIRE_ROLE_OWNER,
		.tenant = i.tenant,
		.user = str_of(r->user) };
	struct client *c;

	i.class = CLASS_AGENT;
	i.id = str_of(r->agent);
	/* A connection of this identity is newer, and stays. */
	if (resident_is_replaced(h, &i))
		return;
	c = client_new(NULL, &i, svc_auth(h->svc) != NULL ? &who : NULL);
	c->receive = resident_receive;
	c->arg = r;
	id_hex32(c->session);
	r->client = c;
	claims_enter(h->claims, c);
	if (c->phase != CLIENT_OPEN)
		resident_leave(r);
}

bool
resident_send(struct resident *r, struct str text)
{
	/* What one that is still being claimed sends is rejected, and the error
	 * waits for it. */
	if (!resident_holds(r) || r->client == NULL || r->client->closing ||
	    r->client->phase != CLIENT_OPEN)
		return false;
	hub_receive(resident_hub(r), r->client, text);
	return true;
}

/* ---- its terminal ---- */

static void
resident_event_online(const struct resident *r, bool online)
{
	const struct wire_terminal_online m = { .terminal_id =
						    str_of(r->terminal),
		.broker = BODY_BROKER,
		.online = online,
		.has_cause = online,
		.cause = WIRE_TERMINAL_ONLINE_CAUSE_REPORT };
	const struct svc_event e = { .type = WIRE_EVENT_TERMINAL_ONLINE,
		.key = m.terminal_id,
		.desc = &wire_terminal_online_desc,
		.payload = &m };

	if (svc_event_send(resident_hub(r)->svc, &e) != RC_OK)
		log_info("star.event_lost", LOG_S("type", e.type));
}

static void
resident_copy_presence(struct resident *r, const struct terminal_report *t)
{
	struct hub *h = resident_hub(r);
	struct terminal_copy v = { .id = str_of(r->terminal),
		.user_id = t->user_id,
		.soul_id = t->soul_id,
		.at = t->at,
		.until = t->until };
	unsigned bucket;
	enum rc rc;

	if (v.soul_id.p == NULL)
		return;
	rc = terminal_put_copies(h->state, BODY_BROKER, &v, 1);
	if (rc == RC_OK && v.rc == RC_NOENT)
		rc = terminal_repair(
		    h->state, v.id, h->conf->ttl_s * 1000, &v.ticks);
	if (rc != RC_OK)
		log_info(
		    "star.not_copied", LOG_V("terminal", v.id), LOG_RC(rc));
	else if (v.ticks && state_bucket(v.user_id, &bucket) == RC_OK)
		svc_tick_hint(h->svc, bucket);
}

/* What is to be written, in its order. */
static size_t
resident_collect(
    struct resident *r, bool online, struct terminal_report v[REPORTS_MAX])
{
	const struct body *b = r->body;
	int64_t ttl = resident_hub(r)->conf->ttl_s * 1000;
	size_t i, n = 0;

	if (online != r->online)
		v[n++].kind = online ? TERMINAL_ONLINE : TERMINAL_OFFLINE;
	if (online && b->skills.known && r->skills_gen != b->skills.gen) {
		v[n].snap =
		    (struct terminal_snapshot){ .version = b->skills.version,
			    .json = str_of(b->skills.json) };
		v[n++].kind = TERMINAL_SKILLS;
	}
	if (online && b->catalog.known && r->catalog_gen != b->catalog.gen) {
		v[n].snap =
		    (struct terminal_snapshot){ .version = b->catalog.version,
			    .json = str_of(b->catalog.json),
			    .hash = str_of(b->catalog.hash) };
		v[n++].kind = TERMINAL_CATALOG;
	}
	if (n == 0 && online &&
	    mono_diff_ms(clock_mono(), r->alive) >= ttl / ALIVE_PER_TTL)
		v[n++].kind = TERMINAL_HEARTBEAT;
	for (i = 0; i < n; i++)
		v[i].id = str_of(r->terminal);
	return n;
}

/* False: it does not count, nor will any other. */
static bool
resident_written(struct resident *r, const struct terminal_report *t)
{
	struct body *b = r->body;
	bool done = t->rc == RC_OK || t->rc == RC_CONFLICT;

	if (t->rc == RC_DENIED || t->rc == RC_NOENT)
		return false;
	if (!done)
		return true;
	if (t->kind == TERMINAL_ONLINE || t->kind == TERMINAL_OFFLINE)
		r->online = t->kind == TERMINAL_ONLINE;
	if (t->kind == TERMINAL_SKILLS)
		r->skills_gen = b->skills.gen;
	if (t->kind == TERMINAL_CATALOG)
		r->catalog_gen = b->catalog.gen;
	if (t->rc == RC_CONFLICT && t->current > b->newer)
		b->newer = t->current;
	if (t->rc == RC_OK && t->turned)
		resident_event_online(r, t->present);
	if (t->kind != TERMINAL_OFFLINE)
		r->alive = clock_mono();
	return true;
}

static bool
resident_write(struct resident *r, bool online)
{
	struct hub *h = resident_hub(r);
	const struct terminal_writer w = { .broker = BODY_BROKER,
		.epoch = r->epoch,
		.ttl_ms = h->conf->ttl_s * 1000 };
	struct terminal_report v[REPORTS_MAX] = { 0 };
	struct arena *a;
	bool mine = true;
	size_t i, n = resident_collect(r, online, v);
	enum rc rc;

	if (n == 0)
		return true;
	a = arena_new(ARENA_BYTES);
	rc = terminal_put_reports(h->state, &w, v, n, a);
	if (rc != RC_OK)
		log_info("star.not_reported", LOG_S("terminal", r->terminal),
		    LOG_RC(rc));
	for (i = 0; i < n; i++)
		mine &= resident_written(r, &v[i]);
	if (v[n - 1].rc == RC_OK || v[n - 1].rc == RC_CONFLICT)
		resident_copy_presence(r, &v[n - 1]);
	arena_free(a);
	return mine;
}

bool
resident_report(struct resident *r)
{
	return resident_write(r, body_is_up(r->body) && r->client != NULL);
}

/* ---- life ---- */

static enum rc
resident_renew(struct resident *r)
{
	struct mono before = clock_mono();
	struct hub *h = resident_hub(r);
	int64_t epoch;
	enum rc rc = lease_acquire(h->state, str_of(r->terminal),
	    str_of(r->body->all->owner), BODY_LEASE_MS, &epoch);

	if (rc != RC_OK)
		return rc;
	if (epoch == 0 || (r->epoch != 0 && epoch != r->epoch))
		return RC_CONFLICT;
	r->epoch = epoch;
	r->until = mono_add_ms(before, BODY_LEASE_MS);
	return RC_OK;
}

/* The terminal is of this soul, whosever it was before. */
static enum rc
resident_bind(struct resident *r)
{
	struct hub *h = resident_hub(r);
	struct star_home home = { .user_id = str_of(r->user),
		.soul_id = str_of(r->soul),
		.terminal_id = str_of(r->terminal) };

	return hub_bind_home(h, &home);
}

void
resident_new(struct body *b, const struct star_resident *e)
{
	struct identity i = b->identity;
	struct bodies *all = b->all;
	struct resident *r;
	enum rc rc;

	if (all->n_residents >= BODY_RESIDENTS_MAX || all->stopping ||
	    e->agent_id.n > STAR_ID_BYTES)
		return;
	r = mem_zalloc(sizeof(*r));
	r->body = b;
	r->last = &r->first;
	TAILQ_INIT(&r->pending);
	str_copy(e->agent_id, r->agent, sizeof(r->agent));
	str_copy(e->user_id, r->user, sizeof(r->user));
	str_copy(e->soul_id, r->soul, sizeof(r->soul));
	i.class = CLASS_AGENT;
	i.id = str_of(r->agent);
	(void)body_terminal_id(&i, r->terminal);
	rc = resident_renew(r);
	if (rc == RC_OK)
		rc = resident_bind(r);
	if (rc != RC_OK) {
		/* Another hub may have it for some seconds yet. */
		b->synced = (struct mono){ 0 };
		log_info("star.resident_waits", LOG_S("terminal", r->terminal),
		    LOG_RC(rc));
		free(r);
		return;
	}
	r->dialogue = dialogue_new(r);
	TAILQ_INSERT_TAIL(&b->residents, r, link);
	all->n_residents++;
	metric_change(all->metrics.residents, 1);
	log_info("star.resident", LOG_S("terminal", r->terminal),
	    LOG_S("soul", r->soul), LOG_V("env", b->identity.id));
	resident_enter(r);
	body_subscribe(r);
	r->is_new = true;
}

bool
resident_tick(struct resident *r)
{
	enum rc rc = resident_renew(r);

	body_forget_actions(r, false);
	if (rc == RC_CONFLICT)
		return false;
	if (rc != RC_OK)
		return resident_holds(r);
	if (r->client != NULL && r->client->closing)
		resident_leave(r);
	if (r->client == NULL)
		resident_enter(r);
	else
		claims_extend(resident_hub(r)->claims, r->client);
	return resident_report(r);
}

void
resident_drop(struct resident *r)
{
	TAILQ_REMOVE(&r->body->residents, r, link);
	body_unsubscribe(r);
	resident_leave(r);
	resident_free(r);
}

void
resident_end(struct resident *r)
{
	struct hub *h = resident_hub(r);
	struct bodies *all = r->body->all;
	enum rc rc;

	resident_hold(r);
	TAILQ_REMOVE(&r->body->residents, r, link);
	all->n_residents--;
	metric_change(all->metrics.residents, -1);
	log_info("star.resident_left", LOG_S("terminal", r->terminal),
	    LOG_S("soul", r->soul));
	body_unsubscribe(r);
	resident_leave(r);
	if (r->online && resident_holds(r))
		(void)resident_write(r, false);
	rc = lease_release(h->state, str_of(r->terminal), str_of(all->owner));
	if (rc != RC_OK)
		log_info("star.lease_left", LOG_S("terminal", r->terminal),
		    LOG_RC(rc));
	r->ended = true;
	resident_release(r);
}
