/*
 * body_action: commands to a soul's terminal are actions of its agent, and the
 * environment's outcomes are results of the terminal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "body/body.h"
#include "bus/bus.h"
#include "core/log.h"
#include "core/mem.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "terminal/terminal_command.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* A command without a deadline is not sent later than this. */
#define STALE_MS    2000
#define LOG_EVERY_S 10
/* Longer outputs are left out of the event; the result has them. */
#define EVENT_OUTPUT_MAX 16384
/* Actions of one command. */
#define INTENTS_MAX 32

/* The actions of an intent_action, until all have outcomes. */
struct body_intents {
	struct bus_msg *m; /* NULL: it is replied to */
	size_t n;          /* without an outcome */
	bool failed;
	char error[BODY_ERROR_MAX + 1];
	char id[ID_MAX + 1];
};

/* ---- pending actions ---- */

static struct body_pending *
pending_find(struct resident *r, struct str id)
{
	struct body_pending *p;

	TAILQ_FOREACH (p, &r->pending, link)
		if (str_eq(str_of(p->id), id))
			return p;
	return NULL;
}

static struct body_pending *
pending_add(struct resident *r, struct str id, struct body_intents *intents)
{
	struct body_pending *p;

	if (r->n_pending >= BODY_ACTIONS_MAX || pending_find(r, id) != NULL)
		return NULL;
	p = mem_zalloc(sizeof(*p));
	str_copy(id, p->id, sizeof(p->id));
	p->until = mono_add_ms(clock_mono(), BODY_OUTCOME_MS);
	p->intents = intents;
	TAILQ_INSERT_TAIL(&r->pending, p, link);
	r->n_pending++;
	if (intents != NULL)
		intents->n++;
	return p;
}

static void
intents_release(struct body_intents *g)
{
	if (--g->n > 0)
		return;
	if (g->m != NULL)
		bus_msg_free(g->m);
	free(g);
}

static void
pending_remove(struct resident *r, struct body_pending *p)
{
	TAILQ_REMOVE(&r->pending, p, link);
	r->n_pending--;
	if (p->intents != NULL)
		intents_release(p->intents);
	free(p);
}

void
body_forget_actions(struct resident *r, bool all)
{
	struct mono now = clock_mono();
	struct body_pending *p, *next;

	for (p = TAILQ_FIRST(&r->pending); p != NULL; p = next) {
		next = TAILQ_NEXT(p, link);
		if (all || mono_diff_ns(p->until, now) <= 0)
			pending_remove(r, p);
	}
}

void
body_on_undelivered(struct resident *r, struct str id)
{
	struct body_pending *p = pending_find(r, id);

	if (p != NULL)
		p->failed = true;
}

/* The earlier of the request's deadline and its Act-By header. */
static struct wall
command_deadline(const struct bus_msg *m)
{
	struct wall end = bus_msg_deadline(m);
	struct str text = bus_msg_header(m, BUS_HEADER_ACT_BY);
	int64_t by;

	if (text.p != NULL) {
		/* Unreadable counts as expired. */
		if (str_to_i64(text, 1, INT64_MAX, &by) != RC_OK)
			by = 1;
		if (end.ms == 0 || by < end.ms)
			end.ms = by;
	}
	if (end.ms == 0)
		end.ms = clock_wall().ms + STALE_MS;
	return end;
}

/* False: it was not put into the environment's queue. */
static bool
action_send(struct resident *r, const struct body_action *act,
    const struct bus_msg *command, struct wall by, struct body_intents *intents)
{
	struct hub *h = r->body->all->h;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct body_pending *p;
	bool sent = false;

	p = body_is_up(r->body) && r->client != NULL
	    ? pending_add(r, act->id, intents)
	    : NULL;
	if (p != NULL) {
		if (!bus_msg_trace(command, &p->trace))
			trace_new(&p->trace);
		body_action_write(
		    r->client->sender, &r->body->identity, act, &b);
		/* Not later by a connection that breaks and comes back. */
		h->deliver_by = command_deadline(command);
		if (by.ms != 0 && by.ms < h->deliver_by.ms)
			h->deliver_by = by;
		sent = buf_rc(&b) == RC_OK && resident_send(r, buf_str(&b)) &&
		    !p->failed;
		h->deliver_by = (struct wall){ 0 };
		if (!sent)
			pending_remove(r, p);
	}
	metric_add(sent ? r->body->all->metrics.actions
			: r->body->all->metrics.undelivered,
	    1);
	buf_free(&b);
	return sent;
}

