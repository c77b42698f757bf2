/*
 * Streams, durable consumers and acknowledged publishing, as plain messages of
 * the JetStream API, because the library's own calls for it block.
 *
 * The server pushes a consumer's deliveries to one subject, to which its
 * members subscribe as a queue group; max_in_flight on the server is the flow
 * control.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bus/jetstream.h"

#include "bus/bus_internal.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/wire.h"

#define API_MS          5000
#define RETRY_MIN_MS    50
#define RETRY_MAX_MS    5000
#define CONFIG_MAX      (64 * 1024)
#define REPLICAS_MAX    32 /* room for the member that desired_payload() adds */
#define NS_PER_S        INT64_C(1000000000)
#define SECONDS_MAX     (INT64_MAX / NS_PER_S)
#define NS_PER_MS       INT64_C(1000000)
#define ACK_WAIT_MAX_MS (INT64_MAX / NS_PER_MS)

/* ---- replies of the API ---- */

static enum rc
jetstream_status_rc(int64_t status)
{
	switch (status) {
	case 404:
		return RC_NOENT;
	case 409:
		return RC_CONFLICT;
	case 503:
		return RC_RETRY;
	default:
		return RC_INVALID;
	}
}

enum rc
bus_jetstream_reply_decode(
    struct str data, struct arena *a, struct wire_jetstream_answer *in)
{
	if (wire_decode(&wire_jetstream_answer_desc, data, a, in, NULL) !=
	    RC_OK) {
		in->has_error = false;
		return RC_INVALID;
	}
	return in->has_error ? jetstream_status_rc(in->error.code) : RC_OK;
}

struct api_reply {
	enum rc rc;
	bool exists;     /* with another configuration */
	bool no_cluster; /* a single server cannot have replicas */
	bool differs;    /* a consumer has another filter than filter */
	int replicas;    /* of STREAM.INFO; 0: unknown */
	bool has_seq;
	struct bus_pub_ack ack; /* if has_seq */
};

/*
 * Some servers ignore a filter that they do not know, and an existing consumer
 * may have another: its deliveries would not be those that were requested.
 */
static bool
api_filter_differs(const char *want, const struct wire_jetstream_answer *in)
{
	struct str has = in->config.filter_subject;

	if (want == NULL || (in->has_config && str_eq(has, str_of(want))))
		return false;
	log_error(
	    "bus.consumer_filter", LOG_S("requested", want), LOG_V("is", has));
	return true;
}

/*
 * The reply to a request of the API that ended with rc; filter is that of a
 * requested consumer, else NULL.
 */
static struct api_reply
api_reply_read(enum rc rc, struct str data, const char *filter)
{
	static struct log_rate rate;
	struct api_reply r = { .rc = rc };
	struct wire_jetstream_answer in;
	struct arena *a;
	int64_t missed;

	if (rc != RC_OK)
		return r;
	a = arena_new(BUS_JETSTREAM_ARENA_MAX);
	r.rc = bus_jetstream_reply_decode(data, a, &in);
	if (r.rc == RC_OK) {
		r.differs = api_filter_differs(filter, &in);
		r.has_seq = in.has_seq;
		r.ack = (struct bus_pub_ack){ in.seq, in.duplicate };
		if (in.has_config)
			r.replicas = (int)in.config.num_replicas;
	} else if (in.has_error) {
		r.exists = in.error.err_code == JETSTREAM_STREAM_EXISTS;
		r.no_cluster = in.error.err_code == JETSTREAM_NO_CLUSTER;
		if (!r.exists && log_every(&rate, 10, &missed))
			log_warn("bus.jetstream_rejected",
			    LOG_I("err_code", in.error.err_code),
			    LOG_V("why", in.error.description),
			    LOG_I("missed", missed));
	}
	arena_free(a);
	return r;
}

/* ---- desired configurations ---- */

/* A stream or consumer to be requested until the server confirms it. */
struct desired_spec {
	const char *create;  /* subject of the API that creates it */
	const char *update;  /* that updates it; NULL: never updated */
	const char *inspect; /* that shows its replicas; NULL: it has none */
	struct str config;   /* JSON object */
	const char *filter;  /* of a consumer, "": all; NULL: no consumer */
	struct bus_sub *sub; /* of the consumer's deliveries */
	bus_ready_fn ready;
	void *arg;
};

enum config_step { CONFIG_CREATE, CONFIG_INSPECT, CONFIG_UPDATE };

