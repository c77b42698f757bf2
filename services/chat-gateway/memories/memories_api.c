/*
 * Memories and user profiles.  memory-worker stores them; access is checked
 * here.
 */
#include "memories/memory_request.h"

#include "caller.h"
#include "core/arena.h"
#include "core/zone.h"
#include "gateway.h"
#include "handlers.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/tree.h"

/* Room for the name of a zone, NUL included. */
#define ZONE_NAME_BYTES 65

/* Memories of many souls, in a store that may be remote. */
#define FORGET_ALL_MS 30000

#define ROW(X, x)                                                              \
	{                                                                      \
		WIRE_SUBJECT_MEMORY_##X, &wire_memory_##x##_request_desc,      \
		    &wire_memory_##x##_reply_desc, WIRE_DEADLINE_MS_MEMORY_##X \
	}

static const struct {
	const char *subject;
	const struct wire_desc *request_desc, *reply_desc;
	int64_t timeout_ms;
} memory_request_kinds[] = {
	[MEMORY_REQUEST_LIST] = ROW(LIST, list),
	[MEMORY_REQUEST_RECALL] = ROW(RECALL, recall),
	[MEMORY_REQUEST_FORGET] = ROW(FORGET, forget),
	[MEMORY_REQUEST_PROFILE] = ROW(PROFILE, profile),
};

void
memory_request_set_kind(struct peer_request *q, enum memory_request_kind kind)
{
	q->subject = memory_request_kinds[kind].subject;
	q->request_desc = memory_request_kinds[kind].request_desc;
	q->reply_desc = memory_request_kinds[kind].reply_desc;
	q->timeout_ms = memory_request_kinds[kind].timeout_ms;
}

struct peer_request *
memory_request_new(struct gateway *g, struct svc_call *c,
    enum memory_request_kind kind, peer_request_fn fn)
{
	struct peer_request *q = peer_request_new(g, c, fn);

	if (q != NULL)
		memory_request_set_kind(q, kind);
	return q;
}

void
memory_request_send(struct peer_request *q, const void *msg)
{
	struct svc_call *c = q->arg;
	enum rc rc;

	rc = peer_request_send(q, msg);
	if (rc == RC_INVALID || rc == RC_TOOBIG)
		memory_request_fail(c, q, rc);
	else if (rc != RC_OK)
		gateway_fail_bus(c, rc);
}

void
memory_request_forget(struct gateway *g, struct svc_call *c,
    const struct wire_memory_forget_request *req, peer_request_fn fn)
{
	struct peer_request *q =
	    memory_request_new(g, c, MEMORY_REQUEST_FORGET, fn);
	struct wire_memory_forget_request *copy;

	if (q == NULL)
		return;
	copy = arena_alloc(q->a, sizeof(*copy));
	if (copy == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*copy = *req;
	q->msg = copy;
	if (req->memory_id.p == NULL)
		q->timeout_ms = FORGET_ALL_MS;
	memory_request_send(q, copy);
}

void
memory_request_audit_deleted(
    struct svc_call *c, const struct wire_memory_forget_request *of, size_t n)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_MEMORIES_DELETED,
		.user_id = of->user_id,
		.soul_id = of->soul_id,
		.has_count = true,
		.count = (int64_t)n });
}

void
memory_request_audit(struct peer_request *q, enum rc rc)
{
	const struct wire_memory_forget_request *of = q->msg;
	const struct wire_memory_forget_reply *deleted = q->reply;

	if (rc == RC_OK && (deleted->forgotten > 0 || deleted->profile))
		memory_request_audit_deleted(
		    q->arg, of, (size_t)deleted->forgotten);
	if (rc == RC_OK && deleted->profile)
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_PROFILE_CHANGED,
			.user_id = of->user_id,
			.reason = STR("deleted") });
	/* Some memories may have been deleted. */
	if (rc == RC_TIMEOUT || (rc != RC_OK && q->error.p != NULL))
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_MEMORIES_DELETED,
			.user_id = of->user_id,
			.soul_id = of->soul_id,
			.reason = STR("how much is not known") });
}

