/*
 * What all backends have in common: what was forgotten is known in Redis, so
 * that a job that is done late or twice does not bring it back.
 */
#include "store.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "record.h"

#define PROBE_USER "soul-probe"
#define PROBE_SOUL "memory-worker"
/* Memories of the past, as they are read. */
#define PAST_BYTES (128UL * 1024 * 1024)

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
say(const struct store_ask *ask, enum rc rc)
{
	ask->fn(ask->arg, rc, &(struct store_answer){ 0 });
}

static enum rc
check(const struct store_ask *ask)
{
	return id_valid(ask->scope.user_id) && id_valid(ask->scope.soul_id)
	    ? RC_OK
	    : RC_INVALID;
}

/* ---- what was forgotten ----------------------------------------------------
 */

/* A call of a backend that needs a look before or after. */
struct op {
	struct store *s;
	struct store_ask ask; /* the caller's */
	struct store_put put;
	struct str old; /* what is forgotten may be of the past */
};

static struct op *
op_new(struct store *s, const struct store_ask *ask)
{
	struct op *op = mem_zalloc(sizeof(*op));

	op->s = s;
	op->ask = *ask;
	return op;
}

/* The ask of a backend: the same, but op hears of it. */
static struct store_ask
op_ask(struct op *op, store_fn fn)
{
	struct store_ask ask = op->ask;

	ask.fn = fn;
	ask.arg = op;
	return ask;
}

static void
op_end(struct op *op, enum rc rc, const struct store_answer *a)
{
	struct store_ask ask = op->ask;

	free(op);
	ask.fn(ask.arg, rc, a);
}

static enum rc
gone(const struct op *op)
{
	return memory_check_tombstone(
	    op->s->state, &op->ask.scope, op->put.job->job_id, op->put.made);
}

static void
on_taken_back(void *arg, enum rc rc, const struct store_answer *a)
{
	op_end(arg, rc == RC_OK || rc == RC_NOENT ? RC_CONFLICT : rc, a);
}

/* It may have been forgotten while it was on its way. */
static void
on_put(void *arg, enum rc rc, const struct store_answer *a)
{
	struct op *op = arg;
	struct store_ask ask;

	if (rc == RC_OK)
		rc = gone(op);
	if (rc != RC_CONFLICT) {
		op_end(op, rc, a);
		return;
	}
	ask = op_ask(op, on_taken_back);
	op->s->ops->forget(op->s->self, &ask, op->put.job->job_id, false);
}

void
store_put(
    struct store *s, const struct store_ask *ask, const struct store_put *put)
{
	struct store_ask own;
	struct op *op;
	enum rc rc = check(ask);

	if (rc == RC_OK && s->ops->in_redis) {
		s->ops->put(s->self, ask, put);
		return;
	}
	op = op_new(s, ask);
	op->put = *put;
	if (rc == RC_OK)
		rc = gone(op);
	if (rc != RC_OK) {
		op_end(op, rc, &(struct store_answer){ 0 });
		return;
	}
	own = op_ask(op, on_put);
	s->ops->put(s->self, &own, put);
}

static void
on_forgotten(void *arg, enum rc rc, const struct store_answer *a)
{
	struct op *op = arg;
	size_t i;

	for (i = 0; i < a->n && rc == RC_OK; i++)
		rc = memory_add_tombstone(
		    op->s->state, &op->ask.scope, a->hit[i].memory->id);
	/* It may be one of the past, which are not with the others. */
	if (rc == RC_NOENT && op->old.p != NULL)
		rc = memory_forget(op->s->state, &op->ask.scope, op->old);
	op_end(op, rc, a);
}

void
store_forget(struct store *s, const struct store_ask *ask, struct str id)
{
	struct store_ask own;
	struct op *op;

	if (check(ask) != RC_OK) {
		say(ask, RC_INVALID);
	} else if (s->ops->in_redis) {
		s->ops->forget(s->self, ask, id, true);
	} else {
		op = op_new(s, ask);
		op->old = id;
		own = op_ask(op, on_forgotten);
		s->ops->forget(s->self, &own, id, true);
	}
}

/* It cannot come back by a job that is late. */
void
store_retire(
    struct store *s, const struct store_ask *ask, const struct memory_superseded *old)
{
	struct store_ask own;
	enum rc rc = check(ask);

	if (rc == RC_OK)
		rc =
		    memory_supersede(s->state, &ask->scope, old, s->ops->in_redis);
	/* One that was retired before may be there yet. */
	if (s->ops->in_redis || (rc != RC_OK && rc != RC_CONFLICT)) {
		say(ask, rc);
		return;
	}
	own = op_ask(op_new(s, ask), on_forgotten);
	s->ops->forget(s->self, &own, old->id, true);
}

