/* Commands from the server: invoke, intent_action, emotion_update, status. */
#include "sim_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define LOG_EVERY_S 5

/* Count and log a message that has no effect. */
static void
device_ignore(struct device *d, const char *what, const char *why)
{
	static struct log_rate rate;
	int64_t missed;

	metric_add(d->env->m_ignored, 1);
	body_log(&d->body, clock_wall(), "%s ignored: %s", what, why);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("body.ignored", LOG_S("terminal", d->id),
		    LOG_S("message", what), LOG_S("why", why),
		    LOG_I("missed", missed));
}

static bool
device_decode(struct device *d, const struct wire_desc *desc,
    const struct mqtt_msg *m, void *out)
{
	char why[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	if (wire_decode(desc, m->payload, d->env->arena, out, &err) == RC_OK)
		return true;
	wire_err_text(&err, why, sizeof(why));
	device_ignore(d, wire_desc_name(desc), why);
	return false;
}

static bool
device_is_new(struct device *d, struct str request_id)
{
	if (d->requests == NULL)
		d->requests = request_cache_new();
	return request_cache_add(d->requests, request_id);
}

/* Whether commands are ignored: a failure. */
static bool
device_is_silent(struct device *d, const char *what)
{
	if (!d->failing || !d->env->failures.silent)
		return false;
	body_log(&d->body, clock_wall(), "failure: %s not answered", what);
	return true;
}

/* Parse and execute a call; text is the outcome or the error. */
static enum rc
device_execute(struct device *d, struct str skill,
    const struct wire_tree *const args[2], char text[SKILLS_ERROR_MAX])
{
	struct wall now = clock_wall();
	struct skill_call call;
	enum rc rc;

	if (d->failing && d->env->failures.error) {
		(void)snprintf(text, SKILLS_ERROR_MAX, "simulated failure");
		return RC_DOWN;
	}
	rc = skills_read(d->env->skills, skill, args, now, &call, text);
	if (rc == RC_OK)
		rc = body_execute(&d->body, &call, now, text);
	else
		body_log(&d->body, now, "rejected: %s", text);
	if (rc == RC_OK)
		device_check_alarms(d);
	return rc;
}

/* ---- invoke ---- */

static void
device_reply(struct device *d, struct str request_id, struct str skill,
    enum rc rc, const char *text)
{
	bool wrong = d->failing && d->env->failures.wrong_request_id;
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &json };
	struct wire_result r = { .request_id = request_id, .ok = rc == RC_OK };
	struct buf *out = &d->env->out;
	char failed[ID_MAX + 16], other[ID_UUID_MAX];
	struct wire_err err;

	(void)snprintf(failed, sizeof(failed), "%.*s failed", STR_ARG(skill));
	wire_out_str(&o, str_of(r.ok ? text : failed));
	r.output = buf_str(&json);
	if (!r.ok)
		r.error = str_of(text);
	id_uuid(other);
	if (wrong)
		r.request_id = str_of(other);
	buf_reset(out);
	if (wire_encode(&wire_result_desc, &r, out, &err) == RC_OK) {
		request_cache_set_result(d->requests, request_id, buf_str(out));
		device_send_result(d, request_id, buf_str(out));
	} else {
		device_ignore(d, "invoke", err.why);
	}
	buf_free(&json);
	metric_add(d->env->m_invokes[r.ok], 1);
	log_debug("body.invoked", LOG_S("terminal", d->id),
	    LOG_V("skill", skill), LOG_RC(rc), LOG_S("outcome", text));
}

static void
device_run_invoke(
    struct device *d, struct str request_id, const struct wire_invoke *in)
{
	struct wire_tree *args = NULL;
	char text[SKILLS_ERROR_MAX];
	enum rc rc = RC_INVALID;

	if (!str_eq(in->request_id, request_id)) {
		(void)snprintf(
		    text, sizeof(text), "/request_id: is not the topic's");
	} else if (in->has_deadline_ms && clock_wall().ms > in->deadline_ms) {
		(void)snprintf(text, sizeof(text), "the deadline has passed");
	} else if (wire_tree_parse(in->arguments, &args) != RC_OK) {
		(void)snprintf(text, sizeof(text), "/arguments: is not JSON");
	} else {
		rc = device_execute(d, in->skill,
		    (const struct wire_tree *const[2]){ args, NULL }, text);
		wire_tree_free(args);
	}
	device_reply(d, request_id, in->skill, rc, text);
}

static void
device_on_invoke(
    struct device *d, struct str request_id, const struct mqtt_msg *m)
{
	char why[SKILLS_ERROR_MAX];
	struct wire_invoke in;
	struct wire_err err;

	if (!id_valid(request_id)) {
		device_ignore(d, "invoke", "its topic has no valid request id");
	} else if (device_is_silent(d, "invoke")) {
		return;
	} else if (!device_is_new(d, request_id)) {
		struct str before =
		    request_cache_result(d->requests, request_id);

		device_ignore(d, "invoke", "is a duplicate");
		if (before.p != NULL)
			device_send_result(d, request_id, before);
	} else if (wire_decode(&wire_invoke_desc, m->payload, d->env->arena,
		       &in, &err) != RC_OK) {
		wire_err_text(&err, why, sizeof(why));
		device_reply(d, request_id, STR("invoke"), RC_INVALID, why);
	} else {
		device_run_invoke(d, request_id, &in);
	}
}

/* ---- intent_action ---- */

