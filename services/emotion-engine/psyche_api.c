/*
 * Requests that move a soul's drives and emotion.
 */
#include <stdio.h>

#include "change.h"
#include "core/clock.h"
#include "core/str.h"
#include "dynamics/drive.h"
#include "dynamics/pad.h"
#include "emotion_event.h"
#include "engine.h"
#include "handlers.h"
#include "soul_change.h"
#include "soul_record.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/tree.h"

/* Longest name of a delta, and longest error. */
#define NAME_MAX_BYTES 32
#define WHY_MAX        128

/* A delta that is being applied. */
struct psyche_change {
	struct engine *e;
	const struct wire_psyche_apply_request *req;
	struct drive_delta wanted, effect;
	struct gate gate;
	bool applied;
	char log[CHANGE_MAX];
};

static enum rc
psyche_read_member(const struct wire_tree_member *m, struct drive_delta *out,
    char why[WHY_MAX])
{
	enum rc rc = RC_INVALID;

	if (m->key.n > NAME_MAX_BYTES) {
		snprintf(why, WHY_MAX, "/delta: a name has more than %d bytes",
		    NAME_MAX_BYTES);
		return rc;
	}
	if (wire_tree_kind(m->value) == WIRE_TREE_NUMBER)
		rc = drive_delta_add(m->key, wire_tree_number(m->value), out);
	if (rc != RC_OK)
		snprintf(why, WHY_MAX, "/delta/%.*s: %s", STR_ARG(m->key),
		    rc == RC_NOENT ? "is neither drive nor emotion"
				   : "must be a number from -1 to 1");
	return rc;
}

/* False, with why: it is not valid. */
static bool
psyche_read_delta(struct str json, struct drive_delta *out, char why[WHY_MAX])
{
	struct wire_tree_member m;
	struct wire_tree *tree;
	enum rc rc = RC_OK;

	if (wire_tree_parse(json, &tree) != RC_OK) {
		snprintf(why, WHY_MAX, "/delta: is too large");
		return false;
	}
	for (bool is = wire_tree_first(tree, &m); is && rc == RC_OK;
	     is = wire_tree_next(tree, &m))
		rc = psyche_read_member(&m, out, why);
	wire_tree_free(tree);
	return rc == RC_OK;
}

static bool
psyche_apply(void *arg, struct stored_soul *soul)
{
	static const struct pad_input nothing;
	struct psyche_change *p = arg;
	struct record *r = &soul->record;
	int64_t id = record_applied_id(p->req->request_id);
	int64_t now = pad_time(clock_wall());
	struct change c;

	pad_update(&r->state, &r->base, &nothing, now, p->e->gate);
	drives_update(&r->drives, r->state.last_updated);
	p->gate =
	    gate_at(p->e->gate, &r->base, &r->state, r->state.last_updated);
	p->applied = !record_is_applied(r, id);
	if (!p->applied)
		return false;
	record_add_applied(r, id);
	p->effect = p->wanted;
	drives_apply(&r->drives, &r->state, &p->effect);
	change_by_psyche(&r->state, &p->effect, &c);
	c.version = soul->version + 1;
	c.gate = p->gate =
	    gate_at(p->e->gate, &r->base, &r->state, r->state.last_updated);
	soul->log = change_pack(&c, p->log);
	return true;
}

void
on_psyche_apply(void *arg, struct svc_call *c)
{
	struct psyche_change p = { .e = arg, .req = svc_call_request(c) };
	struct stored_soul soul = { .user_id = p.req->user_id,
		.id = p.req->soul_id };
	struct emotion_event_texts texts;
	struct wire_psyche_apply_reply rep;
	char why[WHY_MAX];

	if (!psyche_read_delta(p.req->delta, &p.wanted, why)) {
		svc_fail(c, RC_INVALID, why);
		return;
	}
	enum rc rc =
	    soul_change(p.e, &soul, psyche_apply, &p, svc_call_arena(c));
	if (rc != RC_OK) {
		soul_fail(c, rc);
		return;
	}
	rep = (struct wire_psyche_apply_reply){ .soul_id = soul.id,
		.applied = p.applied,
		.version = soul.version };
	emotion_event_put_state(&soul.record.state, &texts, &rep.soul_emotion);
	emotion_event_put_drives(&soul.record.drives, &rep.soul_emotion);
	if (p.applied)
		emotion_event_publish_applied(p.e,
		    &(struct emotion_event_applied){
			p.req, &p.effect, &rep.soul_emotion, soul.version },
		    svc_call_trace(c));
	svc_reply(c, &rep);
}
