/*
 * Streams, and publishing to them, over the JetStream API.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/api.h"
#include "bus/internal.h"
#include "bus/json.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define API_MS       5000
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 5000
#define CONFIG_MAX   (64 * 1024)
#define NS_PER_S     INT64_C(1000000000)
#define SECONDS_MAX  (INT64_MAX / NS_PER_S)

/* ---- answers ------------------------------------------------------------ */

struct said {
	enum rc rc;
	bool differs; /* what exists is configured otherwise */
	bool numbered;
	struct bus_stored stored; /* if numbered */
};

/* What the API said to a request that ended with rc. */
static struct said
answer_of(enum rc rc, struct str data)
{
	static struct log_rate rate;
	struct said r = { .rc = rc };
	struct wire_jetstream_answer in;
	struct arena *a;
	int64_t missed;

	if (rc != RC_OK)
		return r;
	a = arena_new(API_ARENA_MAX);
	r.rc = api_read(data, a, &in);
	if (r.rc == RC_OK) {
		r.numbered = in.has_seq;
		r.stored = (struct bus_stored){ in.seq, in.duplicate };
	} else if (in.has_error) {
		r.differs = in.error.err_code == API_DIFFERS;
		if (!r.differs && log_every(&rate, 10, &missed))
			log_warn("bus.jetstream_refused",
			    LOG_I("err_code", in.error.err_code),
			    LOG_V("why", in.error.description),
			    LOG_I("missed", missed));
	}
	arena_free(a);
	return r;
}

/* ---- standing wishes ---------------------------------------------------- */

struct standing {
	struct bus_watcher watcher;
	struct bus *bus;
	char *create, *update, *config;
	bus_wish_fn ready;
	void *arg;
	bool up;
	bool changing; /* the update was asked for, not the creation */
	struct loop_timer retry;
	struct backoff backoff;
};

static void ask(struct standing *s, bool change);

static void
retry(void *arg)
{
	ask(arg, false);
}

static void
ask_later(struct standing *s)
{
	if (s->up)
		loop_timer_set(s->bus->loop, &s->retry,
		    mono_add_ms(clock_mono(), backoff_next_ms(&s->backoff)),
		    retry, s);
}

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct standing *s = arg;
	struct said r = answer_of(rc, data);

	if (r.differs && s->update != NULL && !s->changing) {
		ask(s, true);
		return;
	}
	/* Whoever may change it has made it so. */
	if (r.differs && s->update == NULL)
		r.rc = RC_OK;
	if (r.rc != RC_OK)
		ask_later(s);
	/* That the connection broke is no news of the wish. */
	if (r.rc != RC_DOWN && s->ready != NULL)
		s->ready(s->arg, r.rc);
}

static void
ask(struct standing *s, bool change)
{
	struct bus_question q = { .subject = change ? s->update : s->create,
		.data = str_of(s->config),
		.by = { clock_wall().ms + API_MS } };

	s->changing = change;
	if (bus_ask(s->bus, &q,
		(struct bus_waiter){ .fn = on_answer, .arg = s },
		NULL) != RC_OK)
		ask_later(s);
}

static void
standing_state(struct bus_watcher *w, bool up)
{
	struct standing *s = CONTAINER_OF(w, struct standing, watcher);

	s->up = up;
	loop_timer_cancel(s->bus->loop, &s->retry);
	backoff_reset(&s->backoff);
	if (up)
		ask(s, false);
}

static void
standing_free(struct bus_watcher *w)
{
	struct standing *s = CONTAINER_OF(w, struct standing, watcher);

	loop_timer_cancel(s->bus->loop, &s->retry);
	free(s->create);
	free(s->update);
	free(s->config);
	free(s);
}

void
bus_wish_keep(struct bus *b, const struct bus_wish *w)
{
	struct standing *s = mem_zalloc(sizeof(*s));

	s->watcher.on_state = standing_state;
	s->watcher.on_free = standing_free;
	s->bus = b;
	s->create = mem_strdup(w->create);
	s->update = str_dup(str_of(w->update));
	s->config = str_dup(w->config);
	s->ready = w->ready;
	s->arg = w->arg;
	s->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	bus_watch(b, &s->watcher);
}

