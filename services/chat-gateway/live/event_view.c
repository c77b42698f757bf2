/*
 * What an event says of its user, and filters.
 */
#include "live/event_view.h"

#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/tree.h"

/*
 * Those of the user's own souls and bodies; what was said is in sessions.  The
 * gateway publishes none of them.
 */
static const char *const view_user_types[] = {
	"emotion_update",
	"psyche_update",
	"navigator_suggestion",
	"system_notification",
	"terminal_online",
	"terminal_skills",
	"terminal_intents",
	"report_refused",
	"intent_action",
	"invoke",
	"invoke_result",
	"turn_completed",
	"session_idle",
	"memory_stored",
	"run_started",
	"run_ended",
	"run_asks",
	"alarm_state",
	"push_state",
};
static const char *const view_tenant_types[] = {
	"terminal_online",
	"report_refused",
};

/* ---- reading ---- */

static enum rc
event_view_copy(struct str s, struct arena *a, struct str *out)
{
	*out = s.p != NULL ? arena_str(a, s) : s;
	return s.p == NULL || out->p != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
event_view_copy_ids(
    const struct wire_tree *v, struct arena *a, struct event_view *out)
{
	const struct wire_tree *p = wire_tree_get(v, STR("payload"));
	const struct {
		const char *key;
		struct str *to;
	} ids[] = { { "user_id", &out->user_id }, { "soul_id", &out->soul_id },
		{ "terminal_id", &out->terminal_id },
		{ "tenant", &out->tenant } };
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < sizeof(ids) / sizeof(ids[0]); i++)
		rc = event_view_copy(
		    wire_tree_text(wire_tree_get(p, str_of(ids[i].key))), a,
		    ids[i].to);
	return rc;
}

enum rc
event_view_read(struct str json, struct arena *a, struct event_view *out)
{
	const struct wire_event *row;
	struct wire_tree *v = NULL;
	enum rc rc;

	*out = (struct event_view){ 0 };
	rc = wire_tree_parse(json, &v);
	if (rc != RC_OK)
		return rc;
	row = wire_event_find(wire_tree_text(wire_tree_get(v, STR("type"))));
	rc = row != NULL ? event_view_copy_ids(v, a, out) : RC_INVALID;
	wire_tree_free(v);
	if (rc != RC_OK)
		return rc;
	out->type = (unsigned)(row - wire_events);
	if (out->type >= EVENT_TYPES_MAX)
		return RC_INVALID;
	return event_view_copy(json, a, &out->json);
}

/* ---- filters ---- */

/* The bit of a type; 0: there is none. */
static uint64_t
event_filter_bit(struct str type)
{
	const struct wire_event *row = wire_event_find(type);
	size_t i = row != NULL ? (size_t)(row - wire_events) : EVENT_TYPES_MAX;

	return i < EVENT_TYPES_MAX ? UINT64_C(1) << i : 0;
}

static uint64_t
event_filter_bits(const char *const *types, size_t n)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < n; i++)
		bits |= event_filter_bit(str_of(types[i]));
	return bits;
}

/* All that a scope may read. */
static uint64_t
event_filter_all(enum event_scope scope)
{
	switch (scope) {
	case EVENT_SCOPE_USER:
		return event_filter_bits(view_user_types,
		    sizeof(view_user_types) / sizeof(view_user_types[0]));
	case EVENT_SCOPE_TENANT:
		return event_filter_bits(view_tenant_types,
		    sizeof(view_tenant_types) / sizeof(view_tenant_types[0]));
	case EVENT_SCOPE_ALL:
	default:
		return UINT64_MAX;
	}
}

enum rc
event_filter_types(struct event_filter *f, struct str list, struct str *bad)
{
	uint64_t all = event_filter_all(f->scope), bit;

	f->types = list.p != NULL ? 0 : all;
	while (list.p != NULL) {
		*bad = str_split(&list, ',');
		bit = event_filter_bit(*bad) & all;
		if (bit == 0)
			return RC_INVALID;
		f->types |= bit;
	}
	return RC_OK;
}

static bool
event_filter_matches(struct str want, struct str is)
{
	return want.p == NULL || (is.p != NULL && str_eq(want, is));
}

bool
event_filter_wants(const struct event_filter *f, const struct event_view *e)
{
	return (f->types & (UINT64_C(1) << e->type)) != 0 &&
	    event_filter_matches(f->soul_id, e->soul_id) &&
	    event_filter_matches(f->terminal_id, e->terminal_id);
}

bool
event_filter_needs_owner(
    const struct event_filter *f, const struct event_view *e)
{
	if (e->terminal_id.p == NULL || e->user_id.p != NULL)
		return false;
	return f->scope == EVENT_SCOPE_USER ||
	    (f->tenant.p != NULL && e->tenant.p == NULL);
}

/* What names no tenant, user or body is for operators of no tenant. */
static bool
event_filter_is_of_tenant(const struct event_filter *f,
    const struct event_view *e, const struct event_owner *owner)
{
	struct str user = e->user_id, tenant = e->tenant;

	if (tenant.p == NULL && user.p != NULL) {
		tenant = str_split(&user, '/');
		/* A user of no tenant. */
		if (user.p == NULL)
			return false;
	} else if (tenant.p == NULL && owner != NULL) {
		tenant = owner->tenant;
	}
	return tenant.p != NULL && str_eq(tenant, f->tenant);
}

/* Without a user and a body it is for operators. */
static bool
event_filter_is_own(const struct event_filter *f, const struct event_view *e,
    const struct event_owner *owner)
{
	if (e->user_id.p != NULL)
		return str_eq(e->user_id, f->user_id);
	return owner != NULL && owner->user_id.p != NULL &&
	    str_eq(owner->user_id, f->user_id) &&
	    e->stored.ms >= owner->since.ms;
}

bool
event_filter_allows(const struct event_filter *f, const struct event_view *e,
    const struct event_owner *owner)
{
	if (f->scope == EVENT_SCOPE_USER)
		return event_filter_is_own(f, e, owner);
	return f->tenant.p == NULL || event_filter_is_of_tenant(f, e, owner);
}
