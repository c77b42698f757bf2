/*
 * The order of the work: normalise, read, segment, match, choose, fill, decide.
 */
#include "filter.h"

#include <stdlib.h>

#include "choose.h"
#include "command.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "entity.h"
#include "fallback.h"
#include "match.h"
#include "mood.h"
#include "segment.h"
#include "skill.h"
#include "slots.h"

/* Most intents of one segment; the schema's maximum. */
#define PER_SEGMENT_MAX 8

/* One request on its way through. */
struct run {
	const struct wire_intent_filter_request *req;
	const struct filter_env *env;
	struct matcher m;
	struct reading reading;
	struct wire_intent_filter_response *rep;
	struct segment segments[SEGMENT_MAX];
	size_t nsegments;
	struct match *found;                   /* of the segment in hand */
	struct match *chosen[PER_SEGMENT_MAX]; /* of those, what is meant */
	size_t nchosen;
	bool used[SEGMENT_MAX];
	size_t usable; /* intents that are ready or may become so */
	size_t late;   /* intents that would have dropped a time */
	uint64_t left; /* the times that they would have dropped */
};

/* ---- the intents of the answer --------------------------------------------
 */

static ptrdiff_t
points(struct str s, size_t n)
{
	return str_utf8_count((struct str){ s.p, n });
}

static struct wire_span
span_of(const struct run *r, size_t start, size_t end)
{
	struct str s = r->reading.cmd.text;

	return (struct wire_span){ .text = { s.p + start, end - start },
		.start = points(s, start),
		.end = points(s, end) };
}

/* The same in what the caller sent. */
static struct wire_span
source_span_of(const struct run *r, size_t start, size_t end)
{
	const struct command *cmd = &r->reading.cmd;
	struct str part = command_source(cmd, start, end);
	size_t from = (size_t)(part.p - cmd->raw.p);

	return (struct wire_span){ .text = part,
		.start = points(cmd->raw, from),
		.end = points(cmd->raw, from + part.n) };
}

static struct claim
claim_of(const struct match *m)
{
	return (struct claim){
		.spans = m->spans, .evidence = m->evidence, .n = m->n
	};
}

/* 关灯五分钟后提醒我: a time that is another's, not both's. */
static bool
is_of_other(
    const struct run *r, const struct match *m, const struct datetime *t)
{
	const struct claim mine = claim_of(m);
	size_t i;

	for (i = 0; i < r->nchosen; i++) {
		const struct match *o = r->chosen[i];
		const struct claim other = claim_of(o);

		if (o != m &&
		    (o->slots->timing.taken & timing_bit(&r->reading, t)) !=
			0 &&
		    (t->start >= claim_end(&mine) ||
			t->start > claim_start(&other)))
			return true;
	}
	return false;
}

/* The times that a match would drop. */
static uint64_t
times_left(const struct run *r, const struct match *m)
{
	const struct claim claim = claim_of(m);
	uint64_t left = timing_left(
	    &m->slots->timing, &r->reading, &r->segments[m->segment], &claim);
	size_t i;

	for (i = 0; left != 0 && i < r->reading.n_times; i++) {
		if (is_of_other(r, m, &r->reading.times[i]))
			left &= ~(UINT64_C(1) << i);
	}
	return left;
}

static enum rc
status_of(struct run *r, const struct match *m, enum wire_intent_status *out)
{
	struct slots *slots = m->slots;
	uint64_t left;
	enum rc rc;

	*out = WIRE_INTENT_STATUS_READY;
	if (slots->nmissing == 0 && r->req->n_skills > 0) {
		rc = skill_check(
		    r->req->skills, r->req->n_skills, slots, r->m.a);
		if (rc == RC_TOOBIG)
			return rc;
		if (rc != RC_OK)
			*out = WIRE_INTENT_STATUS_REJECTED;
	}
	if (slots->nmissing > 0)
		*out = WIRE_INTENT_STATUS_NEED_CLARIFICATION;
	left = times_left(r, m);
	if (left != 0) {
		*out = WIRE_INTENT_STATUS_REJECTED;
		r->left |= left;
		r->late++;
	}
	return RC_OK;
}

static enum rc
take(struct run *r, struct match *m)
{
	const struct segment *g = &r->segments[m->segment];
	const struct wire_intent *def = m->intent->def;
	enum wire_intent_status status;
	enum rc rc = status_of(r, m, &status);

	if (rc != RC_OK)
		return rc;
	r->rep->intents[r->rep->n_intents++] =
	    (struct wire_intent_filter_response_intents){
		    .intent_id = def->id,
		    .intent_name = def->name.p != NULL ? def->name : def->id,
		    .confidence = m->confidence,
		    .status = status,
		    .segment_index = (int64_t)m->segment,
		    .span = span_of(r, g->start, g->end),
		    .has_source_span = true,
		    .source_span = source_span_of(r, g->start, g->end),
		    .parameters = m->slots->parameters,
		    .normalized = m->slots->normalized,
		    .missing_parameters = m->slots->missing,
		    .n_missing_parameters = m->slots->nmissing,
		    .evidence = m->evidence,
		    .n_evidence = m->n,
	    };
	r->used[m->segment] = true;
	r->usable += status != WIRE_INTENT_STATUS_REJECTED;
	return RC_OK;
}

