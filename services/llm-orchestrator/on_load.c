/*
 * The records: terminal, session, messages.
 */
#include "on_load.h"

#include "core/log.h"
#include "ending.h"
#include "history.h"
#include "on_late.h"
#include "on_place.h"
#include "orch.h"
#include "reply.h"
#include "run.h"
#include "state/session.h"
#include "state/terminal.h"
#include "stream.h"
#include "tell.h"
#include "toolbox.h"
#include "tools.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define NO_TEXT                                                               \
	"currently only input.type=keyboard_text|speech_text with non-empty " \
	"text is supported"
#define NO_SOUL "soul selection is required before chat"

/* A command of more is no command. */
#define COMMAND_MAX 16384
/* Bytes of a list without anything in it. */
#define EMPTY_LIST 2

static void
feed_fault(struct run *r, struct turn_fault fault)
{
	struct turn_event e = { .kind = TURN_LOADED, .fault = fault };

	run_feed(r, &e);
}

/* ---- the body ---------------------------------------------------------- */

/* What a turn of this user with this body cannot begin for; status 0: it can.
 */
static struct turn_fault
refusal(const struct run *r, const struct terminal *t)
{
	const struct wire_chat_request *chat = run_chat(r);

	if (r->facts.said.n == 0)
		return (struct turn_fault){ 400, "invalid_request", NO_TEXT };
	if (t->soul_id.p == NULL)
		return (struct turn_fault){ 400, "invalid_request", NO_SOUL };
	if (!str_eq(t->user_id, r->req->user_id))
		return (struct turn_fault){ 409, "conflict",
			"the terminal is bound by another user" };
	if (chat->soul_id.p != NULL && !str_eq(chat->soul_id, t->soul_id))
		return (struct turn_fault){ 400, "invalid_request",
			"the terminal is bound to another soul" };
	return (struct turn_fault){ 0 };
}

/* The catalog itself, or its name: it may be large. */
static void
write_catalog(struct run *r, const struct terminal *t, struct wire_out *o)
{
	if (t->catalog.p != NULL) {
		wire_out_key(o, STR("intent_catalog"));
		wire_out_raw(o, t->catalog);
		return;
	}
	wire_out_key(o, STR("catalog_ref"));
	wire_out_object(o);
	wire_out_key(o, STR("terminal_id"));
	wire_out_str(o, run_chat(r)->terminal_id);
	wire_out_key(o, STR("hash"));
	wire_out_str(o, t->catalog_hash);
	wire_out_object_end(o);
}

/* The request to intent-filter, while the skills are at hand. */
static void
write_filter(struct run *r, const struct terminal *t)
{
	struct buf *b = &r->facts.filter;
	struct wire_out o = { .b = b };

	buf_reset(b);
	if (!t->present || t->catalog_bytes <= EMPTY_LIST ||
	    str_utf8_count(r->facts.said) > COMMAND_MAX)
		return;
	wire_out_object(&o);
	wire_out_key(&o, STR("command"));
	wire_out_str(&o, r->facts.said);
	write_catalog(r, t, &o);
	if (t->skills.p != NULL) {
		wire_out_key(&o, STR("skills"));
		wire_out_raw(&o, t->skills);
	}
	wire_out_object_end(&o);
	if (buf_rc(b) != RC_OK)
		buf_reset(b);
}

/* Snapshots of a body that is not there do not count. */
static enum rc
take_skills(struct run *r, const struct terminal *t)
{
	struct str skills = t->present ? t->skills : (struct str){ 0 };

	tools_free(r->facts.tools);
	r->facts.tools = NULL;
	enum rc rc = toolbox_get(r->o->toolbox, skills, &r->facts.tools);
	if (rc != RC_INVALID)
		return rc;
	log_error("turn.skills", LOG_V("terminal", run_chat(r)->terminal_id));
	return toolbox_get(r->o->toolbox, (struct str){ 0 }, &r->facts.tools);
}

