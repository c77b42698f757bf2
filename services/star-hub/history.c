/*
 * history: the broadcasts of environments are numbered, and stored for members
 * that were away.  Storing delays nobody: what one iteration of the loop has
 * sent is stored by one call.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "records.h"
#include "state/star.h"

/* Broadcasts, and their bytes, that wait for Redis; until all of them are
 * stored, more are not. */
#define PENDING_MAX   1024
#define PENDING_BYTES (4UL * 1024 * 1024)
/* Bytes of one call. */
#define APPEND_BYTES (1024UL * 1024)
/* What a client gets when it connects; the rest by get_history. */
#define CATCH_UP_EVENTS 200
#define CATCH_UP_BYTES  (200UL * 1024)
#define CATCH_UP_ARENA  (4UL * 1024 * 1024)

struct pending {
	char *json;
	size_t n;
};

struct history {
	struct hub *hub;
	struct pending pending[PENDING_MAX]; /* a ring */
	size_t first, n, bytes;
	int64_t seq; /* of the first */
	bool storing, full;
	struct loop_deferred start;
};

/* The next, as one call takes them. */
static size_t
history_batch(const struct history *v, struct str batch[STAR_APPEND_MAX])
{
	size_t n, bytes = 0;

	for (n = 0; n < v->n && n < STAR_APPEND_MAX; n++) {
		const struct pending *p =
		    &v->pending[(v->first + n) % PENDING_MAX];

		batch[n] = (struct str){ p->json, p->n };
		bytes += batch[n].n;
		if (n > 0 && bytes > APPEND_BYTES)
			break;
	}
	return n;
}

static void
history_drop(struct history *v, size_t n)
{
	for (; n > 0 && v->n > 0; n--) {
		v->bytes -= v->pending[v->first].n;
		free(v->pending[v->first].json);
		v->first = (v->first + 1) % PENDING_MAX;
		v->n--;
		v->seq++;
	}
}

static void
history_store_in_fiber(void *arg)
{
	struct client *env = arg;
	struct history *v = env->history;
	struct hub *h = v->hub;
	struct str batch[STAR_APPEND_MAX];
	struct star_events e = { .json = batch, .retain = h->conf->history };
	struct record_room room;
	static struct log_rate rate;
	int64_t missed;
	enum rc rc = RC_OK;

	record_room(env->identity.tenant, env->identity.id, &room);
	while (v->n > 0 && rc == RC_OK) {
		e.holder = (struct star_holder){ str_of(h->name), env->gen };
		e.n = history_batch(v, batch);
		e.first = v->seq;
		rc = star_events_append(h->state, &room.star, &e);
		if (rc == RC_UNREPLICATED)
			rc = RC_OK;
		/* What Redis will never take is not repeated. */
		if (rc == RC_OK || rc == RC_CONFLICT || rc == RC_INVALID)
			history_drop(v, e.n);
	}
	if (rc != RC_OK && rc != RC_CONFLICT && log_every(&rate, 10, &missed))
		log_warn("star.history", LOG_V("env", env->identity.id),
		    LOG_RC(rc), LOG_I("missed", missed));
	v->storing = false;
	client_unref(h, env);
}

static void
history_on_start(void *arg)
{
	fiber_start(history_store_in_fiber, arg);
}

struct str
history_cursor(struct client *env, char dst[HUB_CURSOR_MAX])
{
	(void)snprintf(dst, HUB_CURSOR_MAX, "%lld-%lld", (long long)env->gen,
	    (long long)++env->cursor);
	return str_of(dst);
}

static struct history *
history_of(struct hub *h, struct client *env)
{
	if (env->history == NULL) {
		env->history = mem_zalloc(sizeof(*env->history));
		env->history->hub = h;
	}
	return env->history;
}

void
history_store(struct hub *h, struct client *env, struct str json)
{
	struct history *v = history_of(h, env);

	if (v->n == PENDING_MAX || v->bytes + json.n > PENDING_BYTES)
		v->full = true;
	else if (v->n == 0)
		v->full = false;
	if (v->full)
		return;
	if (v->n == 0)
		v->seq = env->cursor;
	v->pending[(v->first + v->n++) % PENDING_MAX] =
	    (struct pending){ str_dup(json), json.n };
	v->bytes += json.n;
	if (!v->storing) {
		/* After what this iteration still sends. */
		client_ref(env);
		v->storing = true;
		loop_defer(h->loop, &v->start, history_on_start, env);
	}
}

void
history_flush_all(struct hub *h)
{
	struct client *env;
	size_t pos = 0;

	while ((env = directory_next(h->directory, CLASS_ENVIRONMENT, &pos)) !=
	    NULL)
		if (env->history != NULL && !env->history->storing &&
		    env->history->n > 0) {
			client_ref(env);
			env->history->storing = true;
			loop_defer(h->loop, &env->history->start,
			    history_on_start, env);
		}
}

void
history_free(struct client *env)
{
	if (env->history == NULL)
		return;
	history_drop(env->history, env->history->n);
	free(env->history);
	env->history = NULL;
}

/* ---- reading ---- */

/* Before the frames that wait already; what has no room it may request. */
static void
catch_up(struct hub *h, struct client *c, const struct star_page *page,
    struct client_beginning *first)
{
	struct replay waiting = c->replay;
	int64_t newest = c->after_cursor, gen = 0;
	struct frame *f;
	bool has_room;
	uint64_t n;
	size_t i;

	h->replay_bytes -= waiting.bytes;
	c->replay = (struct replay){ 0 };
	for (i = 0; i < page->n; i++) {
		f = frame_new(FRAME_TEXT, page->event[i].json);
		has_room = client_may_wait(h, c, 1, f->bytes.n);
		if (has_room) {
			c->waiting++;
			c->waiting_bytes += f->bytes.n;
			f->seq = page->event[i].seq;
			replay_put(&c->replay, f);
			newest = page->event[i].seq;
			gen = page->event[i].gen;
		}
		frame_unref(f);
		if (!has_room)
			break;
	}
	first->more = page->more || i < page->n;
	for (n = waiting.first; n > 0 && n < waiting.next; n++) {
		f = replay_at(&waiting, n);
		if (f->seq == 0 || f->seq > newest)
			replay_put(&c->replay, f);
	}
	replay_clear(&waiting);
	if (gen >= c->rooms[0].gen && newest > c->rooms[0].seq) {
		c->rooms[0].gen = gen;
		c->rooms[0].seq = newest;
	}
	h->replay_bytes += c->replay.bytes;
}

void
history_catch_up(
    struct hub *h, struct client *c, struct client_beginning *first)
{
	struct star_page page = { .after = c->after_cursor,
		.max = CATCH_UP_EVENTS,
		.bytes = CATCH_UP_BYTES };
	struct record_room room;
	struct arena *a;
	enum rc rc;

	/* A session that goes on has them. */
	if (first->resumed || c->identity.class != CLASS_AGENT)
		return;
	record_room(c->identity.tenant, c->identity.env, &room);
	a = arena_new(CATCH_UP_ARENA);
	rc = star_events_read(h->state, &room.star, a, &page);
	first->history = rc == RC_OK;
	first->gap = page.gap;
	if (rc == RC_OK) {
		metric_add(h->metrics.gaps, page.gap);
		catch_up(h, c, &page, first);
	} else {
		log_warn(
		    "star.catch_up", LOG_V("id", c->identity.id), LOG_RC(rc));
	}
	arena_free(a);
}
