/*
 * dialogue: what is said to a soul in an environment starts a turn, as a chat
 * does; the sender is a guest of the soul, and gets its reply as an event.
 *
 * A sender has one turn at a time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "body/body.h"
#include "bus/bus.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/trace.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* A turn is lost after so long without a message of its orchestrator. */
#define SILENCE_MS 6000
/* Characters of a text, as the schema of chats has them. */
#define TEXT_MAX 16384
/* Turns that events of the environment may start. */
#define ATTENTION_PER_MINUTE 6
#define MINUTE_NS            INT64_C(60000000000)
/* Senders without a turn are forgotten when there are this many. */
#define ARENA_BYTES (64UL * 1024)

/* Something that was said, and waits for its turn. */
struct utterance {
	struct utterance *next;
	struct trace trace; /* of its turn */
	char *id;           /* of the payload; empty: none */
	char text[];
};

/* Who talks to the soul. */
struct sender {
	struct dialogue *dialogue;
	char user[ID_MAX + 1];
	struct identity identity; /* strings are in id and env */
	char id[STAR_ID_BYTES + 1], env[STAR_ID_BYTES + 1];
	struct utterance *first, **last;
	size_t n;
	uint64_t seen; /* seq of the newest observation in a turn */
	/* The turn that runs, of the first utterance. */
	bool busy;
	char turn_id[48];
	struct trace trace;
	uint64_t request; /* 0: none */
	struct loop_timer silence;
};

struct dialogue {
	struct resident *r;
	struct map *senders; /* struct sender by user */
};

/* Why there is no reply. */
struct dialogue_error {
	const char *code;
	struct str text;
};

static void sender_next(struct sender *s);

static struct hub *
dialogue_hub(const struct dialogue *d)
{
	return d->r->body->all->h;
}

/* ---- senders ---- */

static void
sender_free(struct sender *s)
{
	struct hub *h = dialogue_hub(s->dialogue);
	struct utterance *u;

	loop_timer_cancel(h->loop, &s->silence);
	while ((u = s->first) != NULL) {
		s->first = u->next;
		free(u);
	}
	free(s);
}

/* Forget one that has no turn; false: there is none. */
static bool
dialogue_forget_idle(struct dialogue *d)
{
	struct str key;
	struct sender *s;
	size_t pos = 0;

	while ((s = map_next(d->senders, &pos, &key)) != NULL) {
		if (s->busy || s->n > 0)
			continue;
		(void)map_del(d->senders, key);
		sender_free(s);
		return true;
	}
	return false;
}

static struct sender *
dialogue_sender(struct dialogue *d, const struct identity *from)
{
	char user[ID_MAX + 1];
	struct str key = body_guest(from, user);
	struct sender *s = map_get(d->senders, key);

	if (s != NULL)
		return s;
	if (map_len(d->senders) >= BODY_SENDERS_MAX && !dialogue_forget_idle(d))
		return NULL;
	s = mem_zalloc(sizeof(*s));
	s->dialogue = d;
	s->last = &s->first;
	str_copy(key, s->user, sizeof(s->user));
	str_copy(from->id, s->id, sizeof(s->id));
	str_copy(from->env, s->env, sizeof(s->env));
	s->identity = (struct identity){ .class = from->class,
		.tenant = d->r->body->identity.tenant,
		.env = str_of(s->env),
		.id = str_of(s->id) };
	(void)map_put(d->senders, str_of(s->user), s);
	return s;
}

struct dialogue *
dialogue_new(struct resident *r)
{
	struct dialogue *d = mem_zalloc(sizeof(*d));

	d->r = r;
	d->senders = map_new();
	return d;
}

void
dialogue_free(struct dialogue *d)
{
	struct sender *s;
	struct str key;
	size_t pos = 0;

	if (d == NULL)
		return;
	while ((s = map_next(d->senders, &pos, &key)) != NULL) {
		(void)map_del(d->senders, key);
		sender_free(s);
	}
	map_free(d->senders);
	free(d);
}

/* ---- replies ---- */

static void
reply_put_text(struct wire_out *o, const char *key, struct str value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value);
}

