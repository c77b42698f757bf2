#include "tools/alarm_call.h"

#include "alarm/alarm_moment.h"
#include "alarm/alarm_when.h"
#include "context.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/zone.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "tools/alarm_text.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/tree.h"

/* alarm-clock is idempotent by request_id, so a lost request is resent. */
#define ALARM_RESEND_MS 500
/* A user does not wait longer for a service that is not there. */
#define ALARM_TIMEOUT_MS 2000
#define REQUEST_MAX      ((size_t)64 * 1024)
#define WHY_MAX          1024

static const struct {
	struct str id;
	const char *subject;
	const struct wire_desc *reply;
	bool sets; /* the request has all of alarm_call_owner */
} alarm_intents[] = {
	{ STR_INIT("sys.set_alarm"), WIRE_SUBJECT_ALARM_PUT,
	    &wire_alarm_reply_desc, true },
	{ STR_INIT("sys.list_alarms"), WIRE_SUBJECT_ALARM_LIST,
	    &wire_alarm_list_desc, false },
	{ STR_INIT("sys.change_alarm"), WIRE_SUBJECT_ALARM_CHANGE,
	    &wire_alarm_reply_desc, false },
	{ STR_INIT("sys.cancel_alarm"), WIRE_SUBJECT_ALARM_CANCEL,
	    &wire_alarm_list_desc, false },
};

/* The index of an intent; NELEM: it is none. */
static size_t
alarm_intent_index(struct str id)
{
	size_t i;

	for (i = 0; i < NELEM(alarm_intents); i++) {
		if (str_eq(alarm_intents[i].id, id))
			break;
	}
	return i;
}

bool
alarm_call_is_intent(struct str intent_id)
{
	return alarm_intent_index(intent_id) < NELEM(alarm_intents);
}

struct str
alarm_call_question(struct str normalized, struct arena *a)
{
	struct wire_tree *v;
	struct str s = { 0 };

	if (wire_tree_parse(normalized, &v) != RC_OK)
		return s;
	s = wire_tree_text(wire_tree_get(v, STR("question")));
	if (s.n > 0)
		s = arena_str(a, s);
	wire_tree_free(v);
	return s;
}

static void
alarm_put_member(struct wire_out *o, const char *name, struct str s)
{
	if (s.n == 0)
		return;
	wire_out_name(o, name);
	wire_out_str(o, s);
}

/* The words of the time of sys.set_alarm; absent: none. */
static struct str
alarm_words(const struct alarm_call_intent *intent, const struct wire_tree *v)
{
	if (!str_eq(intent->id, STR("sys.set_alarm")))
		return (struct str){ 0 };
	return wire_tree_text(wire_tree_get(v, STR("when")));
}

static void
alarm_put_normalized(
    struct wire_out *o, const struct wire_tree *v, bool has_words)
{
	struct wire_tree_member m;

	for (bool more = wire_tree_first(v, &m); more;
	     more = wire_tree_next(v, &m)) {
		if (str_eq(m.key, STR("skill")) ||
		    (has_words &&
			(str_eq(m.key, STR("rule")) ||
			    str_eq(m.key, STR("zone")))))
			continue;
		wire_out_key(o, m.key);
		wire_tree_put(m.value, o);
	}
}

