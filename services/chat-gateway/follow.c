/*
 * Channels, one a session, and who follows them.
 */
#include "follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "cursor.h"
#include "state/events.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* When the log is looked at: soon after the subscription, then regularly. */
#define FIRST_LOOK_MS 250
#define LOOK_MS       2000
#define HURRY_MS      100
/* When a reader that was not ready is asked again. */
#define READY_MS 20
/* A page of the log, which may have one event more than its size. */
#define PAGE_MAX    (EVENTS_PAGE_BYTES + 2 * EVENTS_TEXT_MAX)
#define SUBJECT_MAX (2 * ID_TOKEN_MAX + 32)

TAILQ_HEAD(follow_queue, follow);

struct follows {
	struct svc *svc;
	struct state *state;
	struct map *channels; /* by subject */
	struct arena *page;
	struct arena *event;
	struct arena *live;
	struct buf text, warning;
	struct follow_queue queue; /* of those that go on reading */
	struct loop_timer turn;    /* of the first of them */
	bool hurry;
};

struct channel {
	struct follows *all;
	struct session_key key; /* in names */
	struct arena *names;
	char subject[SUBJECT_MAX];
	struct bus_sub *sub;
	struct loop_timer look;
	TAILQ_HEAD(, follow) readers;
	bool busy; /* readers are being told: it must not be freed */
};

struct follow {
	TAILQ_ENTRY(follow) link;
	struct channel *ch;
	struct cursor at;
	bool behind; /* it was not ready, and timer runs; or it is queued */
	bool queued;
	TAILQ_ENTRY(follow) next;
	struct loop_timer timer;
	char run_id[ID_MAX + 1]; /* "": all */
	struct follow_opts o;    /* its ids are not to be looked at */
};

struct follows *
follows_new(struct svc *s, struct state *state)
{
	struct follows *fs = mem_zalloc(sizeof(*fs));

	fs->svc = s;
	fs->state = state;
	fs->channels = map_new();
	fs->page = arena_new(PAGE_MAX);
	fs->event = arena_new(WIRE_ARENA_MAX);
	fs->live = arena_new(WIRE_ARENA_MAX);
	TAILQ_INIT(&fs->queue);
	buf_init(&fs->text, WIRE_MESSAGE_MAX);
	buf_init(&fs->warning, WIRE_MESSAGE_MAX);
	return fs;
}

void
follows_free(struct follows *fs)
{
	if (fs == NULL)
		return;
	loop_timer_cancel(svc_loop(fs->svc), &fs->turn);
	map_free(fs->channels);
	arena_free(fs->page);
	arena_free(fs->event);
	arena_free(fs->live);
	buf_free(&fs->text);
	buf_free(&fs->warning);
	free(fs);
}

/* ---- one reader ---------------------------------------------------------- */

static struct loop *
loop_of(const struct follow *f)
{
	return svc_loop(f->ch->all->svc);
}

static void
channel_free(struct channel *ch)
{
	(void)map_del(ch->all->channels, str_of(ch->subject));
	loop_timer_cancel(svc_loop(ch->all->svc), &ch->look);
	bus_unsubscribe(ch->sub);
	arena_free(ch->names);
	free(ch);
}

void
follow_close(struct follow *f)
{
	struct channel *ch;

	if (f == NULL)
		return;
	ch = f->ch;
	loop_timer_cancel(loop_of(f), &f->timer);
	if (f->queued)
		TAILQ_REMOVE(&ch->all->queue, f, next);
	TAILQ_REMOVE(&ch->readers, f, link);
	free(f);
	if (TAILQ_EMPTY(&ch->readers) && !ch->busy)
		channel_free(ch);
}

int64_t
follow_last(const struct follow *f)
{
	return f->at.last;
}

/* False: f has been closed. */
static bool
hand_over(struct follow *f, const struct event *e)
{
	if (f->o.fn(f->o.arg, e))
		return true;
	follow_close(f);
	return false;
}

static bool
warn(struct follow *f, int64_t seq)
{
	struct follows *fs = f->ch->all;
	struct event_place p = { seq, str_of(f->run_id), f->ch->key.session_id,
		clock_wall() };
	struct event e;

	f->at.gone = false;
	if (f->run_id[0] == '\0')
		p.run_id = p.session_id;
	if (event_gone(&p, &fs->warning, &e) == RC_OK)
		return hand_over(f, &e);
	log_error("gateway.event", LOG_S("why", "no warning can be written"));
	return true;
}