static void
reply_put_skills(struct wire_out *o, const struct wire_chat_response *c)
{
	size_t i;

	wire_out_key(o, STR("executed_skills"));
	wire_out_array(o);
	for (i = 0; i < c->n_executed_skills; i++)
		wire_out_str(o, c->executed_skills[i]);
	wire_out_array_end(o);
	wire_out_key(o, STR("failed_skills"));
	wire_out_array(o);
	for (i = 0; i < c->n_failed_skills; i++) {
		wire_out_object(o);
		reply_put_text(o, "skill", c->failed_skills[i].skill);
		reply_put_text(o, "error", c->failed_skills[i].error);
		wire_out_object_end(o);
	}
	wire_out_array_end(o);
}

/* An event to the sender: c, or else e. */
static void
reply_send(const struct sender *s, struct str to_id,
    const struct wire_chat_response *c, const struct dialogue_error *e)
{
	struct resident *r = s->dialogue->r;
	char id[ID_UUID_MAX];
	struct body_event ev = { .to = &s->identity, .event = STR("dialogue") };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };

	if (r->client == NULL)
		return;
	id_uuid(id);
	ev.id = str_of(id);
	ev.sender = r->client->sender;
	body_event_begin(&ev, &b);
	wire_out_object(&o);
	reply_put_text(&o, "text", c != NULL ? c->reply : e->text);
	reply_put_text(&o, "in_reply_to", to_id);
	if (c != NULL) {
		reply_put_text(&o, "turn_id", c->turn_id);
		reply_put_skills(&o, c);
	} else {
		wire_out_key(&o, STR("error"));
		wire_out_object(&o);
		reply_put_text(&o, "code", str_of(e->code));
		reply_put_text(&o, "message", e->text);
		wire_out_object_end(&o);
	}
	wire_out_object_end(&o);
	body_event_end(&b);
	if (buf_rc(&b) != RC_OK || !resident_send(r, buf_str(&b)))
		log_info("star.reply_not_sent", LOG_S("terminal", r->terminal));
	buf_free(&b);
}

/* ---- one turn ---- */

/* The turn has ended, as c or e says. */
static void
turn_end(struct sender *s, const struct wire_chat_response *c,
    const struct dialogue_error *e)
{
	struct resident *r = s->dialogue->r;
	struct hub *h = dialogue_hub(s->dialogue);
	struct utterance *u = s->first;

	loop_timer_cancel(h->loop, &s->silence);
	if (s->request != 0)
		bus_request_cancel(h->bus, s->request);
	s->request = 0;
	s->busy = false;
	if (c == NULL)
		metric_add(r->body->all->metrics.failed, 1);
	reply_send(s, str_of(u->id), c, e);
	s->first = u->next;
	if (s->first == NULL)
		s->last = &s->first;
	s->n--;
	free(u);
	sender_next(s);
	resident_release(r);
}

static void
turn_fail(struct sender *s, const char *code, struct str text)
{
	const struct dialogue_error e = { code, text };

	turn_end(s, NULL, &e);
}

static void
turn_lose(struct sender *s)
{
	turn_fail(s, "turn_lost",
	    STR("the turn was lost: what was asked for may have been done, or "
		"not"));
}

static void
turn_on_silence(void *arg)
{
	turn_lose(arg);
}

static void
turn_wait(struct sender *s)
{
	loop_timer_set(dialogue_hub(s->dialogue)->loop, &s->silence,
	    mono_add_ms(clock_mono(), SILENCE_MS), turn_on_silence, s);
}

static void
turn_take_reply(struct sender *s, const struct wire_turn_reply *rep)
{
	switch (rep->state) {
	case WIRE_TURN_REPLY_STATE_ACCEPTED:
	case WIRE_TURN_REPLY_STATE_RUNNING:
		turn_wait(s);
		break;
	case WIRE_TURN_REPLY_STATE_COMPLETED:
		if (rep->has_response)
			turn_end(s, &rep->response, NULL);
		else
			turn_lose(s);
		break;
	case WIRE_TURN_REPLY_STATE_CANCELED:
		turn_fail(s, "canceled", STR("the turn was canceled"));
		break;
	case WIRE_TURN_REPLY_STATE_FAILED:
		turn_fail(s, "turn_failed",
		    rep->has_error && rep->error.error.n > 0
			? rep->error.error
			: STR("the turn failed"));
		break;
	case WIRE_TURN_REPLY_STATE_REPEATED:
		turn_lose(s);
		break;
	}
}

