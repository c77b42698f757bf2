/*
 * Streams, and publishing to them, over the JetStream API.
 */
#include <stdatomic.h>
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
#define REPLICAS_MAX 32 /* room for the member that ask() adds */
#define NS_PER_S     INT64_C(1000000000)
#define SECONDS_MAX  (INT64_MAX / NS_PER_S)

/* ---- answers ------------------------------------------------------------ */

struct said {
	enum rc rc;
	bool differs; /* what exists is configured otherwise */
	bool alone;   /* the server has no others to keep replicas */
	int replicas; /* of the stream that was looked at; 0: not told */
	bool numbered;
	struct bus_pub_ack stored; /* if numbered */
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
		r.stored = (struct bus_pub_ack){ in.seq, in.duplicate };
		if (in.has_config)
			r.replicas = (int)in.config.num_replicas;
	} else if (in.has_error) {
		r.differs = in.error.err_code == API_DIFFERS;
		r.alone = in.error.err_code == API_NO_CLUSTER;
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

enum step { CREATE, LOOK, UPDATE };

struct standing {
	struct bus_watcher watcher;
	struct bus *bus;
	char *create, *update, *look, *config;
	bus_ready_fn ready;
	void *arg;
	bool up;
	bool asked; /* its answer is to come */
	enum step step;
	int replicas; /* to ask for; 0: it has none */
	struct loop_timer retry;
	struct backoff backoff;
};

static void ask(struct standing *s, enum step step);

static void
retry(void *arg)
{
	ask(arg, CREATE);
}

static void
ask_later(struct standing *s)
{
	if (s->up)
		loop_timer_set(s->bus->loop, &s->retry,
		    mono_add_ms(clock_mono(), backoff_next_ms(&s->backoff)),
		    retry, s);
}

/* More is made of what exists, less never. */
static void
change(struct standing *s, int replicas)
{
	s->replicas = replicas > s->bus->replicas ? replicas : s->bus->replicas;
	ask(s, UPDATE);
}

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct standing *s = arg;
	struct said r = answer_of(rc, data);

	s->asked = false;
	if (rc != RC_TIMEOUT)
		atomic_store(&s->bus->silent, false);
	if (r.differs && s->update != NULL && s->step == CREATE) {
		ask(s, s->look != NULL ? LOOK : UPDATE);
		return;
	}
	if (s->step == LOOK && r.rc == RC_OK) {
		/* An answer without its replicas must not lower them. */
		if (r.replicas > 0) {
			change(s, r.replicas);
			return;
		}
		r.rc = RC_INVALID;
	}
	/* Whoever may change it has made it so. */
	if (r.differs && s->update == NULL)
		r.rc = RC_OK;
	if (r.rc != RC_OK)
		ask_later(s);
	/* That the connection broke is no news of the wish. */
	if (r.rc != RC_DOWN && s->ready != NULL)
		s->ready(s->arg, r.rc);
	if (r.alone && s->bus->on_no_cluster != NULL)
		s->bus->on_no_cluster(s->bus->arg);
}

static const char *
subject_of(const struct standing *s)
{
	switch (s->step) {
	case LOOK:
		return s->look;
	case UPDATE:
		return s->update;
	case CREATE:
	default:
		return s->create;
	}
}

/* The configuration, an object, with the replicas in it. */
static void
config_put(const struct standing *s, struct buf *b)
{
	struct str config = str_of(s->config);

	if (s->step == LOOK)
		return;
	if (s->replicas == 0) {
		buf_put(b, config.p, config.n);
		return;
	}
	buf_put(b, config.p, config.n - 1);
	buf_printf(b, ",\"num_replicas\":%d}", s->replicas);
}

static void
ask(struct standing *s, enum step step)
{
	struct buf data = BUF_INIT(CONFIG_MAX + REPLICAS_MAX);
	struct bus_question q;

	s->step = step;
	if (step == CREATE && s->look != NULL)
		s->replicas = s->bus->replicas;
	config_put(s, &data);
	q = (struct bus_question){ .subject = subject_of(s),
		.data = buf_str(&data),
		.by = { clock_wall().ms + API_MS } };
	s->asked = bus_ask(s->bus, &q,
		       (struct bus_reply_handler){ .fn = on_answer, .arg = s },
		       NULL) == RC_OK;
	if (!s->asked)
		ask_later(s);
	buf_free(&data);
}

