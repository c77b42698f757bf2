#include "evolution/evolution.h"

#include <stdio.h>

#include "clean_text.h"
#include "core/buf.h"
#include "core/mem.h"
#include "search/tokenizer.h"
#include "tool/tool_digest.h"

/* Bytes of a text of a soul: 512 code points. */
#define TEXT_BYTES 2048
/* And of a need: 256 code points. */
#define NEED_BYTES 1024

#define STATE(X)      WIRE_EVOLUTION_STATE_##X
#define STEP_STATE(X) WIRE_EVOLUTION_STEPS_STATE_##X

/* ---- a request ---- */

void
evolution_id(const struct wire_evolution_request *q, char dst[EVOLUTION_ID_MAX])
{
	const struct str parts[] = { q->user_id, q->soul_id, q->cycle_id };
	char digest[TOOL_DIGEST_MAX];

	tool_digest(parts, NELEM(parts), digest);
	(void)snprintf(dst, EVOLUTION_ID_MAX, "evo_%.32s", digest);
}

static struct str
evolution_clean_text(struct str s, size_t max, struct arena *a)
{
	struct buf b = BUF_INIT(max + 8);
	struct str out = { NULL, 0 };

	if (s.n > 0)
		clean_text_line(s, max, &b);
	if (b.n > 0)
		out = arena_str(a, str_trim(buf_str(&b)));
	buf_free(&b);
	return out;
}

enum rc
evolution_clean(struct wire_evolution_request *q, struct arena *a)
{
	q->need = evolution_clean_text(q->need, NEED_BYTES, a);
	q->why = evolution_clean_text(q->why, TEXT_BYTES, a);
	q->example = evolution_clean_text(q->example, TEXT_BYTES, a);
	return q->need.n > 0 ? RC_OK : RC_INVALID;
}

/* ---- the catalogue ---- */

static void
evolution_entry_text(const struct mcp_server *s, struct buf *b)
{
	buf_reset(b);
	buf_printf(b, "%s\n%s\n%s", s->name, s->title != NULL ? s->title : "",
	    s->description);
}

const struct mcp_server *
evolution_match(const struct mcp_config *c, struct str tenant, struct str need)
{
	struct buf text = BUF_INIT(
	    MCP_NAME_MAX + MCP_ENTRY_TITLE_MAX + MCP_ENTRY_DESCRIPTION_MAX + 8);
	const struct mcp_server *s, *best = NULL;
	size_t i, common, most = 0;

	for (i = 0; i < mcp_config_n(c); i++) {
		s = mcp_config_at(c, i);
		if (!mcp_server_for(s, tenant))
			continue;
		evolution_entry_text(s, &text);
		common = tokenizer_common(need, buf_str(&text));
		if (common > most) {
			most = common;
			best = s;
		}
	}
	buf_free(&text);
	return best;
}

void
evolution_definition(const struct mcp_server *s, char dst[MCP_KEY_MAX])
{
	const struct str parts[] = { str_of(s->key),
		str_of(s->title != NULL ? s->title : ""),
		str_of(s->description) };

	tool_digest(parts, NELEM(parts), dst);
}

static enum rc
evolution_propose(
    struct wire_evolution *e, const struct mcp_server *s, struct arena *a)
{
	char digest[MCP_KEY_MAX];

	evolution_definition(s, digest);
	e->has_proposal = true;
	e->proposal = (struct wire_evolution_proposal){
		.name = arena_str(a, str_of(s->name)),
		.title = evolution_clean_text(str_of(s->title), TEXT_BYTES, a),
		.description =
		    evolution_clean_text(str_of(s->description), TEXT_BYTES, a),
		.definition = arena_str(a, str_of(digest)),
	};
	if (e->proposal.description.p == NULL)
		e->proposal.description = e->proposal.name;
	return e->proposal.name.p != NULL && e->proposal.definition.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

/* ---- those that there are ---- */

static bool
evolution_same_need(struct str a, struct str b)
{
	return str_eq(a, b) || similarity_equal(a, b);
}

static bool
evolution_is_recent(const struct wire_evolution *e, struct wall now)
{
	struct wall at;

	return wall_parse(e->created_at, &at) == RC_OK &&
	    now.ms - at.ms < EVOLUTION_SAME_MS;
}

static bool
evolution_is_same(const struct wire_evolution *e,
    const struct wire_evolution_request *q, const struct mcp_server *entry,
    struct wall now)
{
	if (str_eq(e->cycle_id, q->cycle_id))
		return true;
	if (entry != NULL && e->has_proposal &&
	    str_eq(e->proposal.name, str_of(entry->name)))
		return true;
	if (!evolution_same_need(e->need, q->need))
		return false;
	if (e->state == STATE(FAILED))
		return entry == NULL && evolution_is_recent(e, now);
	return true;
}

const struct wire_evolution *
evolution_same(const struct wire_evolution *list, size_t n,
    const struct wire_evolution_request *q, const struct mcp_server *entry,
    struct wall now)
{
	const struct wire_evolution *found = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!str_eq(list[i].soul_id, q->soul_id) ||
		    !evolution_is_same(&list[i], q, entry, now))
			continue;
		if (str_eq(list[i].cycle_id, q->cycle_id))
			return &list[i];
		if (found == NULL)
			found = &list[i];
	}
	return found;
}

