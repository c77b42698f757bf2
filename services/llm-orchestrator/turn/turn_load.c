/*
 * turn_load: reads the records of a turn (terminal, session) and stores its
 * input.
 */
#include <stdlib.h>

#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "handlers.h"
#include "model/model.h"
#include "peer/user_zone.h"
#include "reply/reply_compose.h"
#include "reply/reply_stream.h"
#include "reply/turn_event.h"
#include "state/nav.h"
#include "state/session.h"
#include "state/terminal.h"
#include "tools/approval.h"
#include "tools/provided.h"
#include "tools/run_report.h"
#include "tools/tool_catalog.h"
#include "tools/tool_providers.h"
#include "tools/unconfirmed.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "turn/unasked.h"
#include "wire/msgs.h"
#include "wire/out.h"

#define NO_TEXT                                                               \
	"currently only input.type=keyboard_text|speech_text with non-empty " \
	"text is supported"

/* Longest text that is sent to intent-filter, in code points. */
#define COMMAND_MAX 16384
/* Bytes of an empty JSON list. */
#define EMPTY_LIST 2

static void
load_feed_error(struct turn_run *r, struct turn_error error)
{
	struct turn_event e = { .kind = TURN_LOADED, .error = error };

	turn_feed(r, &e);
}

/* ---- the body ---- */

/* Why this user cannot chat with this body; status 0: no reason. */
static struct turn_error
load_check(const struct turn_run *r, const struct terminal *t)
{
	const struct wire_chat_request *chat = turn_chat(r);

	if (r->facts.user_text.n == 0)
		return (struct turn_error){ 400, "invalid_request", NO_TEXT };
	if (t->soul_id.p == NULL)
		return (
		    struct turn_error){ 400, "invalid_request", TURN_NO_SOUL };
	if (!str_eq(t->user_id,
		r->req->owner_id.p != NULL ? r->req->owner_id
					   : r->req->user_id))
		return (struct turn_error){ 409, "conflict",
			"the terminal is bound by another user" };
	if (chat->soul_id.p != NULL && !str_eq(chat->soul_id, t->soul_id))
		return (struct turn_error){ 400, "invalid_request",
			"the terminal is bound to another soul" };
	return (struct turn_error){ 0 };
}

/* The catalog if it was read, else a reference: it may be large. */
static void
load_put_catalog(
    struct turn_run *r, const struct terminal *t, struct wire_out *o)
{
	if (t->catalog.p != NULL) {
		wire_out_key(o, STR("intent_catalog"));
		wire_out_raw(o, t->catalog);
		return;
	}
	wire_out_key(o, STR("catalog_ref"));
	wire_out_object(o);
	wire_out_key(o, STR("terminal_id"));
	wire_out_str(o, turn_chat(r)->terminal_id);
	wire_out_key(o, STR("hash"));
	wire_out_str(o, t->catalog_hash);
	wire_out_object_end(o);
}

/* Written now, while the skills are in memory. */
static void
load_put_filter_request(struct turn_run *r, const struct terminal *t)
{
	struct buf *b = &r->facts.filter;
	struct wire_out o = { .b = b };

	buf_reset(b);
	if (!t->present || t->catalog_bytes <= EMPTY_LIST ||
	    r->facts.user_text.n == 0 ||
	    str_utf8_count(r->facts.user_text) > COMMAND_MAX)
		return;
	wire_out_object(&o);
	wire_out_key(&o, STR("command"));
	wire_out_str(&o, r->facts.user_text);
	load_put_catalog(r, t, &o);
	if (r->facts.zone.n > 0) {
		wire_out_key(&o, STR("timezone"));
		wire_out_str(&o, r->facts.zone);
	}
	wire_out_key(&o, STR("options"));
	wire_out_raw(&o, STR("{\"enable_alarm_intents\":true}"));
	if (t->skills.p != NULL) {
		wire_out_key(&o, STR("skills"));
		wire_out_raw(&o, t->skills);
	}
	wire_out_object_end(&o);
	if (buf_rc(b) != RC_OK)
		buf_reset(b);
}

/* Snapshots of a body that is not present do not count. */
static enum rc
load_take_skills(struct turn_run *r, const struct terminal *t)
{
	struct str skills = t->present ? t->skills : (struct str){ 0 };

	tool_catalog_free(r->facts.tools);
	r->facts.tools = NULL;
	enum rc rc = tool_cache_get(r->o->tool_cache, skills, &r->facts.tools);
	if (rc != RC_INVALID)
		return rc;
	log_error("turn.skills", LOG_V("terminal", turn_chat(r)->terminal_id));
	return tool_cache_get(
	    r->o->tool_cache, (struct str){ 0 }, &r->facts.tools);
}