struct desired_config {
	struct bus_listener listener;
	struct bus *bus;
	char *create, *update, *inspect, *config, *filter;
	struct bus_sub *sub; /* of a consumer, until its filter differs */
	bus_ready_fn ready;
	void *arg;
	bool up;
	bool in_flight; /* a request is pending */
	enum config_step step;
	int replicas; /* to request; 0: it has none */
	struct loop_timer retry;
	struct backoff backoff;
};

static void desired_request(struct desired_config *s, enum config_step step);

static void
desired_retry(void *arg)
{
	desired_request(arg, CONFIG_CREATE);
}

static void
desired_retry_later(struct desired_config *s)
{
	if (s->up)
		loop_timer_set(s->bus->loop, &s->retry,
		    mono_add_ms(clock_mono(), backoff_next_ms(&s->backoff)),
		    desired_retry, s);
}

/* Replicas are raised, never lowered. */
static void
desired_update(struct desired_config *s, int replicas)
{
	s->replicas = replicas > s->bus->replicas ? replicas : s->bus->replicas;
	desired_request(s, CONFIG_UPDATE);
}

static void
desired_on_reply(void *arg, enum rc rc, struct str data)
{
	struct desired_config *s = arg;
	struct api_reply r = api_reply_read(rc, data, s->filter);

	s->in_flight = false;
	if (rc != RC_TIMEOUT)
		atomic_store(&s->bus->silent, false);
	if (r.exists && s->update != NULL && s->step == CONFIG_CREATE) {
		desired_request(
		    s, s->inspect != NULL ? CONFIG_INSPECT : CONFIG_UPDATE);
		return;
	}
	if (s->step == CONFIG_INSPECT && r.rc == RC_OK) {
		/* A reply without replicas must not lower them. */
		if (r.replicas > 0) {
			desired_update(s, r.replicas);
			return;
		}
		r.rc = RC_INVALID;
	}
	/* Its owner has configured it. */
	if (r.exists && s->update == NULL)
		r.rc = RC_OK;
	if (r.rc != RC_OK)
		desired_retry_later(s);
	if (r.differs) {
		bus_unsubscribe(s->sub);
		s->sub = NULL;
		r.rc = RC_CONFLICT;
	}
	/* A broken connection says nothing about the configuration. */
	if (r.rc != RC_DOWN && s->ready != NULL)
		s->ready(s->arg, r.rc);
	if (r.no_cluster && s->bus->on_no_cluster != NULL)
		s->bus->on_no_cluster(s->bus->arg);
}

static const char *
desired_subject(const struct desired_config *s)
{
	switch (s->step) {
	case CONFIG_INSPECT:
		return s->inspect;
	case CONFIG_UPDATE:
		return s->update;
	case CONFIG_CREATE:
	default:
		return s->create;
	}
}

/* The configuration with num_replicas added to the object. */
static void
desired_payload(const struct desired_config *s, struct buf *b)
{
	struct str config = str_of(s->config);

	if (s->step == CONFIG_INSPECT)
		return;
	if (s->replicas == 0) {
		buf_put(b, config.p, config.n);
		return;
	}
	buf_put(b, config.p, config.n - 1);
	buf_printf(b, ",\"num_replicas\":%d}", s->replicas);
}

static void
desired_request(struct desired_config *s, enum config_step step)
{
	struct buf data = BUF_INIT(CONFIG_MAX + REPLICAS_MAX);
	struct bus_request_out q;

	s->step = step;
	if (step == CONFIG_CREATE && s->inspect != NULL)
		s->replicas = s->bus->replicas;
	desired_payload(s, &data);
	q = (struct bus_request_out){ .subject = desired_subject(s),
		.data = buf_str(&data),
		.deadline = { clock_wall().ms + API_MS } };
	s->in_flight =
	    bus_request_send(s->bus, &q,
		(struct bus_reply_handler){ .fn = desired_on_reply, .arg = s },
		NULL) == RC_OK;
	if (!s->in_flight)
		desired_retry_later(s);
	buf_free(&data);
}

static void
desired_on_state(struct bus_listener *l, bool up)
{
	struct desired_config *s =
	    CONTAINER_OF(l, struct desired_config, listener);

	s->up = up;
	loop_timer_cancel(s->bus->loop, &s->retry);
	backoff_reset(&s->backoff);
	if (up)
		desired_request(s, CONFIG_CREATE);
}

