/*
 * The pipeline: normalize, parse, segment, match, select, fill slots, decide.
 */
#include "filter.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/zone.h"
#include "match/clause.h"
#include "slots/slots.h"
#include "system/alarm_intent.h"

/* Most intents of one segment; the schema's maximum. */
#define PER_SEGMENT_MAX 8
/* Of a command to an alarm: its whole text is one. */
#define ALARM_CONFIDENCE .95

/* The state of one request. */
struct filter_run_state {
	const struct wire_intent_filter_request *req;
	const struct filter_env *env;
	struct matcher m;
	struct utterance utterance;
	struct wire_intent_filter_response *rep;
	struct segment segments[SEGMENT_MAX];
	size_t n_segments;
	struct candidate *candidates; /* of the current segment */
	struct candidate
	    *selected[PER_SEGMENT_MAX]; /* of those, the requested ones */
	size_t n_selected;
	bool used[SEGMENT_MAX];
	/* A command to the server's alarms in the current segment. */
	struct alarm_phrase alarm;
	bool has_alarm;
	size_t usable;   /* intents that are ready or may become so */
	size_t ready;    /* those that can be executed */
	size_t n_unused; /* intents that would drop a time */
	uint64_t unused; /* the times that they would drop */
	uint64_t delay;  /* those of the last intent that has any; 0: none */
	size_t delayed;  /* its segment, or one that shares them */
};

/* ---- the intents of the response ---- */

static struct wire_span
filter_span(const struct filter_run_state *r, size_t start, size_t end)
{
	struct str s = r->utterance.cmd.text;

	return (struct wire_span){ .text = { s.p + start, end - start },
		.start = utterance_points(s, start),
		.end = utterance_points(s, end) };
}

/* The same in the text that the caller sent. */
static struct wire_span
filter_source_span(const struct filter_run_state *r, size_t start, size_t end)
{
	const struct command *cmd = &r->utterance.cmd;
	struct str part = command_source(cmd, start, end);
	size_t from = (size_t)(part.p - cmd->raw.p);

	return (struct wire_span){ .text = part,
		.start = utterance_points(cmd->raw, from),
		.end = utterance_points(cmd->raw, from + part.n) };
}

static struct claim
filter_claim(const struct candidate *m)
{
	return (struct claim){
		.spans = m->spans, .evidence = m->evidence, .n = m->n
	};
}

/* 关灯五分钟后提醒我: the time belongs to the other intent. */
static bool
filter_time_is_of_other(const struct filter_run_state *r,
    const struct candidate *m, const struct datetime *t)
{
	const struct claim mine = filter_claim(m);
	size_t i;

	for (i = 0; i < r->n_selected; i++) {
		const struct candidate *o = r->selected[i];
		const struct claim other = filter_claim(o);

		if (o != m &&
		    (o->slots->times.taken &
			slot_times_bit(&r->utterance, t)) != 0 &&
		    (t->start >= claim_end(&mine) ||
			t->start > claim_start(&other)))
			return true;
	}
	return false;
}

/* The segment that says the request: one that amends refers to it. */
static size_t
filter_request_segment(const struct filter_run_state *r, size_t s)
{
	return r->segments[s].amends ? s - 1 : s;
}

/* The times that a candidate would drop. */
static uint64_t
filter_unused_times(const struct filter_run_state *r, const struct candidate *m)
{
	const struct claim claim = filter_claim(m);
	uint64_t unused = slot_times_unused(
	    &m->slots->times, &r->utterance, &r->segments[m->segment], &claim);
	size_t i;

	/* 十分钟后关卧室的灯，不对，客厅的: the time still holds. */
	if (unused == 0 && r->segments[m->segment].amends &&
	    utterance_time_at(&r->utterance, r->segments[m->segment].start,
		r->segments[m->segment].end) == NULL)
		unused = slot_times_unused(&m->slots->times, &r->utterance,
		    &r->segments[m->segment - 1], &claim);

	for (i = 0; unused != 0 && i < r->utterance.n_times; i++) {
		if (filter_time_is_of_other(r, m, &r->utterance.times[i]))
			unused &= ~(UINT64_C(1) << i);
	}
	return unused;
}

