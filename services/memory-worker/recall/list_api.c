/*
 * All memories, page by page.  A page starts after the cursor of the previous
 * one, and ends when it has enough memories, or so many bytes that the next
 * memory may not fit.
 */
#include "handlers.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "memory_worker.h"
#include "recall/page_cursor.h"
#include "recall/scope_iter.h"
#include "state/memory.h"
#include "store/memory_record.h"
#include "store/memory_store.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Bytes of memories in a reply; the largest memory fits in addition. */
#define PAGE_BYTES (768UL * 1024)
#define ITEM_BYTES (192UL * 1024)
/* In the call's arena. */
struct list_page {
	struct scope_iter iter;
	struct memory_worker *w;
	struct arena *a;
	const struct wire_memory_list_request *req;
	bool resumed; /* start after the cursor after */
	struct page_cursor after;
	struct page_cursor last; /* of this page */
	bool more;
	size_t bytes;
	struct wire_memory_list_reply reply;
};

static struct list_page *
list_page_of(struct scope_iter *it)
{
	return CONTAINER_OF(it, struct list_page, iter);
}

static void
list_end(struct scope_iter *it, enum rc rc)
{
	struct list_page *l = list_page_of(it);

	if (rc == RC_OK && l->more) {
		l->reply.next = page_cursor_write(&l->last, l->a);
		if (l->reply.next.p == NULL)
			rc = RC_TOOBIG;
	}
	if (rc != RC_OK)
		handler_fail_store(it->call, rc);
	else
		svc_reply(it->call, &l->reply);
}

static struct page_cursor
list_cursor(const struct scope_iter *it, const struct rank_memory *m)
{
	const struct soul *soul = &it->soul[it->at];

	return (
	    struct page_cursor){ soul->created, soul->id, m->created, m->id };
}

static struct str
list_time(struct wall t, struct arena *a)
{
	return t.ms != 0 ? wall_text(t, 0, a) : (struct str){ NULL, 0 };
}

/* Copy what belongs to the store's result, which is freed before the reply. */
static enum rc
list_put_detail(
    const struct rank_detail *o, struct arena *a, struct wire_memory_item *item)
{
	size_t i;

	item->session_id = arena_str(a, o->session_id);
	item->terminal_id = arena_str(a, o->terminal_id);
	item->trigger_source = arena_str(a, o->trigger_source);
	item->valid_until = list_time(o->valid_until, a);
	item->superseded_by = arena_str(a, o->superseded_by);
	if (o->n_tags == 0)
		return RC_OK;
	item->tags = arena_alloc(a, o->n_tags * sizeof(*item->tags));
	if (item->tags == NULL)
		return RC_TOOBIG;
	for (i = 0; i < o->n_tags; i++)
		item->tags[i] = arena_str(a, o->tags[i]);
	item->n_tags = o->n_tags;
	item->has_tags = true;
	return RC_OK;
}

static enum rc
list_put_item(const struct scope_iter *it, const struct rank_memory *m,
    struct arena *a, struct wire_memory_item *item)
{
	*item = (struct wire_memory_item){
		.memory_id = arena_str(a, m->id),
		.soul_id = it->soul[it->at].id,
		.text = arena_str(a, m->text),
		.type = m->type,
		.has_type = true,
		/* An external store may not know. */
		.created_at = list_time(m->created, a),
	};
	if (item->memory_id.p == NULL || item->text.p == NULL)
		return RC_TOOBIG;
	return m->detail != NULL ? list_put_detail(m->detail, a, item) : RC_OK;
}

/*
 * Append a memory.  One that violates the schema (an external store may contain
 * anything) is left out, and the reply is marked degraded.
 */