/* ---- replies ---- */

static void
action_reply(struct bus_msg *m, const struct wire_delivery *d)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc = wire_encode(&wire_delivery_desc, d, &b, NULL);

	rc = rc == RC_OK ? bus_reply(m, buf_str(&b))
			 : bus_reply_error(m, RC_BUG, STR("{}"));
	if (rc != RC_OK)
		log_debug("star.reply_lost", LOG_RC(rc));
	buf_free(&b);
}

static void
action_reply_error(struct bus_msg *m, enum rc rc, const char *why)
{
	const struct wire_error e = { .error = str_of(why),
		.code = str_of(rc_name(rc)) };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	if (wire_encode(&wire_error_desc, &e, &b, NULL) != RC_OK)
		buf_puts(&b, "{}");
	if (bus_reply_error(m, rc, buf_str(&b)) != RC_OK)
		log_debug("star.reply_lost", LOG_RC(rc));
	buf_free(&b);
}

/* Reply, or drop what wants none; m ends. */
static void
action_finish(struct bus_msg *m, struct delivery d, struct str id)
{
	const struct wire_delivery rep = { .state = d.state, .request_id = id };

	if (!bus_msg_wants_reply(m))
		bus_msg_free(m);
	else if (d.rc != RC_OK)
		action_reply_error(m, d.rc, "the command could not be sent");
	else
		action_reply(m, &rep);
}

/* ---- commands ---- */

struct command_run {
	struct resident *r;
	struct bus_msg *m;
	struct arena *a;
	size_t row; /* of wire_topics */
	struct command cmd;
};

/* False: d is the reply. */
static bool
command_may_be_sent(struct command_run *c, bool expects, struct delivery *d)
{
	struct delivery_facts f = { .up = true, .known = RC_OK };
	const struct terminal_expect_result expect = { .request_id =
							   c->cmd.request_id,
		.broker = BODY_BROKER,
		.ttl_ms = c->r->body->all->h->conf->ttl_s * 1000,
		.note = STR("") };

	f.deadlines[0] = command_deadline(c->m);
	f.deadlines[1] = c->cmd.deadline;
	f.present = body_is_up(c->r->body) && resident_holds(c->r);
	f.now = clock_wall();
	if (expects && f.present && !delivery_expired(f.now, f.deadlines)) {
		f.known = terminal_expect_result(c->r->body->all->h->state,
		    str_of(c->r->terminal), &expect, &f.present);
		f.now = clock_wall();
	}
	return delivery_before(&f, d);
}

static void
command_invoke(struct command_run *c)
{
	struct body_action act = { .id = c->cmd.request_id,
		.action = c->cmd.skill };
	struct wire_invoke m;
	struct delivery d;

	/* It was decoded before. */
	if (wire_decode(&wire_invoke_desc, bus_msg_data(c->m), c->a, &m,
		NULL) != RC_OK) {
		action_finish(
		    c->m, (struct delivery){ .rc = RC_INVALID }, act.id);
		return;
	}
	act.parameters = m.arguments;
	if (command_may_be_sent(c, true, &d))
		d = action_send(c->r, &act, c->m, c->cmd.deadline, NULL)
		    ? delivery_after(RC_OK)
		    : delivery_after(RC_DOWN);
	if (d.rc == RC_DOWN)
		d = (struct delivery){ RC_OK, WIRE_DELIVERY_STATE_OFFLINE };
	action_finish(c->m, d, act.id);
}

