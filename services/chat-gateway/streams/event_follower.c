/*
 * Channels, one per log, and the followers of each.
 */
#include "streams/event_follower.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "state/run_id.h"
#include "streams/event_cursor.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* Poll interval of the log: first, regular, and while draining. */
#define FIRST_POLL_MS 250
#define POLL_MS       2000
#define DRAIN_POLL_MS 100
/* For how long turns publish their events after a poll. */
#define FOLLOW_MS (5 * POLL_MS)
/* Interval at which a follower that was not ready is checked. */
#define READY_MS 20
/* A page may exceed its size by one event. */
#define PAGE_MAX    (EVENTS_PAGE_BYTES + 2 * EVENTS_TEXT_MAX)
#define SUBJECT_MAX (2 * ID_TOKEN_MAX + 32)

_Static_assert(FCMP_EVENT_MAX <= EVENTS_TEXT_MAX, "logs take all events");

TAILQ_HEAD(follower_queue, follower);

struct followers {
	struct svc *svc;
	struct state *state;
	/* By their subjects. */
	struct map *channels[EVENTS_KINDS];
	struct arena *item_arena;
	struct arena *live_arena;
	struct buf text, warning;
	struct follower_queue queue; /* followers with unread log pages */
	struct loop_timer timer;     /* serves the queue */
	bool draining;
};

struct channel {
	struct followers *set;
	struct events_key key; /* strings in names */
	struct arena *names;
	char subject[SUBJECT_MAX];
	struct bus_sub *sub;
	struct loop_timer poll_timer;
	TAILQ_HEAD(, follower) readers;
	/* Callers that still use it although its readers may be closed. */
	unsigned users;
};

struct follower {
	TAILQ_ENTRY(follower) link;
	struct channel *ch;
	struct event_cursor position;
	bool lagging; /* not ready, queued, or reading: no live events */
	bool missed;  /* one came while it was reading */
	bool queued;
	bool closed;
	unsigned users;         /* fibers that read for it */
	struct fiber_lock lock; /* of the one that reads */
	TAILQ_ENTRY(follower) next;
	struct loop_timer timer;
	char turn_id[ID_MAX + 1];  /* "": all of the log */
	struct follower_opts opts; /* its strings are not valid */
};

struct followers *
followers_new(struct svc *s, struct state *state)
{
	struct followers *set = mem_zalloc(sizeof(*set));

	set->svc = s;
	set->state = state;
	for (size_t i = 0; i < EVENTS_KINDS; i++)
		set->channels[i] = map_new();
	set->item_arena = arena_new(WIRE_ARENA_MAX);
	set->live_arena = arena_new(WIRE_ARENA_MAX);
	TAILQ_INIT(&set->queue);
	buf_init(&set->text, WIRE_MESSAGE_MAX);
	buf_init(&set->warning, WIRE_MESSAGE_MAX);
	return set;
}

void
followers_free(struct followers *set)
{
	if (set == NULL)
		return;
	loop_timer_cancel(svc_loop(set->svc), &set->timer);
	for (size_t i = 0; i < EVENTS_KINDS; i++)
		map_free(set->channels[i]);
	arena_free(set->item_arena);
	arena_free(set->live_arena);
	buf_free(&set->text);
	buf_free(&set->warning);
	free(set);
}

static struct loop *
follower_loop(const struct follower *f)
{
	return svc_loop(f->ch->set->svc);
}

static void
channel_enter(struct channel *ch)
{
	ch->users++;
}

static void
channel_free(struct channel *ch)
{
	(void)map_del(ch->set->channels[ch->key.kind], str_of(ch->subject));
	loop_timer_cancel(svc_loop(ch->set->svc), &ch->poll_timer);
	bus_unsubscribe(ch->sub);
	arena_free(ch->names);
	free(ch);
}

static void
channel_leave(struct channel *ch)
{
	if (--ch->users == 0 && TAILQ_EMPTY(&ch->readers))
		channel_free(ch);
}

void
follower_close(struct follower *f)
{
	struct channel *ch;

	if (f == NULL)
		return;
	ch = f->ch;
	loop_timer_cancel(follower_loop(f), &f->timer);
	if (f->queued)
		TAILQ_REMOVE(&ch->set->queue, f, next);
	TAILQ_REMOVE(&ch->readers, f, link);
	f->closed = true;
	if (f->users == 0)
		free(f);
	if (TAILQ_EMPTY(&ch->readers) && ch->users == 0)
		channel_free(ch);
}

int64_t
follower_last(const struct follower *f)
{
	return f->position.last;
}