/* *unused: the times for which alone it is rejected. */
static enum rc
filter_status(struct filter_run_state *r, const struct candidate *m,
    enum wire_intent_status *out, uint64_t *unused)
{
	struct slots *slots = m->slots;
	enum rc rc;

	*out = WIRE_INTENT_STATUS_READY;
	if (slots->n_missing == 0 && r->req->n_skills > 0) {
		rc = skill_check(&(struct skill_set){ r->req->skills,
				     r->req->n_skills, r->env->skills },
		    slots, r->m.a);
		if (rc == RC_TOOBIG)
			return rc;
		if (rc != RC_OK)
			*out = WIRE_INTENT_STATUS_REJECTED;
	}
	if (slots->n_missing > 0)
		*out = WIRE_INTENT_STATUS_NEED_CLARIFICATION;
	*unused = filter_unused_times(r, m);
	if (*unused != 0) {
		if (*out != WIRE_INTENT_STATUS_READY) {
			r->unused |= *unused;
			r->n_unused++;
			*unused = 0;
		}
		*out = WIRE_INTENT_STATUS_REJECTED;
	}
	return RC_OK;
}

/*
 * 十分钟后关灯: the intent at its time, where the server has alarms; else, or
 * if it is no time for an action, it stays rejected.
 */
static enum rc
filter_schedule(struct filter_run_state *r, const struct candidate *m,
    uint64_t unused, struct wire_intent_filter_response_intents *io)
{
	const struct segment *g = &r->segments[m->segment];
	struct str text = { r->utterance.cmd.text.p + g->start,
		g->end - g->start };
	const struct datetime *t = r->utterance.times;
	enum rc rc = RC_NOENT;

	if (r->req->options.enable_alarm_intents && !r->has_alarm &&
	    (unused & (unused - 1)) == 0) {
		while ((unused & slot_times_bit(&r->utterance, t)) == 0)
			t++;
		struct str when = { r->utterance.cmd.text.p + t->start,
			t->end - t->start };
		/* In "十二点开始打扫" it is a moment, no open interval. */
		if (str_ends(when, STR("开始")))
			when.n -= STR("开始").n;
		/* 开灯十分钟: how long, not when. */
		if (t->kind != DATETIME_DURATION)
			rc = alarm_schedule_write(
			    &r->utterance, when, text, r->m.a, io);
	}
	if (rc == RC_OK) {
		io->status = WIRE_INTENT_STATUS_SYSTEM;
	} else if (rc == RC_NOENT) {
		r->unused |= unused;
		r->n_unused++;
		rc = RC_OK;
	}
	return rc;
}

/*
 * 十分钟后关灯并摇头: the time is that of both.  A comma, 然后 or a time of its
 * own separates them.
 */
static bool
filter_shares_delay(const struct filter_run_state *r, const struct candidate *m)
{
	static const struct str joints[] = { STR_INIT("并"), STR_INIT("并且"),
		STR_INIT("而且"), STR_INIT("同时"), STR_INIT("顺便"),
		STR_INIT("and") };
	const struct segment *g = &r->segments[m->segment];
	const struct segment *last = g - 1;

	if (r->delay == 0 || m->segment != r->delayed + 1)
		return false;
	for (size_t i = 0; i < r->utterance.n_times; i++)
		if (r->utterance.times[i].start >= g->start &&
		    r->utterance.times[i].start < g->end)
			return false;
	const struct str gap = str_trim((struct str){
	    r->utterance.cmd.text.p + last->end, g->start - last->end });
	for (size_t i = 0; i < NELEM(joints); i++)
		if (str_eq(gap, joints[i]))
			return true;
	return false;
}