static enum rc
load_take_terminal(struct turn_run *r, const struct terminal *t)
{
	r->facts.soul_id = arena_str(r->a, t->soul_id);
	r->facts.broker = arena_str(r->a, t->broker);
	r->facts.known =
	    t->skills.n > EMPTY_LIST || t->catalog_bytes > EMPTY_LIST;
	r->facts.present = t->present;
	if (t->present && t->catalog_bytes > EMPTY_LIST &&
	    r->facts.user_text.n > 0)
		r->facts.zone = user_zone(r->o->zones, r->req->user_id, r->a);
	load_put_filter_request(r, t);
	if (r->facts.soul_id.p == NULL)
		return RC_TOOBIG;
	return load_take_skills(r, t);
}

/* ---- messages ---- */

/* Whether the last message of the session is one of this turn and role. */
static enum rc
load_is_last(
    struct turn_run *r, enum wire_session_messages_items_role role, bool *is)
{
	struct session_page last = { .after = -1, .max = 1 };
	struct wire_session_messages_items m;
	struct session_list list;

	arena_reset(r->scratch);
	enum rc rc = session_messages(
	    r->o->state, &r->slot.key, last, r->scratch, &list);
	if (rc != RC_OK)
		return rc;
	*is = list.n == 1 &&
	    wire_decode(&wire_session_messages_items_desc, list.message[0].json,
		r->scratch, &m, NULL) == RC_OK &&
	    m.role == role && str_eq(m.turn_id, r->slot.turn_id);
	return RC_OK;
}

enum rc
turn_load_was_stored(
    struct turn_run *r, enum wire_session_messages_items_role last, bool *is)
{
	struct state_mark mark;

	*is = false;
	if (!r->append_uncertain)
		return RC_OK;
	enum rc rc = turn_mark(r->o->state, &r->slot, &mark);
	if (rc == RC_OK)
		rc = load_is_last(r, last, is);
	if (rc == RC_OK && *is)
		rc = state_wait_replicated(r->o->state, mark, 0);
	r->append_uncertain = rc != RC_OK;
	return rc;
}

static enum rc
load_put_started(struct turn_run *r, struct turn_events *events)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	char now[WALL_FORMAT_MAX];
	struct fcmp_head head = reply_stream_head(r, now);

	fcmp_started(&head, r->facts.user_text,
	    WIRE_CHAT_EVENT_DATA_MODE_INTERACTIVE, &b);
	r->first_event = arena_str(r->a, buf_str(&b));
	*events = (struct turn_events){ .json = &r->first_event, .n = 1 };
	buf_free(&b);
	return r->first_event.p != NULL ? RC_OK : RC_TOOBIG;
}

enum rc
turn_load_input(struct turn_run *r, struct turn_stored_input *out)
{
	const struct wire_chat_request *chat = turn_chat(r);
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->slot.turn_id, turn_now(now) };
	struct history_stored s = { .n = 0 };
	enum rc rc = RC_OK;

	/* A retry of the caller reuses the input that is stored already. */
	if (r->input.p == NULL)
		rc = history_input(chat, &mark, r->scratch, &s);
	*out = (struct turn_stored_input){
		.input = { r->facts.soul_id, chat->terminal_id,
		    r->o->conf->idle_s * 1000 },
		.messages = { s.list, s.n, { 0 }, s.chars },
	};
	return rc == RC_OK ? load_put_started(r, &out->events) : rc;
}

static enum rc
load_store_input(struct turn_run *r)
{
	struct turn_stored_input s;
	bool is;

	enum rc rc =
	    turn_load_was_stored(r, WIRE_SESSION_MESSAGES_ITEMS_ROLE_USER, &is);
	if (rc != RC_OK || is)
		return rc;
	rc = turn_load_input(r, &s);
	if (rc == RC_OK && r->input.p != NULL)
		rc = turn_resume_input(
		    r->o->state, &r->slot, &s.input, &s.events);
	else if (rc == RC_OK)
		rc = turn_append_input(
		    r->o->state, &r->slot, &s.messages, &s.input, &s.events);
	r->append_uncertain = state_may_be_done(rc);
	r->announced |= rc == RC_OK || state_may_be_done(rc);
	if (rc == RC_OK)
		reply_stream_started(r, &s.events);
	return rc;
}

/* ---- records ---- */

/* Records read while the turn entered the queue. */
struct turn_prefetch {
	struct turn_run *r;
	struct arena *a; /* of both */
	enum rc terminal_rc, session_rc;
	struct terminal terminal;
	struct session session;
};

static void
prefetch_terminal(void *arg)
{
	struct turn_prefetch *p = arg;

	p->terminal_rc =
	    terminal_read_brief(p->r->o->state, turn_chat(p->r)->terminal_id,
		p->r->o->conf->ttl_s * 1000, p->a, &p->terminal);
}