size_t
evolution_open(const struct wire_evolution *list, size_t n, struct str soul)
{
	size_t i, open = 0;

	for (i = 0; i < n; i++)
		open += list[i].state == STATE(PROPOSED) &&
		    str_eq(list[i].soul_id, soul);
	return open;
}

/* Which may be forgotten first; 0: none. */
static int
evolution_spare_rank(const struct wire_evolution *e)
{
	switch (e->state) {
	case STATE(FAILED):
		return 2;
	case STATE(REFUSED):
	case STATE(DISABLED):
		return 1;
	default:
		return 0;
	}
}

const struct wire_evolution *
evolution_spare(const struct wire_evolution *list, size_t n)
{
	const struct wire_evolution *best = NULL;
	int rank, most = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		rank = evolution_spare_rank(&list[i]);
		if (rank > most ||
		    (rank > 0 && rank == most &&
			str_cmp(list[i].created_at, best->created_at) < 0)) {
			most = rank;
			best = &list[i];
		}
	}
	return best;
}

/* ---- steps ---- */

static enum rc
evolution_add(struct wire_evolution *e, enum wire_evolution_steps_state state,
    struct wall now, struct arena *a)
{
	struct wire_evolution_steps *steps =
	    arena_alloc(a, EVOLUTION_STEPS_MAX * sizeof(*steps));
	size_t drop = e->n_steps < EVOLUTION_STEPS_MAX ? 0 : 1, i;
	char at[WALL_FORMAT_MAX];

	if (steps == NULL)
		return RC_TOOBIG;
	for (i = drop; i < e->n_steps; i++)
		steps[i - drop] = e->steps[i];
	e->n_steps -= drop;
	e->steps = steps;
	wall_format(now, 0, at);
	steps[e->n_steps] = (struct wire_evolution_steps){ .state = state,
		.at = arena_str(a, str_of(at)) };
	if (steps[e->n_steps].at.p == NULL)
		return RC_TOOBIG;
	e->n_steps++;
	e->step_count++;
	e->state = (enum wire_evolution_state)state;
	return RC_OK;
}

static struct wire_evolution_steps *
evolution_last(struct wire_evolution *e)
{
	return &e->steps[e->n_steps - 1];
}

enum rc
evolution_begin(const struct wire_evolution_request *q,
    const struct evolution_finding *f, struct wall now, struct arena *a,
    struct wire_evolution *out)
{
	char id[EVOLUTION_ID_MAX];
	enum rc rc;

	evolution_id(q, id);
	*out =
	    (struct wire_evolution){ .evolution_id = arena_str(a, str_of(id)),
		    .user_id = q->user_id,
		    .soul_id = q->soul_id,
		    .cycle_id = q->cycle_id,
		    .need = q->need,
		    .why = q->why,
		    .example = q->example };
	rc = evolution_add(out, STEP_STATE(ASKED), now, a);
	if (rc != RC_OK)
		return rc;
	out->created_at = out->steps[0].at;
	if (f->entry != NULL && !f->had) {
		rc = evolution_propose(out, f->entry, a);
		return rc == RC_OK
		    ? evolution_add(out, STEP_STATE(PROPOSED), now, a)
		    : rc;
	}
	rc = evolution_add(out, STEP_STATE(FAILED), now, a);
	if (rc == RC_OK)
		evolution_last(out)->reason = f->entry != NULL
		    ? arena_printf(a, "the user has the server %s already",
			  f->entry->name)
		    : STR("the operator's catalogue has nothing for it");
	return rc;
}