struct memory_request_error
memory_request_error(const struct peer_request *q, enum rc rc)
{
	struct memory_request_error f = { rc, q->error.p };

	/* A text from memory-worker is more specific. */
	if (f.text != NULL)
		return f;
	if (rc == RC_TIMEOUT) {
		f.text = "memory-worker did not answer in time: try again";
	} else if (rc == RC_DOWN || rc == RC_RETRY) {
		f.text = "memory-worker does not answer: see that it runs, "
			 "then try again";
	} else {
		f.rc = RC_BUG;
		f.text = "memory-worker's answer cannot be read";
	}
	return f;
}

void
memory_request_fail(
    struct svc_call *c, const struct peer_request *q, enum rc rc)
{
	struct memory_request_error f = memory_request_error(q, rc);

	svc_fail(c, f.rc, f.text);
}

#define LIST_ITEMS_MAX     200
#define LIST_ITEMS_DEFAULT 50
#define TOP_K_MAX          10
#define TOP_K_DEFAULT      5

/* A number in the query.  False: c has been ended. */
static bool
memories_read_number(
    struct svc_call *c, const char *name, int64_t max, int64_t *out)
{
	struct str s = svc_call_query(c, name);

	if (s.p == NULL || str_to_i64(s, 1, max, out) == RC_OK)
		return true;
	gateway_reject(c, RC_INVALID, "%s: must be 1 to %d", name, (int)max);
	return false;
}

/* The user and the optional soul of the query.  False: c has been ended. */
static bool
memories_read_scope(
    struct gateway *g, struct svc_call *c, struct str *user, struct str *soul)
{
	*soul = svc_call_query(c, "soul_id");
	return caller_query_user(g, c, user) &&
	    (soul->p == NULL || gateway_id(c, *soul, "soul_id"));
}

static void
memories_on_list(struct peer_request *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_reply(q->arg, q->reply);
	else if (rc == RC_INVALID && str_starts(q->error, STR("/after")))
		svc_fail(q->arg, rc,
		    "cursor: must be the next of the page before, of the same "
		    "souls");
	else
		memory_request_fail(q->arg, q, rc);
}

