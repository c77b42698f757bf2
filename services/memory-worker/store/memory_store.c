/*
 * What all backends share: forgotten ids are recorded in Redis, so that a job
 * delivered late or twice does not restore a memory.
 */
#include "store/memory_store.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "store/memory_record.h"
#include "store/store_internal.h"

#define PROBE_USER "soul-probe"
#define PROBE_SOUL "memory-worker"
/* Superseded memories as they are read. */
#define SUPERSEDED_BYTES (128UL * 1024 * 1024)

struct store {
	const struct store_ops *ops;
	void *self;
	struct state *state;
};

struct store *
store_new(const struct store_ops *ops, void *self, struct state *state)
{
	struct store *s = mem_zalloc(sizeof(*s));

	*s = (struct store){ ops, self, state };
	return s;
}

void
store_free(struct store *s)
{
	if (s == NULL)
		return;
	s->ops->free(s->self);
	free(s);
}

const char *
store_name(const struct store *s)
{
	return s->ops->name;
}

const char *
store_peer(const struct store *s)
{
	return s->ops->peer;
}

bool
store_up(const struct store *s)
{
	return s->ops->up == NULL || s->ops->up(s->self);
}

static void
store_fail(const struct store_request *req, enum rc rc)
{
	req->fn(req->arg, rc, &(struct store_result){ 0 });
}

static enum rc
store_check_scope(const struct store_request *req)
{
	return id_valid(req->scope.user_id) && id_valid(req->scope.soul_id)
	    ? RC_OK
	    : RC_INVALID;
}

/* ---- forgotten memories ---- */

/* A backend's call that needs a check before or after. */
struct store_op {
	struct store *s;
	struct store_request req; /* the caller's */
	struct store_put put;
	struct str old; /* to forget; it may be superseded */
};

static struct store_op *
store_op_new(struct store *s, const struct store_request *req)
{
	struct store_op *op = mem_zalloc(sizeof(*op));

	op->s = s;
	op->req = *req;
	return op;
}

/* The backend's request: op's, with another callback. */
static struct store_request
store_op_request(struct store_op *op, store_fn fn)
{
	struct store_request req = op->req;

	req.fn = fn;
	req.arg = op;
	return req;
}

static void
store_op_end(struct store_op *op, enum rc rc, const struct store_result *a)
{
	struct store_request req = op->req;

	free(op);
	req.fn(req.arg, rc, a);
}

static enum rc
store_op_check(const struct store_op *op)
{
	return memory_check_tombstone(
	    op->s->state, &op->req.scope, op->put.job->job_id, op->put.made);
}

static void
store_on_reverted(void *arg, enum rc rc, const struct store_result *a)
{
	store_op_end(arg, rc == RC_OK || rc == RC_NOENT ? RC_CONFLICT : rc, a);
}

/* It may have been forgotten in the meantime. */
static void
store_on_put(void *arg, enum rc rc, const struct store_result *a)
{
	struct store_op *op = arg;
	struct store_request req;

	(void)a;
	if (rc == RC_OK)
		rc = store_op_check(op);
	if (rc != RC_CONFLICT) {
		store_op_end(op, rc, &(struct store_result){ 0 });
		return;
	}
	req = store_op_request(op, store_on_reverted);
	op->s->ops->forget(op->s->self, &req, op->put.job->job_id, false);
}

void
store_put(struct store *s, const struct store_request *req,
    const struct store_put *put)
{
	struct store_request own;
	struct store_op *op;
	enum rc rc = store_check_scope(req);

	if (rc == RC_OK && s->ops->in_redis) {
		s->ops->put(s->self, req, put);
		return;
	}
	op = store_op_new(s, req);
	op->put = *put;
	if (rc == RC_OK)
		rc = store_op_check(op);
	if (rc != RC_OK) {
		store_op_end(op, rc, &(struct store_result){ 0 });
		return;
	}
	own = store_op_request(op, store_on_put);
	s->ops->put(s->self, &own, put);
}

static void
store_on_forgotten(void *arg, enum rc rc, const struct store_result *a)
{
	struct store_op *op = arg;
	size_t i;

	for (i = 0; i < a->n && rc == RC_OK; i++)
		rc = memory_add_tombstone(
		    op->s->state, &op->req.scope, a->hit[i].memory->id);
	/* Superseded memories are stored separately. */
	if (rc == RC_NOENT && op->old.p != NULL)
		rc = memory_forget(op->s->state, &op->req.scope, op->old);
	store_op_end(op, rc, a);
}

void
store_forget(struct store *s, const struct store_request *req, struct str id)
{
	struct store_request own;
	struct store_op *op;

	if (store_check_scope(req) != RC_OK) {
		store_fail(req, RC_INVALID);
	} else if (s->ops->in_redis) {
		s->ops->forget(s->self, req, id, true);
	} else {
		op = store_op_new(s, req);
		op->old = id;
		own = store_op_request(op, store_on_forgotten);
		s->ops->forget(s->self, &own, id, true);
	}
}

/* Recorded in Redis first, so that a late job cannot restore it. */
void
store_supersede(struct store *s, const struct store_request *req,
    const struct memory_superseded *old)
{
	struct store_request own;
	enum rc rc = store_check_scope(req);

	if (rc == RC_OK)
		rc = memory_supersede(
		    s->state, &req->scope, old, s->ops->in_redis);
	/*
	 * It may have been superseded before, but not yet removed from the
	 * backend.
	 */
	if (s->ops->in_redis || (rc != RC_OK && rc != RC_CONFLICT)) {
		store_fail(req, rc);
		return;
	}
	own = store_op_request(store_op_new(s, req), store_on_forgotten);
	s->ops->forget(s->self, &own, old->id, true);
}