static void
intents_fail(struct body_intents *g, struct str why)
{
	if (!g->failed)
		str_copy(why, g->error, sizeof(g->error));
	g->failed = true;
}

/* All have outcomes. */
static void
intents_reply(struct body_intents *g)
{
	const struct wire_delivery rep = { .state = g->failed
		    ? WIRE_DELIVERY_STATE_FAILED
		    : WIRE_DELIVERY_STATE_DELIVERED,
		.error = g->failed ? str_of(g->error) : (struct str){ NULL, 0 },
		.request_id = str_of(g->id) };
	struct bus_msg *m = g->m;

	g->m = NULL;
	if (m != NULL)
		action_reply(m, &rep);
}

/* Returns how many were sent. */
static size_t
intents_send(struct command_run *c, const struct wire_intent_action *m,
    struct body_intents *g)
{
	struct body_action act;
	size_t i, sent = 0;

	for (i = 0; i < m->n_intents && i < INTENTS_MAX; i++) {
		act.id = m->n_intents == 1 ? m->request_id
					   : arena_printf(c->a, "%.*s-%zu",
						 STR_ARG(m->request_id), i + 1);
		if (act.id.n > ID_MAX ||
		    body_intent_read(m->intents[i].normalized, c->a, &act) !=
			RC_OK)
			intents_fail(g, STR("the intent names no skill"));
		else if (action_send(c->r, &act, c->m, c->cmd.deadline, g))
			sent++;
		else
			intents_fail(g, STR("the action was not delivered"));
	}
	return sent;
}

static void
command_intents(struct command_run *c)
{
	struct wire_intent_action m;
	struct body_intents *g;
	struct delivery d;

	if (wire_decode(&wire_intent_action_desc, bus_msg_data(c->m), c->a, &m,
		NULL) != RC_OK) {
		d = (struct delivery){ .rc = RC_INVALID };
		action_finish(c->m, d, c->cmd.request_id);
		return;
	}
	if (!command_may_be_sent(c, false, &d)) {
		action_finish(c->m, d, m.request_id);
		return;
	}
	g = mem_zalloc(sizeof(*g));
	str_copy(m.request_id, g->id, sizeof(g->id));
	g->m = c->m;
	g->n = 1; /* until all are sent */
	if (intents_send(c, &m, g) == 0) {
		d = (struct delivery){ RC_OK, WIRE_DELIVERY_STATE_OFFLINE };
		g->m = NULL;
		action_finish(c->m, d, m.request_id);
	}
	/* All outcomes may have come meanwhile. */
	if (g->n == 1)
		intents_reply(g);
	intents_release(g);
}

/* What is published to the terminal is an event. */
static void
command_event(struct command_run *c)
{
	char id[ID_UUID_MAX];
	struct body_event e = { .to = &c->r->body->identity,
		.event = str_of(wire_topics[c->row].name) };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct delivery d;

	if (command_may_be_sent(c, false, &d) && c->r->client != NULL) {
		id_uuid(id);
		e.id = str_of(id);
		e.sender = c->r->client->sender;
		body_event_begin(&e, &b);
		buf_put_str(&b, c->cmd.payload);
		body_event_end(&b);
		if (buf_rc(&b) == RC_OK)
			(void)resident_send(c->r, buf_str(&b));
	}
	buf_free(&b);
	bus_msg_free(c->m);
}

static void
command_reject(struct command_run *c, enum rc rc, const struct wire_err *err)
{
	static struct log_rate rate;
	char text[WIRE_ERR_TEXT_MAX];
	int64_t missed;

	wire_err_text(err, text, sizeof(text));
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("star.command",
		    LOG_V("subject", bus_msg_subject(c->m)), LOG_S("why", text),
		    LOG_I("missed", missed));
	if (bus_msg_wants_reply(c->m))
		action_reply_error(c->m, rc, text);
	else
		bus_msg_free(c->m);
}