/* Whoever follows a run from its begin on has missed nothing. */
static bool
deliver(struct follow *f, const struct event *e)
{
	if (f->run_id[0] != '\0') {
		if (!str_eq(e->run_id, str_of(f->run_id)))
			return true;
		if (e->type == WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED)
			f->at.gone = false;
	}
	if (f->at.gone && !warn(f, e->seq - 1))
		return false;
	return hand_over(f, e);
}

static void on_ready(void *arg);

static bool
is_ready(struct follow *f)
{
	f->behind = !f->o.ready(f->o.arg);
	if (f->behind)
		loop_timer_set(loop_of(f), &f->timer,
		    mono_add_ms(clock_mono(), READY_MS), on_ready, f);
	return !f->behind;
}

/* ---- from the log -------------------------------------------------------- */

static enum rc
read_item(struct follow *f, const struct events_item *item, struct event *e)
{
	struct follows *fs = f->ch->all;
	struct event_place p = { item->seq, item->lost_turn,
		f->ch->key.session_id, item->lost_at };

	arena_reset(fs->event);
	if (item->json.p == NULL)
		return event_lost(&p, &fs->text, e);
	return event_number(item->seq, item->json, &fs->text, fs->event, e);
}

static enum rc
take_page(struct follow *f, const struct events_page *page)
{
	struct event e;
	enum rc rc;
	size_t i;

	for (i = 0; i < page->n; i++) {
		if (!is_ready(f))
			return RC_RETRY;
		if (!cursor_take(&f->at, page->item[i].seq))
			continue;
		rc = read_item(f, &page->item[i], &e);
		if (rc != RC_OK)
			log_error("gateway.stored_event",
			    LOG_I("seq", page->item[i].seq), LOG_RC(rc));
		else if (!deliver(f, &e))
			return RC_NOENT;
	}
	return RC_OK;
}

static enum rc
read_page(struct follow *f, bool *more)
{
	struct follows *fs = f->ch->all;
	struct events_page page;
	enum rc rc;

	*more = false;
	arena_reset(fs->page);
	rc = events_read(fs->state, &f->ch->key, f->at.last, fs->page, &page);
	if (rc == RC_OK)
		rc = take_page(f, &page);
	if (rc != RC_OK)
		return rc;
	*more = page.more || !cursor_end(&f->at, page.newest);
	if (!*more && f->at.gone && f->run_id[0] == '\0' &&
	    !warn(f, f->at.last))
		return RC_NOENT;
	return RC_OK;
}

enum rc
follow_read(struct follow *f)
{
	bool more;
	enum rc rc;

	do {
		rc = read_page(f, &more);
	} while (rc == RC_OK && more);
	return rc;
}

static void on_turn(void *arg);

static void
next_turn(struct follows *fs, int64_t ms)
{
	loop_timer_set(svc_loop(fs->svc), &fs->turn,
	    mono_add_ms(clock_mono(), ms), on_turn, fs);
}

/* It reads on when it is its turn; no live event before that. */
static void
take_turns(struct follow *f)
{
	struct follows *fs = f->ch->all;

	f->behind = true;
	if (f->queued)
		return;
	if (TAILQ_EMPTY(&fs->queue))
		next_turn(fs, 0);
	TAILQ_INSERT_TAIL(&fs->queue, f, next);
	f->queued = true;
}

/* What could not be read is read later. */
static void
catch_up(struct follow *f)
{
	bool more;
	enum rc rc = read_page(f, &more);

	if (rc == RC_OK && more)
		take_turns(f);
	else if (rc != RC_OK && rc != RC_NOENT && rc != RC_RETRY)
		log_debug("gateway.events_unread", LOG_RC(rc));
}

/*
 * A page of the first one, and a pause for everything else: hundreds of readers
 * that begin at once have long logs.
 */
static void
on_turn(void *arg)
{
	struct follows *fs = arg;
	struct follow *f = TAILQ_FIRST(&fs->queue);
	struct mono start = clock_mono();

	if (f == NULL)
		return;
	TAILQ_REMOVE(&fs->queue, f, next);
	f->queued = false;
	if (is_ready(f))
		catch_up(f);
	if (!TAILQ_EMPTY(&fs->queue))
		next_turn(fs, 1 + mono_diff_ms(clock_mono(), start));
}

static void
on_ready(void *arg)
{
	struct follow *f = arg;

	if (is_ready(f))
		take_turns(f);
}

void
follow_begin(struct follow *f)
{
	take_turns(f);
}

/* ---- a session's readers ------------------------------------------------- */

static void
take_live(struct follow *f, const struct event *e)
{
	switch (cursor_live(&f->at, e->seq)) {
	case CURSOR_DROP:
		break;
	case CURSOR_SEND:
		if (is_ready(f) && cursor_take(&f->at, e->seq))
			(void)deliver(f, e);
		break;
	case CURSOR_READ:
		take_turns(f);
		break;
	}
}

