/*
 * A store may reply before its call returns: the iteration then continues in
 * the loop of scope_iter_run(), not in ever deeper recursion.
 */
#include "recall/scope_iter.h"

#include "svc/svc.h"

/* Part of the caller's deadline that is reserved for the reply. */
#define REPLY_MARGIN_MS 50

enum rc
scope_iter_init(
    struct scope_iter *it, struct state *s, struct str named, struct arena *a)
{
	if (named.p == NULL)
		return soul_list(s, it->user_id, a, &it->soul, &it->n);
	it->soul = arena_alloc(a, sizeof(*it->soul));
	if (it->soul == NULL)
		return RC_TOOBIG;
	*it->soul = (struct soul){ .id = named, .user_id = it->user_id };
	it->n = 1;
	return RC_OK;
}

static void
scope_iter_run(struct scope_iter *it)
{
	while (it->rc == RC_OK && it->at < it->n) {
		it->advanced = false;
		it->visiting = true;
		it->visit(it);
		it->visiting = false;
		if (!it->advanced)
			return;
	}
	it->done(it, it->rc);
}

void
scope_iter_start(struct scope_iter *it)
{
	it->at = 0;
	it->rc = RC_OK;
	scope_iter_run(it);
}

void
scope_iter_next(struct scope_iter *it, enum rc rc)
{
	it->rc = rc;
	it->at++;
	it->advanced = true;
	if (!it->visiting)
		scope_iter_run(it);
}

void
scope_iter_stop(struct scope_iter *it)
{
	it->n = it->at;
}

struct memory_scope
scope_iter_scope(const struct scope_iter *it)
{
	return (struct memory_scope){ it->user_id, it->soul[it->at].id };
}

struct store_request
scope_iter_request(const struct scope_iter *it,
    const struct memory_scope *scope, store_fn fn, void *arg)
{
	return (struct store_request){
		.scope = *scope,
		.deadline = { svc_call_deadline(it->call).ms -
		    REPLY_MARGIN_MS },
		.trace = svc_call_trace(it->call),
		.fn = fn,
		.arg = arg,
	};
}