static void
memories_on_recall(struct peer_request *q, enum rc rc)
{
	const struct wire_memory_recall_reply *found = q->reply;
	struct str soul = svc_call_query(q->arg, "soul_id");
	struct wire_memory_list_reply rep;
	size_t i;

	if (rc != RC_OK) {
		memory_request_fail(q->arg, q, rc);
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
memories_search(struct gateway *g, struct svc_call *c,
    const struct wire_memory_recall_request *req)
{
	struct peer_request *q;

	if (req->soul_id.p == NULL) {
		svc_fail(c, RC_INVALID, "soul_id: must be named with a query");
		return;
	}
	q = memory_request_new(g, c, MEMORY_REQUEST_RECALL, memories_on_recall);
	if (q != NULL)
		memory_request_send(q, req);
}

void
on_memories_list(void *app, struct svc_call *c)
{
	struct wire_memory_list_request list = { .limit = LIST_ITEMS_DEFAULT };
	struct wire_memory_recall_request find = { .top_k = TOP_K_DEFAULT };
	struct gateway *g = app;
	struct peer_request *q;

	if (!memories_read_scope(g, c, &list.user_id, &list.soul_id) ||
	    !memories_read_number(c, "limit", LIST_ITEMS_MAX, &list.limit) ||
	    !memories_read_number(c, "top_k", TOP_K_MAX, &find.top_k))
		return;
	find.query = svc_call_query(c, "query");
	if (find.query.p != NULL) {
		find.user_id = list.user_id;
		find.soul_id = list.soul_id;
		memories_search(g, c, &find);
		return;
	}
	list.after = svc_call_query(c, "cursor");
	q = memory_request_new(g, c, MEMORY_REQUEST_LIST, memories_on_list);
	if (q != NULL)
		memory_request_send(q, &list);
}

static void
memories_reply_forgotten(struct peer_request *q)
{
	const struct wire_memory_forget_reply *deleted = q->reply;

	svc_reply(q->arg,
	    &(struct wire_memories_forgotten){
		.forgotten = deleted->forgotten, .profile = deleted->profile });
}

static void
memories_on_deleted(struct peer_request *q, enum rc rc)
{
	const struct wire_memory_forget_reply *deleted = q->reply;

	memory_request_audit(q, rc);
	if (rc != RC_OK)
		memory_request_fail(q->arg, q, rc);
	else if (deleted->forgotten == 0)
		svc_fail(q->arg, RC_NOENT, "memory not found");
	else
		memories_reply_forgotten(q);
}

void
on_memories_delete(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { .memory_id =
						      svc_call_param(c, 0) };
	struct gateway *g = app;

	if (memories_read_scope(g, c, &req.user_id, &req.soul_id) &&
	    gateway_id(c, req.memory_id, "memory_id"))
		memory_request_forget(g, c, &req, memories_on_deleted);
}

static void
memories_on_forgotten(struct peer_request *q, enum rc rc)
{
	memory_request_audit(q, rc);
	if (rc == RC_OK)
		memories_reply_forgotten(q);
	else if (rc == RC_TIMEOUT)
		svc_fail(q->arg, rc,
		    "memory-worker did not answer in time: a part may be "
		    "forgotten; ask again for the rest");
	else
		memory_request_fail(q->arg, q, rc);
}

void
on_memories_forget(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { .soul_id = svc_call_query(
						      c, "soul_id") };
	struct gateway *g = app;

	if (caller_named_user(g, c, &req.user_id) &&
	    (req.soul_id.p == NULL || gateway_id(c, req.soul_id, "soul_id")))
		memory_request_forget(g, c, &req, memories_on_forgotten);
}

static void
profile_on_reply(struct peer_request *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_reply(q->arg, q->reply);
	else
		memory_request_fail(q->arg, q, rc);
}

static void
profile_on_patched(struct peer_request *q, enum rc rc)
{
	if (rc == RC_OK)
		svc_audit_call(q->arg,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_PROFILE_CHANGED,
			.user_id = svc_call_param(q->arg, 0) });
	profile_on_reply(q, rc);
}

static void
profile_request(
    struct gateway *g, struct svc_call *c, struct str patch, peer_request_fn fn)
{
	struct wire_memory_profile_request req = { .patch = patch };
	struct peer_request *q;

	if (!caller_user(g, c, svc_call_param(c, 0), &req.user_id))
		return;
	q = memory_request_new(g, c, MEMORY_REQUEST_PROFILE, fn);
	if (q != NULL)
		memory_request_send(q, &req);
}

void
on_user_profile_get(void *app, struct svc_call *c)
{
	profile_request(app, c, (struct str){ NULL, 0 }, profile_on_reply);
}

/* Alarms and datetime expressions go by it.  False: c has been ended. */
static bool
profile_check_zone(struct svc_call *c)
{
	struct zone *zone = NULL;
	struct wire_tree *v;
	char name[ZONE_NAME_BYTES];
	struct str text;

	if (wire_tree_parse(svc_call_body(c), &v) != RC_OK)
		return true;
	const struct wire_tree *set = wire_tree_get(
	    wire_tree_get(v, STR("user_profile")), STR("timezone"));
	bool valid = wire_tree_kind(set) == WIRE_TREE_NULL;
	if (wire_tree_kind(set) == WIRE_TREE_TEXT) {
		text = wire_tree_text(set);
		str_copy(text, name, sizeof(name));
		valid =
		    text.n < sizeof(name) && zone_load(name, &zone) == RC_OK;
		zone_free(zone);
	}
	wire_tree_free(v);
	if (!valid)
		svc_fail(c, RC_INVALID,
		    "/user_profile/timezone: must be the IANA name of a time "
		    "zone, as Asia/Shanghai");
	return valid;
}

void
on_user_profile_patch(void *app, struct svc_call *c)
{
	if (profile_check_zone(c))
		profile_request(app, c, svc_call_body(c), profile_on_patched);
}
