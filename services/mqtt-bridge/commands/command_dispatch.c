/* Validate, look up presence, publish or forward, reply. */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "address.h"
#include "bus/bus.h"
#include "commands/command_forward.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "reports/pending_result.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "terminal/terminal_command.h"
#include "wire/msgs.h"

#define QUEUE_GROUP "mqtt-bridge"
/* Commands queued for the broker. */
#define QUEUE_MAX 20000
/* Commands whose terminals are looked up at a time. */
#define LOOKUPS_MAX 1024
/* Commands that wait for the reply of another broker's bridges. */
#define FORWARDS_MAX 1024
/* A command without a deadline (status, emotion_update) is obsolete by then. */
#define STALE_MS    2000
#define LOG_EVERY_S 10

/* In the order of subscribing. */
static const struct command_kind {
	size_t row;
	const char *subject; /* of all brokers and terminals */
	bool replied;        /* needs a present terminal, and gets a reply */
} command_kinds[] = {
	{ WIRE_TOPIC_INVOKE, WIRE_SUBJECT_ALL_BODY_INVOKE, true },
	{ WIRE_TOPIC_INTENT_ACTION, WIRE_SUBJECT_ALL_BODY_INTENT_ACTION, true },
	{ WIRE_TOPIC_STATUS, WIRE_SUBJECT_ALL_BODY_STATUS, false },
	{ WIRE_TOPIC_EMOTION_UPDATE, WIRE_SUBJECT_ALL_BODY_EMOTION_UPDATE,
	    false },
};

struct endpoint {
	struct commands *c;
	const struct command_kind *kind;
	struct metric *states[4], *failed, *forwarded;
};

/* A command that is queued or published. */
struct outgoing {
	TAILQ_ENTRY(outgoing) link;
	struct endpoint *endpoint;
	struct bus_msg *m;
	struct wall deadlines[2];
	char topic[ADDRESS_TOPIC_MAX];
	char request_id[ID_MAX + 1];
	struct str payload; /* points into m, or is own */
	char *own;
};

TAILQ_HEAD(outgoing_list, outgoing);

struct commands {
	struct bridge *b;
	struct endpoint endpoints[NELEM(command_kinds)];
	struct outgoing_list waiting;
	size_t n, looked_up; /* waiting; and whose terminals are looked up */
	size_t n_forwards;   /* requests without a reply */
	bool pumping;
};

/* ---- replies ---- */

static void
command_reply_state(
    struct bus_msg *m, enum wire_delivery_state state, struct str request_id)
{
	const struct wire_delivery d = { .state = state,
		.request_id = request_id };
	struct buf b = BUF_INIT(1024);

	/* A reply that cannot be sent has no caller any more. */
	if (wire_encode(&wire_delivery_desc, &d, &b, NULL) != RC_OK ||
	    bus_reply(m, buf_str(&b)) != RC_OK)
		log_debug("bridge.reply");
	buf_free(&b);
}

static void
command_reply_error(struct bus_msg *m, enum rc rc, const char *text)
{
	const struct wire_error e = { .error = str_of(text),
		.code = str_of(rc_name(rc)) };
	struct buf b = BUF_INIT(2048);

	if (wire_encode(&wire_error_desc, &e, &b, NULL) != RC_OK ||
	    bus_reply_error(m, rc, buf_str(&b)) != RC_OK)
		log_debug("bridge.reply");
	buf_free(&b);
}

static const char *
command_error_text(enum rc rc)
{
	switch (rc) {
	case RC_DOWN:
		return "not sent: the broker or Redis cannot be reached";
	case RC_TIMEOUT:
		return "sent, but the connection to the broker broke before "
		       "the acknowledgement";
	case RC_UNREPLICATED:
		return "not sent: too few replicas of Redis know of it";
	case RC_RETRY:
		return "not sent: too many commands are pending";
	case RC_DENIED:
		return "the broker did not allow it";
	case RC_TOOBIG:
		return "the command is too large";
	default:
		return "the broker rejected it";
	}
}

