/*
 * The order of the work: normalise, segment, match, choose, fill, decide.
 */
#include "filter.h"

#include <stdlib.h>

#include "command.h"
#include "core/mem.h"
#include "duration.h"
#include "fallback.h"
#include "match.h"
#include "segment.h"
#include "slots.h"

/* Matches of one segment that are compared. */
#define SEGMENT_MATCHES_MAX 2048

/* One request on its way through. */
struct run {
	const struct wire_intent_filter_request *req;
	struct wire_intent_filter_request_options opt;
	const struct catalog *cat;
	struct rx_scratch *rx;
	struct arena *a;
	struct wire_intent_filter_response *rep;
	struct command cmd;
	struct segment segments[SEGMENT_MAX];
	size_t nsegments;
	struct match *found; /* of the segment in hand */
	bool used[SEGMENT_MAX];
};

static struct match_text
segment_text(const struct run *r, size_t i)
{
	struct segment g = r->segments[i];

	return (struct match_text){
		.text = { r->cmd.text.p + g.start, g.end - g.start },
		.folded = { r->cmd.folded.p + g.start, g.end - g.start },
	};
}

static struct wire_span
span_of(const struct run *r, struct segment g)
{
	struct str s = { r->cmd.text.p + g.start, g.end - g.start };
	ptrdiff_t before =
	    str_utf8_count((struct str){ r->cmd.text.p, g.start });

	return (struct wire_span){
		.text = s, .start = before, .end = before + str_utf8_count(s)
	};
}

/* Surest first; then the more important; then by id, so that it is one order.
 */
