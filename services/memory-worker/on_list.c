/*
 * A page begins behind the place where the one before ended.  It ends when it
 * has enough memories, or so many bytes that the next may not fit.
 */
#include "on_list.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "keeper.h"
#include "on_memory.h"
#include "place.h"
#include "record.h"
#include "state/memory.h"
#include "store.h"
#include "svc/svc.h"
#include "walk.h"
#include "wire/msgs.h"

/* Memories' bytes in an answer, with room for the largest one more. */
#define PAGE_BYTES (768UL * 1024)
#define ITEM_BYTES (192UL * 1024)
/* Memories of the past, as they are stored and as they are read. */
#define PAST_BYTES (3 * MEMORY_SUPERSEDED_MAX * MEMORY_JSON_MAX)

/* In the call's arena. */
struct listing {
	struct walk walk;
	struct keeper *k;
	struct arena *a;
	const struct wire_memory_list_request *req;
	bool go_on; /* behind after */
	struct place after;
	struct place last; /* of the page */
	bool more;
	size_t bytes;
	struct wire_memory_list_reply reply;
};

static struct listing *
listing_of(struct walk *w)
{
	return CONTAINER_OF(w, struct listing, walk);
}

static void
end(struct walk *w, enum rc rc)
{
	struct listing *l = listing_of(w);

	if (rc == RC_OK && l->more) {
		l->reply.next = place_write(&l->last, l->a);
		if (l->reply.next.p == NULL)
			rc = RC_TOOBIG;
	}
	if (rc != RC_OK)
		memory_fail(w->call, rc);
	else
		svc_reply(w->call, &l->reply);
}

static struct place
place_of(const struct walk *w, const struct rank_memory *m)
{
	const struct soul *soul = &w->soul[w->at];

	return (struct place){ soul->created, soul->id, m->created, m->id };
}

static struct str
time_text(struct wall t, struct arena *a)
{
	char text[WALL_FORMAT_MAX];

	if (t.ms == 0)
		return (struct str){ NULL, 0 };
	wall_format(t, 0, text);
	return arena_str(a, str_of(text));
}

