#include "turn/unasked.h"

#include "context.h"
#include "core/log.h"
#include "core/mem.h"
#include "fcmp/fcmp_write.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "reply/reply_stream.h"
#include "state/turn.h"
#include "tools/intent_route.h"
#include "tools/tool_catalog.h"
#include "turn/turn_runner.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define SKILL_SPEAK "speak"
#define DETAIL_MAX  1024
/* Bytes of a label that a body shows while it rings. */
#define LABEL_MAX 120

/* ---- what it is to do ---- */

/* {"member": text}, after before, which ends with the member's name. */
static struct str
unasked_object(
    const char *before, struct str text, const char *after, struct arena *a)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	struct str s = { NULL, 0 };

	buf_puts(&b, before);
	wire_out_str(&o, text);
	buf_puts(&b, after);
	if (buf_rc(&b) == RC_OK)
		s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* Skills of a body that cannot speak, in the order of preference. */
static const struct {
	const char *skill, *before, *after;
} unasked_rings[] = {
	{ "create_alarm", "{\"trigger_in_seconds\":1,\"label\":", "}" },
	{ "alert",
	    "{\"status\":\"提醒\",\"emotion\":\"neutral\",\"message\":", "}" },
};

static void
unasked_take_tool(struct turn_call *c, const struct tool *tool, bool urgent)
{
	c->skill = tool->skill;
	c->label = tool->label;
	c->tool = tool->name;
	c->safety = tool->safety || urgent;
}

/* A body without speak rings by what else it has. */
static void
unasked_take_ring(
    struct turn_call *c, const struct unasked_plan *p, struct arena *a)
{
	const struct wire_turn_start_request_unasked *u = &p->req->unasked;
	struct str label = reply_clean(u->text, LABEL_MAX, a);
	struct wire_err err;

	for (size_t i = 0; u->ring && i < NELEM(unasked_rings); i++) {
		struct tool *tool = tool_catalog_by_skill(
		    p->tools, str_of(unasked_rings[i].skill));
		struct str json;

		if (tool == NULL)
			continue;
		json = unasked_object(
		    unasked_rings[i].before, label, unasked_rings[i].after, a);
		if (json.p == NULL ||
		    tool_arguments(tool, json, a, &c->args, &err) != RC_OK)
			continue;
		unasked_take_tool(c, tool, u->urgent);
		return;
	}
	c->outcome = TURN_UNKNOWN;
}

static void
unasked_take_speech(
    struct turn_call *c, const struct unasked_plan *p, struct arena *a)
{
	struct tool *tool = tool_catalog_by_skill(p->tools, STR(SKILL_SPEAK));

	c->skill = c->label = STR(SKILL_SPEAK);
	if (tool == NULL) {
		unasked_take_ring(c, p, a);
		return;
	}
	unasked_take_tool(c, tool, p->req->unasked.urgent);
	c->speech = true;
	c->args = STR("{}");
}

static void
unasked_take_intent(struct turn_call *c, const struct unasked_plan *p,
    const struct wire_alarm_action_intents *in, struct arena *a)
{
	struct wire_err err;
	struct str args;

	intent_route_split(in->normalized, a, &c->skill, &args);
	if (c->skill.n == 0)
		c->skill = in->intent_id;
	c->label = in->intent_name.n > 0 ? in->intent_name : c->skill;
	struct tool *tool = tool_catalog_by_skill(p->tools, c->skill);
	if (tool == NULL) {
		c->outcome = TURN_UNKNOWN;
		return;
	}
	unasked_take_tool(c, tool, p->req->unasked.urgent);
	if (in->intent_name.n > 0)
		c->label = in->intent_name;
	if (tool_arguments(tool, args, a, &c->args, &err) != RC_OK) {
		c->outcome = TURN_INVALID;
		c->why = arena_printf(a, "%s: %s", err.path, err.why);
	}
}

enum rc
unasked_calls(const struct unasked_plan *p, struct arena *a,
    struct turn_call **calls, size_t *n)
{
	const struct wire_turn_start_request_unasked *u = &p->req->unasked;