/* Reply to m and free it. */
static void
command_finish(const struct endpoint *endpoint, struct bus_msg *m,
    struct str request_id, struct delivery d)
{
	metric_add(
	    d.rc == RC_OK ? endpoint->states[d.state] : endpoint->failed, 1);
	if (!bus_msg_wants_reply(m))
		bus_msg_free(m);
	else if (d.rc == RC_OK)
		command_reply_state(m, d.state, request_id);
	else
		command_reply_error(m, d.rc, command_error_text(d.rc));
}

static void
outgoing_finish(struct outgoing *s, struct delivery d)
{
	struct svc *svc = s->endpoint->c->b->svc;

	command_finish(s->endpoint, s->m, str_of(s->request_id), d);
	free(s->own);
	free(s);
	svc_release(svc);
}

/* ---- forwarding ---- */

static void
outgoing_free(struct outgoing *s)
{
	struct svc *svc = s->endpoint->c->b->svc;

	free(s->own);
	free(s);
	svc_release(svc);
}

/* The reply of the other bridge is passed on as it is. */
static void
command_forward_replied(void *arg, enum rc rc, struct str data)
{
	struct outgoing *s = arg;
	struct commands *c = s->endpoint->c;
	bool replied = rc == RC_OK || data.n > 0;

	c->n_forwards--;
	/* The broker has no bridge now: it was not sent. */
	if (rc == RC_NOENT) {
		outgoing_finish(s, delivery_after(RC_DOWN));
		return;
	}
	/* Without a reply it may have been sent. */
	if (!replied) {
		outgoing_finish(s, delivery_after(RC_TIMEOUT));
		return;
	}
	metric_add(s->endpoint->forwarded, 1);
	if (!bus_msg_wants_reply(s->m))
		bus_msg_free(s->m);
	else if ((rc == RC_OK ? bus_reply(s->m, data)
			      : bus_reply_error(s->m, rc, data)) != RC_OK)
		log_debug("bridge.reply");
	outgoing_free(s);
}

/*
 * If the terminal is present at another broker, forward the command, of which
 * nothing was sent to it.  False: it is not, and s is still the caller's.
 */
static bool
command_forward(struct outgoing *s)
{
	struct commands *c = s->endpoint->c;
	char terminal[ID_MAX + 1], token[ID_TOKEN_MAX];
	enum rc rc;

	if (!forward_allowed(s->m) ||
	    delivery_expired(clock_wall(), s->deadlines) ||
	    address_command_terminal(bus_msg_subject(s->m), terminal) !=
		RC_OK ||
	    forward_find(c->b, str_of(terminal), token) != RC_OK)
		return false;
	if (!s->endpoint->kind->replied) {
		rc = forward_publish(c->b, s->m, token);
		metric_add(
		    rc == RC_OK ? s->endpoint->forwarded : s->endpoint->failed,
		    1);
		bus_msg_free(s->m);
		outgoing_free(s);
		return true;
	}
	rc = RC_RETRY;
	if (c->n_forwards < FORWARDS_MAX)
		rc = forward_request(
		    c->b, s->m, token, command_forward_replied, s);
	if (rc == RC_OK)
		c->n_forwards++;
	else
		outgoing_finish(s, delivery_after(rc));
	return true;
}

static void
command_forward_unreceived(void *arg)
{
	struct outgoing *s = arg;
	struct commands *c = s->endpoint->c;
	bool forwarded;

	c->looked_up++;
	forwarded = command_forward(s);
	c->looked_up--;
	if (!forwarded)
		outgoing_finish(s, delivery_after(RC_NOENT));
}

/* ---- sending ---- */

static void commands_pump(struct commands *c);

