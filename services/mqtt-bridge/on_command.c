/*
 * Check, ask whether the body is there, send, answer.
 */
#include "on_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "address.h"
#include "asked.h"
#include "bridge.h"
#include "bus/bus.h"
#include "command.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "delivery.h"
#include "mqtt/mqtt.h"
#include "on_result.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define QUEUE_GROUP "mqtt-bridge"
/* Commands that wait for the broker. */
#define WAITING_MAX 20000
/* What has no deadline, an emotion or a status, says nothing after that. */
#define STALE_MS    2000
#define LOG_EVERY_S 10

/* The kinds of command; their order is that of the subscriptions. */
static const struct kind {
	size_t row;
	const char *subject; /* of all brokers and terminals */
	bool answered;       /* the body must be there, the sender is told */
} kinds[] = {
	{ WIRE_TOPIC_INVOKE, WIRE_SUBJECT_ALL_BODY_INVOKE, true },
	{ WIRE_TOPIC_INTENT_ACTION, WIRE_SUBJECT_ALL_BODY_INTENT_ACTION, true },
	{ WIRE_TOPIC_STATUS, WIRE_SUBJECT_ALL_BODY_STATUS, false },
	{ WIRE_TOPIC_EMOTION_UPDATE, WIRE_SUBJECT_ALL_BODY_EMOTION_UPDATE,
	    false },
};

struct lane {
	struct commands *c;
	const struct kind *kind;
	struct metric *states[4], *failed;
};

/* A command on its way. */
struct sending {
	TAILQ_ENTRY(sending) link;
	struct lane *lane;
	struct bus_msg *m;
	struct wall deadlines[2];
	char topic[ADDRESS_TOPIC_MAX];
	char request_id[ID_MAX + 1];
	struct str payload; /* in m, or in own */
	char *own;
};

TAILQ_HEAD(sendings, sending);

struct commands {
	struct bridge *b;
	struct arena *a; /* of a message */
	struct lane lanes[NELEM(kinds)];
	struct sendings waiting;
	size_t n;
	bool pumping;
};

/* ---- answering ----------------------------------------------------------- */

static void
reply_state(
    struct bus_msg *m, enum wire_delivery_state state, struct str request_id)
{
	const struct wire_delivery d = { .state = state,
		.request_id = request_id };
	struct buf b = BUF_INIT(1024);

	/* Whoever cannot be answered has stopped waiting. */
	if (wire_encode(&wire_delivery_desc, &d, &b, NULL) != RC_OK ||
	    bus_reply(m, buf_str(&b)) != RC_OK)
		log_debug("bridge.reply");
	buf_free(&b);
}

static void
reply_error(struct bus_msg *m, enum rc rc, const char *text)
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
text_of(enum rc rc)
{
	switch (rc) {
	case RC_DOWN:
		return "not sent: the broker or the state cannot be reached";
	case RC_TIMEOUT:
		return "sent, but the connection to the broker broke before it "
		       "answered";
	case RC_RETRY:
		return "not sent: too many commands are on their way";
	case RC_DENIED:
		return "the broker did not allow it";
	case RC_TOOBIG:
		return "the command is too big";
	default:
		return "the broker refused it";
	}
}

/* Answer and end m. */
static void
end(const struct lane *lane, struct bus_msg *m, struct str request_id,
    struct delivery d)
{
	metric_add(d.rc == RC_OK ? lane->states[d.state] : lane->failed, 1);
	if (!bus_msg_wants_reply(m))
		bus_msg_free(m);
	else if (d.rc == RC_OK)
		reply_state(m, d.state, request_id);
	else
		reply_error(m, d.rc, text_of(d.rc));
}

static void
sending_end(struct sending *s, struct delivery d)
{
	struct svc *svc = s->lane->c->b->svc;

	end(s->lane, s->m, str_of(s->request_id), d);
	free(s->own);
	free(s);
	svc_release(svc);
}

/* ---- sending ------------------------------------------------------------- */

static void pump(struct commands *c);

static void
on_published(void *arg, enum rc rc, unsigned reason)
{
	struct sending *s = arg;
	struct commands *c = s->lane->c;

	(void)reason;
	sending_end(s, delivery_after(rc));
	pump(c);
}

