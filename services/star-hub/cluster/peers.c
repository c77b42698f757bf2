/*
 * peers: the life of this hub and of the others: renewals, and their end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/star.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "ws/ws.h"

#define ARENA_BYTES (256UL * 1024)
/* After an outage of NATS all hubs that are alive are connected by then. */
#define BUS_STEADY_MS 5000
/* Bytes of records that wait to be sent, one message of NATS at most. */
#define OUT_BYTES (BUS_PAYLOAD_MAX + LINK_RECORD_MAX)

static void peers_on_renew(void *arg);
static enum rc peers_subscribe(struct peers *c);

/* ---- others ---- */

struct peer *
peers_find(const struct peers *c, struct str name)
{
	struct peer *p;

	TAILQ_FOREACH (p, &c->list, link)
		if (str_eq(str_of(p->name), name))
			return p;
	return NULL;
}

struct peer *
peers_add(struct peers *c, struct str name)
{
	struct peer *p = peers_find(c, name);
	char subject[128];

	if (p != NULL)
		return p;
	p = mem_zalloc(sizeof(*p));
	p->peers = c;
	p->name = str_dup(name);
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_STAR_LINK, p->name);
	p->subject = str_dup(str_of(subject));
	p->messages = peer_link_new();
	buf_init(&p->out, OUT_BYTES);
	buf_init(&p->part, OUT_BYTES);
	p->listed = true;
	p->added = c->renewals;
	p->since = clock_mono();
	TAILQ_INSERT_TAIL(&c->list, p, link);
	c->n++;
	metric_set(c->hub->metrics.hubs, (int64_t)c->n + 1);
	log_info("star.hub_up", LOG_S("hub", p->name));
	return p;
}

static void
peer_free(struct peer *p)
{
	struct peers *c = p->peers;

	loop_defer_cancel(c->hub->loop, &p->flush);
	loop_timer_cancel(c->hub->loop, &p->confirm);
	TAILQ_REMOVE(&c->list, p, link);
	c->n--;
	peer_link_free(p->messages);
	buf_free(&p->out);
	buf_free(&p->part);
	free(p->subject);
	free(p->name);
	free(p);
}

/* What it had is nobody's now. */
static void
peer_died(struct peer *p)
{
	struct peers *c = p->peers;

	log_warn("star.hub_down", LOG_S("hub", p->name));
	peer_end(p);
	remote_forget(c, p);
	membership_forget_peer(c->hub, p);
	peer_free(p);
	metric_set(c->hub->metrics.hubs, (int64_t)c->n + 1);
}

/* ---- this hub ---- */

/* The other hub sees a new one, whose messages are numbered from 1. */
static void
peer_begin_anew(struct peer *p)
{
	struct peers *c = p->peers;

	loop_timer_cancel(c->hub->loop, &p->confirm);
	peer_end(p);
	remote_forget(c, p);
	/* What was sent to clients that were found again meanwhile. */
	peer_end(p);
	peer_link_free(p->messages);
	p->messages = peer_link_new();
	p->confirmed = 0;
	buf_reset(&p->out);
	buf_reset(&p->part);
}

/*
 * Others have declared it dead, or may have: nothing is its any more, and of
 * what it had in Redis the others remove what they find of its old name.
 */
static void
peers_begin_anew(struct peers *c)
{
	struct hub *h = c->hub;
	struct peer *p;

	log_error("star.was_dead", LOG_S("hub", h->name),
	    LOG_S("why",
		"this process stood still, or did not reach Redis, for so long "
		"that the other hubs took over: all clients are closed"));
	claims_drop_all(h->claims);
	buf_reset(&c->notices);
	str_copy(str_of(h->name), c->former, sizeof(c->former));
	hub_set_name(h);
	c->first = true;
	TAILQ_FOREACH (p, &c->list, link)
		peer_begin_anew(p);
	if (peers_subscribe(c) != RC_OK)
		log_error("star.subscriptions");
}

