/*
 * GET /v1/events and GET /v1/live: what happened, page by page and as it
 * happens.
 */
#include "caller.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "live/event_log.h"
#include "live/event_view.h"
#include "live/live.h"
#include "streams/event_cursor.h"
#include "streams/event_stream.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define LIST_DEFAULT 100
#define LIST_MAX     500
/* A page looks through this many events, and for this long. */
#define SCAN_MAX 2000
#define SCAN_MS  2000
/* Bytes of the events of a page, but for one. */
#define PAGE_BYTES (512UL * 1024)

/* ---- who may read what ---- */

/* Absent: all. */
static bool
live_read_ids(struct svc_call *c, struct event_filter *f)
{
	f->soul_id = svc_call_query(c, "soul_id");
	f->terminal_id = svc_call_query(c, "terminal_id");
	return (f->soul_id.p == NULL || gateway_id(c, f->soul_id, "soul_id")) &&
	    (f->terminal_id.p == NULL ||
		gateway_id(c, f->terminal_id, "terminal_id"));
}

static bool
live_read_scope(struct gateway *g, struct svc_call *c, struct event_filter *f)
{
	if (caller_is_provisioner(c)) {
		f->scope = EVENT_SCOPE_TENANT;
		f->tenant = caller_tenant(c);
		return true;
	}
	if (caller_is_unlimited(c) && !svc_call_has_query(c, "user_id")) {
		f->scope = EVENT_SCOPE_ALL;
		f->tenant = caller_tenant(c);
		return true;
	}
	f->scope = EVENT_SCOPE_USER;
	return caller_query_user(g, c, &f->user_id);
}

/* False: c has been ended. */
static bool
live_read_filter(struct gateway *g, struct svc_call *c, struct event_filter *f)
{
	struct str bad;

	*f = (struct event_filter){ .types = 0 };
	if (!live_read_scope(g, c, f) || !live_read_ids(c, f))
		return false;
	if (event_filter_types(f, svc_call_query(c, "types"), &bad) == RC_OK)
		return true;
	gateway_reject(c, RC_INVALID,
	    "types: %.*s is no type of event, or not for this role",
	    STR_ARG(bad));
	return false;
}

static void
live_fail(struct svc_call *c, enum rc rc)
{
	if (rc == RC_DOWN || rc == RC_TIMEOUT || rc == RC_RETRY)
		gateway_fail_bus(c, rc);
	else if (rc == RC_DENIED)
		gateway_fail_bus(c, RC_DOWN);
	else
		gateway_fail(c, rc);
}

/* ---- pages ---- */

struct event_list {
	struct gateway *g;
	struct svc_call *c;
	struct event_filter f;
	size_t limit;
	struct event_batch batch;
	struct wire_event_page page;
	size_t scanned, bytes;
};

static bool
event_list_is_full(const struct event_list *p)
{
	return p->page.n_items >= p->limit || p->scanned >= SCAN_MAX ||
	    p->bytes >= PAGE_BYTES ||
	    mono_diff_ms(clock_mono(), svc_call_start(p->c)) >= SCAN_MS;
}

/* RC_RETRY: the page has no room for e. */
static enum rc
event_list_take(struct event_list *p, const struct event_view *e)
{
	struct event_owner owner = { .since = { 0 } };
	struct str json;
	enum rc rc = RC_OK;

	if (!event_filter_wants(&p->f, e))
		return RC_OK;
	if (event_filter_needs_owner(&p->f, e))
		rc = event_log_owner(p->g->log, e, p->batch.a, &owner);
	if (rc != RC_OK || !event_filter_allows(&p->f, e, &owner))
		return rc;
	json = arena_str(svc_call_arena(p->c), e->json);
	if (json.p == NULL)
		return RC_RETRY;
	p->bytes += json.n;
	p->page.items[p->page.n_items++] =
	    (struct wire_event_page_items){ .seq = e->seq, .event = json };
	return RC_OK;
}

static enum rc
event_list_take_batch(struct event_list *p)
{
	const struct event_batch *b = &p->batch;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < b->n && !event_list_is_full(p); i++) {
		rc = event_list_take(p, &b->e[i]);
		if (rc != RC_OK)
			return rc;
		p->scanned++;
		p->page.cursor = b->e[i].seq;
	}
	if (i == b->n)
		p->page.cursor = b->cursor;
	return RC_OK;
}

static void
event_list_fail_expired(struct svc_call *c, int64_t cursor)
{
	struct str text = arena_printf(svc_call_arena(c),
	    "cursor: the events after it are no longer stored; the oldest "
	    "follows cursor %lld",
	    (long long)cursor);

	svc_fail_as(c,
	    &(struct svc_error){ .status = 410,
		.code = "gone",
		.text = text.p != NULL ? text.p : "cursor: gone" });
}

/* From a position; 0 is the oldest event, whichever that is. */
static void
event_list_read(struct event_list *p, int64_t after)
{
	const struct event_batch *b = &p->batch;
	enum rc rc;

	p->page.cursor = after;
	do {
		rc = event_log_read(p->g->log, p->page.cursor, &p->batch);
		if (rc == RC_OK && b->expired && after > 0) {
			event_list_fail_expired(p->c, b->after);
			return;
		}
		if (rc == RC_OK)
			rc = event_list_take_batch(p);
		after = p->page.cursor;
	} while (rc == RC_OK && after < b->newest && !event_list_is_full(p));
	if (rc != RC_OK && rc != RC_RETRY) {
		live_fail(p->c, rc);
		return;
	}
	p->page.more = p->page.cursor < b->newest;
	svc_reply(p->c, &p->page);
}

void
on_events_list(void *app, struct svc_call *c)
{
	struct str text = svc_call_query(c, "limit");
	struct event_list p = { .g = app, .c = c };
	int64_t after, limit = LIST_DEFAULT;

	if (event_cursor_parse((struct str){ NULL, 0 },
		svc_call_query(c, "cursor"), &after) != RC_OK) {
		svc_fail(
		    c, RC_INVALID, "cursor: must be the seq of an event, or 0");
		return;
	}
	if (text.p != NULL && str_to_i64(text, 1, LIST_MAX, &limit) != RC_OK) {
		gateway_reject(
		    c, RC_INVALID, "limit: must be 1 to %d", LIST_MAX);
		return;
	}
	if (!live_read_filter(app, c, &p.f))
		return;
	p.limit = (size_t)limit;
	p.page.items =
	    arena_alloc(svc_call_arena(c), p.limit * sizeof(*p.page.items));
	if (p.page.items == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	p.batch.a = arena_new(EVENT_BATCH_BYTES);
	event_list_read(&p, after < 0 ? 0 : after);
	arena_free(p.batch.a);
}

/* ---- as it happens ---- */

void
on_live(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct event_filter f;
	int64_t after;
	enum rc rc = RC_OK;

	if (!gateway_stream_begin(g, c) || !live_read_filter(g, c, &f) ||
	    !event_stream_cursor(c, &after))
		return;
	if (after < 0)
		rc = event_log_newest(g->log, &after);
	if (rc != RC_OK)
		live_fail(c, rc);
	else
		live_start(g->live, c, &f, after);
}