static void
command_published(void *arg, enum rc rc, unsigned reason)
{
	struct outgoing *s = arg;
	struct commands *c = s->endpoint->c;

	(void)reason;
	/* Nobody has received it: the terminal may have left just now. */
	if (rc == RC_NOENT && s->endpoint->kind->replied &&
	    c->looked_up < LOOKUPS_MAX)
		fiber_start(command_forward_unreceived, s);
	else
		outgoing_finish(s, delivery_after(rc));
	commands_pump(c);
}

static void
command_publish(struct outgoing *s)
{
	struct bridge *b = s->endpoint->c->b;
	const struct mqtt_msg msg = { .topic = str_of(s->topic),
		.payload = s->payload,
		.qos = wire_topics[s->endpoint->kind->row].qos,
		.retain = false };
	enum rc rc;

	rc = mqtt_publish(b->mqtt, &msg, command_published, s);
	if (rc != RC_OK)
		outgoing_finish(s, delivery_after(rc));
}

/* Publish as many as the broker accepts, in order of arrival. */
static void
commands_pump(struct commands *c)
{
	struct outgoing *s;

	if (c->pumping)
		return;
	c->pumping = true;
	while (mqtt_outstanding(c->b->mqtt) < MQTT_INFLIGHT_MAX &&
	    (s = TAILQ_FIRST(&c->waiting)) != NULL) {
		TAILQ_REMOVE(&c->waiting, s, link);
		c->n--;
		if (delivery_expired(clock_wall(), s->deadlines))
			outgoing_finish(s,
			    (struct delivery){
				RC_OK, WIRE_DELIVERY_STATE_LATE });
		else
			command_publish(s);
	}
	c->pumping = false;
}

void
commands_broker_down(struct commands *c)
{
	struct outgoing *s;

	while ((s = TAILQ_FIRST(&c->waiting)) != NULL) {
		TAILQ_REMOVE(&c->waiting, s, link);
		c->n--;
		outgoing_finish(s, delivery_after(RC_DOWN));
	}
}

/* ---- receiving ---- */

static void
command_context(const struct bus_msg *m, const struct command *cmd,
    struct wall now, char context[INVOKE_CONTEXT_MAX])
{
	struct invoke_context result = { .skill = cmd->skill, .at = now };

	if (!bus_msg_trace(m, &result.trace))
		trace_new(&result.trace);
	(void)invoke_context_encode(&result, context);
}

/*
 * Look up whether the terminal is present at this broker, in Redis if this
 * replica does not know it; for an invoke, also register its pending result.
 */
static enum rc
command_find_terminal(const struct endpoint *endpoint, const struct outgoing *s,
    struct str terminal, const struct command *cmd, bool *present)
{
	struct bridge *b = endpoint->c->b;
	char context[INVOKE_CONTEXT_MAX];
	const struct address result = { .row = WIRE_TOPIC_RESULT,
		.terminal = terminal,
		.request_id = cmd->request_id };
	struct terminal_expect_result wait = { .request_id = cmd->request_id,
		.broker = b->broker,
		.ttl_ms = b->ttl_ms };
	enum rc rc;

	*present = true;
	if (endpoint->kind->row != WIRE_TOPIC_INVOKE &&
	    reports_show_present(b->reports, terminal))
		return RC_OK;
	/* Updates are many, and the next one finds the terminal's broker. */
	if (!endpoint->kind->replied && lease_holder_epoch(b->lease) == 0)
		return RC_OK;
	if (endpoint->kind->row != WIRE_TOPIC_INVOKE)
		return terminal_is_reachable(
		    b->state, terminal, b->broker, b->ttl_ms, present);
	command_context(s->m, cmd, clock_wall(), context);
	wait.note = str_of(context);
	rc = terminal_expect_result(b->state, terminal, &wait, present);
	if (rc == RC_OK && *present)
		results_expect(b->results, &result);
	return rc;
}