void
store_clear(struct store *s, const struct store_request *req)
{
	enum rc rc = store_check_scope(req);

	/* Recorded first, so that jobs in progress are rejected. */
	if (rc == RC_OK && !s->ops->in_redis)
		rc = memory_clear(s->state, &req->scope, NULL);
	if (rc != RC_OK)
		store_fail(req, rc);
	else
		s->ops->clear(s->self, req);
}

void
store_search(struct store *s, const struct store_request *req,
    const struct rank_query *q)
{
	if (store_check_scope(req) != RC_OK)
		store_fail(req, RC_INVALID);
	else
		s->ops->search(s->self, req, q);
}

/* ---- list, with superseded memories ---- */

static enum rc
store_add_superseded(const struct store_op *op, const struct store_result *a,
    struct arena *superseded, struct store_result *out)
{
	struct memory_list list;
	struct rank_memory *m;
	struct rank_hit *hit;
	enum rc rc;
	size_t i;

	*out = *a;
	rc = memory_superseded_all(
	    op->s->state, &op->req.scope, superseded, &list);
	if (rc != RC_OK || list.n == 0)
		return rc;
	m = arena_alloc(superseded, list.n * sizeof(*m));
	hit = arena_alloc(superseded, (a->n + list.n) * sizeof(*hit));
	if (m == NULL || hit == NULL)
		return RC_TOOBIG;
	if (a->n > 0)
		memcpy(hit, a->hit, a->n * sizeof(*hit));
	for (i = 0; i < list.n; i++) {
		if (memory_record_read(list.item[i].id, list.item[i].json,
			superseded, &m[i]) == RC_OK) {
			hit[out->n++] = (struct rank_hit){ .memory = &m[i] };
		} else {
			out->degraded = true;
			log_error("memory.unreadable",
			    LOG_V("id", list.item[i].id),
			    LOG_I("bytes", list.item[i].json.n));
		}
	}
	out->hit = hit;
	return RC_OK;
}

static void
store_on_listed(void *arg, enum rc rc, const struct store_result *a)
{
	struct arena *superseded = arena_new(SUPERSEDED_BYTES);
	struct store_result all = *a;
	struct store_op *op = arg;

	if (rc == RC_OK)
		rc = store_add_superseded(op, a, superseded, &all);
	store_op_end(op, rc, &all);
	arena_free(superseded);
}

void
store_list(struct store *s, const struct store_request *req)
{
	struct store_request own;

	if (store_check_scope(req) != RC_OK) {
		store_fail(req, RC_INVALID);
		return;
	}
	own = store_op_request(store_op_new(s, req), store_on_listed);
	s->ops->list(s->self, &own);
}

/* ---- probe ---- */

struct store_probe {
	struct store *s;
	struct store_request req; /* the caller's */
	char id[ID_MAX + 1];
	char made[WALL_FORMAT_MAX];
	struct wire_memory_job job;
	struct store_put put;
	struct rank_query query;
	enum rc rc; /* of the search */
};

static struct store_request
store_probe_request(struct store_probe *p, store_fn fn)
{
	return (struct store_request){ { STR(PROBE_USER), STR(PROBE_SOUL) },
		p->req.deadline, p->req.trace, fn, p };
}

static void
store_probe_on_deleted(void *arg, enum rc rc, const struct store_result *a)
{
	struct store_probe *p = arg;
	struct store_request req = p->req;

	rc = p->rc != RC_OK ? p->rc : rc;
	free(p);
	req.fn(req.arg, rc, a);
}

static void
store_probe_on_found(void *arg, enum rc rc, const struct store_result *a)
{
	struct store_probe *p = arg;
	struct store_request req =
	    store_probe_request(p, store_probe_on_deleted);
	bool found = false;
	size_t i;

	/* An earlier probe may have failed to delete its memory. */
	for (i = 0; i < a->n; i++)
		found |= str_eq(a->hit[i].memory->text, str_of(p->id));
	p->rc = rc == RC_OK && !found ? RC_BUG : rc;
	/* No job can restore it. */
	p->s->ops->forget(p->s->self, &req, str_of(p->id), false);
}

static void
store_probe_on_put(void *arg, enum rc rc, const struct store_result *a)
{
	struct store_probe *p = arg;
	struct store_request req = store_probe_request(p, store_probe_on_found);

	p->rc = rc;
	if (rc != RC_OK)
		store_probe_on_deleted(p, rc, a);
	else
		p->s->ops->search(p->s->self, &req, &p->query);
}

void
store_probe(struct store *s, const struct store_request *req, struct str id,
    struct wall now)
{
	struct store_probe *p = mem_zalloc(sizeof(*p));
	struct store_request own = store_probe_request(p, store_probe_on_put);

	p->s = s;
	p->req = *req;
	own.deadline = req->deadline;
	own.trace = req->trace;
	str_copy(id, p->id, sizeof(p->id));
	wall_format(now, 0, p->made);
	p->job = (struct wire_memory_job){
		.job_id = str_of(p->id),
		.kind = STR(MEMORY_JOB_KIND),
		.user_id = STR(PROBE_USER),
		.soul_id = STR(PROBE_SOUL),
		.text = str_of(p->id),
		.type = WIRE_MEMORY_TYPE_FACT,
		.created_at = str_of(p->made),
	};
	p->put = (struct store_put){ &p->job, now, false };
	p->query =
	    (struct rank_query){ .text = str_of(p->id), .now = now, .k = 5 };
	s->ops->put(s->self, &own, &p->put);
}
