/*
 * event_view: an event of SOUL_EVENTS, and who may read it.  Pure.
 */
#ifndef CHAT_GATEWAY_LIVE_EVENT_VIEW_H
#define CHAT_GATEWAY_LIVE_EVENT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

/* Types of events that a filter can hold. */
#define EVENT_TYPES_MAX 64

struct event_view {
	int64_t seq;
	struct wall stored;
	unsigned type; /* index in wire_events */
	/* What its payload names; absent: nothing. */
	struct str user_id, soul_id, terminal_id, tenant;
	struct str json; /* the envelope */
};

/*
 * event_view_read(json, a, out):
 * The type and the ids of an envelope; they and the envelope are copied to a.
 * RC_INVALID if it is none or of no known type, RC_TOOBIG if a is full.
 */
enum rc event_view_read(
    struct str json, struct arena *a, struct event_view *out) RC_CHECK;

/* Whose events a reader may read. */
enum event_scope {
	EVENT_SCOPE_ALL,   /* or all of a tenant */
	EVENT_SCOPE_USER,  /* of one user's souls and bodies */
	EVENT_SCOPE_TENANT /* the presence and rejected reports of bodies */
};

struct event_filter {
	enum event_scope scope;
	struct str user_id;              /* of EVENT_SCOPE_USER */
	struct str tenant;               /* of the others; absent: any */
	struct str soul_id, terminal_id; /* absent: any */
	uint64_t types;                  /* 1 << type */
};

/*
 * event_filter_types(f, list, bad):
 * The types of f: those of a list separated by commas, or, if it is absent, all
 * that its scope may read.  RC_INVALID: *bad is not one of these.
 */
enum rc event_filter_types(
    struct event_filter *f, struct str list, struct str *bad) RC_CHECK;

/* event_filter_wants(f, e): Whether e is what f asks for, whosever it is. */
bool event_filter_wants(
    const struct event_filter *f, const struct event_view *e);

/* Whose the body of an event is; all absent: it is not known. */
struct event_owner {
	struct str user_id; /* to whom it is bound; absent: nobody */
	struct wall since;  /* the binding */
	struct str tenant;  /* of its identity; absent: none */
};

/*
 * event_filter_needs_owner(f, e): Whether that depends on whose its body is.
 *
 * event_filter_allows(f, e, owner):
 * Whether the reader may read e, which event_filter_wants().  A body's event
 * that names no user is that of the user to whom the body is bound, unless it
 * is older than the binding.  owner may be NULL if it is not needed.
 */
bool event_filter_needs_owner(
    const struct event_filter *f, const struct event_view *e);
bool event_filter_allows(const struct event_filter *f,
    const struct event_view *e, const struct event_owner *owner);

#endif /* !CHAT_GATEWAY_LIVE_EVENT_VIEW_H */