/* False: f has been closed. */
static bool
follower_deliver(struct follower *f, const struct fcmp_event *e)
{
	if (f->opts.fn(f->opts.arg, e))
		return true;
	follower_close(f);
	return false;
}

/* Of an event that is made here; at is for its time. */
static struct fcmp_head
follower_head(const struct follower *f, struct wall t, char at[WALL_FORMAT_MAX])
{
	const struct events_key *k = &f->ch->key;
	struct fcmp_head h;

	wall_format(t, 0, at);
	h = fcmp_chat_head(str_of(f->turn_id), k->id, str_of(at));
	if (f->turn_id[0] == '\0')
		h.run_id = k->id;
	if (k->kind == EVENTS_RUN) {
		h.engine = run_id_engine(k->id);
		h.session_id = (struct str){ NULL, 0 };
	}
	return h;
}

static bool
follower_warn(struct follower *f, int64_t seq)
{
	struct followers *set = f->ch->set;
	const struct events_key *k = &f->ch->key;
	struct fcmp_event e = { .seq = seq, .run_id = k->id };
	char at[WALL_FORMAT_MAX];
	struct fcmp_head h;

	f->position.gap = false;
	if (k->kind == EVENTS_RUN_RASP)
		return follower_deliver(f, &e);
	h = follower_head(f, clock_wall(), at);
	h.seq = seq;
	if (fcmp_event_expired(&h, &set->warning, &e) == RC_OK)
		return follower_deliver(f, &e);
	log_error("gateway.event", LOG_S("why", "no warning can be written"));
	return true;
}

/* A follower that sees the start of its turn has missed nothing. */
static bool
follower_filter(struct follower *f, const struct fcmp_event *e)
{
	if (f->turn_id[0] != '\0') {
		if (!str_eq(e->run_id, str_of(f->turn_id)))
			return true;
		if (e->type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED)
			f->position.gap = false;
	}
	if (f->position.gap && !follower_warn(f, e->seq - 1))
		return false;
	return follower_deliver(f, e);
}

static void follower_on_ready(void *arg);

static bool
follower_is_ready(struct follower *f)
{
	f->lagging = !f->opts.ready(f->opts.arg);
	if (f->lagging)
		loop_timer_set(follower_loop(f), &f->timer,
		    mono_add_ms(clock_mono(), READY_MS), follower_on_ready, f);
	return !f->lagging;
}

/* ---- reading the log ---- */

static enum rc
follower_decode_item(
    struct follower *f, const struct event *item, struct fcmp_event *e)
{
	struct followers *set = f->ch->set;
	char at[WALL_FORMAT_MAX];
	struct fcmp_head h;
	enum rc rc;

	arena_reset(set->item_arena);
	switch (f->ch->key.kind) {
	case EVENTS_RUN_RASP:
		*e = (struct fcmp_event){ .seq = item->seq,
			.run_id = f->ch->key.id,
			.json = item->json };
		return RC_OK;
	case EVENTS_RUN:
		rc = fcmp_event_decode(item->json, set->item_arena, e);
		return rc == RC_OK && e->seq != item->seq ? RC_INVALID : rc;
	default:
		break;
	}
	if (item->json.p != NULL)
		return fcmp_event_decode_unnumbered(
		    item->seq, item->json, &set->text, set->item_arena, e);
	h = follower_head(f, item->lost_at, at);
	h.run_id = item->lost_turn;
	h.seq = item->seq;
	return fcmp_event_lost(&h, item->lost_acted, &set->text, e);
}

static enum rc
follower_send_page(struct follower *f, const struct events *page)
{
	struct fcmp_event e;
	enum rc rc;
	size_t i;

	for (i = 0; i < page->n; i++) {
		if (!follower_is_ready(f))
			return RC_RETRY;
		if (!event_cursor_take(&f->position, page->item[i].seq))
			continue;
		rc = follower_decode_item(f, &page->item[i], &e);
		if (rc != RC_OK)
			log_error("gateway.stored_event",
			    LOG_I("seq", page->item[i].seq), LOG_RC(rc));
		else if (!follower_filter(f, &e))
			return RC_NOENT;
	}
	return RC_OK;
}

static enum rc
follower_send_next(struct follower *f, struct arena *a, bool *more)
{
	struct followers *set = f->ch->set;
	struct events page;
	enum rc rc;

	/* Live events would overtake the page. */
	f->lagging = true;
	f->missed = false;
	/* The end of a turn comes with its reply, or its record. */
	rc = events_read(set->state, &f->ch->key, f->position.last,
	    f->turn_id[0] == '\0', a, &page);
	if (f->closed)
		return RC_NOENT;
	f->lagging = f->queued;
	if (rc == RC_OK)
		rc = follower_send_page(f, &page);
	if (rc != RC_OK)
		return rc;
	*more = page.more || !event_cursor_end(&f->position, page.newest);
	if (!*more && f->position.gap && f->turn_id[0] == '\0' &&
	    !follower_warn(f, f->position.last))
		return RC_NOENT;
	*more |= f->missed;
	return RC_OK;
}

