/*
 * body: the environments of this hub that have, or may have, residents.
 */
#include "body/body.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/worker.h"
#include "records.h"
#include "state/star.h"
#include "svc/svc.h"
#include "terminal/snapshot_parse.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

/* How often residents are read, and of an environment without any. */
#define SYNC_MS       2000
#define SYNC_EMPTY_MS 30000
/* Longest wait for NATS to have the subscriptions of new ones. */
#define FLUSH_MS 1000
/* Environments of one tick, and residents that are renewed together. */
#define FIBERS_MAX 256
#define GROUP_MAX  64
#define READERS    1
#define READ_QUEUE 1024
/* Residents of an environment, and what was read of one. */
#define ARENA_BYTES (16UL * 1024 * 1024)
#define LOG_EVERY_S 10

/* ---- one ---- */

bool
body_is_up(const struct body *b)
{
	return b->client != NULL && b->client->phase == CLIENT_OPEN &&
	    !b->client->closing;
}

static void
body_free_snapshot(struct body_snapshot *s)
{
	free(s->json);
	free(s->hash);
}

static struct body *
body_new(struct bodies *all, const struct client *c, struct str key)
{
	struct body *b = mem_zalloc(sizeof(*b));
	const struct identity *i = &c->identity;

	b->all = all;
	str_copy(key, b->key, sizeof(b->key));
	b->text = mem_alloc(i->tenant.n + i->id.n + 1);
	memcpy(b->text, i->id.p, i->id.n);
	if (i->tenant.n > 0)
		memcpy(b->text + i->id.n, i->tenant.p, i->tenant.n);
	b->identity.class = CLASS_ENVIRONMENT;
	b->identity.id = b->identity.env = (struct str){ b->text, i->id.n };
	if (i->tenant.p != NULL)
		b->identity.tenant =
		    (struct str){ b->text + i->id.n, i->tenant.n };
	b->room.tenant = body_key_id(i->tenant, b->room_tenant);
	b->room.name = body_key_id(i->id, b->room_name);
	TAILQ_INIT(&b->residents);
	(void)map_put(all->by_key, str_of(b->key), b);
	TAILQ_INSERT_TAIL(&all->list, b, link);
	all->n++;
	return b;
}

static void
body_free(struct body *b)
{
	(void)map_del(b->all->by_key, str_of(b->key));
	TAILQ_REMOVE(&b->all->list, b, link);
	b->all->n--;
	body_free_snapshot(&b->skills);
	body_free_snapshot(&b->catalog);
	free(b->text);
	free(b);
}

/* Without a connection, residents and users it is of no use. */
static void
body_free_unused(struct body *b)
{
	if (b->client == NULL && b->users == 0 && TAILQ_EMPTY(&b->residents))
		body_free(b);
}

void
body_hold(struct body *b)
{
	b->users++;
	svc_hold(b->all->h->svc);
}

void
body_release(struct body *b)
{
	svc_release(b->all->h->svc);
	b->users--;
	body_free_unused(b);
}

/* ---- residents ---- */

static struct resident *
body_resident(const struct body *b, const struct star_resident *e)
{
	struct resident *r;

	TAILQ_FOREACH (r, &b->residents, link)
		if (str_eq(str_of(r->agent), e->agent_id) &&
		    str_eq(str_of(r->user), e->user_id) &&
		    str_eq(str_of(r->soul), e->soul_id))
			return r;
	return NULL;
}

/* RC_NOENT: the soul does not live here. */
static enum rc
body_confirm(const struct body *b, const struct star_resident *e)
{
	struct arena *a = arena_new(16384);
	struct star_home home;
	enum rc rc =
	    star_home_read(b->all->h->state, e->user_id, e->soul_id, a, &home);

	if (rc == RC_OK &&
	    (!str_eq(home.room.tenant, b->room.tenant) ||
		!str_eq(home.room.name, b->room.name) ||
		!str_eq(home.agent_id, e->agent_id)))
		rc = RC_NOENT;
	arena_free(a);
	return rc;
}

static void
body_sync_entry(struct body *b, const struct star_resident *e)
{
	struct resident *r = body_resident(b, e);
	enum rc rc = body_confirm(b, e);

	if (rc == RC_NOENT && e->is_old)
		rc = star_resident_drop(b->all->h->state, &b->room, e);
	else if (r == NULL && rc == RC_OK && body_is_up(b))
		resident_new(b, e);
	else if (r != NULL && rc != RC_NOENT)
		r->missing = false;
	if (rc != RC_OK && rc != RC_NOENT)
		b->synced = (struct mono){ 0 };
}

static void
body_on_flushed(void *arg, enum rc rc, struct str data)
{
	(void)rc;
	(void)data;
	fiber_resume(arg);
}

/* Commands to new residents arrive now; without NATS, when it is back. */
static void
body_flush(struct body *b)
{
	struct wall end = { clock_wall().ms + FLUSH_MS };

	if (bus_flush(b->all->h->bus, end,
		(struct bus_reply_handler){
		    body_on_flushed, fiber_self(), false },
		NULL) == RC_OK)
		fiber_suspend();
}