/* The earlier of the request's deadline and its Act-By header. */
static struct wall
command_request_deadline(const struct bus_msg *m)
{
	struct wall end = bus_msg_deadline(m);
	struct str text = bus_msg_header(m, BUS_HEADER_ACT_BY);
	int64_t by;

	if (text.p == NULL)
		return end;
	/* Unreadable counts as expired: an action must not be sent too late. */
	if (str_to_i64(text, 1, INT64_MAX, &by) != RC_OK)
		by = 1;
	if (end.ms == 0 || by < end.ms)
		end.ms = by;
	return end;
}

static void
command_deadlines(const struct endpoint *endpoint, const struct bus_msg *m,
    const struct command *cmd, struct wall deadlines[2])
{
	deadlines[0] = command_request_deadline(m);
	deadlines[1] = cmd->deadline;
	if (!endpoint->kind->replied && deadlines[0].ms == 0)
		deadlines[0].ms = clock_wall().ms + STALE_MS;
}

static void
command_accept(struct endpoint *endpoint, struct outgoing *s,
    struct str terminal, const struct command *cmd)
{
	struct commands *c = endpoint->c;
	struct delivery_facts facts = { .up = mqtt_up(c->b->mqtt) };
	struct delivery d;
	bool forwarded;

	if (c->n >= QUEUE_MAX || c->looked_up >= LOOKUPS_MAX) {
		outgoing_finish(s, delivery_after(RC_RETRY));
		return;
	}
	command_deadlines(endpoint, s->m, cmd, facts.deadlines);
	memcpy(s->deadlines, facts.deadlines, sizeof(s->deadlines));
	/* Avoid the round trip to Redis if the result is known already. */
	facts.now = clock_wall();
	if (facts.up && !delivery_expired(facts.now, facts.deadlines)) {
		c->looked_up++;
		facts.known = command_find_terminal(
		    endpoint, s, terminal, cmd, &facts.present);
		c->looked_up--;
	}
	facts.up = mqtt_up(c->b->mqtt);
	facts.now = clock_wall();
	/* A broker that is down may be why the terminal is at another. */
	if (!facts.up || (facts.known == RC_OK && !facts.present)) {
		c->looked_up++;
		forwarded = command_forward(s);
		c->looked_up--;
		if (forwarded)
			return;
		facts.up = mqtt_up(c->b->mqtt);
		facts.now = clock_wall();
	}
	/* Nobody waits for the outcome, and the broker knows better. */
	if (!endpoint->kind->replied) {
		facts.known = RC_OK;
		facts.present = true;
	}
	if (!delivery_before(&facts, &d)) {
		outgoing_finish(s, d);
		return;
	}
	if (cmd->payload.p == bus_msg_data(s->m).p) {
		s->payload = cmd->payload;
	} else {
		s->own = str_dup(cmd->payload);
		s->payload = (struct str){ s->own, cmd->payload.n };
	}
	TAILQ_INSERT_TAIL(&c->waiting, s, link);
	c->n++;
	commands_pump(c);
}

static void
command_reject(const struct endpoint *endpoint, struct bus_msg *m, enum rc rc,
    const struct wire_err *err)
{
	static struct log_rate rate;
	char text[WIRE_ERR_TEXT_MAX];
	int64_t missed;

	metric_add(endpoint->failed, 1);
	wire_err_text(err, text, sizeof(text));
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.command", LOG_V("subject", bus_msg_subject(m)),
		    LOG_S("why", text), LOG_I("missed", missed));
	if (bus_msg_wants_reply(m))
		command_reply_error(m, rc, text);
	else
		bus_msg_free(m);
}

