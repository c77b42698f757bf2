/*
 * Look for the same; put; retire the others, one by one.
 */
#include "settle.h"

#include <stdlib.h>

#include "alike.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "record.h"

/* Memories among which the same is looked for, the nearest. */
#define NEAR_MAX 5

struct settling {
	struct store *s;
	struct store_ask ask; /* the caller's */
	struct store_put put;
	struct rank_query query;
	struct arena *a;
	struct wire_memory_job job; /* the put's, and what it retires beside */
	size_t at;                  /* the next to be retired */
};

static void
settled(struct settling *g, enum rc rc)
{
	struct store_ask ask = g->ask;

	arena_free(g->a);
	free(g);
	ask.fn(ask.arg, rc, &(struct store_answer){ 0 });
}

static struct store_ask
ask_for(struct settling *g, store_fn fn)
{
	struct store_ask ask = g->ask;

	ask.fn = fn;
	ask.arg = g;
	return ask;
}

static void retire(struct settling *g);

static void
on_retired(void *arg, enum rc rc, const struct store_answer *a)
{
	struct settling *g = arg;

	(void)a;
	/* It is gone, whoever did it. */
	if (rc != RC_OK && rc != RC_NOENT && rc != RC_CONFLICT) {
		settled(g, rc);
		return;
	}
	g->at++;
	retire(g);
}

static void
retire(struct settling *g)
{
	const struct wire_memory_job *job = &g->job;
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct store_ask own = ask_for(g, on_retired);
	struct memory_superseded old = { .made = { 0 }, .until = g->put.made };
	enum rc rc;

	if (g->at == job->n_supersedes) {
		settled(g, RC_OK);
		return;
	}
	old.id = job->supersedes[g->at].memory_id;
	if (wall_parse(job->supersedes[g->at].created_at, &old.made) != RC_OK ||
	    old.made.ms < 0)
		old.made = g->put.made;
	rc = record_write_old(job, g->at, &json);
	old.json = buf_str(&json);
	if (rc == RC_OK && !str_eq(old.id, job->job_id))
		store_retire(g->s, &own, &old);
	else
		on_retired(g, rc, NULL);
	buf_free(&json);
}

static void
on_put(void *arg, enum rc rc, const struct store_answer *a)
{
	struct settling *g = arg;

	(void)a;
	if (rc == RC_OK)
		retire(g);
	else
		settled(g, rc);
}

/* The older one of two that say the same goes with those the job names. */
static enum rc
add_old(struct settling *g, const struct rank_memory *m)
{
	struct wire_memory_job_supersedes *list;
	char made[WALL_FORMAT_MAX];
	size_t n = g->job.n_supersedes;

	list = arena_alloc(g->a, (n + 1) * sizeof(*list));
	if (list == NULL)
		return RC_TOOBIG;
	if (n > 0)
		memcpy(list, g->job.supersedes, n * sizeof(*list));
	wall_format(m->created, 0, made);
	list[n] = (struct wire_memory_job_supersedes){
		.memory_id = arena_str(g->a, m->id),
		.text = arena_str(g->a, m->text),
		.type = m->type,
		.created_at = arena_str(g->a, str_of(made)),
	};
	g->job.supersedes = list;
	g->job.n_supersedes = n + 1;
	return RC_OK;
}

static void
on_near(void *arg, enum rc rc, const struct store_answer *a)
{
	struct settling *g = arg;
	struct store_ask own = ask_for(g, on_put);
	bool known = false;
	size_t i;

	for (i = 0; i < a->n && rc == RC_OK; i++) {
		const struct rank_memory *m = a->hit[i].memory;

		if (str_eq(m->id, g->job.job_id) ||
		    !alike(m->text, g->job.text))
			continue;
		/* Whose time is not known may be this very one. */
		if (m->created.ms == 0 || m->created.ms >= g->put.made.ms)
			known = true;
		else
			rc = add_old(g, m);
	}
	if (rc != RC_OK) {
		settled(g, rc);
	} else if (known) {
		log_info("job.known", LOG_V("memory", g->job.job_id));
		on_put(g, RC_OK, NULL);
	} else {
		store_put(g->s, &own, &g->put);
	}
}

void
settle(
    struct store *s, const struct store_ask *ask, const struct store_put *put)
{
	struct settling *g = mem_zalloc(sizeof(*g));
	struct store_ask own;

	g->s = s;
	g->ask = *ask;
	g->put = *put;
	g->job = *put->job;
	g->a = arena_new(WIRE_ARENA_MAX);
	g->query = (struct rank_query){
		.text = put->job->text, .now = put->made, .k = NEAR_MAX
	};
	own = ask_for(g, on_near);
	store_search(s, &own, &g->query);
}