/* Commands to all terminals, by broker and terminal. */
static const struct {
	const char *subject;
	size_t row; /* of wire_topics */
} command_kinds[BODY_COMMANDS] = {
	{ WIRE_SUBJECT_ALL_BODY_INVOKE, WIRE_TOPIC_INVOKE },
	{ WIRE_SUBJECT_ALL_BODY_INTENT_ACTION, WIRE_TOPIC_INTENT_ACTION },
	{ WIRE_SUBJECT_ALL_BODY_EMOTION_UPDATE, WIRE_TOPIC_EMOTION_UPDATE },
	{ WIRE_SUBJECT_ALL_BODY_STATUS, WIRE_TOPIC_STATUS },
};

/* A subject with a broker and a terminal in place of its wildcards. */
static void
command_subject(const char *all, struct str terminal, struct buf *out)
{
	struct str rest = str_of(all);

	buf_put_str(out, str_split(&rest, '*'));
	buf_put_str(out, BODY_BROKER);
	buf_put_str(out, str_split(&rest, '*'));
	buf_put_str(out, terminal);
	buf_put_str(out, rest);
}

/* SIZE_MAX: it is none. */
static size_t
command_row(struct str subject)
{
	struct str rest;
	size_t i;

	for (i = 0; i < NELEM(command_kinds); i++) {
		/* What follows the terminal. */
		rest = str_of(command_kinds[i].subject);
		(void)str_split(&rest, '*');
		(void)str_split(&rest, '*');
		if (str_ends(subject, rest))
			return command_kinds[i].row;
	}
	return SIZE_MAX;
}

static void
command_handle(struct command_run *c)
{
	struct wire_err err = { "", "the subject names no command" };
	struct command_input in = { .row = c->row,
		.terminal = str_of(c->r->terminal),
		.text = bus_msg_data(c->m),
		.now = clock_wall() };
	enum rc rc = RC_INVALID;

	if (c->row != SIZE_MAX)
		rc = command_read(&in, c->a, &c->cmd, &err);
	if (rc != RC_OK)
		command_reject(c, rc, &err);
	else if (c->row == WIRE_TOPIC_INVOKE)
		command_invoke(c);
	else if (c->row == WIRE_TOPIC_INTENT_ACTION)
		command_intents(c);
	else
		command_event(c);
}

/* A command on its way into a fiber. */
struct command_msg {
	struct resident *r;
	struct bus_msg *m;
};

static void
command_run(void *arg)
{
	struct command_msg in = *(struct command_msg *)arg;
	struct command_run c = { .r = in.r, .m = in.m };

	resident_hold(c.r);
	c.a = arena_new(WIRE_ARENA_MAX);
	c.row = command_row(bus_msg_subject(c.m));
	command_handle(&c);
	arena_free(c.a);
	resident_release(c.r);
}

static void
command_receive(void *arg, struct bus_msg *m)
{
	struct command_msg in = { arg, m };

	fiber_start(command_run, &in);
}

void
body_subscribe(struct resident *r)
{
	struct buf subject = BUF_INIT(512);
	char token[ID_TOKEN_MAX];
	enum rc rc = id_token(str_of(r->terminal), token);
	size_t i;

	for (i = 0; rc == RC_OK && i < BODY_COMMANDS; i++) {
		buf_reset(&subject);
		command_subject(
		    command_kinds[i].subject, str_of(token), &subject);
		rc = bus_subscribe(r->body->all->h->bus, subject.p, NULL,
		    command_receive, r, &r->commands[i]);
	}
	buf_free(&subject);
	if (rc != RC_OK)
		log_error(
		    "star.subject", LOG_S("terminal", r->terminal), LOG_RC(rc));
}

void
body_unsubscribe(struct resident *r)
{
	size_t i;

	for (i = 0; i < BODY_COMMANDS; i++) {
		bus_unsubscribe(r->commands[i]);
		r->commands[i] = NULL;
	}
}

/* ---- outcomes ---- */