/* ---- matching -------------------------------------------------------------
 */

/* The matches of a segment that reach their thresholds. */
static size_t
match_one(struct run *r, size_t segment)
{
	size_t i, kept = 0;
	size_t n = match_segment(&r->m, &r->segments[segment], r->found);

	for (i = 0; i < n; i++) {
		const struct wire_intent *def = r->found[i].intent->def;
		double least = def->match.has_min_confidence
		    ? def->match.min_confidence
		    : r->req->options.min_confidence;

		if (r->found[i].confidence < least)
			continue;
		r->found[kept] = r->found[i];
		r->found[kept++].segment = segment;
	}
	return kept;
}

static enum rc
note_candidates(struct run *r, size_t n)
{
	struct wire_intent_filter_response *rep = r->rep;
	size_t i, max = r->nsegments * MATCH_MAX;

	if (!r->req->options.return_debug_candidates)
		return RC_OK;
	if (rep->candidates == NULL) {
		rep->has_candidates = true;
		if (max > r->m.cat->n * r->nsegments)
			max = r->m.cat->n * r->nsegments;
		rep->candidates =
		    arena_alloc(r->m.a, max * sizeof(*rep->candidates));
		if (rep->candidates == NULL)
			return RC_TOOBIG;
	}
	for (i = 0; i < n; i++)
		rep->candidates[rep->n_candidates++] =
		    (struct wire_intent_filter_response_candidates){
			    .intent_id = r->found[i].intent->def->id,
			    .segment_index = (int64_t)r->found[i].segment,
			    .confidence = r->found[i].confidence
		    };
	return RC_OK;
}

/* What is chosen, as far as there is room. */
static enum rc
take_chosen(struct run *r)
{
	size_t i, max = (size_t)r->req->options.max_intents;
	enum rc rc = RC_OK;

	for (i = 0; i < r->nchosen && rc == RC_OK; i++) {
		struct match *m = r->chosen[i];

		rc = slots_fill(&r->m, &r->segments[m->segment], m);
	}
	for (i = 0; i < r->nchosen && r->rep->n_intents < max && rc == RC_OK;
	     i++)
		rc = take(r, r->chosen[i]);
	return rc;
}

/* Without allow_multi_intent the best of all segments, not the first. */
static enum rc
match_all(struct run *r)
{
	const struct wire_intent_filter_request_options *opt = &r->req->options;
	size_t n;
	struct match best = { .confidence = 0 };
	enum rc rc = RC_OK;

	for (size_t s = 0; s < r->nsegments && rc == RC_OK; s++) {
		struct clause p = { &r->reading, r->segments, r->nsegments, s };

		if (r->segments[s].retracted)
			continue;
		n = match_one(r, s);
		rc = note_candidates(r, n);
		r->nchosen = choose(&r->m, &p, r->found, n,
		    opt->allow_multi_intent
			? (size_t)opt->max_intents_per_segment
			: 1,
		    r->chosen);
		if (opt->allow_multi_intent)
			rc = rc == RC_OK ? take_chosen(r) : rc;
		else if (r->nchosen > 0 &&
		    (best.intent == NULL ||
			choose_cmp(r->chosen[0], &best) < 0))
			best = *r->chosen[0];
	}
	if (rc == RC_OK && best.intent != NULL) {
		r->chosen[0] = &best;
		r->nchosen = 1;
		rc = take_chosen(r);
	}
	return rc;
}

/* ---- the decision ---------------------------------------------------------
 */

static enum rc
system_intent(struct run *r, const struct fallback *f)
{
	struct wire_intent_filter_response_intents *out = r->rep->intents;
	struct wire_intent_filter_response_intents_evidence *ev =
	    arena_alloc(r->m.a, sizeof(*ev));

	if (ev == NULL)
		return RC_TOOBIG;
	*ev = (struct wire_intent_filter_response_intents_evidence){
		.type = STR("system"), .value = str_of(f->reason), .score = 1
	};
	*out = (struct wire_intent_filter_response_intents){
		.intent_id = str_of(f->intent_id),
		.intent_name = str_of(f->intent_name),
		.confidence = f->confidence,
		.status = WIRE_INTENT_STATUS_SYSTEM,
		.span = span_of(r, 0, r->reading.cmd.text.n),
		.has_source_span = true,
		.source_span = source_span_of(r, 0, r->reading.cmd.text.n),
		.parameters =
		    arena_printf(r->m.a, "{\"reason\":\"%s\"}", f->reason),
		.normalized = STR("{\"system_intent\":true}"),
		.evidence = ev,
		.n_evidence = 1,
	};
	r->rep->n_intents = 1;
	return out->parameters.p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
decide(struct run *r)
{
	struct wire_intent_filter_response_decision *d = &r->rep->decision;
	struct fallback f;

	d->action = WIRE_DECISION_ACTION_FALLBACK_REASONING;
	d->trigger_intent_id = STR("sys.fallback_reasoning");
	if (r->usable > 0) {
		d->action = WIRE_DECISION_ACTION_EXECUTE_INTENTS;
		d->trigger_intent_id = r->rep->intents[0].intent_id;
		d->reason = STR("matched_catalog_intents");
		return RC_OK;
	}
	/* Understood, but the body cannot do it: the model may explain. */
	if (r->rep->n_intents > 0) {
		d->reason =
		    r->late > 0 ? STR("unused_time") : STR("rejected_by_skill");
		return RC_OK;
	}
	if (!r->req->options.emit_system_intent_when_empty) {
		d->reason = STR("no_catalog_intent_matched");
		return RC_OK;
	}
	f = fallback_decide(&r->reading);
	d->action = f.action;
	d->trigger_intent_id = str_of(f.intent_id);
	d->reason = str_of(f.reason);
	return system_intent(r, &f);
}

static void
leave(struct run *r, size_t start, size_t end)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;

	meta->unmatched[meta->n_unmatched++] =
	    (struct str){ r->reading.cmd.text.p + start, end - start };
}