void
alarm_call_request(const struct alarm_call_intent *intent,
    const struct alarm_call_owner *owner, struct buf *out)
{
	size_t i = alarm_intent_index(intent->id);
	struct wire_tree *normalized = NULL, *parameters = NULL;
	struct wire_out o = { .b = out };
	struct str words;
	struct wall now;

	if (wire_tree_parse(intent->normalized, &normalized) != RC_OK)
		normalized = NULL;
	if (wire_tree_parse(intent->parameters, &parameters) != RC_OK)
		parameters = NULL;
	words = alarm_words(intent, parameters);
	wire_out_object(&o);
	alarm_put_member(&o, "user_id", owner->user_id);
	if (i < NELEM(alarm_intents) && alarm_intents[i].sets) {
		alarm_put_member(&o, "request_id", owner->request_id);
		alarm_put_member(&o, "soul_id", owner->soul_id);
		alarm_put_member(&o, "terminal_id", owner->terminal_id);
		alarm_put_member(&o, "session_id", owner->session_id);
		alarm_put_member(&o, "when", words);
		if (wall_parse(intent->now, &now) == RC_OK)
			alarm_put_member(&o, "now", intent->now);
	}
	alarm_put_normalized(&o, normalized, words.n > 0);
	wire_out_object_end(&o);
	wire_tree_free(normalized);
	wire_tree_free(parameters);
}

static struct alarm_call_owner
alarm_owner(const struct turn_run *r, struct str request_id)
{
	const struct wire_chat_request *chat = turn_chat(r);

	return (struct alarm_call_owner){ .request_id = request_id,
		.user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.terminal_id = chat->terminal_id,
		.session_id = chat->session_id };
}

/* ---- the call ---- */

static enum turn_outcome
alarm_outcome(enum rc rc, bool has_text)
{
	if (rc == RC_OK)
		return TURN_OK;
	if (has_text)
		return TURN_ERROR;
	return rc == RC_TIMEOUT || rc == RC_INVALID ? TURN_NOT_CONFIRMED
						    : TURN_OFFLINE;
}

static void
alarm_on_reply(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	const struct turn_call *c = &r->turn.calls[call];
	size_t i = alarm_intent_index(c->skill);
	const struct alarm_text_input in = { .intent_id = c->skill,
		.now = clock_wall(),
		.terminal_id = turn_chat(r)->terminal_id,
		.chinese = alarm_is_chinese(r->facts.user_text),
		.a = r->a };
	const struct wire_error *error = rc != RC_OK ? msg : NULL;
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = call,
		.outcome = alarm_outcome(rc, error != NULL) };

	if (error != NULL)
		e.why = reply_clean(error->error, WHY_MAX, r->a);
	if (rc != RC_OK)
		e.output = alarm_text_error(&in, rc, e.why);
	else if (alarm_intents[i].reply == &wire_alarm_reply_desc)
		e.output = alarm_text_reply(&in, msg);
	else
		e.output = alarm_text_list(&in, msg);
	turn_feed(r, &e);
}

enum rc
alarm_call_send(struct turn_run *r, const struct turn_action *a)
{
	const struct turn_call *c = &r->turn.calls[a->call];
	size_t i = alarm_intent_index(c->skill);
	struct alarm_call_owner owner = alarm_owner(r, c->call_id);
	const struct alarm_call_intent intent = { .id = c->skill,
		.normalized = c->args,
		.parameters = r->intents->intents[c->intent].parameters,
		.now = r->intents->meta.now };
	struct buf b = BUF_INIT(REQUEST_MAX);

	alarm_call_request(&intent, &owner, &b);
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = alarm_intents[i].subject,
		.json = buf_str(&b),
		.reply = alarm_intents[i].reply,
		.timeout_ms = ALARM_TIMEOUT_MS,
		.resend_ms = alarm_intents[i].sets ? ALARM_RESEND_MS : 0,
		.takes_error = true,
		.call = a->call,
		.fn = alarm_on_reply });
	buf_free(&b);
	return RC_OK;
}

/* ---- copies of the body's own alarms ---- */

static void
alarm_on_copied(struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	(void)r;
	(void)call;
	(void)rc;
	(void)msg;
}

struct alarm_copy {
	struct wire_tree *args; /* of create_alarm */
	struct wall at;
	bool confirmed; /* the body rings itself */
};

