/*
 * Decode, do, answer.
 */
#include "on_told.h"

#include <stdio.h>

#include "core/id.h"
#include "core/log.h"
#include "device.h"
#include "mqtt/mqtt.h"
#include "sim.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define LOG_EVERY_S 5

/* A message that counts for nothing, and why. */
static void
ignore(struct device *d, const char *what, const char *why)
{
	static struct log_rate rate;
	int64_t missed;

	metric_add(d->sim->m_ignored, 1);
	body_note(&d->body, clock_wall(), "%s ignored: %s", what, why);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("body.ignored", LOG_S("terminal", d->id),
		    LOG_S("message", what), LOG_S("why", why),
		    LOG_I("missed", missed));
}

static bool
decode(struct device *d, const struct wire_desc *desc, const struct mqtt_msg *m,
    void *out)
{
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	if (wire_decode(desc, m->payload, d->sim->arena, out, &err) == RC_OK)
		return true;
	wire_err_text(&err, why, sizeof(why));
	ignore(d, wire_desc_name(desc), why);
	return false;
}

static bool
first_time(struct device *d, struct str request_id)
{
	if (d->requests == NULL)
		d->requests = requests_new();
	return requests_first(d->requests, request_id);
}

/* Whether the body, as it is told to be broken, takes notice of commands. */
static bool
deaf(struct device *d, const char *what)
{
	if (!d->faulty || !d->sim->faults.silent)
		return false;
	body_note(&d->body, clock_wall(), "fault: silent about %s", what);
	return true;
}

/* Read a call and carry it out; said gets what came of it, or why not. */
static enum rc
perform(struct device *d, struct str skill,
    const struct wire_tree *const args[2], char said[SKILLS_WHY_MAX])
{
	struct wall now = clock_wall();
	struct skill_call call;
	enum rc rc;

	if (d->faulty && d->sim->faults.error) {
		(void)snprintf(said, SKILLS_WHY_MAX, "simulated failure");
		return RC_DOWN;
	}
	rc = skills_read(d->sim->skills, skill, args, now, &call, said);
	if (rc == RC_OK)
		rc = body_do(&d->body, &call, now, said);
	else
		body_note(&d->body, now, "refused: %s", said);
	if (rc == RC_OK)
		device_ring(d);
	return rc;
}

/* ---- invoke -------------------------------------------------------------- */

static void
answer(struct device *d, struct str request_id, struct str skill, enum rc rc,
    const char *said)
{
	bool wrong = d->faulty && d->sim->faults.wrong_request_id;
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &text };
	struct wire_result r = { .request_id = request_id, .ok = rc == RC_OK };
	struct buf *out = &d->sim->out;
	char failed[ID_MAX + 16], other[ID_UUID_MAX];
	struct wire_err err;

	(void)snprintf(failed, sizeof(failed), "%.*s failed", STR_ARG(skill));
	wire_out_str(&o, str_of(r.ok ? said : failed));
	r.output = buf_str(&text);
	if (!r.ok)
		r.error = str_of(said);
	id_uuid(other);
	if (wrong)
		r.request_id = str_of(other);
	buf_reset(out);
	if (wire_encode(&wire_result_desc, &r, out, &err) == RC_OK) {
		requests_answer(d->requests, request_id, buf_str(out));
		device_answer(d, request_id, buf_str(out));
	} else {
		ignore(d, "invoke", err.why);
	}
	buf_free(&text);
	metric_add(d->sim->m_invokes[r.ok], 1);
	log_debug("body.invoked", LOG_S("terminal", d->id),
	    LOG_V("skill", skill), LOG_RC(rc), LOG_S("said", said));
}

static void
run(struct device *d, struct str request_id, const struct wire_invoke *in)
{
	struct wire_tree *args = NULL;
	char said[SKILLS_WHY_MAX];
	enum rc rc = RC_INVALID;

	if (!str_eq(in->request_id, request_id)) {
		(void)snprintf(
		    said, sizeof(said), "/request_id: is not the topic's");
	} else if (in->has_deadline_ms && clock_wall().ms > in->deadline_ms) {
		(void)snprintf(said, sizeof(said), "the deadline has passed");
	} else if (wire_tree_parse(in->arguments, &args) != RC_OK) {
		(void)snprintf(said, sizeof(said), "/arguments: is not JSON");
	} else {
		rc = perform(d, in->skill,
		    (const struct wire_tree *const[2]){ args, NULL }, said);
		wire_tree_free(args);
	}
	answer(d, request_id, in->skill, rc, said);
}