static bool
device_is_stale(const struct device *d, struct str ts)
{
	double max_age_s = d->env->conf->action_max_age_s;
	struct wall at;

	return max_age_s > 0 && wall_parse(ts, &at) == RC_OK &&
	    (double)(clock_wall().ms - at.ms) > max_age_s * 1000;
}

static void
device_run_intent(struct device *d, const struct wire_intent_action_intents *in)
{
	struct wire_tree *args[2] = { NULL, NULL };
	char text[SKILLS_ERROR_MAX];
	struct str skill = { 0 };
	enum rc rc = RC_OK;
	int i;

	rc = wire_tree_parse(in->normalized, &args[0]);
	if (rc == RC_OK && in->parameters.p != NULL)
		rc = wire_tree_parse(in->parameters, &args[1]);
	for (i = 0; i < 2 && skill.n == 0; i++)
		skill = wire_tree_text(wire_tree_get(args[i], STR("skill")));
	if (rc == RC_OK && skill.n > 0) {
		rc = device_execute(d, skill,
		    (const struct wire_tree *const[2]){ args[0], args[1] },
		    text);
		metric_add(d->env->m_actions, rc == RC_OK);
		log_debug("body.acted", LOG_S("terminal", d->id),
		    LOG_V("intent", in->intent_id), LOG_RC(rc),
		    LOG_S("outcome", text));
	} else {
		device_ignore(d, "intent", "normalized names no skill");
	}
	wire_tree_free(args[0]);
	wire_tree_free(args[1]);
}

static void
device_on_intent_action(struct device *d, const struct mqtt_msg *m)
{
	struct wire_intent_action a;
	size_t i;

	if (device_is_silent(d, "intent_action") ||
	    !device_decode(d, &wire_intent_action_desc, m, &a))
		return;
	if (!str_eq(a.terminal_id, str_of(d->id))) {
		device_ignore(d, "intent_action", "is for another body");
	} else if (device_is_stale(d, a.ts)) {
		device_ignore(d, "intent_action", "is too old");
	} else if (!device_is_new(d, a.request_id)) {
		device_ignore(d, "intent_action", "is a duplicate");
	} else {
		body_session(&d->body, a.session_id);
		for (i = 0; i < a.n_intents; i++)
			device_run_intent(d, &a.intents[i]);
	}
}

/* ---- emotion_update, status ---- */

static void
device_on_emotion_update(struct device *d, const struct mqtt_msg *m)
{
	struct wire_emotion_update u;

	if (!device_decode(d, &wire_emotion_update_desc, m, &u))
		return;
	if (!str_eq(u.terminal_id, str_of(d->id)))
		device_ignore(d, "emotion_update", "is for another body");
	else if (body_emotion_update(&d->body, &u, clock_wall()) != RC_OK)
		device_ignore(
		    d, "emotion_update", "is older than the last one");
	else
		metric_add(d->env->m_updates[str_eq(
			       u.session_id, STR(BODY_TICK_SESSION))],
		    1);
}

static void
device_on_status(struct device *d, const struct mqtt_msg *m)
{
	struct wire_status st;

	if (device_decode(d, &wire_status_desc, m, &st))
		body_status(&d->body, &st, clock_wall());
}

void
device_handle(struct device *d, struct str leaf, const struct mqtt_msg *m)
{
	const struct str invoke = STR("invoke/");

	arena_reset(d->env->arena);
	/* Commands must not be retained; one that is may be arbitrarily old. */
	if (m->retain)
		device_ignore(d, "message", "is a retained one");
	else if (str_starts(leaf, invoke))
		device_on_invoke(
		    d, (struct str){ leaf.p + invoke.n, leaf.n - invoke.n }, m);
	else if (str_eq(leaf, STR("intent_action")))
		device_on_intent_action(d, m);
	else if (str_eq(leaf, STR("emotion_update")))
		device_on_emotion_update(d, m);
	else if (str_eq(leaf, STR("status")))
		device_on_status(d, m);
}

/* ---- request cache ---- */

struct request {
	char *id;
	char *result;
};

struct request_cache {
	struct request ring[REQUEST_CACHE_MAX];
	size_t next; /* index of the oldest */
};

struct request_cache *
request_cache_new(void)
{
	return mem_zalloc(sizeof(struct request_cache));
}

void
request_cache_free(struct request_cache *r)
{
	size_t i;

	if (r == NULL)
		return;
	for (i = 0; i < REQUEST_CACHE_MAX; i++) {
		free(r->ring[i].id);
		free(r->ring[i].result);
	}
	free(r);
}

static ptrdiff_t
request_cache_find(const struct request_cache *r, struct str id)
{
	size_t i;

	for (i = 0; i < REQUEST_CACHE_MAX; i++) {
		if (r->ring[i].id != NULL && str_eq(str_of(r->ring[i].id), id))
			return (ptrdiff_t)i;
	}
	return -1;
}

bool
request_cache_add(struct request_cache *r, struct str id)
{
	struct request *q = &r->ring[r->next];

	if (request_cache_find(r, id) >= 0)
		return false;
	free(q->id);
	free(q->result);
	*q = (struct request){ .id = str_dup(id) };
	r->next = (r->next + 1) % REQUEST_CACHE_MAX;
	return true;
}

void
request_cache_set_result(
    struct request_cache *r, struct str id, struct str result)
{
	ptrdiff_t i = request_cache_find(r, id);

	if (i < 0)
		return;
	free(r->ring[i].result);
	r->ring[i].result = str_dup(result);
}

struct str
request_cache_result(const struct request_cache *r, struct str id)
{
	ptrdiff_t i = request_cache_find(r, id);

	return i >= 0 ? str_of(r->ring[i].result) : (struct str){ 0 };
}