/* The instant of create_alarm's arguments; {0}: none. */
static struct wall
alarm_copy_instant(const struct wire_tree *args)
{
	double in_s =
	    wire_tree_number(wire_tree_get(args, STR("trigger_in_seconds")));
	struct str at = wire_tree_text(wire_tree_get(args, STR("trigger_at")));
	struct wall t = { 0 };

	if (wall_parse(at, &t) == RC_OK)
		return t;
	if (in_s >= 1 && in_s <= ALARM_EVERY_S_MAX)
		t.ms = clock_wall().ms + (int64_t)(in_s * 1000);
	return t;
}

/* Ids of a model's calls are of their turn; those of requests are unique. */
static void
alarm_copy_put(const struct turn_run *r, const struct turn_call *c,
    const struct alarm_copy *copy, struct buf *out)
{
	struct alarm_call_owner owner =
	    alarm_owner(r, c->request_id.n > 0 ? c->request_id : c->call_id);
	struct wire_out o = { .b = out };
	char at[WALL_FORMAT_MAX];

	wall_format(copy->at, zone_offset_min(r->o->zone, copy->at), at);
	wire_out_object(&o);
	alarm_put_member(&o, "request_id", owner.request_id);
	alarm_put_member(&o, "user_id", owner.user_id);
	alarm_put_member(&o, "soul_id", owner.soul_id);
	alarm_put_member(&o, "terminal_id", owner.terminal_id);
	alarm_put_member(&o, "session_id", owner.session_id);
	alarm_put_member(&o, "kind", STR("alarm"));
	alarm_put_member(&o, "text",
	    wire_tree_text(wire_tree_get(copy->args, STR("label"))));
	alarm_put_member(&o, "when", str_of(at));
	wire_out_name(&o, "self_ringing");
	wire_out_bool(&o, copy->confirmed);
	wire_out_object_end(&o);
}

/* The reply has the moment: 订闹钟（11月28日星期六早上8:00）. */
static void
alarm_name_moment(const struct turn_run *r, struct turn_call *c, struct wall at)
{
	bool chinese = alarm_is_chinese(r->facts.user_text);
	char name[64 + 1], moment[ALARM_MOMENT_MAX];
	struct zone *zone = NULL;
	struct str label;

	str_copy(r->facts.zone, name, sizeof(name));
	if (name[0] != '\0' && zone_load(name, &zone) != RC_OK)
		zone = NULL;
	at.ms -= at.ms % 1000;
	alarm_moment_write(at, clock_wall(), zone != NULL ? zone : r->o->zone,
	    chinese, moment);
	label = arena_printf(r->a, chinese ? "%.*s（%s）" : "%.*s (%s)",
	    STR_ARG(c->label), moment);
	if (label.p != NULL)
		c->label = label;
	zone_free(zone);
}

void
alarm_call_copy(struct turn_run *r, size_t call, enum turn_outcome outcome)
{
	struct turn_call *c = &r->turn.calls[call];
	struct alarm_copy copy = { .confirmed = outcome == TURN_OK };
	struct buf b = BUF_INIT(REQUEST_MAX);

	/* An unasked turn rings by it, and sets none. */
	if (r->req->has_unasked || !str_eq(c->skill, STR("create_alarm")) ||
	    (outcome != TURN_OK && outcome != TURN_NOT_CONFIRMED) ||
	    wire_tree_parse(c->args, &copy.args) != RC_OK)
		return;
	copy.at = alarm_copy_instant(copy.args);
	if (copy.at.ms != 0) {
		if (c->kind == TURN_DIRECT)
			alarm_name_moment(r, c, copy.at);
		alarm_copy_put(r, c, &copy, &b);
		peer_request_send(r,
		    &(struct peer_request_opts){
			.subject = WIRE_SUBJECT_ALARM_PUT,
			.json = buf_str(&b),
			.reply = &wire_alarm_reply_desc,
			.timeout_ms = ALARM_TIMEOUT_MS,
			.no_retry = true,
			.fn = alarm_on_copied });
	}
	buf_free(&b);
	wire_tree_free(copy.args);
}