static void
publish(struct sending *s)
{
	struct bridge *b = s->lane->c->b;
	const struct mqtt_msg msg = { .topic = str_of(s->topic),
		.payload = s->payload,
		.qos = wire_topics[s->lane->kind->row].qos,
		.retain = false };
	enum rc rc;

	rc = mqtt_publish(b->mqtt, &msg, on_published, s);
	if (rc != RC_OK)
		sending_end(s, delivery_after(rc));
}

/* What the broker has room for, in the order in which it came. */
static void
pump(struct commands *c)
{
	struct sending *s;

	if (c->pumping)
		return;
	c->pumping = true;
	while (mqtt_outstanding(c->b->mqtt) < MQTT_INFLIGHT_MAX &&
	    (s = TAILQ_FIRST(&c->waiting)) != NULL) {
		TAILQ_REMOVE(&c->waiting, s, link);
		c->n--;
		if (delivery_late(clock_wall(), s->deadlines))
			sending_end(s,
			    (struct delivery){
				RC_OK, WIRE_DELIVERY_STATE_LATE });
		else
			publish(s);
	}
	c->pumping = false;
}

void
commands_broker_down(struct commands *c)
{
	struct sending *s;

	while ((s = TAILQ_FIRST(&c->waiting)) != NULL) {
		TAILQ_REMOVE(&c->waiting, s, link);
		c->n--;
		sending_end(s, delivery_after(RC_DOWN));
	}
}

/* ---- taking -------------------------------------------------------------- */

static void
note_of(const struct bus_msg *m, const struct command *cmd, struct wall now,
    char note[ASKED_NOTE_MAX])
{
	struct asked asked = { .skill = cmd->skill, .at = now };

	if (!bus_msg_trace(m, &asked.trace))
		trace_new(&asked.trace);
	(void)asked_note(&asked, note);
}

/* Whether the body is there; a result of an invoke is then expected. */
static enum rc
find_body(const struct lane *lane, const struct sending *s, struct str terminal,
    const struct command *cmd, bool *present)
{
	struct bridge *b = lane->c->b;
	char note[ASKED_NOTE_MAX];
	const struct address asked = { .row = WIRE_TOPIC_RESULT,
		.terminal = terminal,
		.request_id = cmd->request_id };
	struct terminal_expect_result ask = { .request_id = cmd->request_id,
		.broker = b->broker,
		.ttl_ms = b->ttl_ms };
	enum rc rc;

	*present = true;
	if (!lane->kind->answered)
		return RC_OK;
	if (lane->kind->row != WIRE_TOPIC_INVOKE)
		return terminal_is_reachable(
		    b->state, terminal, b->broker, b->ttl_ms, present);
	note_of(s->m, cmd, clock_wall(), note);
	ask.note = str_of(note);
	rc = terminal_expect_result(b->state, terminal, &ask, present);
	if (rc == RC_OK && *present)
		results_expect(b->results, &asked);
	return rc;
}

/* The sooner of the request's deadline and the moment it may act until. */
static struct wall
request_deadline(const struct bus_msg *m)
{
	struct wall end = bus_msg_deadline(m);
	struct str text = bus_msg_header(m, BUS_HEADER_ACT_BY);
	int64_t by;

	if (text.p == NULL)
		return end;
	/* What cannot be read has passed: an action is not sent on a guess. */
	if (str_to_i64(text, 1, INT64_MAX, &by) != RC_OK)
		by = 1;
	if (end.ms == 0 || by < end.ms)
		end.ms = by;
	return end;
}

static void
deadlines_of(const struct lane *lane, const struct bus_msg *m,
    const struct command *cmd, struct wall deadlines[2])
{
	deadlines[0] = request_deadline(m);
	deadlines[1] = cmd->deadline;
	if (!lane->kind->answered && deadlines[0].ms == 0)
		deadlines[0].ms = clock_wall().ms + STALE_MS;
}