void
store_clear(struct store *s, const struct store_ask *ask)
{
	enum rc rc = check(ask);

	/* First, so that nothing comes in behind it. */
	if (rc == RC_OK && !s->ops->in_redis)
		rc = memory_clear(s->state, &ask->scope, NULL);
	if (rc != RC_OK)
		say(ask, rc);
	else
		s->ops->clear(s->self, ask);
}

void
store_search(
    struct store *s, const struct store_ask *ask, const struct rank_query *q)
{
	if (check(ask) != RC_OK)
		say(ask, RC_INVALID);
	else
		s->ops->search(s->self, ask, q);
}

/* ---- all, and those of the past --------------------------------------------
 */

static enum rc
add_past(const struct op *op, const struct store_answer *a, struct arena *past,
    struct store_answer *out)
{
	struct memory_list list;
	struct rank_memory *m;
	struct rank_hit *hit;
	enum rc rc;
	size_t i;

	*out = *a;
	rc = memory_superseded_all(op->s->state, &op->ask.scope, past, &list);
	if (rc != RC_OK || list.n == 0)
		return rc;
	m = arena_alloc(past, list.n * sizeof(*m));
	hit = arena_alloc(past, (a->n + list.n) * sizeof(*hit));
	if (m == NULL || hit == NULL)
		return RC_TOOBIG;
	if (a->n > 0)
		memcpy(hit, a->hit, a->n * sizeof(*hit));
	for (i = 0; i < list.n; i++) {
		if (record_read(list.item[i].id, list.item[i].json, past,
			&m[i]) == RC_OK)
			hit[out->n++] = (struct rank_hit){ .memory = &m[i] };
		else
			log_error("memory.unreadable",
			    LOG_V("id", list.item[i].id),
			    LOG_I("bytes", list.item[i].json.n));
	}
	out->hit = hit;
	return RC_OK;
}

static void
on_listed(void *arg, enum rc rc, const struct store_answer *a)
{
	struct arena *past = arena_new(PAST_BYTES);
	struct store_answer all = *a;
	struct op *op = arg;

	if (rc == RC_OK)
		rc = add_past(op, a, past, &all);
	op_end(op, rc, &all);
	arena_free(past);
}

void
store_list(struct store *s, const struct store_ask *ask)
{
	struct store_ask own;

	if (check(ask) != RC_OK) {
		say(ask, RC_INVALID);
		return;
	}
	own = op_ask(op_new(s, ask), on_listed);
	s->ops->list(s->self, &own);
}

/* ---- does it work ----------------------------------------------------------
 */

struct probe {
	struct store *s;
	struct store_ask ask; /* the caller's */
	char id[ID_MAX + 1];
	char made[WALL_FORMAT_MAX];
	struct wire_memory_job job;
	struct store_put put;
	struct rank_query query;
	enum rc rc; /* of the search */
};

static struct store_ask
probe_ask(struct probe *p, store_fn fn)
{
	return (struct store_ask){ { STR(PROBE_USER), STR(PROBE_SOUL) },
		p->ask.deadline, p->ask.trace, fn, p };
}

static void
on_probe_end(void *arg, enum rc rc, const struct store_answer *a)
{
	struct probe *p = arg;
	struct store_ask ask = p->ask;

	rc = p->rc != RC_OK ? p->rc : rc;
	free(p);
	ask.fn(ask.arg, rc, a);
}

static void
on_probe_found(void *arg, enum rc rc, const struct store_answer *a)
{
	struct probe *p = arg;
	struct store_ask ask = probe_ask(p, on_probe_end);
	bool found = false;
	size_t i;

	/* A probe that could not delete its memory may have left it. */
	for (i = 0; i < a->n; i++)
		found |= str_eq(a->hit[i].memory->text, str_of(p->id));
	p->rc = rc == RC_OK && !found ? RC_BUG : rc;
	/* Nobody will bring it back. */
	p->s->ops->forget(p->s->self, &ask, str_of(p->id), false);
}

static void
on_probe_put(void *arg, enum rc rc, const struct store_answer *a)
{
	struct probe *p = arg;
	struct store_ask ask = probe_ask(p, on_probe_found);

	p->rc = rc;
	if (rc != RC_OK)
		on_probe_end(p, rc, a);
	else
		p->s->ops->search(p->s->self, &ask, &p->query);
}

void
store_probe(struct store *s, const struct store_ask *ask, struct str id,
    struct wall now)
{
	struct probe *p = mem_zalloc(sizeof(*p));
	struct store_ask own = probe_ask(p, on_probe_put);

	p->s = s;
	p->ask = *ask;
	own.deadline = ask->deadline;
	own.trace = ask->trace;
	str_copy(id, p->id, sizeof(p->id));
	wall_format(now, 0, p->made);
	p->job = (struct wire_memory_job){
		.job_id = str_of(p->id),
		.kind = STR(RECORD_JOB_KIND),
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
