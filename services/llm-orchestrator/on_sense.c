/*
 * Three requests at one time.
 */
#include "on_sense.h"

#include "ask.h"
#include "core/log.h"
#include "on_load.h"
#include "orch.h"
#include "route.h"
#include "run.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

/* How long a memory that did not answer is not asked. */
#define MEMORY_SILENT_MS 1000

/* Silence after which intent-filter, a pure function, is asked again. */
#define FILTER_AGAIN_MS 200
/* With less time left it is not worth asking. */
#define FILTER_LEAST_MS 100

/* How the catalog goes to it. */
enum filter_way { WITH_NAME, WITH_CATALOG };

static void
felt(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_FELT, .known = rc == RC_OK };

	(void)deed;
	if (rc == RC_OK) {
		r->feeling = *(const struct wire_emotion_observe_reply *)msg;
		r->felt = true;
		e.mode = r->feeling.exec_mode;
	}
	run_feed(r, &e);
}

enum rc
on_feel(struct run *r, const struct turn_action *a)
{
	const struct wire_chat_request *chat = run_chat(r);
	struct wire_emotion_observe_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.turn_id = r->place.turn_id,
		.text = r->facts.said };

	(void)a;
	ask_send(r,
	    &(struct ask_opts){ .subject = WIRE_SUBJECT_EMOTION_OBSERVE,
		.request = &wire_emotion_observe_request_desc,
		.msg = &m,
		.reply = &wire_emotion_observe_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_EMOTION_OBSERVE,
		.fn = felt });
	return RC_OK;
}

static void filtered(struct run *r, size_t deed, enum rc rc, const void *msg);

/* Ask, as long as the first question may take; deed: with the catalog itself.
 */
static void
ask_filter(struct run *r, size_t deed)
{
	ask_send(r,
	    &(struct ask_opts){ .subject = WIRE_SUBJECT_INTENT_FILTER,
		.json = buf_str(&r->facts.filter),
		.reply = &wire_intent_filter_response_desc,
		.timeout_ms = r->facts.filter_by.ms - clock_wall().ms,
		.resend_ms = FILTER_AGAIN_MS,
		.deed = deed,
		.fn = filtered });
	buf_free(&r->facts.filter);
}

/*
 * A catalog that is named may have changed meanwhile, or intent-filter cannot
 * read it, or is too old to know names: then it is sent, once.
 */
static bool
filter_again(struct run *r, size_t deed, enum rc rc)
{
	bool unknown = rc == RC_CONFLICT || rc == RC_NOENT || rc == RC_DOWN ||
	    rc == RC_INVALID;
	int64_t left_ms = r->facts.filter_by.ms - clock_wall().ms;

	if (!unknown || deed == WITH_CATALOG || left_ms < FILTER_LEAST_MS ||
	    !load_catalog(r))
		return false;
	ask_filter(r, WITH_CATALOG);
	return true;
}

/* A filter that fails leaves the turn to the model. */
static void
filtered(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_FILTERED };
	struct turn_route route;
	struct route_input in = { .answer = msg,
		.tools = r->facts.tools,
		.command = r->facts.said,
		.turn_id = r->place.turn_id };

	if (filter_again(r, deed, rc))
		return;
	if (rc == RC_OK)
		rc = route_read(&in, r->a, &route);
	if (rc == RC_OK) {
		r->intents = msg;
		e.known = true;
		e.route = &route;
	}
	run_feed(r, &e);
}

enum rc
on_filter(struct run *r, const struct turn_action *a)
{
	(void)a;
	r->facts.filter_by = run_by(r, WIRE_DEADLINE_MS_INTENT_FILTER);
	ask_filter(r, WITH_NAME);
	return RC_OK;
}

/*
 * Only a memory that answers is waited for: who does not is not asked for some
 * time, so that it does not make every turn slow.
 */
static void
remembers(struct run *r, size_t deed, enum rc rc, const void *msg)
{
	const struct wire_memory_ready_reply *rep = msg;
	struct turn_event e = { .kind = TURN_REMEMBERS,
		.known = rc == RC_OK && rep->ready };

	(void)deed;
	if (rc == RC_TIMEOUT)
		r->o->memory_silent =
		    mono_add_ms(clock_mono(), MEMORY_SILENT_MS);
	run_feed(r, &e);
}

enum rc
on_ask_memory(struct run *r, const struct turn_action *a)
{
	struct wire_memory_ready_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id };

	(void)a;
	if (mono_diff_ns(r->o->memory_silent, clock_mono()) > 0) {
		run_feed_kind(r, TURN_REMEMBERS);
		return RC_OK;
	}
	ask_send(r,
	    &(struct ask_opts){ .subject = WIRE_SUBJECT_MEMORY_READY,
		.request = &wire_memory_ready_request_desc,
		.msg = &m,
		.reply = &wire_memory_ready_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_READY,
		.once = true,
		.fn = remembers });
	return RC_OK;
}