static enum rc
take_terminal(struct run *r, const struct terminal *t)
{
	r->facts.soul_id = arena_str(r->a, t->soul_id);
	r->facts.broker = arena_str(r->a, t->broker);
	r->facts.known =
	    t->skills.n > EMPTY_LIST || t->catalog_bytes > EMPTY_LIST;
	r->facts.present = t->present;
	write_filter(r, t);
	if (r->facts.soul_id.p == NULL)
		return RC_TOOBIG;
	return take_skills(r, t);
}

/* ---- messages ---------------------------------------------------------- */

/* Whether the last message of the session is one of this turn and role. */
static enum rc
is_stored(struct run *r, enum wire_session_messages_items_role role, bool *is)
{
	struct session_page last = { .after = -1, .max = 1 };
	struct wire_session_messages_items m;
	struct session_list list;

	arena_reset(r->o->scratch);
	enum rc rc = session_messages(
	    r->o->state, &r->place.key, last, r->o->scratch, &list);
	if (rc != RC_OK)
		return rc;
	*is = list.n == 1 &&
	    wire_decode(&wire_session_messages_items_desc, list.message[0].json,
		r->o->scratch, &m, NULL) == RC_OK &&
	    m.role == role && str_eq(m.turn_id, r->place.turn_id);
	return RC_OK;
}

/* Whether a try whose end nobody knew was one after all. */
static enum rc
was_stored(struct run *r, enum wire_session_messages_items_role last, bool *is)
{
	*is = false;
	if (!r->in_doubt)
		return RC_OK;
	enum rc rc = is_stored(r, last, is);
	r->in_doubt = rc != RC_OK;
	return rc;
}

static enum rc
write_started(struct run *r, struct turn_events *told)
{
	struct buf b = BUF_INIT(SESSION_EVENT_MAX);
	char now[WALL_FORMAT_MAX];
	struct say say = stream_say(r, now);

	say_started(&say, &b);
	r->told[0] = arena_str(r->o->scratch, buf_str(&b));
	told->n = 1;
	buf_free(&b);
	return r->told[0].p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
store_input(struct run *r)
{
	const struct wire_chat_request *chat = run_chat(r);
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->place.turn_id, orch_now(now) };
	struct turn_input in = { r->facts.soul_id, chat->terminal_id,
		r->o->conf->idle_s * 1000 };
	struct turn_events told = { .json = r->told };
	struct history_stored s = { .n = 0 };
	bool is;

	enum rc rc = was_stored(r, WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER, &is);
	if (rc != RC_OK || is)
		return rc;
	/* A retry runs on the words that are there already. */
	if (r->input.p == NULL)
		rc = history_input(chat, &mark, r->o->scratch, &s);
	if (rc == RC_OK)
		rc = write_started(r, &told);
	if (rc == RC_OK && r->input.p != NULL)
		rc = turn_resume_input(r->o->state, &r->place, &in, &told);
	else if (rc == RC_OK)
		rc = turn_append_input(r->o->state, &r->place,
		    &(struct session_new){ s.list, s.n, { 0 }, s.chars }, &in,
		    &told);
	r->in_doubt = rc == RC_TIMEOUT;
	r->begun |= rc == RC_OK || rc == RC_TIMEOUT;
	if (rc == RC_OK)
		stream_publish(r->o,
		    run_chat(r)->stream ? r->o->bus : r->o->bulk, &r->place,
		    &told);
	return rc;
}

static enum rc
read_session(struct run *r)
{
	struct session s;

	arena_reset(r->o->scratch);
	enum rc rc =
	    session_read(r->o->state, &r->place.key, r->o->scratch, &s);
	if (rc == RC_OK && s.summary.n > 0)
		r->facts.summary = arena_str(r->a, s.summary);
	if (rc == RC_OK)
		rc = late_load(r, arena_str(r->a, s.pending));
	return rc;
}