static void
prefetch_session(void *arg)
{
	struct turn_prefetch *p = arg;

	p->session_rc =
	    session_read(p->r->o->state, &p->r->slot.key, p->a, &p->session);
}

void
turn_prefetch_start(struct turn_run *r, struct fiber_group *g)
{
	struct turn_prefetch *p = mem_zalloc(sizeof(*p));

	p->r = r;
	p->a = arena_new(ORCH_SCRATCH_MAX);
	r->prefetch = p;
	fiber_group_start(g, prefetch_terminal, p);
	fiber_group_start(g, prefetch_session, p);
}

void
turn_prefetch_drop(struct turn_run *r)
{
	if (r->prefetch == NULL)
		return;
	arena_free(r->prefetch->a);
	free(r->prefetch);
	r->prefetch = NULL;
}

/* Only a suggestion: without it the turn goes on. */
static void
load_mind_link(struct turn_run *r)
{
	const struct nav_key k = { r->req->user_id, r->facts.soul_id };
	enum rc rc = mind_link_read(r->o->state, &k, r->a, &r->facts.mind_link);

	if (rc != RC_OK)
		log_debug("turn.mind_link", LOG_RC(rc));
}

static enum rc
load_read_session(struct turn_run *r)
{
	struct session s;
	enum rc rc;

	if (r->begun) {
		r->facts.approval = r->approval;
		r->facts.mind_link = r->mind_link;
		r->facts.inner_voice = r->before_voice;
		rc = run_report_take(r, &r->notes);
		return rc == RC_OK ? unconfirmed_load(r, r->left_open) : rc;
	}
	arena_reset(r->scratch);
	if (r->prefetch != NULL && r->prefetch->session_rc == RC_OK) {
		s = r->prefetch->session;
		rc = RC_OK;
	} else {
		rc = session_read(r->o->state, &r->slot.key, r->scratch, &s);
	}
	if (rc == RC_OK && s.summary.n > 0)
		r->facts.summary = arena_str(r->a, s.summary);
	if (rc == RC_OK && r->facts.soul_id.n > 0)
		load_mind_link(r);
	if (rc == RC_OK) {
		r->facts.approval = arena_str(r->a, s.approval);
		r->facts.inner_voice = arena_str(r->a, s.inner_voice);
	}
	if (rc == RC_OK)
		rc = run_report_take(r, &s.notes);
	if (rc == RC_OK)
		rc = unconfirmed_load(r, arena_str(r->a, s.pending));
	return rc;
}

/* The record, valid as long as the scratch arena, or what was prefetched. */
static enum rc
load_read_terminal(struct turn_run *r, bool catalog, struct terminal *t)
{
	enum rc (*read)(struct state *, struct str, int64_t, struct arena *,
	    struct terminal *) = catalog ? terminal_read : terminal_read_brief;

	arena_reset(r->scratch);
	if (!catalog && r->prefetch != NULL &&
	    r->prefetch->terminal_rc == RC_OK) {
		*t = r->prefetch->terminal;
		return RC_OK;
	}
	return read(r->o->state, turn_chat(r)->terminal_id,
	    r->o->conf->ttl_s * 1000, r->scratch, t);
}

bool
turn_load_catalog(struct turn_run *r)
{
	struct terminal t;

	enum rc rc = load_read_terminal(r, true, &t);
	if (rc == RC_OK)
		load_put_filter_request(r, &t);
	return rc == RC_OK && r->facts.filter.n > 0;
}

/* ---- what the request says ---- */

static struct terminal
load_given_terminal(const struct wire_turn_start_request *req)
{
	return (struct terminal){ .known = true,
		.present = req->terminal.present,
		.broker = req->terminal.broker,
		.skills = req->terminal.skills,
		.catalog_bytes = (size_t)req->terminal.catalog_bytes,
		.catalog_hash = req->terminal.catalog_hash,
		.user_id =
		    req->owner_id.p != NULL ? req->owner_id : req->user_id,
		.soul_id = req->terminal.soul_id };
}

struct turn_error
turn_load_given(struct turn_run *r)
{
	struct turn_error error = { 0 };
	struct terminal t;

	if (!r->req->has_terminal || r->req->has_unasked)
		return error;
	t = load_given_terminal(r->req);
	r->facts.user_text = history_user_text(turn_chat(r), r->a);
	error = load_check(r, &t);
	if (error.status != 0 || load_take_terminal(r, &t) != RC_OK)
		return error;
	r->given = true;
	if (r->facts.filter.n > 0)
		perception_filter_early(r);
	return error;
}

void
turn_load_forget(struct turn_run *r)
{
	r->given = false;
	r->early = (struct early_filter){ 0 };
	turn_prefetch_drop(r);
}