/* The times of a segment that its intents would have dropped. */
static void
leave_times(struct run *r, const struct segment *g)
{
	size_t i;

	for (i = 0; i < r->reading.n_times; i++) {
		const struct datetime *t = &r->reading.times[i];

		if ((r->left & timing_bit(&r->reading, t)) != 0 &&
		    t->start >= g->start && t->end <= g->end)
			leave(r, t->start, t->end);
	}
}

/* What no intent used, unless it says nothing, is for the language model. */
static enum rc
note_unmatched(struct run *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	size_t i, most = r->nsegments + r->reading.n_times;

	if (r->usable == 0 && r->late == 0)
		return RC_OK;
	meta->has_unmatched = true;
	meta->unmatched = arena_alloc(r->m.a, most * sizeof(*meta->unmatched));
	if (meta->unmatched == NULL)
		return RC_TOOBIG;
	for (i = 0; i < r->nsegments; i++) {
		const struct segment *g = &r->segments[i];

		if (r->used[i])
			leave_times(r, g);
		else if (!g->retracted && segment_says(&r->reading, g))
			leave(r, g->start, g->end);
	}
	return RC_OK;
}

static enum rc
note_entities(struct run *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	if (!r->req->options.return_debug_entities)
		return RC_OK;
	entity_list(&r->reading, &b);
	if (buf_rc(&b) == RC_OK)
		meta->extracted_entities = arena_str(r->m.a, buf_str(&b));
	buf_free(&b);
	return meta->extracted_entities.p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
note_meta(struct run *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	const struct filter_env *env = r->env;
	char now[WALL_FORMAT_MAX];
	enum rc rc;

	wall_format(env->now, zone_offset_min(env->zone, env->now), now);
	meta->segment_count = (int64_t)r->nsegments;
	meta->catalog_size = (int64_t)r->m.cat->n;
	meta->time_signals =
	    r->reading.tells_times ? (int64_t)r->reading.n_times : 0;
	meta->timezone = arena_str(r->m.a, str_of(zone_name(env->zone)));
	meta->locale = str_of(r->reading.cmd.locale);
	meta->now = arena_str(r->m.a, str_of(now));
	if (meta->now.p == NULL || meta->timezone.p == NULL)
		return RC_TOOBIG;
	rc = note_entities(r);
	return rc == RC_OK ? note_unmatched(r) : rc;
}

static enum rc
read_command(struct run *r)
{
	struct arena *a = r->m.a;
	struct str locale = arena_str(a, r->req->locale);
	struct datetime_now now = { r->env->now, r->env->zone };
	enum rc rc;

	r->reading.tells_times = r->req->options.enable_time_parser;
	rc = command_read(
	    r->req->command, locale.p, r->env->locale, a, &r->reading.cmd);
	if (rc == RC_OK)
		rc = reading_make(&r->reading, now, r->env->speech, a);
	if (rc == RC_OK)
		rc = matcher_init(&r->m, &r->reading);
	if (rc == RC_OK)
		r->nsegments = segment_split(&r->reading, r->segments);
	return rc;
}

enum rc
filter_run(const struct wire_intent_filter_request *req,
    const struct catalog *cat, const struct filter_env *env,
    struct rx_scratch *rx, struct arena *a,
    struct wire_intent_filter_response *rep)
{
	struct run r = { .req = req, .env = env, .rep = rep };
	size_t most = cat->n < MATCH_MAX ? cat->n : MATCH_MAX;
	enum rc rc;

	r.m = (struct matcher){ .cat = cat, .rx = rx, .a = a };
	*rep = (struct wire_intent_filter_response){ 0 };
	r.found = arena_alloc(a, (most + 1) * sizeof(*r.found));
	rep->intents = arena_alloc(
	    a, ((size_t)req->options.max_intents + 1) * sizeof(*rep->intents));
	if (r.found == NULL || rep->intents == NULL)
		return RC_TOOBIG;
	rc = read_command(&r);
	if (rc == RC_OK)
		rc = match_all(&r);
	if (rc == RC_OK)
		rc = decide(&r);
	if (rc == RC_OK)
		rc = note_meta(&r);
	return rc;
}
