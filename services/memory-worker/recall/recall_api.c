/*
 * Search and readiness.
 */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "memory_worker.h"
#include "store/memory_store.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* How long a successful probe stays valid, and a failed one. */
#define PROBE_MS (5 * 60 * 1000)
#define RETRY_MS 2000
/* Deadline of a probe. */
#define PROBE_MAX_MS 30000
/* Part of the caller's deadline that is reserved for the reply. */
#define REPLY_MARGIN_MS 50

/* ---- readiness ---- */

/* A caller waiting for the first probe. */
struct ready_call {
	TAILQ_ENTRY(ready_call) link;
	struct readiness *r;
	struct svc_call *call;
	struct loop_timer timer;
};

struct readiness {
	struct memory_worker *w;
	bool known;
	struct mono until; /* the result is valid */
	enum rc rc;
	bool probing; /* a probe is in progress */
	bool freed;   /* readiness_free() was called; the probe frees it */
	TAILQ_HEAD(ready_call_list, ready_call) calls;
};

struct readiness *
readiness_new(struct memory_worker *w)
{
	struct readiness *r = mem_zalloc(sizeof(*r));

	r->w = w;
	TAILQ_INIT(&r->calls);
	return r;
}

void
readiness_free(struct readiness *r)
{
	if (r == NULL)
		return;
	r->freed = true;
	if (!r->probing)
		free(r);
}

static void
ready_reply(struct readiness *r, struct svc_call *c, enum rc rc)
{
	const char *peer = store_peer(r->w->store);
	struct arena *a = svc_call_arena(c);
	struct wire_memory_ready_reply rep = { .ready = rc == RC_OK,
		.backend = str_of(store_name(r->w->store)) };

	switch (rc) {
	case RC_OK:
		break;
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
		rep.reason = arena_printf(a, "%s does not answer", peer);
		break;
	case RC_DENIED:
		rep.reason = arena_printf(a, "%s denied access", peer);
		break;
	case RC_UNREPLICATED:
		rep.reason = STR("too few replicas of Redis follow");
		break;
	case RC_BUG:
		rep.reason = STR("a stored memory was not found");
		break;
	default:
		rep.reason = STR("storing or searching failed");
	}
	svc_reply(c, &rep);
}

static void
ready_call_end(struct ready_call *rcall, enum rc rc)
{
	struct readiness *r = rcall->r;

	TAILQ_REMOVE(&r->calls, rcall, link);
	loop_timer_cancel(svc_loop(r->w->svc), &rcall->timer);
	ready_reply(r, rcall->call, rc);
	free(rcall);
}

static void
ready_on_timeout(void *arg)
{
	ready_call_end(arg, RC_TIMEOUT);
}

static void
ready_on_probed(void *arg, enum rc rc, const struct store_result *a)
{
	struct readiness *r = arg;
	struct ready_call *rcall;

	(void)a;
	r->probing = false;
	if (r->freed) {
		free(r);
		return;
	}
	r->known = true;
	r->rc = rc;
	r->until = mono_add_ms(clock_mono(), rc == RC_OK ? PROBE_MS : RETRY_MS);
	if (rc != RC_OK)
		log_warn("memory.probe_failed", LOG_RC(rc));
	while ((rcall = TAILQ_FIRST(&r->calls)) != NULL)
		ready_call_end(rcall, rc);
}

static void
ready_probe(struct readiness *r)
{
	char id[ID_HEX32_MAX];
	const struct store_request sreq = {
		.deadline = { clock_wall().ms + PROBE_MAX_MS },
		.fn = ready_on_probed,
		.arg = r,
	};

	if (r->probing)
		return;
	r->probing = true;
	id_hex32(id);
	store_probe(r->w->store, &sreq, str_of(id), clock_wall());
}

/* A failed search overrides the last probe. */
static void
ready_invalidate(struct readiness *r, enum rc rc)
{
	if (!r->known || r->rc != RC_OK)
		return;
	r->rc = rc;
	r->until = mono_add_ms(clock_mono(), RETRY_MS);
}