/* The turn did not start, or its outcome is not known. */
static void
turn_take_error(struct sender *s, enum rc rc, struct str data, struct arena *a)
{
	struct wire_error e = { 0 };

	if (rc == RC_NOENT && data.n == 0) {
		turn_fail(s, "unavailable",
		    STR("no llm-orchestrator is running; try again"));
		return;
	}
	if (data.n == 0) {
		turn_lose(s);
		return;
	}
	if (wire_decode(&wire_error_desc, data, a, &e, NULL) != RC_OK)
		e.error = STR("the turn failed");
	turn_fail(s, rc_name(rc), e.error);
}

static void
turn_on_reply(void *arg, enum rc rc, struct str data)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct sender *s = arg;
	struct wire_turn_reply rep;

	if (rc != RC_OK) {
		/* It has ended. */
		s->request = 0;
		turn_take_error(s, rc, data, a);
	} else if (wire_decode(&wire_turn_reply_desc, data, a, &rep, NULL) ==
	    RC_OK) {
		turn_take_reply(s, &rep);
	} else {
		turn_lose(s);
	}
	arena_free(a);
}

/* Observations that the sender's turns have not had, the newest first. */
static size_t
turn_put_observations(struct sender *s, struct arena *a,
    struct wire_chat_request_inputs in[OBSERVATION_MAX])
{
	const struct observations *all = &s->dialogue->r->observations;
	size_t omitted = observation_omitted(all, s->seen), n;
	const struct observation *v;

	for (n = 0; (v = observation_newest(all, s->seen, n)) != NULL; n++) {
		in[n].type = WIRE_CHAT_REQUEST_INPUTS_TYPE_EVENT_NOTE;
		in[n].source = STR("environment");
		in[n].text = n == 0 && omitted > 0
		    ? arena_printf(a, "%s (%zu more omitted)", v->text, omitted)
		    : str_of(v->text);
	}
	s->seen = all->seq;
	return n;
}

static enum rc
turn_send(struct sender *s, struct arena *a)
{
	struct resident *r = s->dialogue->r;
	struct hub *h = dialogue_hub(s->dialogue);
	struct wire_chat_request_inputs in[OBSERVATION_MAX + 1] = { 0 };
	struct wire_turn_start_request m = { .turn_id = str_of(s->turn_id),
		.user_id = str_of(s->user),
		.owner_id = str_of(r->user),
		.chat = { .session_id = str_of(r->terminal),
		    .terminal_id = str_of(r->terminal),
		    .soul_id = str_of(r->soul),
		    .user_id = str_of(s->user),
		    .inputs = in } };
	struct bus_meta meta = { .deadline = { clock_wall().ms +
				     WIRE_DEADLINE_MS_TURN_START },
		.trace = &s->trace };
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	char now[WALL_FORMAT_MAX];
	size_t n = turn_put_observations(s, a, in);
	enum rc rc;

	wall_format(clock_wall(), 0, now);
	m.received_at = str_of(now);
	in[n].type = WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT;
	in[n].source = STR("star");
	in[n].text = str_of(s->first->text);
	m.chat.n_inputs = n + 1;
	rc = wire_encode(&wire_turn_start_request_desc, &m, &b, NULL);
	if (rc == RC_OK)
		rc = bus_request(h->bus, WIRE_SUBJECT_TURN_START, buf_str(&b),
		    &meta,
		    (struct bus_reply_handler){
			.fn = turn_on_reply, .arg = s, .many = true },
		    &s->request);
	buf_free(&b);
	return rc;
}