static void
follower_leave(struct follower *f)
{
	struct channel *ch = f->ch;

	if (--f->users == 0 && f->closed)
		free(f);
	channel_leave(ch);
}

/* RC_NOENT: f has been closed. */
static enum rc
follower_read_page(struct follower *f, bool *more)
{
	struct arena *a = arena_new(PAGE_MAX);
	enum rc rc;

	*more = false;
	channel_enter(f->ch);
	f->users++;
	fiber_lock(&f->lock);
	rc = f->closed ? RC_NOENT : follower_send_next(f, a, more);
	fiber_unlock(&f->lock);
	follower_leave(f);
	arena_free(a);
	return rc;
}

enum rc
follower_read(struct follower *f)
{
	bool more;
	enum rc rc;

	do {
		rc = follower_read_page(f, &more);
	} while (rc == RC_OK && more);
	return rc;
}

static void followers_on_timer(void *arg);

static void
followers_schedule(struct followers *set, int64_t ms)
{
	loop_timer_set(svc_loop(set->svc), &set->timer,
	    mono_add_ms(clock_mono(), ms), followers_on_timer, set);
}

/* Queue f for its next page; it gets no live events until then. */
static void
follower_enqueue(struct follower *f)
{
	struct followers *set = f->ch->set;

	f->lagging = true;
	if (f->queued)
		return;
	if (TAILQ_EMPTY(&set->queue))
		followers_schedule(set, 0);
	TAILQ_INSERT_TAIL(&set->queue, f, next);
	f->queued = true;
}

/* A failed read is retried with the next poll. */
static void
follower_catch_up(struct follower *f)
{
	bool more;
	enum rc rc = follower_read_page(f, &more);

	if (rc == RC_NOENT)
		return;

	if (rc == RC_OK && more)
		follower_enqueue(f);
	else if (rc != RC_OK && rc != RC_RETRY)
		log_debug("gateway.events_unread", LOG_RC(rc));
}

/*
 * Read one page for the first follower, then yield as long as that took:
 * hundreds of readers with long logs may start at once.
 */
static void
followers_serve(void *arg)
{
	struct followers *set = arg;
	struct follower *f = TAILQ_FIRST(&set->queue);
	struct mono start = clock_mono();

	if (f == NULL)
		return;
	TAILQ_REMOVE(&set->queue, f, next);
	f->queued = false;
	if (follower_is_ready(f))
		follower_catch_up(f);
	if (!TAILQ_EMPTY(&set->queue))
		followers_schedule(set, 1 + mono_diff_ms(clock_mono(), start));
}

static void
followers_on_timer(void *arg)
{
	fiber_start(followers_serve, arg);
}

static void
follower_on_ready(void *arg)
{
	struct follower *f = arg;

	if (follower_is_ready(f))
		follower_enqueue(f);
}

void
follower_start(struct follower *f)
{
	follower_enqueue(f);
}

/* ---- channels ---- */

static void
follower_take_live(struct follower *f, const struct fcmp_event *e)
{
	switch (event_cursor_live(&f->position, e->seq)) {
	case EVENT_CURSOR_DROP:
		break;
	case EVENT_CURSOR_SEND:
		if (follower_is_ready(f) &&
		    event_cursor_take(&f->position, e->seq))
			(void)follower_filter(f, e);
		break;
	case EVENT_CURSOR_READ:
		follower_enqueue(f);
		break;
	}
}

static struct follower *
follower_next(struct follower *f)
{
	return TAILQ_NEXT(f, link);
}

/* A run's stream has its FCMP events: RASP is only read from the log. */
static enum rc
channel_decode(const struct channel *ch, struct str json, struct arena *a,
    struct fcmp_event *e)
{
	enum rc rc = fcmp_event_decode(json, a, e);

	if (rc == RC_OK && ch->key.kind == EVENTS_RUN_RASP)
		e->seq = INT64_MAX;
	return rc;
}

static void
channel_on_event(void *arg, struct bus_msg *m)
{
	struct channel *ch = arg;
	struct arena *a = ch->set->live_arena;
	struct follower *f, *next;
	struct fcmp_event e;
	enum rc rc;

	arena_reset(a);
	rc = channel_decode(ch, bus_msg_data(m), a, &e);
	if (rc != RC_OK)
		log_warn("gateway.bad_event", LOG_S("subject", ch->subject),
		    LOG_RC(rc));
	channel_enter(ch);
	f = rc == RC_OK ? TAILQ_FIRST(&ch->readers) : NULL;
	for (; f != NULL; f = next) {
		next = follower_next(f);
		f->missed = true;
		if (!f->lagging)
			follower_take_live(f, &e);
	}
	bus_msg_free(m);
	channel_leave(ch);
}