void
on_ready(void *app, struct svc_call *c)
{
	struct memory_worker *w = app;
	struct readiness *r = w->ready;
	struct mono until;
	struct ready_call *rcall;

	if (!store_up(w->store)) {
		/* Its data may have been lost meanwhile. */
		r->known = false;
		ready_reply(r, c, RC_DOWN);
		return;
	}
	if (!r->known || mono_diff_ns(r->until, clock_mono()) <= 0)
		ready_probe(r);
	if (r->known) {
		ready_reply(r, c, r->rc);
		return;
	}
	rcall = mem_zalloc(sizeof(*rcall));
	rcall->r = r;
	rcall->call = c;
	TAILQ_INSERT_TAIL(&r->calls, rcall, link);
	until =
	    mono_add_ms(clock_mono_of(svc_call_deadline(c)), -REPLY_MARGIN_MS);
	loop_timer_set(
	    svc_loop(w->svc), &rcall->timer, until, ready_on_timeout, rcall);
}

/* ---- search ---- */

void
handler_fail_store(struct svc_call *c, enum rc rc)
{
	if (rc == RC_INVALID)
		svc_fail(c, RC_BUG, "the memories are not readable");
	else if (rc == RC_UNREPLICATED)
		svc_fail(c, rc,
		    "it was done, but is not stored safely: too few replicas "
		    "of Redis have it; repeat it");
	else
		svc_fail(c, rc, "the memory store does not answer");
}

struct recall {
	struct memory_worker *w;
	struct svc_call *call;
};

static enum rc
recall_put_items(const struct store_result *from, struct arena *a,
    struct wire_memory_recall_reply *rep)
{
	struct wire_memory_recall_reply_items *item;
	char text[WALL_FORMAT_MAX];
	size_t i;

	rep->items = arena_alloc(a, (from->n + 1) * sizeof(*rep->items));
	if (rep->items == NULL)
		return RC_TOOBIG;
	for (i = 0; i < from->n; i++) {
		const struct rank_memory *m = from->hit[i].memory;

		item = &rep->items[rep->n_items++];
		wall_format(m->created, 0, text);
		*item = (struct wire_memory_recall_reply_items){
			.memory_id = m->id,
			.text = m->text,
			.type = m->type,
			.has_type = true,
			.score = from->hit[i].score,
		};
		/* An external store may not know. */
		if (m->created.ms == 0)
			continue;
		item->created_at = arena_str(a, str_of(text));
		if (item->created_at.p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

static void
recall_on_found(void *arg, enum rc rc, const struct store_result *from)
{
	struct recall *re = arg;
	struct wire_memory_recall_reply rep = {
		.backend = str_of(store_name(re->w->store)),
		.degraded = from->degraded,
	};

	if (rc == RC_OK)
		rc = recall_put_items(from, svc_call_arena(re->call), &rep);
	else if (rc != RC_INVALID)
		ready_invalidate(re->w->ready, rc);
	if (rc != RC_OK)
		handler_fail_store(re->call, rc);
	else
		svc_reply(re->call, &rep);
}

void
on_recall(void *app, struct svc_call *c)
{
	struct memory_worker *w = app;
	const struct wire_memory_recall_request *req = svc_call_request(c);
	struct recall *re =
	    arena_alloc(svc_call_arena(c), sizeof(struct recall));
	const struct store_request sreq = {
		.scope = { req->user_id, req->soul_id },
		.deadline = { svc_call_deadline(c).ms - REPLY_MARGIN_MS },
		.trace = svc_call_trace(c),
		.fn = recall_on_found,
		.arg = re,
	};
	const struct rank_query q = {
		.text = req->query, .now = clock_wall(), .k = (size_t)req->top_k
	};

	if (re == NULL) {
		handler_fail_store(c, RC_TOOBIG);
		return;
	}
	*re = (struct recall){ w, c };
	store_search(w->store, &sreq, &q);
}