/* ---- the action ---- */

static enum rc
load_take_records(struct turn_run *r)
{
	struct terminal t;

	if (r->facts.user_text.p == NULL)
		r->facts.user_text = history_user_text(turn_chat(r), r->a);
	enum rc rc = load_read_terminal(r, false, &t);
	if (rc != RC_OK)
		return rc;
	struct turn_error error = load_check(r, &t);
	if (error.status != 0) {
		load_feed_error(r, error);
		return RC_OK;
	}
	return load_take_terminal(r, &t);
}

/* What the user replies to a question, and earlier results. */
static enum rc
load_put_event(struct turn_run *r, const struct approval_found *found,
    struct turn_event *e)
{
	e->filter = r->early.sent || r->facts.filter.n > 0;
	e->tools = tool_providers_any(r);
	e->text = unconfirmed_sentences(r->facts.unconfirmed, r->a);
	e->text = run_report_sentences(&r->facts.notes, e->text, r->a);
	if (found->note.n > 0)
		e->text = arena_printf(
		    r->a, "%.*s%.*s", STR_ARG(found->note), STR_ARG(e->text));
	if (e->text.p == NULL)
		return RC_TOOBIG;
	e->calls = &found->call;
	e->n_calls = found->replied;
	if (found->replied)
		reply_stream_replied(r, found->call.provided->interaction_id,
		    r->req->has_interaction ? r->req->interaction.content
					    : r->facts.user_text);
	return RC_OK;
}

/* ---- a turn that nobody asked for ---- */

static enum rc
load_read_summary(struct turn_run *r)
{
	struct session s;

	arena_reset(r->scratch);
	enum rc rc = session_read(r->o->state, &r->slot.key, r->scratch, &s);
	if (rc == RC_OK && s.summary.n > 0)
		r->facts.summary = arena_str(r->a, s.summary);
	return rc == RC_NOENT ? RC_OK : rc;
}

static enum rc
load_plan_unasked(struct turn_run *r, struct turn_event *e)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct unasked_plan plan = { .req = r->req };
	struct turn_call *calls = NULL;
	struct terminal t;

	enum rc rc = load_read_terminal(r, false, &t);
	if (rc != RC_OK)
		return rc;
	plan.bound = t.soul_id.p != NULL &&
	    str_eq(t.user_id, r->req->user_id) &&
	    (chat->soul_id.p == NULL || str_eq(chat->soul_id, t.soul_id));
	plan.present = t.present;
	if (plan.bound)
		rc = load_take_terminal(r, &t);
	else
		r->facts.soul_id = chat->soul_id;
	plan.tools = r->facts.tools;
	if (rc == RC_OK)
		rc = unasked_calls(&plan, r->a, &calls, &e->n_calls);
	e->calls = calls;
	return rc;
}

static enum rc
load_unasked(struct turn_run *r)
{
	const struct wire_turn_start_request_unasked *u = &r->req->unasked;
	struct turn_event e = { .kind = TURN_LOADED,
		.unasked = true,
		.phrased = !u->verbatim && !u->has_action };

	enum rc rc = load_plan_unasked(r, &e);
	if (rc == RC_OK && e.phrased)
		rc = load_read_summary(r);
	turn_prefetch_drop(r);
	if (rc != RC_OK)
		return rc;
	if (!u->has_action)
		e.text = str_trim(reply_clean(u->text, REPLY_MAX, r->a));
	turn_feed(r, &e);
	return RC_OK;
}

enum rc
turn_load(struct turn_run *r, const struct turn_action *a)
{
	struct turn_event e = { .kind = TURN_LOADED };
	struct approval_found found;
	enum rc rc = RC_OK;

	(void)a;
	if (r->req->has_unasked)
		return load_unasked(r);
	if (!r->begun)
		rc = load_take_records(r);
	if (rc != RC_OK || r->turn.phase != TURN_LOADING)
		return rc;
	rc = load_read_session(r);
	/* A retry reads them anew. */
	turn_prefetch_drop(r);
	if (rc == RC_OK)
		rc = approval_load(r, &found);
	if (rc == RC_OK && found.error.status != 0) {
		load_feed_error(r, found.error);
		return RC_OK;
	}
	if (rc == RC_OK && !r->begun)
		rc = load_store_input(r);
	if (rc == RC_NOENT) {
		/* It was deleted since the record was read. */
		load_feed_error(r,
		    (struct turn_error){
			400, "invalid_request", TURN_NO_SOUL });
		return RC_OK;
	}
	if (rc != RC_OK)
		return rc;
	rc = load_put_event(r, &found, &e);
	if (rc != RC_OK)
		return rc;
	turn_publish_user_input(r);
	turn_feed(r, &e);
	return RC_OK;
}