	*n = u->has_action ? u->action.n_intents : 1;
	*calls = arena_alloc(a, *n * sizeof(**calls));
	if (*calls == NULL)
		return RC_TOOBIG;
	for (size_t i = 0; i < *n; i++) {
		struct turn_call *c = &(*calls)[i];

		*c = (struct turn_call){ .kind = TURN_INVOKE,
			.args = STR("{}"),
			.call_id = STR("unasked"),
			.request_id = u->request_id };
		if (i > 0)
			c->request_id = arena_printf(
			    a, "%.*s-%zu", STR_ARG(u->request_id), i);
		if (c->request_id.p == NULL)
			return RC_TOOBIG;
		if (p->tools == NULL)
			c->skill = c->label = STR(SKILL_SPEAK);
		else if (u->has_action)
			unasked_take_intent(c, p, &u->action.intents[i], a);
		else
			unasked_take_speech(c, p, a);
		if (!p->bound || !p->present)
			c->outcome = TURN_OFFLINE;
		if (!p->bound)
			c->why = STR("the body is not bound to this user "
				     "and soul");
	}
	return RC_OK;
}

/* ---- what has become of it ---- */

bool
unasked_is_confirmed(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++)
		if (t->calls[i].outcome != TURN_OK)
			return false;
	return t->n_calls > 0;
}

static enum wire_turn_reply_unasked_outcome
unasked_failure(enum turn_outcome outcome)
{
	switch (outcome) {
	case TURN_OFFLINE:
	case TURN_NO_SUBSCRIBER:
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_NO_BODY;
	case TURN_UNKNOWN:
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_NO_SKILL;
	case TURN_BLOCKED:
	case TURN_GATE_UNKNOWN:
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_BLOCKED;
	case TURN_ERROR:
	case TURN_NOT_CONFIRMED:
	case TURN_SKIPPED:
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_NOT_CONFIRMED;
	default:
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_FAILED;
	}
}

enum wire_turn_reply_unasked_outcome
unasked_outcome(const struct turn *t, struct str *detail, struct arena *a)
{
	*detail = (struct str){ NULL, 0 };
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];

		if (c->outcome == TURN_OK)
			continue;
		*detail = reply_clean(reply_error_text(c, a), DETAIL_MAX, a);
		return unasked_failure(c->outcome);
	}
	if (t->n_calls == 0)
		return WIRE_TURN_REPLY_UNASKED_OUTCOME_FAILED;
	/* A body that rang has said what it was to say. */
	return t->has_text ? WIRE_TURN_REPLY_UNASKED_OUTCOME_SPOKEN
			   : WIRE_TURN_REPLY_UNASKED_OUTCOME_DONE;
}

void
unasked_put_reply(const struct turn_run *r, struct wire_turn_reply *rep)
{
	struct str detail;

	rep->has_unasked = true;
	rep->unasked.outcome = unasked_outcome(&r->turn, &detail, r->a);
	rep->unasked.detail = detail;
	rep->unasked.text = r->turn.text;
	if (r->facts.soul_id.p == NULL) {
		rep->has_response = false;
		rep->response = (struct wire_chat_response){ 0 };
	}
}

enum rc
unasked_compose(struct turn_run *r)
{
	if (r->reply.p != NULL)
		return RC_OK;
	if (!unasked_is_confirmed(&r->turn))
		r->reply = STR("");
	else if (r->turn.has_text)
		r->reply = reply_clean(r->turn.text, REPLY_MAX, r->a);
	else
		return reply_compose(&r->turn, false, r->a, &r->reply);
	return r->reply.p != NULL ? RC_OK : RC_TOOBIG;
}

enum rc
unasked_announce(struct turn_run *r)
{
	const struct wire_turn_start_request_unasked *u = &r->req->unasked;
	const struct turn_input in = { r->facts.soul_id,
		turn_chat(r)->terminal_id, r->o->conf->idle_s * 1000 };
	struct str title = u->title.n > 0
	    ? u->title
	    : wire_turn_start_request_unasked_reason_names[u->reason];
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	char now[WALL_FORMAT_MAX];
	struct fcmp_head head = reply_stream_head(r, now);
	struct turn_events events = { .json = &r->first_event, .n = 1 };

	if (r->announced)
		return RC_OK;
	fcmp_started(&head, title, WIRE_CHAT_EVENT_DATA_MODE_INTERACTIVE, &b);
	r->first_event = arena_str(r->a, buf_str(&b));
	buf_free(&b);
	if (r->first_event.p == NULL)
		return RC_TOOBIG;
	enum rc rc = turn_resume_input(r->o->state, &r->slot, &in, &events);
	r->announced = rc == RC_OK;
	if (rc == RC_OK && events.followed)
		reply_stream_publish(r->o, &r->slot, &events);
	return rc;
}