/* A terminal that is present gets commands, so it is reported last. */
static void
body_report_new(struct body *b)
{
	struct resident *r;
	bool flushed = false;

	TAILQ_FOREACH (r, &b->residents, link) {
		if (!r->is_new)
			continue;
		if (!flushed)
			body_flush(b);
		flushed = true;
		r->is_new = false;
		if (!resident_report(r))
			b->synced = (struct mono){ 0 };
	}
}

static void
body_read_residents(struct body *b)
{
	struct arena *a = arena_new(ARENA_BYTES);
	struct star_resident *list;
	struct resident *r, *next;
	size_t i, n;
	enum rc rc;

	b->synced = clock_mono();
	rc = star_residents_read(b->all->h->state, &b->room, a, &list, &n);
	if (rc != RC_OK) {
		b->synced = (struct mono){ 0 };
		arena_free(a);
		return;
	}
	TAILQ_FOREACH (r, &b->residents, link)
		r->missing = true;
	for (i = 0; i < n; i++)
		body_sync_entry(b, &list[i]);
	for (r = TAILQ_FIRST(&b->residents); r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->missing)
			resident_end(r);
	}
	body_report_new(b);
	arena_free(a);
}

/* Whether another hub has the environment, and so should have its residents. */
static bool
body_has_moved(struct body *b)
{
	struct record_identity id;
	struct hub *h = b->all->h;
	struct arena *a = arena_new(4096);
	struct star_holder holder;
	bool moved;

	record_identity(&b->identity, &id);
	moved = star_find(h->state, &id.star, a, &holder) == RC_OK &&
	    holder.hub.p != NULL && !str_eq(holder.hub, str_of(h->name));
	arena_free(a);
	return moved;
}

static void
body_renew_one(void *arg)
{
	struct resident *r = arg;

	r->missing = !resident_tick(r);
}

static void
body_renew(struct body *b, bool end_all)
{
	struct fiber_group g = { 0 };
	struct resident *r, *next;
	size_t n = 0;

	TAILQ_FOREACH (r, &b->residents, link) {
		if (end_all)
			r->missing = true;
		else
			fiber_group_start(&g, body_renew_one, r);
		if (++n % GROUP_MAX == 0)
			fiber_group_wait(&g);
	}
	fiber_group_wait(&g);
	for (r = TAILQ_FIRST(&b->residents); r != NULL; r = next) {
		next = TAILQ_NEXT(r, link);
		if (r->missing)
			resident_end(r);
	}
}

static bool
body_sync_is_due(const struct body *b, struct mono now)
{
	int64_t ms = TAILQ_EMPTY(&b->residents) ? SYNC_EMPTY_MS : SYNC_MS;

	return b->synced.ns == 0 || mono_diff_ms(now, b->synced) >= ms;
}

static void
body_tick_fiber(void *arg)
{
	struct body *b = arg;
	bool leave;

	body_hold(b);
	fiber_lock(&b->lock);
	leave = b->all->stopping || (!body_is_up(b) && body_has_moved(b));
	if (!leave && body_sync_is_due(b, clock_mono()))
		body_read_residents(b);
	body_renew(b, leave);
	fiber_unlock(&b->lock);
	b->ticking = false;
	body_release(b);
}

static void
body_start_tick(struct body *b)
{
	if (b->ticking)
		return;
	b->ticking = true;
	fiber_start(body_tick_fiber, b);
}

/* ---- all ---- */

static void bodies_on_tick(void *arg);

static void
bodies_set_tick(struct bodies *all)
{
	loop_timer_set(all->h->loop, &all->tick,
	    mono_add_ms(clock_mono(), BODY_TICK_MS), bodies_on_tick, all);
}

static void
bodies_on_tick(void *arg)
{
	struct bodies *all = arg;
	struct mono now = clock_mono();
	size_t i, n = all->n, started = 0;
	struct body *b;

	for (i = 0; i < n && started < FIBERS_MAX; i++) {
		b = TAILQ_FIRST(&all->list);
		if (b == NULL)
			break;
		TAILQ_REMOVE(&all->list, b, link);
		TAILQ_INSERT_TAIL(&all->list, b, link);
		if (b->ticking ||
		    (TAILQ_EMPTY(&b->residents) &&
			(!body_is_up(b) || !body_sync_is_due(b, now))))
			continue;
		started++;
		body_start_tick(b);
	}
	bodies_set_tick(all);
}

void
bodies_up(struct hub *h, struct client *c)
{
	char text[IDENTITY_KEY_MAX];
	struct str key = client_env_key(c, text);
	struct body *b = map_get(h->bodies->by_key, key);

	if (b == NULL)
		b = body_new(h->bodies, c, key);
	b->client = c;
	b->synced = (struct mono){ 0 };
	body_start_tick(b);
}