static struct follow *
next_reader(struct follow *f)
{
	return TAILQ_NEXT(f, link);
}

static void
channel_rest(struct channel *ch)
{
	ch->busy = false;
	if (TAILQ_EMPTY(&ch->readers))
		channel_free(ch);
}

static void
on_live(void *arg, struct bus_msg *m)
{
	struct channel *ch = arg;
	struct arena *a = ch->all->live;
	struct follow *f, *next;
	struct event e;
	enum rc rc;

	arena_reset(a);
	rc = event_read(bus_msg_data(m), a, &e);
	if (rc != RC_OK)
		log_warn("gateway.bad_event", LOG_S("subject", ch->subject),
		    LOG_RC(rc));
	ch->busy = true;
	f = rc == RC_OK ? TAILQ_FIRST(&ch->readers) : NULL;
	for (; f != NULL; f = next) {
		next = next_reader(f);
		if (!f->behind)
			take_live(f, &e);
	}
	bus_msg_free(m);
	channel_rest(ch);
}

static void look_again(struct channel *ch, int64_t ms);

static void
on_look(void *arg)
{
	struct channel *ch = arg;
	struct follow *f, *next;
	int64_t newest;
	enum rc rc = events_newest(ch->all->state, &ch->key, &newest);

	look_again(ch, ch->all->hurry ? HURRY_MS : LOOK_MS);
	if (rc != RC_OK)
		return;
	ch->busy = true;
	for (f = TAILQ_FIRST(&ch->readers); f != NULL; f = next) {
		next = next_reader(f);
		if (!f->behind && f->at.last != newest)
			take_turns(f);
	}
	channel_rest(ch);
}

static void
look_again(struct channel *ch, int64_t ms)
{
	loop_timer_set(svc_loop(ch->all->svc), &ch->look,
	    mono_add_ms(clock_mono(), ms), on_look, ch);
}

void
follows_hurry(struct follows *fs)
{
	struct channel *ch;
	size_t pos = 0;

	fs->hurry = true;
	while ((ch = map_next(fs->channels, &pos, NULL)) != NULL)
		look_again(ch, HURRY_MS);
}

static enum rc
channel_subject(const struct session_key *k, char dst[SUBJECT_MAX])
{
	char user[ID_TOKEN_MAX], session[ID_TOKEN_MAX];
	enum rc rc;

	rc = id_token(k->user_id, user);
	if (rc == RC_OK)
		rc = id_token(k->session_id, session);
	if (rc == RC_OK)
		(void)snprintf(dst, SUBJECT_MAX,
		    WIRE_SUBJECT_FMT_SESSION_STREAM, user, session);
	return rc;
}

/* The session's channel, or a new one without readers. */
static enum rc
channel_find(
    struct follows *fs, const struct session_key *k, struct channel **out)
{
	char subject[SUBJECT_MAX];
	struct channel *ch;
	enum rc rc;

	rc = channel_subject(k, subject);
	if (rc != RC_OK)
		return rc;
	*out = map_get(fs->channels, str_of(subject));
	if (*out != NULL)
		return RC_OK;
	ch = mem_zalloc(sizeof(*ch));
	ch->all = fs;
	ch->names = arena_new(4 * (ID_MAX + 1));
	ch->key.user_id = arena_str(ch->names, k->user_id);
	ch->key.session_id = arena_str(ch->names, k->session_id);
	str_copy(str_of(subject), ch->subject, sizeof(ch->subject));
	TAILQ_INIT(&ch->readers);
	rc = bus_subscribe(
	    svc_bus(fs->svc), subject, NULL, on_live, ch, &ch->sub);
	if (rc != RC_OK) {
		arena_free(ch->names);
		free(ch);
		return rc;
	}
	(void)map_put(fs->channels, str_of(subject), ch);
	look_again(ch, FIRST_LOOK_MS);
	*out = ch;
	return RC_OK;
}

enum rc
follow_open(
    struct follows *fs, const struct follow_opts *o, struct follow **out)
{
	struct channel *ch;
	struct follow *f;
	enum rc rc;

	rc = channel_find(fs, &o->key, &ch);
	if (rc != RC_OK)
		return rc;
	f = mem_zalloc(sizeof(*f));
	f->ch = ch;
	f->at.last = o->after;
	f->o = *o;
	str_copy(o->run_id, f->run_id, sizeof(f->run_id));
	TAILQ_INSERT_TAIL(&ch->readers, f, link);
	*out = f;
	return RC_OK;
}