/* The result of the terminal, as bodies publish theirs. */
static void
outcome_publish(struct resident *r, struct str id, struct str result,
    const struct trace *trace)
{
	const struct bus_meta meta = { .trace = trace };
	char terminal[ID_TOKEN_MAX], request[ID_TOKEN_MAX];
	char subject[2 * ID_TOKEN_MAX + 32];
	enum rc rc = id_token(str_of(r->terminal), terminal);

	if (rc == RC_OK)
		rc = id_token(id, request);
	if (rc == RC_OK) {
		(void)snprintf(subject, sizeof(subject),
		    WIRE_SUBJECT_FMT_BODY_RESULT, terminal, request);
		rc = bus_publish(r->body->all->h->bus, subject, result, &meta);
	}
	/* It is stored, too, where the orchestrator looks for it. */
	if (rc != RC_OK)
		log_info(
		    "star.result_not_sent", LOG_V("request", id), LOG_RC(rc));
}

static void
outcome_event(
    struct resident *r, const struct wire_result *m, const struct trace *trace)
{
	const struct wire_invoke_result res = { .request_id = m->request_id,
		.terminal_id = str_of(r->terminal),
		.outcome = m->ok ? WIRE_INVOKE_RESULT_OUTCOME_OK
				 : WIRE_INVOKE_RESULT_OUTCOME_ERROR,
		.output = m->output.n <= EVENT_OUTPUT_MAX
		    ? m->output
		    : (struct str){ NULL, 0 },
		.error = m->error };
	const struct svc_event e = { .type = WIRE_EVENT_INVOKE_RESULT,
		.key = res.terminal_id,
		.desc = &wire_invoke_result_desc,
		.payload = &res,
		.trace = trace,
		.id = m->request_id };

	if (svc_event_send(r->body->all->h->svc, &e) != RC_OK)
		log_info("star.event_lost", LOG_S("type", e.type));
}

static void
outcome_of_invoke(struct resident *r, struct body_pending *p,
    const struct wire_result *m, struct arena *a)
{
	struct terminal_result v = { .id = str_of(r->terminal),
		.request_id = m->request_id };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	bool known = p != NULL;
	struct trace trace;
	enum rc rc = wire_encode(&wire_result_desc, m, &b, NULL);

	v.json = buf_str(&b);
	trace_new(&trace);
	if (known) {
		trace = p->trace;
		pending_remove(r, p);
	}
	/* The first one counts; another hub may have sent the action. */
	if (rc == RC_OK && known)
		outcome_publish(r, m->request_id, v.json, &trace);
	if (rc == RC_OK)
		rc = terminal_put_results(r->body->all->h->state, &v, 1, a);
	if (rc == RC_OK && v.rc == RC_OK && v.first && !known)
		outcome_publish(r, m->request_id, v.json, &trace);
	if (known || (rc == RC_OK && v.rc == RC_OK && v.first))
		outcome_event(r, m, &trace);
	if (rc != RC_OK)
		log_info("star.result_not_stored",
		    LOG_V("request", m->request_id), LOG_RC(rc));
	buf_free(&b);
}

static void
outcome_of_intent(
    struct resident *r, struct body_pending *p, const struct body_outcome *o)
{
	struct body_intents *g = p->intents;

	if (!o->ok)
		intents_fail(g, o->error);
	/* The last one, unless they are still being sent. */
	if (g->n == 1)
		intents_reply(g);
	pending_remove(r, p);
}

void
body_on_outcome(struct resident *r, const struct body_payload *payload)
{
	struct body_pending *p;
	struct body_outcome o;
	struct wire_result m;
	struct arena *a;

	if (!id_valid(payload->id))
		return;
	a = arena_new(WIRE_ARENA_MAX);
	body_outcome_read(payload->outcome, a, &o);
	m = (struct wire_result){ .request_id = payload->id,
		.ok = o.ok,
		.output = o.output,
		.error = o.error };
	metric_add(r->body->all->metrics.outcomes, 1);
	p = pending_find(r, payload->id);
	if (p != NULL && p->intents != NULL)
		outcome_of_intent(r, p, &o);
	else
		outcome_of_invoke(r, p, &m, a);
	arena_free(a);
}