/* ---- attempts ---- */

struct turn_error
unasked_error(const struct wire_turn_start_request *req)
{
	struct turn_error error = { 400, "invalid_request", NULL };

	if (req->has_unasked && req->chat.stream)
		error.text = "/chat/stream: an unasked turn has no stream";
	else if (req->has_unasked && req->has_interaction)
		error.text = "/interaction: an unasked turn replies to nothing";
	else if (req->has_unasked && !req->unasked.has_action &&
	    str_trim(req->unasked.text).n == 0)
		error.text = "/unasked/text: is blank";
	return error.text != NULL ? error : (struct turn_error){ 0 };
}

/* One that was lost does not count, but the attempt after it does. */
void
unasked_fingerprint(const struct turn_run *r, struct buf *b)
{
	buf_puts(b, "unasked ");
	buf_put_str(b, turn_chat(r)->terminal_id);
	buf_putc(b, ' ');
	buf_put_str(b, r->req->unasked.request_id);
	buf_putc(b, ' ');
	buf_put_str(b, r->lost);
}

enum rc
unasked_ended_before(struct turn_run *r, struct str first, bool *ended,
    struct wire_turn_reply *out)
{
	struct turn_record rec;

	*ended = false;
	enum rc rc =
	    turn_record_read(r->o->state, r->req->user_id, first, r->a, &rec);
	if (rc != RC_OK)
		return rc;
	if (!rec.known || rec.state == TURN_STATE_LOST)
		return RC_NOENT;
	if (rec.state != TURN_STATE_ENDED)
		return RC_OK;
	*ended = wire_decode(&wire_turn_reply_desc, rec.reply, r->a, out,
		     NULL) == RC_OK &&
	    out->has_unasked;
	if (*ended)
		out->turn_id = r->slot.turn_id;
	return RC_OK;
}

/* ---- actions ---- */

static void
unasked_on_gate(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	const struct wire_emotion_gate_reply *rep = msg;
	struct turn_event e = { .kind = TURN_EMOTION_REPLY,
		.known = rc == RC_OK };

	(void)call;
	if (rc == RC_OK)
		e.mode = rep->exec_mode;
	turn_feed(r, &e);
}

enum rc
unasked_check_gate(struct turn_run *r, const struct turn_action *a)
{
	struct wire_emotion_gate_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id };

	(void)a;
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = WIRE_SUBJECT_EMOTION_GATE,
		.request = &wire_emotion_gate_request_desc,
		.msg = &m,
		.reply = &wire_emotion_gate_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_EMOTION_GATE,
		.fn = unasked_on_gate });
	return RC_OK;
}

static enum rc
unasked_put_speech(
    struct turn_run *r, struct turn_call *c, struct wire_err *err)
{
	struct tool *tool = tool_catalog_by_skill(r->facts.tools, c->skill);
	struct str json = unasked_object("{\"text\":", r->turn.text, "}", r->a);

	if (tool == NULL || json.p == NULL)
		return RC_TOOBIG;
	return tool_arguments(tool, json, r->a, &c->args, err);
}

/* A text of the model that the skill does not take is not spoken. */
enum rc
unasked_speak(struct turn_run *r, const struct turn_action *a)
{
	struct turn_call *c = &r->turn.calls[a->call];
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = a->call,
		.outcome = TURN_INVALID };
	struct wire_err err = { "", "is too long" };

	enum rc rc = unasked_put_speech(r, c, &err);
	if (rc != RC_OK && !str_eq(r->turn.text, r->req->unasked.text)) {
		r->turn.text = r->req->unasked.text;
		rc = unasked_put_speech(r, c, &err);
	}
	if (rc == RC_OK)
		return dispatch_skill(r, a);
	e.why = arena_printf(r->a, "%s: %s", err.path, err.why);
	turn_feed(r, &e);
	return RC_OK;
}