bool
peers_is_overdue(struct peers *c, struct mono now)
{
	if (mono_diff_ms(now, c->ticked) < PEERS_TTL_MS)
		return false;
	c->ticked = now;
	peers_begin_anew(c);
	return true;
}

bool
peers_bus_is_steady(const struct peers *c, struct mono now)
{
	return bus_up(c->hub->bus) &&
	    bus_connections(c->hub->bus) == c->connections &&
	    mono_diff_ms(now, c->connected) >= BUS_STEADY_MS;
}

/*
 * One that was heard of since the renewal began, or has just started, may not
 * be in its list yet.
 */
static bool
peer_is_dead(const struct peer *p, uint64_t began)
{
	return !p->listed && p->added < began &&
	    (p->known || mono_diff_ms(clock_mono(), p->since) > PEERS_TTL_MS);
}

/* The list is of renewal number began. */
static void
peers_read_list(struct peers *c, const struct star_renewal *r, uint64_t began)
{
	struct str own = str_of(c->hub->name);
	struct peer *p, *next;
	size_t i;

	TAILQ_FOREACH (p, &c->list, link)
		p->listed = false;
	for (i = 0; i < r->n; i++) {
		if (str_eq(r->list[i].name, own))
			continue;
		p = r->list[i].dead ? peers_find(c, r->list[i].name)
				    : peers_add(c, r->list[i].name);
		if (p == NULL)
			continue;
		p->listed = !r->list[i].dead;
		p->known = true;
	}
	for (p = TAILQ_FIRST(&c->list); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (peer_is_dead(p, began))
			peer_died(p);
		else
			peer_check_overdue(p);
	}
}

/* The hub that it was is dead, which the others need not find out. */
static void
peers_end_former(struct peers *c)
{
	char name[sizeof(c->former)];
	enum rc rc;

	if (c->former[0] == '\0')
		return;
	str_copy(str_of(c->former), name, sizeof(name));
	rc = star_hub_end(c->hub->state, str_of(name));
	if ((rc == RC_OK || rc == RC_UNREPLICATED) &&
	    strcmp(name, c->former) == 0)
		c->former[0] = '\0';
}

/*
 * Nobody is judged until this hub has renewed for as long as the others have
 * time to: after an outage of Redis all look dead.
 */
enum rc
peers_refresh(struct peers *c)
{
	struct hub *h = c->hub;
	struct mono now = clock_mono();
	struct star_renewal r = { .ttl_ms = PEERS_TTL_MS,
		.judges = c->steady.ns != 0 &&
		    mono_diff_ms(now, c->steady) > PEERS_TTL_MS };
	struct arena *a = arena_new(ARENA_BYTES);
	uint64_t began = ++c->renewals;
	char name[sizeof(h->name)];
	bool renamed;
	size_t i;
	enum rc rc;

	peers_end_former(c);
	r.first = c->first;
	str_copy(str_of(h->name), name, sizeof(name));
	r.hub = str_of(name);
	rc = star_hub_renew(h->state, &r, a);
	renamed = strcmp(name, h->name) != 0;
	if (renamed)
		rc = RC_RETRY;
	if (rc == RC_UNREPLICATED)
		rc = RC_OK;
	if (rc == RC_OK) {
		c->first = false;
		c->renewed = clock_mono();
		if (c->steady.ns == 0)
			c->steady = c->renewed;
		peers_read_list(c, &r, began);
		for (i = 0; i < r.n; i++)
			if (r.list[i].dead)
				dead_hub_sweep(c, r.list[i].name);
	} else if (rc == RC_CONFLICT) {
		peers_begin_anew(c);
	} else if (!renamed) {
		c->steady = (struct mono){ 0 };
	}
	arena_free(a);
	return rc;
}