static void
standing_state(struct bus_watcher *w, bool up)
{
	struct standing *s = CONTAINER_OF(w, struct standing, watcher);

	s->up = up;
	loop_timer_cancel(s->bus->loop, &s->retry);
	backoff_reset(&s->backoff);
	if (up)
		ask(s, CREATE);
}

static void
standing_free(struct bus_watcher *w)
{
	struct standing *s = CONTAINER_OF(w, struct standing, watcher);

	loop_timer_cancel(s->bus->loop, &s->retry);
	free(s->create);
	free(s->update);
	free(s->look);
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
	s->look = str_dup(str_of(w->look));
	s->config = str_dup(w->config);
	s->ready = w->ready;
	s->arg = w->arg;
	s->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	bus_watch(b, &s->watcher);
}

bool
bus_jetstream_silent(const struct bus *b)
{
	return atomic_load(&b->silent);
}

/*
 * What a publish ended with.  Silence is asked after: who is not ready may get
 * nothing more to publish, and would never hear that it is over.
 */
static void
heard(struct bus *b, enum rc rc)
{
	struct bus_watcher *w;
	struct standing *s;

	if (rc != RC_TIMEOUT) {
		atomic_store(&b->silent, false);
		return;
	}
	if (atomic_exchange(&b->silent, true))
		return;
	log_warn("bus.jetstream_silent");
	TAILQ_FOREACH (w, &b->watchers, link) {
		if (w->on_state != standing_state)
			continue;
		s = CONTAINER_OF(w, struct standing, watcher);
		if (!s->up || s->asked)
			continue;
		loop_timer_cancel(b->loop, &s->retry);
		ask(s, CREATE);
	}
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
bus_stream_ensure(struct bus *b, const struct bus_stream *s)
{
	struct buf config = BUF_INIT(CONFIG_MAX);
	char create[128], update[128], look[128];
	enum rc rc;

	if (!stream_ok(s))
		return RC_INVALID;
	(void)snprintf(
	    create, sizeof(create), "$JS.API.STREAM.CREATE.%s", s->name);
	(void)snprintf(
	    update, sizeof(update), "$JS.API.STREAM.UPDATE.%s", s->name);
	(void)snprintf(look, sizeof(look), "$JS.API.STREAM.INFO.%s", s->name);
	config_write(s, &config);
	rc = buf_rc(&config);
	if (rc == RC_OK)
		bus_wish_keep(b,
		    &(struct bus_wish){ create, s->no_update ? NULL : update,
			look, buf_str(&config), s->ready, s->arg });
	buf_free(&config);
	return rc;
}

/* ---- publishing --------------------------------------------------------- */

struct publish {
	struct bus *bus;
	struct bus_pub_ack_handler to;
};

static void
on_stored(void *arg, enum rc rc, struct str data)
{
	struct publish p = *(struct publish *)arg;
	struct bus_pub_ack_handler to = p.to;
	struct said r = answer_of(rc, data);

	free(arg);
	heard(p.bus, rc);
	/* Somebody answered, but no stream. */
	if (r.rc == RC_OK && !r.numbered)
		r.rc = RC_INVALID;
	to.fn(to.arg, r.rc, r.rc == RC_OK ? &r.stored : NULL);
}

enum rc
bus_stream_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_pub_ack_handler waiter)
{
	struct publish *p;
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
	p = mem_alloc(sizeof(*p));
	*p = (struct publish){ b, waiter };
	rc = bus_ask(b,
	    &(struct bus_question){ subject, data, &h, meta->deadline },
	    (struct bus_reply_handler){ .fn = on_stored, .arg = p }, NULL);
	if (rc != RC_OK)
		free(p);
	return rc;
}