static enum rc
filter_add_intent(struct filter_run_state *r, struct candidate *m)
{
	const struct segment *g = &r->segments[m->segment];
	const struct wire_intent *def = m->intent->def;
	struct wire_intent_filter_response_intents *out =
	    &r->rep->intents[r->rep->n_intents];
	enum wire_intent_status status;
	uint64_t unused = 0;
	enum rc rc = filter_status(r, m, &status, &unused);

	if (rc != RC_OK)
		return rc;
	if (unused != 0) {
		r->delay = unused;
		r->delayed = m->segment;
	} else if (status == WIRE_INTENT_STATUS_READY &&
	    filter_shares_delay(r, m)) {
		unused = r->delay;
		r->delayed = m->segment;
		status = WIRE_INTENT_STATUS_REJECTED;
	}
	*out = (struct wire_intent_filter_response_intents){
		.intent_id = def->id,
		.intent_name = def->name.p != NULL ? def->name : def->id,
		.confidence = m->confidence,
		.status = status,
		.segment_index = (int64_t)m->segment,
		.span = filter_span(r, g->start, g->end),
		.has_source_span = true,
		.source_span = filter_source_span(r, g->start, g->end),
		.parameters = m->slots->parameters,
		.normalized = m->slots->normalized,
		.missing_parameters = m->slots->missing,
		.n_missing_parameters = m->slots->n_missing,
		.evidence = m->evidence,
		.n_evidence = m->n,
	};
	if (unused != 0)
		rc = filter_schedule(r, m, unused, out);
	r->rep->n_intents++;
	r->used[m->segment] = true;
	r->usable += out->status != WIRE_INTENT_STATUS_REJECTED;
	r->ready += out->status == WIRE_INTENT_STATUS_READY ||
	    out->status == WIRE_INTENT_STATUS_SYSTEM;
	return rc;
}

/* ---- the server's alarms ---- */

static void
filter_find_alarm(struct filter_run_state *r, size_t segment)
{
	r->has_alarm = r->req->options.enable_alarm_intents &&
	    r->env->alarms != NULL && !r->segments[segment].is_retracted &&
	    alarm_phrase_find(r->env->alarms, r->m.rx, &r->utterance,
		&r->segments[segment], r->m.a, &r->alarm);
}

/* The intent of the alarm found in a segment. */
static enum rc
filter_add_alarm(struct filter_run_state *r, size_t segment)
{
	const struct segment *g = &r->segments[segment];
	struct wire_intent_filter_response_intents *out =
	    &r->rep->intents[r->rep->n_intents];
	struct wire_intent_filter_response_intents_evidence *ev =
	    arena_alloc(r->m.a, sizeof(*ev));

	if (ev == NULL)
		return RC_TOOBIG;
	*ev = (struct wire_intent_filter_response_intents_evidence){
		.type = STR("system"), .value = STR("alarm"), .score = 1
	};
	*out = (struct wire_intent_filter_response_intents){
		.confidence = ALARM_CONFIDENCE,
		.status = WIRE_INTENT_STATUS_SYSTEM,
		.segment_index = (int64_t)segment,
		.span = filter_span(r, g->start, g->end),
		.has_source_span = true,
		.source_span = filter_source_span(r, g->start, g->end),
		.evidence = ev,
		.n_evidence = 1,
	};
	r->rep->n_intents++;
	r->used[segment] = true;
	r->usable++;
	return alarm_intent_write(&r->alarm, &r->utterance, r->m.a, out);
}

/*
 * An intent of the catalog that can be executed wins; otherwise the ones from
 * n_before on give way.
 */
static enum rc
filter_prefer_catalog(struct filter_run_state *r, size_t segment,
    const struct filter_run_state *before, size_t n_before)
{
	size_t max = (size_t)r->req->options.max_intents;

	if (!r->has_alarm || r->ready > before->ready)
		return RC_OK;
	r->rep->n_intents = n_before;
	r->usable = before->usable;
	r->unused = before->unused;
	r->n_unused = before->n_unused;
	return n_before < max ? filter_add_alarm(r, segment) : RC_OK;
}

/* ---- matching ---- */