static void
command_handle(struct endpoint *endpoint, struct bus_msg *m, struct arena *mem)
{
	struct commands *c = endpoint->c;
	char terminal[ID_MAX + 1];
	struct command_input in = { .row = endpoint->kind->row,
		.text = bus_msg_data(m),
		.now = clock_wall() };
	struct wire_err err = { "", "the subject names no terminal" };
	struct address a = { .row = in.row };
	struct command cmd;
	struct outgoing *s;
	struct str topic;
	char text[ADDRESS_TOPIC_MAX];
	enum rc rc;

	rc = address_command_terminal(bus_msg_subject(m), terminal);
	in.terminal = a.terminal = str_of(terminal);
	if (rc == RC_OK)
		rc = command_read(&in, mem, &cmd, &err);
	if (rc == RC_OK) {
		a.request_id = cmd.request_id;
		err = (struct wire_err){ "/request_id",
			"cannot be a level of a topic" };
		rc = address_topic(c->b->prefix, &a, text, &topic);
	}
	if (rc != RC_OK) {
		command_reject(endpoint, m, rc, &err);
		return;
	}
	s = mem_zalloc(sizeof(*s));
	s->endpoint = endpoint;
	s->m = m;
	str_copy(topic, s->topic, sizeof(s->topic));
	str_copy(cmd.request_id, s->request_id, sizeof(s->request_id));
	svc_hold(c->b->svc);
	command_accept(endpoint, s, in.terminal, &cmd);
}

/* A message on its way into a fiber. */
struct command_msg {
	struct endpoint *endpoint;
	struct bus_msg *m;
};

static void
command_run(void *arg)
{
	struct command_msg in = *(struct command_msg *)arg;
	struct arena *a = arena_new(WIRE_ARENA_MAX);

	command_handle(in.endpoint, in.m, a);
	arena_free(a);
}

static void
command_receive(void *arg, struct bus_msg *m)
{
	struct command_msg in = { arg, m };

	fiber_start(command_run, &in);
}

/* ---- start and stop ---- */

/* Subscribe to the subject, with this broker in place of the wildcard. */
static void
command_subscribe(struct endpoint *endpoint)
{
	const struct bridge *b = endpoint->c->b;
	struct str rest = str_of(endpoint->kind->subject), before;
	struct buf subject = BUF_INIT(512);
	enum rc rc;

	before = str_split(&rest, '*');
	buf_put_str(&subject, before);
	buf_puts(&subject, b->broker_token);
	buf_put_str(&subject, rest);
	rc = bus_subscribe(svc_bus(b->svc), subject.p, QUEUE_GROUP,
	    command_receive, endpoint, NULL);
	if (rc != RC_OK)
		log_error(
		    "bridge.subject", LOG_S("subject", subject.p), LOG_RC(rc));
	buf_free(&subject);
}

static struct metric *
command_counter(const struct endpoint *endpoint, struct str state)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "command=\"%s\",state=\"%.*s\"",
	    wire_topics[endpoint->kind->row].name, STR_ARG(state));
	return metric_counter(svc_metrics(endpoint->c->b->svc),
	    "soul_bridge_commands_total", "Commands to terminals, by outcome.",
	    labels);
}

static void
command_endpoint_init(struct commands *c, size_t i)
{
	struct endpoint *endpoint = &c->endpoints[i];
	size_t k;

	endpoint->c = c;
	endpoint->kind = &command_kinds[i];
	for (k = 0; k < NELEM(endpoint->states); k++)
		endpoint->states[k] =
		    command_counter(endpoint, wire_delivery_state_names[k]);
	endpoint->failed = command_counter(endpoint, STR("error"));
	endpoint->forwarded = command_counter(endpoint, STR("forwarded"));
	command_subscribe(endpoint);
}

struct commands *
commands_new(struct bridge *b)
{
	struct commands *c = mem_zalloc(sizeof(*c));
	size_t i;

	c->b = b;
	TAILQ_INIT(&c->waiting);
	for (i = 0; i < NELEM(command_kinds); i++)
		command_endpoint_init(c, i);
	return c;
}

void
commands_free(struct commands *c)
{
	if (c == NULL)
		return;
	commands_broker_down(c);
	free(c);
}