/* ---- decisions ---- */

/* What is possible in a state, for people. */
static const char *
evolution_possible(enum wire_evolution_state state)
{
	switch (state) {
	case STATE(PROPOSED):
		return "it can be approved or refused";
	case STATE(ENABLED):
		return "it can be disabled";
	case STATE(DISABLED):
		return "it can be enabled";
	case STATE(REFUSED):
		return "it can be approved after all";
	default:
		return "nothing was proposed";
	}
}

static bool
evolution_allows(enum wire_evolution_state state,
    enum wire_evolution_act_request_action action)
{
	switch (action) {
	case WIRE_EVOLUTION_ACT_REQUEST_ACTION_APPROVE:
		return state == STATE(PROPOSED) || state == STATE(REFUSED);
	case WIRE_EVOLUTION_ACT_REQUEST_ACTION_REFUSE:
		return state == STATE(PROPOSED);
	case WIRE_EVOLUTION_ACT_REQUEST_ACTION_DISABLE:
		return state == STATE(ENABLED);
	default:
		return state == STATE(DISABLED);
	}
}

/* The entry must be there, and what the user has read. */
static enum evolution_effect
evolution_check_entry(struct wire_evolution *e, const struct evolution_act *act,
    struct arena *a, char why[EVOLUTION_TEXT_MAX])
{
	char digest[MCP_KEY_MAX];

	if (act->entry == NULL) {
		(void)snprintf(why, EVOLUTION_TEXT_MAX,
		    "the catalogue has no entry %.*s any more",
		    STR_ARG(e->proposal.name));
		return EVOLUTION_REJECTED;
	}
	evolution_definition(act->entry, digest);
	if (act->action != WIRE_EVOLUTION_ACT_REQUEST_ACTION_APPROVE ||
	    str_eq(e->proposal.definition, str_of(digest)))
		return EVOLUTION_ENABLES;
	(void)snprintf(why, EVOLUTION_TEXT_MAX,
	    "the entry %.*s has changed since it was proposed: read the "
	    "proposal again, then approve or refuse it",
	    STR_ARG(e->proposal.name));
	return evolution_propose(e, act->entry, a) == RC_OK &&
		evolution_add(e, STEP_STATE(PROPOSED), act->now, a) == RC_OK
	    ? EVOLUTION_REPROPOSED
	    : EVOLUTION_REJECTED;
}

/* The state that an action leads to. */
static enum wire_evolution_steps_state
evolution_goal(enum wire_evolution_act_request_action action)
{
	switch (action) {
	case WIRE_EVOLUTION_ACT_REQUEST_ACTION_REFUSE:
		return STEP_STATE(REFUSED);
	case WIRE_EVOLUTION_ACT_REQUEST_ACTION_DISABLE:
		return STEP_STATE(DISABLED);
	default:
		return STEP_STATE(ENABLED);
	}
}

/* What is approved is enabled at once. */
static enum rc
evolution_take(
    struct wire_evolution *e, const struct evolution_act *act, struct arena *a)
{
	bool two = act->action == WIRE_EVOLUTION_ACT_REQUEST_ACTION_APPROVE;
	enum rc rc = evolution_add(e,
	    two ? STEP_STATE(APPROVED) : evolution_goal(act->action), act->now,
	    a);

	if (rc != RC_OK)
		return rc;
	evolution_last(e)->by = act->by;
	return two ? evolution_add(e, STEP_STATE(ENABLED), act->now, a) : RC_OK;
}

enum evolution_effect
evolution_decide(struct wire_evolution *e, const struct evolution_act *act,
    struct arena *a, char why[EVOLUTION_TEXT_MAX])
{
	const enum wire_evolution_state goal =
	    (enum wire_evolution_state)evolution_goal(act->action);
	enum evolution_effect effect = EVOLUTION_CHANGED;