static void
on_invoke(struct device *d, struct str request_id, const struct mqtt_msg *m)
{
	char why[SKILLS_WHY_MAX];
	struct wire_invoke in;
	struct wire_err err;

	if (!id_valid(request_id)) {
		ignore(d, "invoke", "its topic ends in no request id");
	} else if (deaf(d, "invoke")) {
		return;
	} else if (!first_time(d, request_id)) {
		struct str before = requests_answered(d->requests, request_id);

		ignore(d, "invoke", "came twice");
		if (before.p != NULL)
			device_answer(d, request_id, before);
	} else if (wire_decode(&wire_invoke_desc, m->payload, d->sim->arena,
		       &in, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		answer(d, request_id, STR("invoke"), RC_INVALID, why);
	} else {
		run(d, request_id, &in);
	}
}

/* ---- intent_action ------------------------------------------------------- */

static bool
is_stale(const struct device *d, struct str ts)
{
	double max_age_s = d->sim->conf->action_max_age_s;
	struct wall at;

	return max_age_s > 0 && wall_parse(ts, &at) == RC_OK &&
	    (double)(clock_wall().ms - at.ms) > max_age_s * 1000;
}

static void
act(struct device *d, const struct wire_intent_action_intents *in)
{
	struct wire_tree *args[2] = { NULL, NULL };
	char said[SKILLS_WHY_MAX];
	struct str skill = { 0 };
	enum rc rc = RC_OK;
	int i;

	rc = wire_tree_parse(in->normalized, &args[0]);
	if (rc == RC_OK && in->parameters.p != NULL)
		rc = wire_tree_parse(in->parameters, &args[1]);
	for (i = 0; i < 2 && skill.n == 0; i++)
		skill = wire_tree_text(wire_tree_get(args[i], STR("skill")));
	if (rc == RC_OK && skill.n > 0) {
		rc = perform(d, skill,
		    (const struct wire_tree *const[2]){ args[0], args[1] },
		    said);
		metric_add(d->sim->m_actions, rc == RC_OK);
		log_debug("body.acted", LOG_S("terminal", d->id),
		    LOG_V("intent", in->intent_id), LOG_RC(rc),
		    LOG_S("said", said));
	} else {
		ignore(d, "intent", "normalized names no skill");
	}
	wire_tree_free(args[0]);
	wire_tree_free(args[1]);
}

static void
on_intent_action(struct device *d, const struct mqtt_msg *m)
{
	struct wire_intent_action a;
	size_t i;

	if (deaf(d, "intent_action") ||
	    !decode(d, &wire_intent_action_desc, m, &a))
		return;
	if (!str_eq(a.terminal_id, str_of(d->id))) {
		ignore(d, "intent_action", "is for another body");
	} else if (is_stale(d, a.ts)) {
		ignore(d, "intent_action", "is too old");
	} else if (!first_time(d, a.request_id)) {
		ignore(d, "intent_action", "came twice");
	} else {
		body_session(&d->body, a.session_id);
		for (i = 0; i < a.n_intents; i++)
			act(d, &a.intents[i]);
	}
}

/* ---- emotion_update, status ---------------------------------------------- */

static void
on_emotion_update(struct device *d, const struct mqtt_msg *m)
{
	struct wire_emotion_update u;

	if (!decode(d, &wire_emotion_update_desc, m, &u))
		return;
	if (!str_eq(u.terminal_id, str_of(d->id)))
		ignore(d, "emotion_update", "is for another body");
	else if (body_feel(&d->body, &u, clock_wall()) != RC_OK)
		ignore(d, "emotion_update", "is older than the last one");
	else
		metric_add(
		    d->sim->m_updates[str_eq(u.session_id, STR(BODY_TICK))], 1);
}

static void
on_status(struct device *d, const struct mqtt_msg *m)
{
	struct wire_status st;

	if (decode(d, &wire_status_desc, m, &st))
		body_told(&d->body, &st, clock_wall());
}

void
on_told(struct device *d, struct str leaf, const struct mqtt_msg *m)
{
	const struct str invoke = STR("invoke/");

	arena_reset(d->sim->arena);
	/* Commands are not kept; what the broker has kept is long past. */
	if (m->retain)
		ignore(d, "message", "is a retained one");
	else if (str_starts(leaf, invoke))
		on_invoke(
		    d, (struct str){ leaf.p + invoke.n, leaf.n - invoke.n }, m);
	else if (str_eq(leaf, STR("intent_action")))
		on_intent_action(d, m);
	else if (str_eq(leaf, STR("emotion_update")))
		on_emotion_update(d, m);
	else if (str_eq(leaf, STR("status")))
		on_status(d, m);
}