static void
desired_free(struct bus_listener *l)
{
	struct desired_config *s =
	    CONTAINER_OF(l, struct desired_config, listener);

	loop_timer_cancel(s->bus->loop, &s->retry);
	free(s->create);
	free(s->update);
	free(s->inspect);
	free(s->config);
	free(s->filter);
	free(s);
}

static void
desired_add(struct bus *b, const struct desired_spec *w)
{
	struct desired_config *s = mem_zalloc(sizeof(*s));

	s->listener.on_state = desired_on_state;
	s->listener.on_free = desired_free;
	s->bus = b;
	s->create = mem_strdup(w->create);
	s->update = str_dup(str_of(w->update));
	s->inspect = str_dup(str_of(w->inspect));
	s->config = str_dup(w->config);
	s->filter = str_dup(str_of(w->filter));
	s->sub = w->sub;
	s->ready = w->ready;
	s->arg = w->arg;
	s->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	bus_listener_add(b, &s->listener);
}

bool
bus_jetstream_silent(const struct bus *b)
{
	return atomic_load(&b->silent);
}

/*
 * After a time-out the configurations are requested, because there may be no
 * further publish whose reply would show that JetStream responds.
 */
static void
stream_publish_ended(struct bus *b, enum rc rc)
{
	struct bus_listener *l;
	struct desired_config *s;

	if (rc != RC_TIMEOUT) {
		atomic_store(&b->silent, false);
		return;
	}
	if (atomic_exchange(&b->silent, true))
		return;
	log_warn("bus.jetstream_silent");
	TAILQ_FOREACH (l, &b->listeners, link) {
		if (l->on_state != desired_on_state)
			continue;
		s = CONTAINER_OF(l, struct desired_config, listener);
		if (!s->up || s->in_flight)
			continue;
		loop_timer_cancel(b->loop, &s->retry);
		desired_request(s, CONFIG_CREATE);
	}
}

/* ---- streams ---- */

static void
stream_config_write(const struct bus_stream *s, struct buf *b)
{
	struct wire_out o = { .b = b };
	size_t i;

	wire_out_object(&o);
	bus_json_str(&o, "name", s->name);
	wire_out_key(&o, STR("subjects"));
	wire_out_array(&o);
	for (i = 0; i < s->n_subjects; i++)
		wire_out_str(&o, str_of(s->subjects[i]));
	wire_out_array_end(&o);
	bus_json_str(&o, "storage", "file");
	bus_json_str(&o, "retention", "limits");
	bus_json_str(&o, "discard", "old");
	bus_json_i64(&o, "max_msgs", -1);
	bus_json_i64(&o, "max_consumers", -1);
	bus_json_i64(&o, "max_age", s->max_age_s * NS_PER_S);
	bus_json_i64(&o, "max_bytes", s->max_bytes > 0 ? s->max_bytes : -1);
	bus_json_i64(&o, "duplicate_window", s->duplicates_s * NS_PER_S);
	wire_out_object_end(&o);
}

static bool
stream_valid(const struct bus_stream *s)
{
	size_t i;

	if (!bus_token_valid(s->name) || s->n_subjects == 0 ||
	    s->n_subjects > BUS_STREAM_SUBJECTS_MAX || s->max_age_s < 0 ||
	    s->max_age_s > SECONDS_MAX || s->max_bytes < 0 ||
	    s->duplicates_s <= 0 || s->duplicates_s > SECONDS_MAX)
		return false;
	/* The server would reject it. */
	if (s->max_age_s > 0 && s->duplicates_s > s->max_age_s)
		return false;
	for (i = 0; i < s->n_subjects; i++)
		if (!bus_subject_valid(s->subjects[i], true))
			return false;
	return true;
}

enum rc
bus_stream_ensure(struct bus *b, const struct bus_stream *s)
{
	struct buf config = BUF_INIT(CONFIG_MAX);
	char create[128], update[128], inspect[128];
	enum rc rc;

	if (!stream_valid(s))
		return RC_INVALID;
	(void)snprintf(
	    create, sizeof(create), "$JS.API.STREAM.CREATE.%s", s->name);
	(void)snprintf(
	    update, sizeof(update), "$JS.API.STREAM.UPDATE.%s", s->name);
	(void)snprintf(
	    inspect, sizeof(inspect), "$JS.API.STREAM.INFO.%s", s->name);
	stream_config_write(s, &config);
	rc = buf_rc(&config);
	if (rc == RC_OK)
		desired_add(b,
		    &(struct desired_spec){ .create = create,
			.update = s->no_update ? NULL : update,
			.inspect = inspect,
			.config = buf_str(&config),
			.ready = s->ready,
			.arg = s->arg });
	buf_free(&config);
	return rc;
}