/* The candidates of a segment that reach their thresholds. */
static size_t
filter_match_segment(struct filter_run_state *r, size_t segment)
{
	size_t i, n_above = 0;
	size_t n = candidate_find(&r->m,
	    &r->segments[filter_request_segment(r, segment)], r->candidates);

	for (i = 0; i < n; i++) {
		const struct wire_intent *def = r->candidates[i].intent->def;
		double least = def->match.has_min_confidence
		    ? def->match.min_confidence
		    : r->req->options.min_confidence;

		if (r->candidates[i].confidence < least)
			continue;
		r->candidates[n_above] = r->candidates[i];
		r->candidates[n_above++].segment = segment;
	}
	return n_above;
}

static enum rc
filter_add_candidates(struct filter_run_state *r, size_t n)
{
	struct wire_intent_filter_response *rep = r->rep;
	size_t i, max = r->n_segments * CANDIDATE_MAX;

	if (!r->req->options.return_debug_candidates)
		return RC_OK;
	if (rep->candidates == NULL) {
		rep->has_candidates = true;
		if (max > r->m.cat->n * r->n_segments)
			max = r->m.cat->n * r->n_segments;
		rep->candidates =
		    arena_alloc(r->m.a, max * sizeof(*rep->candidates));
		if (rep->candidates == NULL)
			return RC_TOOBIG;
	}
	for (i = 0; i < n; i++)
		rep->candidates[rep->n_candidates++] =
		    (struct wire_intent_filter_response_candidates){
			    .intent_id = r->candidates[i].intent->def->id,
			    .segment_index = (int64_t)r->candidates[i].segment,
			    .confidence = r->candidates[i].confidence
		    };
	return RC_OK;
}

/* 打开客厅和卧室的灯: the intent, once for each of the values. */
static enum rc
filter_add_variants(struct filter_run_state *r, struct candidate *m, size_t max)
{
	size_t n = m->slots->n_variants;
	enum rc rc = RC_OK;

	if (n == 0 || !r->req->options.allow_multi_intent)
		n = 1;
	while (rc == RC_OK && m->variant < n && r->rep->n_intents < max) {
		rc = filter_add_intent(r, m);
		if (++m->variant == n || rc != RC_OK)
			break;
		m->slots = NULL;
		rc = slots_fill(&r->m, &r->segments[m->segment], m);
	}
	return rc;
}

/* Add the selected candidates, up to max_intents. */
static enum rc
filter_add_selected(struct filter_run_state *r)
{
	size_t i, max = (size_t)r->req->options.max_intents;
	enum rc rc = RC_OK;

	for (i = 0; i < r->n_selected && rc == RC_OK; i++) {
		struct candidate *m = r->selected[i];
		const struct segment *g = &r->segments[m->segment];

		if (g->amends)
			m->slots = NULL; /* those of what was taken back */
		rc = slots_fill(&r->m, g, m);
		/* What amends nothing is no request. */
		if (rc == RC_OK && g->amends && m->slots->n_amended == 0 &&
		    filter_unused_times(r, m) == 0)
			r->selected[i--] = r->selected[--r->n_selected];
	}
	for (i = 0; i < r->n_selected && rc == RC_OK; i++)
		rc = filter_add_variants(r, r->selected[i], max);
	return rc;
}

/* All requests of a segment. */
static enum rc
filter_match_multi(struct filter_run_state *r, size_t s, size_t n)
{
	struct clause p = { &r->utterance, r->segments, r->n_segments,
		filter_request_segment(r, s) };
	const struct filter_run_state before = { .usable = r->usable,
		.ready = r->ready,
		.unused = r->unused,
		.n_unused = r->n_unused };
	size_t n_before = r->rep->n_intents;
	enum rc rc;

	filter_find_alarm(r, s);
	r->n_selected = selection_choose(&r->m, &p, r->candidates, n,
	    (size_t)r->req->options.max_intents_per_segment, r->selected);
	rc = filter_add_selected(r);
	return rc == RC_OK ? filter_prefer_catalog(r, s, &before, n_before)
			   : rc;
}