static enum rc
list_add(struct list_page *l, const struct rank_memory *m)
{
	struct wire_memory_item *item = &l->reply.items[l->reply.n_items];
	struct buf json = BUF_INIT(ITEM_BYTES);
	struct wire_err err;
	enum rc rc;

	rc = list_put_item(&l->iter, m, l->a, item);
	if (rc != RC_OK)
		return rc;
	if (wire_encode(&wire_memory_item_desc, item, &json, &err) == RC_OK) {
		l->bytes += json.n;
		l->reply.n_items++;
	} else {
		l->reply.degraded = true;
		log_error("memory.not_listed", LOG_V("id", m->id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	buf_free(&json);
	return RC_OK;
}

static bool
list_is_full(const struct list_page *l)
{
	return l->reply.n_items == (size_t)l->req->limit ||
	    l->bytes >= PAGE_BYTES;
}

static int
list_compare_age(const void *a, const void *b)
{
	const struct rank_memory *x = *(const struct rank_memory *const *)a;
	const struct rank_memory *y = *(const struct rank_memory *const *)b;

	if (x->created.ms != y->created.ms)
		return x->created.ms < y->created.ms ? -1 : 1;
	return str_cmp(x->id, y->id);
}

/* Append those of a soul's memories that belong to this page. */
static enum rc
list_take(struct list_page *l, const struct rank_memory **m, size_t n)
{
	struct page_cursor at;
	enum rc rc = RC_OK;
	size_t i;

	qsort(m, n, sizeof(*m), list_compare_age);
	for (i = 0; i < n && rc == RC_OK; i++) {
		at = list_cursor(&l->iter, m[i]);
		if (l->resumed && page_cursor_compare(&at, &l->after) <= 0)
			continue;
		/* Superseded during the request, it may be listed twice. */
		if (l->last.id.p != NULL &&
		    page_cursor_compare(&at, &l->last) == 0)
			continue;
		if (list_is_full(l)) {
			l->more = true;
			scope_iter_stop(&l->iter);
			break;
		}
		rc = list_add(l, m[i]);
		at.id = arena_str(l->a, at.id);
		if (at.id.p == NULL)
			return RC_TOOBIG;
		l->last = at;
	}
	return rc;
}

static void
list_on_read(void *arg, enum rc rc, const struct store_result *a)
{
	struct list_page *l = arg;
	const struct rank_memory **m = NULL;
	size_t i;

	if (rc == RC_OK) {
		l->reply.degraded |= a->degraded;
		m = mem_calloc(a->n + 1, sizeof(*m));
		for (i = 0; i < a->n; i++)
			m[i] = a->hit[i].memory;
		rc = list_take(l, m, a->n);
	}
	free(m);
	scope_iter_next(&l->iter, rc);
}

static void
list_visit(struct scope_iter *it)
{
	struct list_page *l = list_page_of(it);
	const struct memory_scope scope = scope_iter_scope(it);
	struct store_request req =
	    scope_iter_request(it, &scope, list_on_read, l);
	const struct page_cursor here = { it->soul[it->at].created,
		it->soul[it->at].id, { 0 }, { NULL, 0 } };

	/* A previous page contained all of this soul's. */
	if (l->resumed && page_cursor_compare_soul(&here, &l->after) < 0)
		scope_iter_next(it, RC_OK);
	else
		store_list(l->w->store, &req);
}

static int
list_compare_soul(const void *a, const void *b)
{
	const struct soul *x = a, *y = b;

	return page_cursor_compare_soul(
	    &(struct page_cursor){ .made = x->created, .soul_id = x->id },
	    &(struct page_cursor){ .made = y->created, .soul_id = y->id });
}

/* Where the page starts; RC_INVALID if the cursor is invalid. */
static enum rc
list_find_start(struct list_page *l)
{
	enum rc rc;

	if (l->req->after.p == NULL)
		return RC_OK;
	l->resumed = true;
	rc = page_cursor_read(l->req->after, l->a, &l->after);
	/* Cursors of one soul and of all souls are not interchangeable. */
	if (rc == RC_OK && l->req->soul_id.p != NULL &&
	    (!str_eq(l->after.soul_id, l->req->soul_id) ||
		l->after.made.ms != 0))
		rc = RC_INVALID;
	if (rc == RC_OK && l->req->soul_id.p == NULL && l->after.made.ms == 0)
		rc = RC_INVALID;
	return rc;
}

void
on_list(void *app, struct svc_call *c)
{
	struct list_page *l = arena_alloc(svc_call_arena(c), sizeof(*l));
	enum rc rc;

	if (l == NULL) {
		handler_fail_store(c, RC_TOOBIG);
		return;
	}
	l->w = app;
	l->a = svc_call_arena(c);
	l->req = svc_call_request(c);
	l->iter = (struct scope_iter){ .visit = list_visit,
		.done = list_end,
		.call = c,
		.user_id = l->req->user_id };
	l->reply.backend = str_of(store_name(l->w->store));
	rc = list_find_start(l);
	if (rc == RC_INVALID) {
		svc_fail(c, rc,
		    "/after: must be the next of the page before, of the same "
		    "souls");
		return;
	}
	l->reply.items =
	    arena_alloc(l->a, (size_t)l->req->limit * sizeof(*l->reply.items));
	if (rc == RC_OK && l->reply.items == NULL)
		rc = RC_TOOBIG;
	if (rc == RC_OK)
		rc = scope_iter_init(
		    &l->iter, l->w->state, l->req->soul_id, l->a);
	if (rc != RC_OK) {
		list_end(&l->iter, rc);
		return;
	}
	qsort(
	    l->iter.soul, l->iter.n, sizeof(*l->iter.soul), list_compare_soul);
	scope_iter_start(&l->iter);
}
