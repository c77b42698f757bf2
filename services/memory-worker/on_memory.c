/*
 * Searches and readiness over NATS.
 */
#include "on_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "keeper.h"
#include "store.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* How long a probe that went well is believed, and one that failed. */
#define PROBE_MS (5 * 60 * 1000)
#define RETRY_MS 2000
/* The longest a probe may take. */
#define PROBE_MAX_MS 30000
/* What is left of a caller's deadline for the answer's way. */
#define WAY_MS 50

/* ---- readiness -------------------------------------------------------------
 */

/* A caller who waits for the first probe. */
struct asker {
	TAILQ_ENTRY(asker) link;
	struct ready *r;
	struct svc_call *call;
	struct loop_timer timer;
};

struct ready {
	struct keeper *k;
	bool known;
	struct mono until; /* what is known holds */
	enum rc rc;
	bool at_it; /* a probe is under way */
	bool gone;  /* ready_free() was called, and the probe frees it */
	TAILQ_HEAD(asker_list, asker) askers;
};

struct ready *
ready_new(struct keeper *k)
{
	struct ready *r = mem_zalloc(sizeof(*r));

	r->k = k;
	TAILQ_INIT(&r->askers);
	return r;
}

void
ready_free(struct ready *r)
{
	if (r == NULL)
		return;
	r->gone = true;
	if (!r->at_it)
		free(r);
}

static void
answer(struct ready *r, struct svc_call *c, enum rc rc)
{
	const char *peer = store_peer(r->k->store);
	struct arena *a = svc_call_arena(c);
	struct wire_memory_ready_reply rep = { .ready = rc == RC_OK,
		.backend = str_of(store_name(r->k->store)) };

	switch (rc) {
	case RC_OK:
		break;
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
		rep.reason = arena_printf(a, "%s does not answer", peer);
		break;
	case RC_DENIED:
		rep.reason = arena_printf(a, "%s refuses", peer);
		break;
	case RC_BUG:
		rep.reason = STR("what was stored was not found");
		break;
	default:
		rep.reason = STR("storing or searching failed");
	}
	svc_reply(c, &rep);
}

static void
asker_end(struct asker *as, enum rc rc)
{
	struct ready *r = as->r;

	TAILQ_REMOVE(&r->askers, as, link);
	loop_timer_cancel(svc_loop(r->k->svc), &as->timer);
	answer(r, as->call, rc);
	free(as);
}

static void
on_patience(void *arg)
{
	asker_end(arg, RC_TIMEOUT);
}

static void
on_probed(void *arg, enum rc rc, const struct store_answer *a)
{
	struct ready *r = arg;
	struct asker *as;

	(void)a;
	r->at_it = false;
	if (r->gone) {
		free(r);
		return;
	}
	r->known = true;
	r->rc = rc;
	r->until = mono_add_ms(clock_mono(), rc == RC_OK ? PROBE_MS : RETRY_MS);
	if (rc != RC_OK)
		log_warn("memory.probe_failed", LOG_RC(rc));
	while ((as = TAILQ_FIRST(&r->askers)) != NULL)
		asker_end(as, rc);
}

static void
probe(struct ready *r)
{
	char id[ID_HEX32_MAX];
	const struct store_ask ask = {
		.deadline = { clock_wall().ms + PROBE_MAX_MS },
		.fn = on_probed,
		.arg = r,
	};

	if (r->at_it)
		return;
	r->at_it = true;
	id_hex32(id);
	store_probe(r->k->store, &ask, str_of(id), clock_wall());
}

/* A search has failed: what is known of it is out of date. */
static void
ready_doubt(struct ready *r, enum rc rc)
{
	if (!r->known || r->rc != RC_OK)
		return;
	r->rc = rc;
	r->until = mono_add_ms(clock_mono(), RETRY_MS);
}

void
on_ready(void *app, struct svc_call *c)
{
	struct keeper *k = app;
	struct ready *r = k->ready;
	struct mono until;
	struct asker *as;

	if (!store_up(k->store)) {
		/* When it is back, memories may be gone. */
		r->known = false;
		answer(r, c, RC_DOWN);
		return;
	}
	if (!r->known || mono_diff_ns(r->until, clock_mono()) <= 0)
		probe(r);
	if (r->known) {
		answer(r, c, r->rc);
		return;
	}
	as = mem_zalloc(sizeof(*as));
	as->r = r;
	as->call = c;
	TAILQ_INSERT_TAIL(&r->askers, as, link);
	until = mono_add_ms(clock_mono_of(svc_call_deadline(c)), -WAY_MS);
	loop_timer_set(svc_loop(k->svc), &as->timer, until, on_patience, as);
}

/* ---- search ----------------------------------------------------------------
 */

void
memory_fail(struct svc_call *c, enum rc rc)
{
	svc_fail(c, rc == RC_INVALID ? RC_BUG : rc,
	    rc == RC_INVALID ? "the memories are not readable"
			     : "the memory store does not answer");
}

struct recall {
	struct keeper *k;
	struct svc_call *call;
};

static enum rc
put_hits(const struct store_answer *from, struct arena *a,
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
		/* Another's server may not say when. */
		if (m->created.ms == 0)
			continue;
		item->created_at = arena_str(a, str_of(text));
		if (item->created_at.p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

static void
on_found(void *arg, enum rc rc, const struct store_answer *from)
{
	struct recall *re = arg;
	struct wire_memory_recall_reply rep = {
		.backend = str_of(store_name(re->k->store)),
		.degraded = from->degraded,
	};

	if (rc == RC_OK)
		rc = put_hits(from, svc_call_arena(re->call), &rep);
	else if (rc != RC_INVALID)
		ready_doubt(re->k->ready, rc);
	if (rc != RC_OK)
		memory_fail(re->call, rc);
	else
		svc_reply(re->call, &rep);
}

void
on_recall(void *app, struct svc_call *c)
{
	struct keeper *k = app;
	const struct wire_memory_recall_request *req = svc_call_request(c);
	struct recall *re =
	    arena_alloc(svc_call_arena(c), sizeof(struct recall));
	const struct store_ask ask = {
		.scope = { req->user_id, req->soul_id },
		.deadline = { svc_call_deadline(c).ms - WAY_MS },
		.trace = svc_call_trace(c),
		.fn = on_found,
		.arg = re,
	};
	const struct rank_query q = {
		.text = req->query, .now = clock_wall(), .k = (size_t)req->top_k
	};

	if (re == NULL) {
		memory_fail(c, RC_TOOBIG);
		return;
	}
	*re = (struct recall){ k, c };
	store_search(k->store, &ask, &q);
}