/* The best of all segments, not the first. */
static enum rc
filter_match_single(struct filter_run_state *r, struct candidate *best)
{
	const struct filter_run_state before = { .usable = 0 };
	size_t s = best->intent != NULL ? best->segment : 0;
	enum rc rc = RC_OK;

	if (best->intent == NULL) {
		for (; s < r->n_segments && !r->has_alarm; s++)
			filter_find_alarm(r, s);
		return r->has_alarm ? filter_add_alarm(r, s - 1) : RC_OK;
	}
	filter_find_alarm(r, s);
	r->selected[0] = best;
	r->n_selected = 1;
	rc = filter_add_selected(r);
	return rc == RC_OK ? filter_prefer_catalog(r, s, &before, 0) : rc;
}

static enum rc
filter_match(struct filter_run_state *r)
{
	const struct wire_intent_filter_request_options *opt = &r->req->options;
	struct candidate best = { .confidence = 0 };
	size_t n;
	enum rc rc = RC_OK;

	for (size_t s = 0; s < r->n_segments && rc == RC_OK; s++) {
		struct clause p = { &r->utterance, r->segments, r->n_segments,
			filter_request_segment(r, s) };

		if (r->segments[s].is_retracted)
			continue;
		n = filter_match_segment(r, s);
		rc = filter_add_candidates(r, n);
		if (rc != RC_OK || opt->allow_multi_intent) {
			rc = rc == RC_OK ? filter_match_multi(r, s, n) : rc;
			continue;
		}
		r->n_selected = selection_choose(
		    &r->m, &p, r->candidates, n, 1, r->selected);
		if (r->n_selected > 0 &&
		    (best.intent == NULL ||
			selection_cmp(r->selected[0], &best) < 0))
			best = *r->selected[0];
	}
	if (rc == RC_OK && !opt->allow_multi_intent)
		rc = filter_match_single(r, &best);
	return rc;
}

/* ---- the decision ---- */

static enum rc
filter_add_system_intent(struct filter_run_state *r, const struct fallback *f)
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
		.span = filter_span(r, 0, r->utterance.cmd.text.n),
		.has_source_span = true,
		.source_span =
		    filter_source_span(r, 0, r->utterance.cmd.text.n),
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
filter_decide(struct filter_run_state *r)
{
	struct wire_intent_filter_response_decision *d = &r->rep->decision;
	struct fallback f;

	d->action = WIRE_DECISION_ACTION_FALLBACK_REASONING;
	d->trigger_intent_id = STR("sys.fallback_reasoning");
	if (r->usable > 0) {
		d->action = WIRE_DECISION_ACTION_EXECUTE_INTENTS;
		d->trigger_intent_id = r->rep->intents[0].intent_id;
		d->reason =
		    r->rep->intents[0].status == WIRE_INTENT_STATUS_SYSTEM
		    ? STR("matched_alarm_intents")
		    : STR("matched_catalog_intents");
		return RC_OK;
	}
	/* Understood, but the terminal cannot do it: the model may explain. */
	if (r->rep->n_intents > 0) {
		d->reason = r->n_unused > 0 ? STR("unused_time")
					    : STR("rejected_by_skill");
		return RC_OK;
	}
	if (!r->req->options.emit_system_intent_when_empty) {
		d->reason = STR("no_catalog_intent_matched");
		return RC_OK;
	}
	f = fallback_decide(&r->utterance);
	d->action = f.action;
	d->trigger_intent_id = str_of(f.intent_id);
	d->reason = str_of(f.reason);
	return filter_add_system_intent(r, &f);
}

static void
filter_add_unmatched(struct filter_run_state *r, size_t start, size_t end)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;

	meta->unmatched[meta->n_unmatched++] =
	    (struct str){ r->utterance.cmd.text.p + start, end - start };
}

/* The times of a segment that its intents would drop. */
static void
filter_add_unmatched_times(struct filter_run_state *r, const struct segment *g)
{
	size_t i;

	for (i = 0; i < r->utterance.n_times; i++) {
		const struct datetime *t = &r->utterance.times[i];

		if ((r->unused & slot_times_bit(&r->utterance, t)) != 0 &&
		    t->start >= g->start && t->end <= g->end)
			filter_add_unmatched(r, t->start, t->end);
	}
}