void
bodies_down(struct hub *h, struct client *c)
{
	char text[IDENTITY_KEY_MAX];
	struct body *b = map_get(h->bodies->by_key, client_env_key(c, text));

	if (b == NULL || b->client != c)
		return;
	b->client = NULL;
	if (!TAILQ_EMPTY(&b->residents))
		body_start_tick(b);
	else
		body_free_unused(b);
}

void
bodies_sync(struct hub *h, const struct star_room *room)
{
	struct body *b;

	TAILQ_FOREACH (b, &h->bodies->list, link) {
		if (!str_eq(b->room.tenant, room->tenant) ||
		    !str_eq(b->room.name, room->name))
			continue;
		b->synced = (struct mono){ 0 };
		body_start_tick(b);
		return;
	}
}

static void
bodies_on_notice(void *arg, struct bus_msg *m)
{
	struct bodies *all = arg;
	struct arena *a = arena_new(16384);
	struct wire_star_homes_changed msg;
	struct star_room room;

	if (wire_decode(&wire_star_homes_changed_desc, bus_msg_data(m), a, &msg,
		NULL) == RC_OK) {
		room = (struct star_room){ msg.tenant, msg.env };
		bodies_sync(all->h, &room);
	}
	arena_free(a);
	bus_msg_free(m);
}

void
bodies_notify(struct hub *h, const struct star_room *room)
{
	const struct wire_star_homes_changed msg = { room->tenant, room->name };
	struct buf b = BUF_INIT(4096);
	enum rc rc = wire_encode(&wire_star_homes_changed_desc, &msg, &b, NULL);

	if (rc == RC_OK)
		rc = bus_publish(
		    h->bus, WIRE_SUBJECT_STAR_HOMES, buf_str(&b), NULL);
	/* It is read again some seconds later. */
	if (rc != RC_OK)
		log_info("star.homes_not_sent", LOG_RC(rc));
	buf_free(&b);
}

/* ---- life ---- */

static void
bodies_make_metrics(struct bodies *all)
{
	struct metric_set *set = svc_metrics(all->h->svc);
	struct body_metrics *m = &all->metrics;

	m->residents = metric_gauge(set, "soul_star_residents",
	    "Souls that live in environments of this hub.", NULL);
	m->reports = metric_counter(set, "soul_star_reports_total",
	    "Reports of skills and intents that were stored.", NULL);
	m->rejected = metric_counter(set, "soul_star_reports_rejected_total",
	    "Reports of skills and intents that were rejected.", NULL);
	m->observations = metric_counter(set, "soul_star_observations_total",
	    "Events that souls have noticed.", NULL);
	m->actions = metric_counter(set, "soul_star_actions_total",
	    "Actions of souls that were sent to environments.", NULL);
	m->undelivered =
	    metric_counter(set, "soul_star_actions_undelivered_total",
		"Actions of souls that could not be sent.", NULL);
	m->outcomes = metric_counter(set, "soul_star_outcomes_total",
	    "Outcomes of actions of souls.", NULL);
	m->turns = metric_counter(set, "soul_star_turns_total",
	    "Turns that messages to souls have started.", NULL);
	m->failed = metric_counter(set, "soul_star_turns_failed_total",
	    "Messages to souls without a reply of the soul.", NULL);
}

bool
bodies_start(struct hub *h)
{
	struct bodies *all = mem_zalloc(sizeof(*all));

	h->bodies = all;
	all->h = h;
	(void)snprintf(all->owner, sizeof(all->owner), "%s", h->name);
	all->by_key = map_new();
	TAILQ_INIT(&all->list);
	all->reader = worker_new(h->loop, READERS, READ_QUEUE);
	all->parser = snapshot_parser_new((size_t)h->conf->skills_max);
	bodies_make_metrics(all);
	bodies_set_tick(all);
	return bus_subscribe(h->bus, WIRE_SUBJECT_STAR_HOMES, NULL,
		   bodies_on_notice, all, &all->homes) == RC_OK;
}

void
bodies_drain(struct hub *h)
{
	struct body *b, *next;

	h->bodies->stopping = true;
	for (b = TAILQ_FIRST(&h->bodies->list); b != NULL; b = next) {
		next = TAILQ_NEXT(b, link);
		if (!TAILQ_EMPTY(&b->residents))
			body_start_tick(b);
	}
}

void
bodies_stop(struct hub *h)
{
	struct bodies *all = h->bodies;
	struct resident *r;
	struct body *b;

	if (all == NULL)
		return;
	loop_timer_cancel(h->loop, &all->tick);
	bus_unsubscribe(all->homes);
	worker_free(all->reader);
	while ((b = TAILQ_FIRST(&all->list)) != NULL) {
		while ((r = TAILQ_FIRST(&b->residents)) != NULL)
			resident_drop(r);
		body_free(b);
	}
	snapshot_parser_free(all->parser);
	map_free(all->by_key);
	free(all);
}