/* ---- streams ------------------------------------------------------------ */

static void
config_write(const struct bus_stream *s, struct buf *b)
{
	struct wire_out o = { .b = b };
	size_t i;

	wire_out_object(&o);
	json_str(&o, "name", s->name);
	wire_out_key(&o, STR("subjects"));
	wire_out_array(&o);
	for (i = 0; i < s->n_subjects; i++)
		wire_out_str(&o, str_of(s->subjects[i]));
	wire_out_array_end(&o);
	json_str(&o, "storage", "file");
	json_str(&o, "retention", "limits");
	json_str(&o, "discard", "old");
	json_i64(&o, "num_replicas", 1);
	json_i64(&o, "max_msgs", -1);
	json_i64(&o, "max_consumers", -1);
	json_i64(&o, "max_age", s->max_age_s * NS_PER_S);
	json_i64(&o, "max_bytes", s->max_bytes > 0 ? s->max_bytes : -1);
	json_i64(&o, "duplicate_window", s->duplicates_s * NS_PER_S);
	wire_out_object_end(&o);
}

static bool
stream_ok(const struct bus_stream *s)
{
	size_t i;

	if (!names_token_ok(s->name) || s->n_subjects == 0 ||
	    s->n_subjects > BUS_STREAM_SUBJECTS_MAX || s->max_age_s < 0 ||
	    s->max_age_s > SECONDS_MAX || s->max_bytes < 0 ||
	    s->duplicates_s <= 0 || s->duplicates_s > SECONDS_MAX)
		return false;
	/* The server would refuse it. */
	if (s->max_age_s > 0 && s->duplicates_s > s->max_age_s)
		return false;
	for (i = 0; i < s->n_subjects; i++)
		if (!names_subject_ok(s->subjects[i], true))
			return false;
	return true;
}

enum rc
bus_stream_keep(struct bus *b, const struct bus_stream *s)
{
	struct buf config = BUF_INIT(CONFIG_MAX);
	char create[128], update[128];
	enum rc rc;

	if (!stream_ok(s))
		return RC_INVALID;
	(void)snprintf(
	    create, sizeof(create), "$JS.API.STREAM.CREATE.%s", s->name);
	(void)snprintf(
	    update, sizeof(update), "$JS.API.STREAM.UPDATE.%s", s->name);
	config_write(s, &config);
	rc = buf_rc(&config);
	if (rc == RC_OK)
		bus_wish_keep(b,
		    &(struct bus_wish){ create, s->as_it_is ? NULL : update,
			buf_str(&config), s->ready, s->arg });
	buf_free(&config);
	return rc;
}

/* ---- publishing --------------------------------------------------------- */

static void
on_stored(void *arg, enum rc rc, struct str data)
{
	struct bus_stored_waiter to = *(struct bus_stored_waiter *)arg;
	struct said r = answer_of(rc, data);

	free(arg);
	/* Somebody answered, but no stream. */
	if (r.rc == RC_OK && !r.numbered)
		r.rc = RC_INVALID;
	to.fn(to.arg, r.rc, r.rc == RC_OK ? &r.stored : NULL);
}

enum rc
bus_stream_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_stored_waiter waiter)
{
	struct bus_stored_waiter *to;
	struct bus_meta stored;
	struct bus_headers h;
	enum rc rc;

	if (meta == NULL || meta->deadline.ms <= 0 || meta->msg_id == NULL)
		return RC_INVALID;
	stored = *meta;
	stored.deadline.ms = 0;
	rc = bus_headers_of(&stored, &h);
	if (rc != RC_OK)
		return rc;
	to = mem_alloc(sizeof(*to));
	*to = waiter;
	rc = bus_ask(b,
	    &(struct bus_question){ subject, data, &h, meta->deadline },
	    (struct bus_waiter){ .fn = on_stored, .arg = to }, NULL);
	if (rc != RC_OK)
		free(to);
	return rc;
}