/* Segments with content that no intent used are for the language model. */
static enum rc
filter_set_unmatched(struct filter_run_state *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	size_t i, most = r->n_segments + r->utterance.n_times;

	if (r->usable == 0 && r->n_unused == 0)
		return RC_OK;
	meta->has_unmatched = true;
	meta->unmatched = arena_alloc(r->m.a, most * sizeof(*meta->unmatched));
	if (meta->unmatched == NULL)
		return RC_TOOBIG;
	for (i = 0; i < r->n_segments; i++) {
		const struct segment *g = &r->segments[i];

		if (r->used[i])
			filter_add_unmatched_times(r, g);
		else if (!g->is_retracted &&
		    segment_has_content(&r->utterance, g))
			filter_add_unmatched(r, g->start, g->end);
	}
	return RC_OK;
}

static enum rc
filter_set_entities(struct filter_run_state *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	if (!r->req->options.return_debug_entities)
		return RC_OK;
	entity_list(&r->utterance, &b);
	if (buf_rc(&b) == RC_OK)
		meta->extracted_entities = arena_str(r->m.a, buf_str(&b));
	buf_free(&b);
	return meta->extracted_entities.p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
filter_set_meta(struct filter_run_state *r)
{
	struct wire_intent_filter_response_meta *meta = &r->rep->meta;
	const struct filter_env *env = r->env;
	char now[WALL_FORMAT_MAX];
	enum rc rc;

	wall_format(env->now, zone_offset_min(env->zone, env->now), now);
	meta->segment_count = (int64_t)r->n_segments;
	meta->catalog_size = (int64_t)r->m.cat->n;
	meta->time_signals =
	    r->utterance.uses_times ? (int64_t)r->utterance.n_times : 0;
	meta->timezone = arena_str(r->m.a, str_of(zone_name(env->zone)));
	meta->locale = str_of(r->utterance.cmd.locale);
	meta->now = arena_str(r->m.a, str_of(now));
	if (meta->now.p == NULL || meta->timezone.p == NULL)
		return RC_TOOBIG;
	rc = filter_set_entities(r);
	return rc == RC_OK ? filter_set_unmatched(r) : rc;
}

static enum rc
filter_parse(struct filter_run_state *r)
{
	struct arena *a = r->m.a;
	struct str locale = arena_str(a, r->req->locale);
	struct datetime_now now = { .now = r->env->now,
		.zone = r->env->zone,
		.is_used = r->env->now_is_used };
	enum rc rc;

	r->utterance.uses_times = r->req->options.enable_time_parser;
	rc = command_parse(
	    r->req->command, locale.p, r->env->locale, a, &r->utterance.cmd);
	if (rc == RC_OK)
		rc = utterance_parse(&r->utterance, now, r->env->vocabulary, a);
	if (rc == RC_OK)
		rc = matcher_init(&r->m, &r->utterance);
	if (rc == RC_OK)
		r->n_segments = segment_split(&r->utterance, r->segments);
	return rc;
}

enum rc
filter_run(const struct wire_intent_filter_request *req,
    const struct catalog *cat, const struct filter_env *env,
    struct rx_scratch *rx, struct arena *a,
    struct wire_intent_filter_response *rep)
{
	struct filter_run_state r = { .req = req, .env = env, .rep = rep };
	size_t most = cat->n < CANDIDATE_MAX ? cat->n : CANDIDATE_MAX;
	enum rc rc;

	r.m = (struct matcher){ .cat = cat,
		.rx = rx,
		.a = a,
		.needs_half = req->options.enable_alarm_intents };
	*rep = (struct wire_intent_filter_response){ 0 };
	r.candidates = arena_alloc(a, (most + 1) * sizeof(*r.candidates));
	rep->intents = arena_alloc(
	    a, ((size_t)req->options.max_intents + 1) * sizeof(*rep->intents));
	if (r.candidates == NULL || rep->intents == NULL)
		return RC_TOOBIG;
	rc = filter_parse(&r);
	if (rc == RC_OK)
		rc = filter_match(&r);
	if (rc == RC_OK)
		rc = filter_decide(&r);
	if (rc == RC_OK)
		rc = filter_set_meta(&r);
	return rc;
}