/* Copy what the store's answer has: it is gone when the page is sent. */
static enum rc
put_detail(
    const struct rank_detail *o, struct arena *a, struct wire_memory_item *item)
{
	size_t i;

	item->session_id = arena_str(a, o->session_id);
	item->terminal_id = arena_str(a, o->terminal_id);
	item->trigger_source = arena_str(a, o->trigger_source);
	item->valid_until = time_text(o->valid_until, a);
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
put_item(const struct walk *w, const struct rank_memory *m, struct arena *a,
    struct wire_memory_item *item)
{
	*item = (struct wire_memory_item){
		.memory_id = arena_str(a, m->id),
		.soul_id = w->soul[w->at].id,
		.text = arena_str(a, m->text),
		.type = m->type,
		.has_type = true,
		/* Another's server may not say when. */
		.created_at = time_text(m->created, a),
	};
	if (item->memory_id.p == NULL || item->text.p == NULL)
		return RC_TOOBIG;
	return m->detail != NULL ? put_detail(m->detail, a, item) : RC_OK;
}

/*
 * Add a memory unless the page is full.  One that cannot be told (another's
 * server may hold anything) is left out, and the answer says so.
 */
static enum rc
add(struct listing *l, const struct rank_memory *m)
{
	struct wire_memory_item *item = &l->reply.items[l->reply.n_items];
	struct buf json = BUF_INIT(ITEM_BYTES);
	struct wire_err err;
	enum rc rc;

	rc = put_item(&l->walk, m, l->a, item);
	if (rc != RC_OK)
		return rc;
	if (wire_encode(&wire_memory_item_desc, item, &json, &err) == RC_OK) {
		l->bytes += json.n;
		l->reply.n_items++;
	} else {
		l->reply.degraded = true;
		log_error("memory.untellable", LOG_V("id", m->id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	buf_free(&json);
	return RC_OK;
}

static bool
is_full(const struct listing *l)
{
	return l->reply.n_items == (size_t)l->req->limit ||
	    l->bytes >= PAGE_BYTES;
}

static int
by_age(const void *a, const void *b)
{
	const struct rank_memory *x = *(const struct rank_memory *const *)a;
	const struct rank_memory *y = *(const struct rank_memory *const *)b;

	if (x->created.ms != y->created.ms)
		return x->created.ms < y->created.ms ? -1 : 1;
	return str_cmp(x->id, y->id);
}

/* What of a soul's memories belongs to the page. */
static enum rc
take(struct listing *l, const struct rank_memory **m, size_t n)
{
	struct place at;
	enum rc rc = RC_OK;
	size_t i;

	qsort(m, n, sizeof(*m), by_age);
	for (i = 0; i < n && rc == RC_OK; i++) {
		at = place_of(&l->walk, m[i]);
		if (l->go_on && place_compare(&at, &l->after) <= 0)
			continue;
		/* It has just become one of the past, and was listed before. */
		if (l->last.id.p != NULL && place_compare(&at, &l->last) == 0)
			continue;
		if (is_full(l)) {
			l->more = true;
			walk_stop(&l->walk);
			break;
		}
		rc = add(l, m[i]);
		at.id = arena_str(l->a, at.id);
		if (at.id.p == NULL)
			return RC_TOOBIG;
		l->last = at;
	}
	return rc;
}

/* Memories that others have taken the place of, behind the n in m. */
static enum rc
add_past(struct listing *l, struct arena *a, const struct rank_memory ***m,
    size_t *n)
{
	const struct memory_scope scope = walk_scope(&l->walk);
	struct memory_list past;
	struct rank_memory *old;
	enum rc rc;
	size_t i;

	rc = memory_superseded_all(l->k->state, &scope, a, &past);
	if (rc != RC_OK)
		return rc;
	old = arena_alloc(a, (past.n + 1) * sizeof(*old));
	if (old == NULL)
		return RC_TOOBIG;
	*m = mem_realloc(*m, (*n + past.n + 1) * sizeof(**m));
	for (i = 0; i < past.n; i++) {
		if (record_read(past.item[i].id, past.item[i].json, a,
			&old[i]) == RC_OK)
			(*m)[(*n)++] = &old[i];
		else
			l->reply.degraded = true;
	}
	return RC_OK;
}

static void
on_listed(void *arg, enum rc rc, const struct store_answer *a)
{
	struct listing *l = arg;
	struct arena *past = arena_new(PAST_BYTES);
	const struct rank_memory **m = NULL;
	size_t i, n = a->n;

	if (rc == RC_OK) {
		l->reply.degraded |= a->degraded;
		m = mem_calloc(n + 1, sizeof(*m));
		for (i = 0; i < n; i++)
			m[i] = a->hit[i].memory;
		rc = add_past(l, past, &m, &n);
	}
	if (rc == RC_OK)
		rc = take(l, m, n);
	free(m);
	arena_free(past);
	walk_on(&l->walk, rc);
}

static void
ask(struct walk *w)
{
	struct listing *l = listing_of(w);
	const struct memory_scope scope = walk_scope(w);
	struct store_ask ask = walk_ask(w, &scope, on_listed, l);
	const struct place here = { w->soul[w->at].created, w->soul[w->at].id,
		{ 0 }, { NULL, 0 } };

	/* A page before had all of this one's. */
	if (l->go_on && place_compare_soul(&here, &l->after) < 0)
		walk_on(w, RC_OK);
	else
		store_list(l->k->store, &ask);
}

static int
by_making(const void *a, const void *b)
{
	const struct soul *x = a, *y = b;

	return place_compare_soul(
	    &(struct place){ .made = x->created, .soul_id = x->id },
	    &(struct place){ .made = y->created, .soul_id = y->id });
}

/* Where the page begins; RC_INVALID if that is nowhere. */
static enum rc
find_start(struct listing *l)
{
	enum rc rc;

	if (l->req->after.p == NULL)
		return RC_OK;
	l->go_on = true;
	rc = place_read(l->req->after, l->a, &l->after);
	/* Of one soul, or of all, as before. */
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
	struct listing *l = arena_alloc(svc_call_arena(c), sizeof(*l));
	enum rc rc;

	if (l == NULL) {
		memory_fail(c, RC_TOOBIG);
		return;
	}
	l->k = app;
	l->a = svc_call_arena(c);
	l->req = svc_call_request(c);
	l->walk = (struct walk){
		.ask = ask, .end = end, .call = c, .user_id = l->req->user_id
	};
	l->reply.backend = str_of(store_name(l->k->store));
	rc = find_start(l);
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
		rc = walk_find(&l->walk, l->k->state, l->req->soul_id, l->a);
	if (rc != RC_OK) {
		end(&l->walk, rc);
		return;
	}
	qsort(l->walk.soul, l->walk.n, sizeof(*l->walk.soul), by_making);
	walk_start(&l->walk);
}