	if (e->state == goal)
		return EVOLUTION_UNCHANGED;
	if (!evolution_allows(e->state, act->action)) {
		(void)snprintf(why, EVOLUTION_TEXT_MAX, "it is %.*s: %s",
		    STR_ARG(wire_evolution_state_names[e->state]),
		    evolution_possible(e->state));
		return EVOLUTION_REJECTED;
	}
	if (goal == STATE(ENABLED))
		effect = evolution_check_entry(e, act, a, why);
	else if (goal == STATE(DISABLED))
		effect = EVOLUTION_DISABLES;
	if (effect == EVOLUTION_REJECTED || effect == EVOLUTION_REPROPOSED)
		return effect;
	if (evolution_take(e, act, a) == RC_OK)
		return effect;
	str_copy(STR("the record is too big"), why, EVOLUTION_TEXT_MAX);
	return EVOLUTION_REJECTED;
}

/* ---- what is published ---- */

const struct wire_evolution_steps *
evolution_step(const struct wire_evolution *e, int64_t n)
{
	int64_t first = e->step_count - (int64_t)e->n_steps + 1;

	if (n < first || n > e->step_count)
		return NULL;
	return &e->steps[n - first];
}

const char *
evolution_code(enum wire_evolution_steps_state state)
{
	static const char *const codes[] = {
		[STEP_STATE(ASKED)] = "EVOLUTION_REQUESTED",
		[STEP_STATE(PROPOSED)] = "EVOLUTION_PROPOSED",
		[STEP_STATE(APPROVED)] = "EVOLUTION_APPROVED",
		[STEP_STATE(ENABLED)] = "EVOLUTION_ENABLED",
		[STEP_STATE(REFUSED)] = "EVOLUTION_REFUSED",
		[STEP_STATE(FAILED)] = "EVOLUTION_FAILED",
		[STEP_STATE(DISABLED)] = "EVOLUTION_DISABLED",
	};

	return codes[state];
}

void
evolution_text(const struct wire_evolution *e,
    const struct wire_evolution_steps *step, struct buf *out)
{
	const struct str name = e->proposal.name;

	buf_printf(out, "%.*s: soul %.*s misses a capability: %.*s",
	    STR_ARG(e->evolution_id), STR_ARG(e->soul_id), STR_ARG(e->need));
	switch (step->state) {
	case STEP_STATE(ASKED):
		if (e->why.n > 0)
			buf_printf(out, "; why: %.*s", STR_ARG(e->why));
		if (e->example.n > 0)
			buf_printf(out, "; example: %.*s", STR_ARG(e->example));
		break;
	case STEP_STATE(PROPOSED):
		buf_printf(out,
		    "; proposed is %.*s of the catalogue: approve or refuse it",
		    STR_ARG(name));
		break;
	case STEP_STATE(APPROVED):
		buf_printf(out, "; %.*s was approved", STR_ARG(name));
		break;
	case STEP_STATE(ENABLED):
		buf_printf(out,
		    "; the user has the server %.*s now, whose tools are asked "
		    "for",
		    STR_ARG(name));
		break;
	case STEP_STATE(REFUSED):
		buf_printf(out, "; %.*s was refused", STR_ARG(name));
		break;
	case STEP_STATE(DISABLED):
		buf_printf(out, "; %.*s was taken away", STR_ARG(name));
		break;
	default:
		break;
	}
	if (step->reason.n > 0)
		buf_printf(out, "; %.*s", STR_ARG(step->reason));
}

static bool
evolution_has_memory(const struct wire_evolution_steps *step)
{
	return step != NULL &&
	    (step->state == STEP_STATE(ENABLED) ||
		step->state == STEP_STATE(DISABLED));
}

bool
evolution_memory(const struct wire_evolution *e, int64_t n,
    enum wire_memory_type *type, struct buf *out)
{
	const struct wire_evolution_steps *step = evolution_step(e, n);
	struct str title = e->proposal.title;

	if (!evolution_has_memory(step))
		return false;
	if (title.n == 0)
		title = e->proposal.name;
	if (step->state == STEP_STATE(ENABLED)) {
		*type = WIRE_MEMORY_TYPE_SKILL;
		buf_printf(out, "学会了新技能「%.*s」：%.*s", STR_ARG(title),
		    STR_ARG(e->proposal.description));
	} else {
		*type = WIRE_MEMORY_TYPE_FACT;
		buf_printf(
		    out, "技能「%.*s」被停用了，现在不能用", STR_ARG(title));
	}
	return true;
}

int64_t
evolution_memory_before(const struct wire_evolution *e, int64_t n)
{
	while (--n > 0)
		if (evolution_has_memory(evolution_step(e, n)))
			return n;
	return 0;
}
