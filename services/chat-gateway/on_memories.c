/*
 * Memories over HTTP.  memory-worker has them; whose they are is decided here.
 */
#include "on_memories.h"

#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "memories.h"
#include "svc/svc.h"
#include "wire/msgs.h"

#define LIST_MAX      200
#define LIST_DEFAULT  50
#define TOP_K_MAX     10
#define TOP_K_DEFAULT 5

/* A number of the query; false: c has been answered. */
static bool
read_number(struct svc_call *c, const char *name, int64_t max, int64_t *out)
{
	struct str s = svc_call_query(c, name);

	if (s.p == NULL || str_to_i64(s, 1, max, out) == RC_OK)
		return true;
	gateway_refuse(c, RC_INVALID, "%s: must be 1 to %d", name, (int)max);
	return false;
}

/* The user and, if it is named, the soul; false: c has been answered. */
static bool
read_scope(
    struct gateway *g, struct svc_call *c, struct str *user, struct str *soul)
{
	*soul = svc_call_query(c, "soul_id");
	return caller_query_user(g, c, user) &&
	    (soul->p == NULL || gateway_id(c, *soul, "soul_id"));
}

/* ---- list and search -------------------------------------------------------
 */

static void
on_listed(struct question *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_reply(q->arg, q->reply);
	else if (rc == RC_INVALID && str_starts(q->told, STR("/after")))
		svc_fail(q->arg, rc,
		    "cursor: must be the next of the page before, of the same "
		    "souls");
	else
		memories_fail(q->arg, q, rc);
}

static void
on_found(struct question *q, enum rc rc)
{
	const struct wire_memory_recall_reply *found = q->reply;
	struct str soul = svc_call_query(q->arg, "soul_id");
	struct wire_memory_list_reply rep;
	size_t i;

	if (rc != RC_OK) {
		memories_fail(q->arg, q, rc);
		return;
	}
	rep = (struct wire_memory_list_reply){ .backend = found->backend,
		.degraded = found->degraded,
		.items = arena_alloc(
		    q->a, (found->n_items + 1) * sizeof(*rep.items)) };
	if (rep.items == NULL) {
		gateway_fail(q->arg, RC_TOOBIG);
		return;
	}
	for (i = 0; i < found->n_items; i++)
		rep.items[rep.n_items++] = (struct wire_memory_item){
			.memory_id = found->items[i].memory_id,
			.soul_id = soul,
			.text = found->items[i].text,
			.type = found->items[i].type,
			.has_type = found->items[i].has_type,
			.created_at = found->items[i].created_at,
			.score = found->items[i].score,
			.has_score = true,
		};
	svc_reply(q->arg, &rep);
}

static void
search(struct gateway *g, struct svc_call *c,
    const struct wire_memory_recall_request *req)
{
	struct question *q;

	if (req->soul_id.p == NULL) {
		svc_fail(c, RC_INVALID, "soul_id: must be named with a query");
		return;
	}
	q = memories_question(g, c, MEMORIES_RECALL, on_found);
	if (q != NULL)
		memories_ask(q, req);
}

void
on_memories_list(void *app, struct svc_call *c)
{
	struct wire_memory_list_request list = { .limit = LIST_DEFAULT };
	struct wire_memory_recall_request find = { .top_k = TOP_K_DEFAULT };
	struct gateway *g = app;
	struct question *q;

	if (!read_scope(g, c, &list.user_id, &list.soul_id) ||
	    !read_number(c, "limit", LIST_MAX, &list.limit) ||
	    !read_number(c, "top_k", TOP_K_MAX, &find.top_k))
		return;
	find.query = svc_call_query(c, "query");
	if (find.query.p != NULL) {
		find.user_id = list.user_id;
		find.soul_id = list.soul_id;
		search(g, c, &find);
		return;
	}
	list.after = svc_call_query(c, "cursor");
	q = memories_question(g, c, MEMORIES_LIST, on_listed);
	if (q != NULL)
		memories_ask(q, &list);
}

/* ---- forget ----------------------------------------------------------------
 */

static void
answer_forgotten(struct question *q)
{
	const struct wire_memory_forget_reply *gone = q->reply;

	svc_reply(q->arg,
	    &(struct wire_memories_forgotten){
		.forgotten = gone->forgotten, .profile = gone->profile });
}

static void
on_deleted(struct question *q, enum rc rc)
{
	const struct wire_memory_forget_reply *gone = q->reply;

	memories_audit(q, rc);
	if (rc != RC_OK)
		memories_fail(q->arg, q, rc);
	else if (gone->forgotten == 0)
		svc_fail(q->arg, RC_NOENT, "memory not found");
	else
		answer_forgotten(q);
}

void
on_memories_delete(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { .memory_id =
						      svc_call_param(c, 0) };
	struct gateway *g = app;

	if (read_scope(g, c, &req.user_id, &req.soul_id) &&
	    gateway_id(c, req.memory_id, "memory_id"))
		memories_forget(g, c, &req, on_deleted);
}

static void
on_forgotten(struct question *q, enum rc rc)
{
	memories_audit(q, rc);
	if (rc == RC_OK)
		answer_forgotten(q);
	else if (rc == RC_TIMEOUT)
		svc_fail(q->arg, rc,
		    "memory-worker did not answer in time: a part may be "
		    "forgotten; ask again for the rest");
	else
		memories_fail(q->arg, q, rc);
}

void
on_memories_forget(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { .soul_id = svc_call_query(
						      c, "soul_id") };
	struct gateway *g = app;

	if (caller_named_user(g, c, &req.user_id) &&
	    (req.soul_id.p == NULL || gateway_id(c, req.soul_id, "soul_id")))
		memories_forget(g, c, &req, on_forgotten);
}