/* The record, taken from the scratch; its catalog only if that is wanted. */
static enum rc
read_terminal(struct run *r, bool catalog, struct terminal *t)
{
	enum rc (*read)(struct state *, struct str, int64_t, struct arena *,
	    struct terminal *) = catalog ? terminal_read : terminal_read_brief;

	arena_reset(r->o->scratch);
	return read(r->o->state, run_chat(r)->terminal_id,
	    r->o->conf->ttl_s * 1000, r->o->scratch, t);
}

bool
load_catalog(struct run *r)
{
	struct terminal t;

	enum rc rc = read_terminal(r, true, &t);
	if (rc == RC_OK)
		write_filter(r, &t);
	return rc == RC_OK && r->facts.filter.n > 0;
}

enum rc
on_load(struct run *r, const struct turn_action *a)
{
	struct turn_event e = { .kind = TURN_LOADED };
	struct terminal t;

	(void)a;
	if (r->facts.said.p == NULL)
		r->facts.said = history_user_text(run_chat(r), r->a);
	enum rc rc = read_terminal(r, false, &t);
	if (rc != RC_OK)
		return rc;
	struct turn_fault fault = refusal(r, &t);
	if (fault.status != 0) {
		feed_fault(r, fault);
		return RC_OK;
	}
	rc = take_terminal(r, &t);
	if (rc == RC_OK)
		rc = read_session(r);
	if (rc == RC_OK)
		rc = store_input(r);
	if (rc != RC_OK)
		return rc;
	tell_user_input(r);
	e.filter = r->facts.filter.n > 0;
	e.text = late_said(&r->facts.late, r->a);
	run_feed(r, &e);
	return RC_OK;
}

/* ---- the end ----------------------------------------------------------- */

/* What is stored and told, made once however often it is tried. */
static enum rc
make_ending(struct run *r)
{
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->place.turn_id, orch_now(now) };

	if (r->outcome.n > 0)
		return RC_OK;
	enum rc rc =
	    history_outcome(&r->turn, r->reply, &mark, r->a, &r->outcome);
	if (rc == RC_OK)
		ending_well(r);
	return rc;
}

/* What was done and said, with the place given up. */
static enum rc
finish(struct run *r)
{
	bool is;

	enum rc rc =
	    was_stored(r, WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT, &is);
	if (rc != RC_OK)
		return rc; /* the doubt stays */
	if (!is)
		rc = make_ending(r);
	if (rc == RC_OK && !is)
		rc = turn_finish(r->o->state, &r->place,
		    &(struct session_new){ r->outcome.list, r->outcome.n,
			late_keep(r, true), r->outcome.chars },
		    &r->ending, r->a);
	r->in_doubt = rc == RC_TIMEOUT;
	if (rc == RC_OK)
		place_left(r);
	return rc;
}

enum rc
on_store(struct run *r, const struct turn_action *a)
{
	bool absent = r->facts.known && !r->facts.present;
	enum rc rc = RC_OK;

	(void)a;
	if (r->reply.p == NULL)
		rc = reply_write(&r->turn, absent, r->a, &r->reply);
	if (rc == RC_OK)
		rc = reply_skills(&r->turn, r->a, &r->skills);
	if (rc == RC_OK)
		rc = finish(r);
	if (rc == RC_OK)
		run_feed_kind(r, TURN_STORED);
	return rc;
}

void
load_keep(struct run *r)
{
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->place.turn_id, orch_now(now) };
	struct history_stored s = { .n = 0 };

	enum rc rc = reply_skills(&r->turn, r->a, &r->skills);
	if (r->turn.n_deeds == 0)
		return;
	if (rc == RC_OK)
		rc = history_outcome(
		    &r->turn, (struct str){ 0 }, &mark, r->a, &s);
	if (rc == RC_OK && s.n > 0)
		rc = turn_append_messages(r->o->state, &r->place,
		    &(struct session_new){
			s.list, s.n, late_keep(r, false), s.chars });
	if (rc != RC_OK && rc != RC_CONFLICT)
		log_warn("turn.deeds_not_stored",
		    LOG_V("turn", r->place.turn_id), LOG_RC(rc));
}