static void
peers_renew_in_fiber(void *arg)
{
	struct peers *c = arg;
	static struct log_rate rate;
	int64_t missed;
	enum rc rc = peers_refresh(c);

	if (rc != RC_OK && !c->stopped && log_every(&rate, 10, &missed))
		log_warn(
		    "star.not_renewed", LOG_RC(rc), LOG_I("missed", missed));
	if (rc == RC_OK)
		outdated_read(c);
	history_flush_all(c->hub);
	monitors_expire(c->hub, false);
	if (rc == RC_OK && c->reload) {
		c->reload = false;
		membership_load_all(c->hub);
	}
	c->renewing = false;
}

static void
peers_on_renew(void *arg)
{
	struct peers *c = arg;
	struct mono now = clock_mono();
	uint64_t connections = bus_connections(c->hub->bus);

	(void)peers_is_overdue(c, now);
	c->ticked = now;
	loop_timer_set(c->hub->loop, &c->renew,
	    mono_add_ms(now, PEERS_RENEW_MS), peers_on_renew, c);
	if (connections != c->connections) {
		/* Its first one is no sign that others have lost theirs. */
		if (c->connections > 0)
			c->connected = now;
		c->connections = connections;
		notice_announce(c);
		notice_put(c, &(struct link_record){ .kind = LINK_SYNC });
		notice_sync(c);
	}
	if (c->announces)
		notice_announce(c);
	if (!c->renewing) {
		c->renewing = true;
		fiber_start(peers_renew_in_fiber, c);
	}
}

/* ---- its life ---- */

/* Its name is in two of the subjects. */
static enum rc
peers_subscribe(struct peers *c)
{
	struct hub *h = c->hub;
	char link[128], takeover[128];
	const struct {
		const char *subject;
		bus_msg_fn fn;
	} rows[PEERS_SUBS] = {
		{ link, peer_on_message },
		{ takeover, takeover_on_message },
		{ WIRE_SUBJECT_STAR_DIRECTORY, notice_on_message },
		{ WIRE_SUBJECT_STAR_QUERY, query_on_message },
		{ WIRE_SUBJECT_STAR_MONITOR, monitor_on_message },
	};
	size_t i;
	enum rc rc = RC_OK;

	(void)snprintf(link, sizeof(link), WIRE_SUBJECT_FMT_STAR_LINK, h->name);
	(void)snprintf(takeover, sizeof(takeover),
	    WIRE_SUBJECT_FMT_STAR_TAKEOVER, h->name);
	for (i = 0; i < PEERS_SUBS && rc == RC_OK; i++) {
		bus_unsubscribe(c->sub[i]);
		c->sub[i] = NULL;
		rc = bus_subscribe(
		    h->bus, rows[i].subject, NULL, rows[i].fn, c, &c->sub[i]);
	}
	return rc;
}

enum rc
peers_new(struct hub *h, struct peers **out)
{
	struct peers *c = mem_zalloc(sizeof(*c));
	enum rc rc;

	c->hub = h;
	TAILQ_INIT(&c->list);
	c->remotes = remotes_new();
	buf_init(&c->notices, OUT_BYTES);
	c->first = true;
	c->connections = bus_connections(h->bus);
	metric_set(h->metrics.hubs, 1);
	c->ticked = clock_mono();
	c->connected = mono_add_ms(c->ticked, -BUS_STEADY_MS);
	h->peers = c;
	metric_set(h->metrics.hubs, 1);
	rc = peers_subscribe(c);
	peers_on_renew(c);
	*out = c;
	return rc;
}

void
peers_stop(struct peers *c)
{
	c->stopped = true;
	loop_timer_cancel(c->hub->loop, &c->renew);
}

void
peers_free(struct peers *c)
{
	struct peer *p;
	size_t i;

	if (c == NULL)
		return;
	loop_timer_cancel(c->hub->loop, &c->renew);
	loop_defer_cancel(c->hub->loop, &c->flush);
	for (i = 0; i < PEERS_SUBS; i++)
		bus_unsubscribe(c->sub[i]);
	remote_forget(c, NULL);
	while ((p = TAILQ_FIRST(&c->list)) != NULL) {
		peer_end(p);
		peer_free(p);
	}
	remotes_free(c->remotes);
	buf_free(&c->notices);
	free(c);
}