static void
take(struct lane *lane, struct sending *s, struct str terminal,
    const struct command *cmd)
{
	struct commands *c = lane->c;
	struct delivery_facts facts = { .up = mqtt_up(c->b->mqtt) };
	struct delivery d;

	deadlines_of(lane, s->m, cmd, facts.deadlines);
	memcpy(s->deadlines, facts.deadlines, sizeof(s->deadlines));
	/* Redis is asked only if it matters. */
	facts.now = clock_wall();
	if (facts.up && !delivery_late(facts.now, facts.deadlines))
		facts.known = find_body(lane, s, terminal, cmd, &facts.present);
	facts.now = clock_wall();
	if (!delivery_before(&facts, &d)) {
		sending_end(s, d);
		return;
	}
	if (c->n == WAITING_MAX) {
		sending_end(s, delivery_after(RC_RETRY));
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
	pump(c);
}

static void
refuse(const struct lane *lane, struct bus_msg *m, enum rc rc,
    const struct wire_err *err)
{
	static struct log_rate rate;
	char text[WIRE_ERR_TEXT_MAX];
	int64_t missed;

	metric_add(lane->failed, 1);
	wire_err_text(err, text, sizeof(text));
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.command", LOG_V("subject", bus_msg_subject(m)),
		    LOG_S("why", text), LOG_I("missed", missed));
	if (bus_msg_wants_reply(m))
		reply_error(m, rc, text);
	else
		bus_msg_free(m);
}

static void
on_command(void *arg, struct bus_msg *m)
{
	struct lane *lane = arg;
	struct commands *c = lane->c;
	char terminal[ID_MAX + 1];
	struct command_in in = { .row = lane->kind->row,
		.text = bus_msg_data(m),
		.now = clock_wall() };
	struct wire_err err = { "", "the subject names no terminal" };
	struct address a = { .row = in.row };
	struct command cmd;
	struct sending *s;
	struct str topic;
	char text[ADDRESS_TOPIC_MAX];
	enum rc rc;

	arena_reset(c->a);
	rc = address_of_command(bus_msg_subject(m), terminal);
	in.terminal = a.terminal = str_of(terminal);
	if (rc == RC_OK)
		rc = command_read(&in, c->a, &cmd, &err);
	if (rc == RC_OK) {
		a.request_id = cmd.request_id;
		err = (struct wire_err){ "/request_id",
			"cannot be a level of a topic" };
		rc = address_topic(c->b->prefix, &a, text, &topic);
	}
	if (rc != RC_OK) {
		refuse(lane, m, rc, &err);
		return;
	}
	s = mem_zalloc(sizeof(*s));
	s->lane = lane;
	s->m = m;
	str_copy(topic, s->topic, sizeof(s->topic));
	str_copy(cmd.request_id, s->request_id, sizeof(s->request_id));
	svc_hold(c->b->svc);
	take(lane, s, in.terminal, &cmd);
}

/* ---- start and end ------------------------------------------------------- */

/* The subject with our broker in the place of any. */
static void
listen(struct lane *lane)
{
	const struct bridge *b = lane->c->b;
	struct str rest = str_of(lane->kind->subject), before;
	struct buf subject = BUF_INIT(512);
	enum rc rc;

	before = str_split(&rest, '*');
	buf_put_str(&subject, before);
	buf_puts(&subject, b->broker_token);
	buf_put_str(&subject, rest);
	rc = bus_subscribe(
	    svc_bus(b->svc), subject.p, QUEUE_GROUP, on_command, lane, NULL);
	if (rc != RC_OK)
		log_error(
		    "bridge.subject", LOG_S("subject", subject.p), LOG_RC(rc));
	buf_free(&subject);
}

static struct metric *
count_of(const struct lane *lane, struct str state)
{
	char labels[128];

	(void)snprintf(labels, sizeof(labels), "command=\"%s\",state=\"%.*s\"",
	    wire_topics[lane->kind->row].name, STR_ARG(state));
	return metric_counter(svc_metrics(lane->c->b->svc),
	    "soul_bridge_commands_total",
	    "Commands to bodies, by what became of them.", labels);
}

static void
lane_new(struct commands *c, size_t i)
{
	struct lane *lane = &c->lanes[i];
	size_t k;

	lane->c = c;
	lane->kind = &kinds[i];
	for (k = 0; k < NELEM(lane->states); k++)
		lane->states[k] = count_of(lane, wire_delivery_state_names[k]);
	lane->failed = count_of(lane, STR("error"));
	listen(lane);
}

struct commands *
commands_new(struct bridge *b)
{
	struct commands *c = mem_zalloc(sizeof(*c));
	size_t i;

	c->b = b;
	c->a = arena_new(WIRE_ARENA_MAX);
	TAILQ_INIT(&c->waiting);
	for (i = 0; i < NELEM(kinds); i++)
		lane_new(c, i);
	return c;
}

void
commands_free(struct commands *c)
{
	if (c == NULL)
		return;
	commands_broker_down(c);
	arena_free(c->a);
	free(c);
}