static int
match_cmp(const void *pa, const void *pb)
{
	const struct match *a = pa, *b = pb;
	int64_t x = a->intent->def->priority, y = b->intent->def->priority;

	if (a->confidence != b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return str_cmp(a->intent->def->id, b->intent->def->id);
}

static size_t
match_segment(struct run *r, size_t segment)
{
	struct match_text t = segment_text(r, segment);
	struct match m;
	double least;
	size_t i, n = 0;

	for (i = 0; i < r->cat->n && n < SEGMENT_MATCHES_MAX; i++) {
		const struct wire_intent *def = r->cat->intents[i].def;

		match_intent(&r->cat->intents[i], t, r->rx, r->a, &m);
		least = def->match.has_min_confidence
		    ? def->match.min_confidence
		    : r->opt.min_confidence;
		if (m.confidence == 0 || m.confidence < least)
			continue;
		m.segment = segment;
		r->found[n++] = m;
	}
	if (n > 1)
		qsort(r->found, n, sizeof(*r->found), match_cmp);
	return n;
}

static enum rc
take(struct run *r, const struct match *m)
{
	struct wire_intent_filter_response_intents *out =
	    &r->rep->intents[r->rep->n_intents];
	const struct wire_intent *def = m->intent->def;
	struct slots slots;
	enum rc rc;

	rc = slots_fill(
	    m->intent, segment_text(r, m->segment), r->rx, r->a, &slots);
	if (rc != RC_OK)
		return rc;
	*out = (struct wire_intent_filter_response_intents){
		.intent_id = def->id,
		.intent_name = def->name.p != NULL ? def->name : def->id,
		.confidence = m->confidence,
		.status = slots.nmissing == 0
		    ? WIRE_INTENT_STATUS_READY
		    : WIRE_INTENT_STATUS_NEED_CLARIFICATION,
		.segment_index = (int64_t)m->segment,
		.span = span_of(r, r->segments[m->segment]),
		.parameters = slots.parameters,
		.normalized = slots.normalized,
		.missing_parameters = slots.missing,
		.n_missing_parameters = slots.nmissing,
		.evidence = m->evidence,
		.n_evidence = m->nevidence,
	};
	r->used[m->segment] = true;
	r->rep->n_intents++;
	return RC_OK;
}

static enum rc
note_candidates(struct run *r, size_t n)
{
	struct wire_intent_filter_response *rep = r->rep;
	size_t i;

	if (!r->opt.return_debug_candidates)
		return RC_OK;
	if (rep->candidates == NULL) {
		rep->has_candidates = true;
		rep->candidates = arena_alloc(r->a,
		    r->nsegments * r->cat->n * sizeof(*rep->candidates) + 1);
		if (rep->candidates == NULL)
			return RC_TOOBIG;
	}
	for (i = 0; i < n && rep->n_candidates < SEGMENT_MATCHES_MAX; i++)
		rep->candidates[rep->n_candidates++] =
		    (struct wire_intent_filter_response_candidates){
			    .intent_id = r->found[i].intent->def->id,
			    .segment_index = (int64_t)r->found[i].segment,
			    .confidence = r->found[i].confidence
		    };
	return RC_OK;
}

/* Without allow_multi_intent the best of all segments, not the first. */
static enum rc
match_all(struct run *r)
{
	size_t per_segment = (size_t)r->opt.max_intents_per_segment;
	size_t max = (size_t)r->opt.max_intents;
	struct match best = { 0 };
	size_t i, j, n;
	enum rc rc;

	for (i = 0; i < r->nsegments; i++) {
		n = match_segment(r, i);
		rc = note_candidates(r, n);
		if (rc != RC_OK)
			return rc;
		if (!r->opt.allow_multi_intent) {
			if (n > 0 &&
			    (best.intent == NULL ||
				match_cmp(&r->found[0], &best) < 0))
				best = r->found[0];
			continue;
		}
		for (j = 0; j < n && j < per_segment; j++) {
			if (r->rep->n_intents == max)
				break;
			rc = take(r, &r->found[j]);
			if (rc != RC_OK)
				return rc;
		}
	}
	return best.intent != NULL ? take(r, &best) : RC_OK;
}

static enum rc
system_intent(struct run *r, const struct fallback *f)
{
	struct wire_intent_filter_response_intents *out = r->rep->intents;
	struct wire_intent_filter_response_intents_evidence *ev =
	    arena_alloc(r->a, sizeof(*ev));

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
		.span = span_of(r, (struct segment){ 0, r->cmd.text.n }),
		.parameters =
		    arena_printf(r->a, "{\"reason\":\"%s\"}", f->reason),
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

	if (r->rep->n_intents > 0) {
		d->action = WIRE_DECISION_ACTION_EXECUTE_INTENTS;
		d->trigger_intent_id = r->rep->intents[0].intent_id;
		d->reason = STR("matched_catalog_intents");
		return RC_OK;
	}
	if (!r->opt.emit_system_intent_when_empty) {
		d->action = WIRE_DECISION_ACTION_FALLBACK_REASONING;
		d->trigger_intent_id = STR("sys.fallback_reasoning");
		d->reason = STR("no_catalog_intent_matched");
		return RC_OK;
	}
	f = fallback_decide(&r->cmd);
	d->action = f.action;
	d->trigger_intent_id = str_of(f.intent_id);
	d->reason = str_of(f.reason);
	return system_intent(r, &f);
}

/* What no intent used is for the language model. */
static enum rc
note_unmatched(struct run *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	size_t i;

	if (r->rep->decision.action != WIRE_DECISION_ACTION_EXECUTE_INTENTS)
		return RC_OK;
	meta->has_unmatched = true;
	meta->unmatched =
	    arena_alloc(r->a, r->nsegments * sizeof(*meta->unmatched) + 1);
	if (meta->unmatched == NULL)
		return RC_TOOBIG;
	for (i = 0; i < r->nsegments; i++) {
		if (!r->used[i])
			meta->unmatched[meta->n_unmatched++] =
			    segment_text(r, i).text;
	}
	return RC_OK;
}

static enum rc
note_meta(struct run *r, const struct filter_env *env)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	char now[WALL_FORMAT_MAX];

	wall_format(env->now, env->offset_min, now);
	meta->segment_count = (int64_t)r->nsegments;
	meta->catalog_size = (int64_t)r->cat->n;
	meta->time_signals = r->opt.enable_time_parser
	    ? (int64_t)duration_count(r->cmd.folded)
	    : 0;
	meta->timezone = arena_str(r->a, str_of(env->timezone));
	meta->locale = str_of(r->cmd.locale);
	meta->now = arena_str(r->a, str_of(now));
	return meta->now.p != NULL ? note_unmatched(r) : RC_TOOBIG;
}

enum rc
filter_run(const struct wire_intent_filter_request *req,
    const struct catalog *cat, const struct filter_env *env,
    struct rx_scratch *rx, struct arena *a,
    struct wire_intent_filter_response *rep)
{
	struct run r = { .req = req,
		.opt = req->options,
		.cat = cat,
		.rx = rx,
		.a = a,
		.rep = rep };
	struct str locale = arena_str(a, req->locale);
	enum rc rc;

	*rep = (struct wire_intent_filter_response){ 0 };
	rc = command_read(req->command, locale.p, env->locale, a, &r.cmd);
	if (rc != RC_OK)
		return rc;
	r.nsegments = segment_split(&r.cmd, r.segments);
	r.found = arena_alloc(a, cat->n * sizeof(*r.found));
	rep->intents = arena_alloc(
	    a, ((size_t)r.opt.max_intents + 1) * sizeof(*rep->intents));
	if (r.found == NULL || rep->intents == NULL)
		return RC_TOOBIG;
	rc = match_all(&r);
	if (rc == RC_OK)
		rc = decide(&r);
	if (rc == RC_OK)
		rc = note_meta(&r, env);
	return rc;
}