/* The guest must know the soul before. */
static void
turn_start(void *arg)
{
	struct sender *s = arg;
	struct resident *r = s->dialogue->r;
	struct arena *a = arena_new(ARENA_BYTES);
	char hex[ID_HEX32_MAX];
	enum rc rc;

	rc = star_guest_enter(dialogue_hub(s->dialogue)->state, str_of(r->user),
	    str_of(r->soul), str_of(s->user));
	s->trace = s->first->trace;
	id_hex32(hex);
	(void)snprintf(s->turn_id, sizeof(s->turn_id), "turn_%s", hex);
	metric_add(r->body->all->metrics.turns, 1);
	if (rc == RC_NOENT)
		turn_fail(s, rc_name(rc), STR("the soul does not exist"));
	else if (rc != RC_OK)
		turn_fail(s, rc_name(rc),
		    STR("the state cannot be reached now; try again"));
	else if ((rc = turn_send(s, a)) != RC_OK)
		turn_fail(s, rc_name(rc),
		    STR("the message bus cannot be reached now; try again"));
	else
		turn_wait(s);
	arena_free(a);
}

static void
sender_next(struct sender *s)
{
	if (s->busy || s->first == NULL)
		return;
	s->busy = true;
	/* Until turn_end(). */
	resident_hold(s->dialogue->r);
	fiber_start(turn_start, s);
}

/* ---- what is said ---- */

static void
sender_add(
    struct sender *s, struct str id, struct str text, const struct trace *trace)
{
	struct utterance *u = mem_zalloc(sizeof(*u) + text.n + id.n + 2);

	if (trace != NULL)
		u->trace = *trace;
	else
		trace_new(&u->trace);
	str_copy(text, u->text, text.n + 1);
	u->id = u->text + text.n + 1;
	str_copy(id, u->id, id.n + 1);
	*s->last = u;
	s->last = &u->next;
	s->n++;
	sender_next(s);
}

static void
sender_receive(
    struct sender *s, struct str id, struct str text, const struct trace *trace)
{
	struct dialogue_error e = { "invalid_request", { NULL, 0 } };
	ptrdiff_t chars = str_utf8_count(text);

	if (text.n == 0)
		e.text = STR("there is no text: payload.data.text is missing");
	else if (chars < 0 || chars > TEXT_MAX)
		e.text = STR("the text is longer than 16384 characters");
	else if (s->n >= BODY_QUEUE_MAX + 1)
		e = (struct dialogue_error){ "overloaded",
			STR("too many of your messages are waiting; try "
			    "again") };
	if (e.text.p != NULL)
		reply_send(s, id, NULL, &e);
	else
		sender_add(s, id, text, trace);
}

/* An event of the environment that wants a reply. */
static void
dialogue_attend(struct dialogue *d, const struct identity *from,
    const struct body_payload *p, const struct trace *trace, struct arena *a)
{
	const struct throttle_limit limit = { MINUTE_NS / ATTENTION_PER_MINUTE,
		MINUTE_NS };
	struct sender *s = dialogue_sender(d, from);
	struct str text;

	if (s == NULL ||
	    throttle_take(&d->r->attention, &limit, 1, clock_mono()) > 0)
		return;
	text = p->user_text.n > 0
	    ? arena_printf(
		  a, "[%.*s] %.*s", STR_ARG(p->event), STR_ARG(p->user_text))
	    : arena_printf(
		  a, "[%.*s] %.*s", STR_ARG(p->event), STR_ARG(p->data));
	if (s->n < BODY_QUEUE_MAX + 1 && text.p != NULL)
		sender_receive(s, p->id, text, trace);
}

void
dialogue_receive(struct dialogue *d, const struct identity *from,
    const struct body_payload *p, const struct trace *trace)
{
	bool is_dialogue =
	    str_eq(p->type, STR("event")) && str_eq(p->event, STR("dialogue"));
	struct arena *a;
	struct sender *s;

	if (d->r->ended)
		return;
	if (!is_dialogue && p->attention && from->class == CLASS_ENVIRONMENT) {
		a = arena_new(WIRE_ARENA_MAX);
		dialogue_attend(d, from, p, trace, a);
		arena_free(a);
		return;
	}
	/* Two souls would talk for ever. */
	if ((!is_dialogue && from->class != CLASS_HUMAN) ||
	    (p->is_reply && from->class == CLASS_AGENT))
		return;
	s = dialogue_sender(d, from);
	if (s != NULL)
		sender_receive(s, p->id, p->user_text, trace);
}