/* ---- publishing ---- */

struct pub_request {
	struct bus *bus;
	struct bus_pub_ack_handler to;
};

static void
stream_on_pub_ack(void *arg, enum rc rc, struct str data)
{
	struct pub_request p = *(struct pub_request *)arg;
	struct bus_pub_ack_handler to = p.to;
	struct api_reply r = api_reply_read(rc, data, NULL);

	free(arg);
	stream_publish_ended(p.bus, rc);
	/* A reply, but not of a stream. */
	if (r.rc == RC_OK && !r.has_seq)
		r.rc = RC_INVALID;
	to.fn(to.arg, r.rc, r.rc == RC_OK ? &r.ack : NULL);
}

enum rc
bus_stream_publish(struct bus *b, const char *subject, struct str data,
    const struct bus_meta *meta, struct bus_pub_ack_handler handler)
{
	struct pub_request *p;
	struct bus_meta stored;
	struct bus_headers h;
	enum rc rc;

	if (meta == NULL || meta->deadline.ms <= 0 || meta->msg_id == NULL)
		return RC_INVALID;
	stored = *meta;
	stored.deadline.ms = 0;
	rc = bus_headers_make(&stored, &h);
	if (rc != RC_OK)
		return rc;
	p = mem_alloc(sizeof(*p));
	*p = (struct pub_request){ b, handler };
	rc = bus_request_send(b,
	    &(struct bus_request_out){ subject, data, &h, meta->deadline },
	    (struct bus_reply_handler){ .fn = stream_on_pub_ack, .arg = p },
	    NULL);
	if (rc != RC_OK)
		free(p);
	return rc;
}

/* ---- consumers ---- */

static void
consumer_config_write(
    const struct bus_consumer *c, const char *deliver, struct buf *b)
{
	struct wire_out o = { .b = b };

	wire_out_object(&o);
	bus_json_str(&o, "stream_name", c->stream);
	wire_out_key(&o, STR("config"));
	wire_out_object(&o);
	bus_json_str(&o, "durable_name", c->name);
	bus_json_str(&o, "deliver_subject", deliver);
	bus_json_str(&o, "deliver_group", c->name);
	bus_json_str(&o, "deliver_policy", "all");
	bus_json_str(&o, "ack_policy", "explicit");
	bus_json_str(&o, "replay_policy", "instant");
	if (c->filter != NULL)
		bus_json_str(&o, "filter_subject", c->filter);
	bus_json_i64(&o, "ack_wait", c->ack_wait_ms * NS_PER_MS);
	bus_json_i64(&o, "max_deliver", -1);
	bus_json_i64(&o, "max_ack_pending", c->max_in_flight);
	wire_out_object_end(&o);
	wire_out_object_end(&o);
}

static bool
consumer_valid(const struct bus_consumer *c)
{
	return bus_token_valid(c->stream) && bus_token_valid(c->name) &&
	    (c->filter == NULL || bus_subject_valid(c->filter, true)) &&
	    c->ack_wait_ms > 0 && c->ack_wait_ms <= ACK_WAIT_MAX_MS &&
	    c->max_in_flight > 0 && c->fn != NULL;
}

enum rc
bus_consume(struct bus *b, const struct bus_consumer *c)
{
	struct buf config = BUF_INIT(CONFIG_MAX);
	char create[256], deliver[256];
	struct bus_sub *s;
	enum rc rc;

	if (!consumer_valid(c))
		return RC_INVALID;
	if (b->draining)
		return RC_DOWN;
	(void)snprintf(create, sizeof(create),
	    "$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", c->stream, c->name);
	(void)snprintf(
	    deliver, sizeof(deliver), "soul.deliver.%s.%s", c->stream, c->name);
	consumer_config_write(c, deliver, &config);
	rc = buf_rc(&config);
	if (rc == RC_OK) {
		s = bus_sub_new(b, SUB_STREAM, deliver, c->name);
		s->fn = c->fn;
		s->arg = c->arg;
		bus_sub_begin(s);
		desired_add(b,
		    &(struct desired_spec){ .create = create,
			.config = buf_str(&config),
			.filter = c->filter != NULL ? c->filter : "",
			.sub = s,
			.ready = c->ready,
			.arg = c->arg });
	}
	buf_free(&config);
	return rc;
}