static void channel_schedule_poll(struct channel *ch, int64_t ms);

static void
channel_poll(void *arg)
{
	struct channel *ch = arg;
	struct follower *f, *next;
	int64_t newest;
	enum rc rc;

	channel_enter(ch);
	rc = events_follow(ch->set->state, &ch->key, FOLLOW_MS, &newest);
	/* A log without events may be of a session that does not exist yet. */
	channel_schedule_poll(ch,
	    ch->set->draining ? DRAIN_POLL_MS
		: newest == 0 ? FIRST_POLL_MS
			      : POLL_MS);
	f = rc == RC_OK ? TAILQ_FIRST(&ch->readers) : NULL;
	for (; f != NULL; f = next) {
		next = follower_next(f);
		if (!f->lagging && f->position.last != newest)
			follower_enqueue(f);
	}
	channel_leave(ch);
}

static void
channel_on_poll(void *arg)
{
	fiber_start(channel_poll, arg);
}

static void
channel_schedule_poll(struct channel *ch, int64_t ms)
{
	loop_timer_set(svc_loop(ch->set->svc), &ch->poll_timer,
	    mono_add_ms(clock_mono(), ms), channel_on_poll, ch);
}

void
followers_drain(struct followers *set)
{
	struct channel *ch;
	size_t i, pos;

	set->draining = true;
	for (i = 0; i < EVENTS_KINDS; i++) {
		pos = 0;
		while ((ch = map_next(set->channels[i], &pos, NULL)) != NULL)
			channel_schedule_poll(ch, DRAIN_POLL_MS);
	}
}

static enum rc
channel_subject(const struct events_key *k, char dst[SUBJECT_MAX])
{
	char user[ID_TOKEN_MAX], id[ID_TOKEN_MAX];
	enum rc rc;

	rc = id_token(k->id, id);
	if (rc == RC_OK && k->kind != EVENTS_SESSION) {
		(void)snprintf(
		    dst, SUBJECT_MAX, WIRE_SUBJECT_FMT_RUN_STREAM, id);
		return RC_OK;
	}
	if (rc == RC_OK)
		rc = id_token(k->user_id, user);
	if (rc == RC_OK)
		(void)snprintf(dst, SUBJECT_MAX,
		    WIRE_SUBJECT_FMT_SESSION_STREAM, user, id);
	return rc;
}

/* The log's channel, or a new one without followers. */
static enum rc
channel_get(
    struct followers *set, const struct events_key *k, struct channel **out)
{
	char subject[SUBJECT_MAX];
	struct channel *ch;
	enum rc rc;

	rc = channel_subject(k, subject);
	if (rc != RC_OK)
		return rc;
	*out = map_get(set->channels[k->kind], str_of(subject));
	if (*out != NULL)
		return RC_OK;
	ch = mem_zalloc(sizeof(*ch));
	ch->set = set;
	ch->names = arena_new(4 * (ID_MAX + 1));
	ch->key.kind = k->kind;
	ch->key.user_id = arena_str(ch->names, k->user_id);
	ch->key.id = arena_str(ch->names, k->id);
	str_copy(str_of(subject), ch->subject, sizeof(ch->subject));
	TAILQ_INIT(&ch->readers);
	rc = bus_subscribe(
	    svc_bus(set->svc), subject, NULL, channel_on_event, ch, &ch->sub);
	if (rc != RC_OK) {
		arena_free(ch->names);
		free(ch);
		return rc;
	}
	(void)map_put(set->channels[k->kind], str_of(subject), ch);
	channel_schedule_poll(ch, FIRST_POLL_MS);
	*out = ch;
	return RC_OK;
}

enum rc
follower_open(struct followers *set, const struct follower_opts *opts,
    struct follower **out)
{
	struct channel *ch;
	struct follower *f;
	enum rc rc;

	rc = channel_get(set, &opts->key, &ch);
	if (rc != RC_OK)
		return rc;
	f = mem_zalloc(sizeof(*f));
	f->ch = ch;
	f->position.last = opts->after;
	f->opts = *opts;
	str_copy(opts->turn_id, f->turn_id, sizeof(f->turn_id));
	TAILQ_INSERT_TAIL(&ch->readers, f, link);
	*out = f;
	return RC_OK;
}
