/*
 * A store may answer before it returns: then the walk goes on in walk_run()'s
 * loop and not deeper and deeper in calls.
 */
#include "walk.h"

#include "svc/svc.h"

/* What is left of a caller's deadline for the answer's way. */
#define WAY_MS 50

enum rc
walk_find(struct walk *w, struct state *s, struct str named, struct arena *a)
{
	if (named.p == NULL)
		return soul_list(s, w->user_id, a, &w->soul, &w->n);
	w->soul = arena_alloc(a, sizeof(*w->soul));
	if (w->soul == NULL)
		return RC_TOOBIG;
	*w->soul = (struct soul){ .id = named, .user_id = w->user_id };
	w->n = 1;
	return RC_OK;
}

static void
walk_run(struct walk *w)
{
	while (w->rc == RC_OK && w->at < w->n) {
		w->answered = false;
		w->asking = true;
		w->ask(w);
		w->asking = false;
		if (!w->answered)
			return;
	}
	w->end(w, w->rc);
}

void
walk_start(struct walk *w)
{
	w->at = 0;
	w->rc = RC_OK;
	walk_run(w);
}

void
walk_on(struct walk *w, enum rc rc)
{
	w->rc = rc;
	w->at++;
	w->answered = true;
	if (!w->asking)
		walk_run(w);
}

void
walk_stop(struct walk *w)
{
	w->n = w->at;
}

struct memory_scope
walk_scope(const struct walk *w)
{
	return (struct memory_scope){ w->user_id, w->soul[w->at].id };
}

struct store_ask
walk_ask(const struct walk *w, const struct memory_scope *scope, store_fn fn,
    void *arg)
{
	return (struct store_ask){
		.scope = *scope,
		.deadline = { svc_call_deadline(w->call).ms - WAY_MS },
		.trace = svc_call_trace(w->call),
		.fn = fn,
		.arg = arg,
	};
}
