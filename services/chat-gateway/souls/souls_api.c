/*
 * Routes that list, create and delete souls.
 */
#include "souls/souls_api.h"

#include "caller.h"
#include "core/arena.h"
#include "core/id.h"
#include "gateway.h"
#include "handlers.h"
#include "memories/memory_request.h"
#include "persona/persona.h"
#include "souls/soul_view.h"
#include "state/memory.h"
#include "state/soul.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/*
 * Unbound terminals of a deleted soul that are audited one by one; of further
 * ones only the number.
 */
#define UNBOUND_AUDIT_MAX 64
#define SOUL_DELETED      "soul_deleted"

static void
souls_reply_list(
    struct gateway *g, struct svc_call *c, struct wire_soul *list, size_t n)
{
	struct wire_soul_list rep = { .items = list, .n_items = n };

	if (caller_query_user(g, c, &rep.user_id))
		svc_reply(c, &rep);
}

void
on_souls_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct soul *souls;
	struct str user;
	size_t n;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	rc = soul_list(g->state, user, svc_call_arena(c), &souls, &n);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else
		soul_view_read(g, c, souls, n, souls_reply_list);
}

/* The type in upper case; mbti was accepted by persona_of_mbti(). */
static struct str
souls_mbti(struct str mbti, struct arena *a)
{
	return arena_printf(a, "%c%c%c%c", mbti.p[0] & ~0x20, mbti.p[1] & ~0x20,
	    mbti.p[2] & ~0x20, mbti.p[3] & ~0x20);
}

static bool
souls_is_full(struct gateway *g, struct svc_call *c, struct str user)
{
	struct soul *list;
	size_t n;

	return soul_list(g->state, user, svc_call_arena(c), &list, &n) ==
	    RC_OK &&
	    n >= SOUL_LIST_MAX;
}

enum rc
souls_create(struct gateway *g, struct svc_call *c, const struct souls_new *new,
    struct soul *out)
{
	struct arena *a = svc_call_arena(c);
	char hex[ID_HEX32_MAX];
	struct persona ignored;
	enum rc rc;

	if (persona_of_mbti(new->mbti_type, &ignored) != RC_OK)
		return RC_INVALID;
	id_hex32(hex);
	*out = (struct soul){ .id = arena_printf(a, "soul_%s", hex),
		.user_id = new->user_id,
		.name = new->name,
		.mbti_type = souls_mbti(new->mbti_type, a),
		.model = str_of(g->conf->model),
		.created = clock_wall() };
	rc = soul_create(g->state, out, STR(""));
	/* The same code is returned when Redis is out of memory. */
	if (rc == RC_RETRY && souls_is_full(g, c, new->user_id))
		return RC_TOOBIG;
	return rc;
}

void
souls_reject(struct svc_call *c, enum rc rc)
{
	if (rc == RC_TOOBIG)
		gateway_reject(c, RC_CONFLICT, "a user has at most %d souls",
		    SOUL_LIST_MAX);
	else
		gateway_fail(c, rc);
}

static void
souls_reply_new(struct svc_call *c, const struct soul *soul)
{
	struct wire_soul rep;
	enum rc rc;

	rc = soul_view_new(soul, svc_call_arena(c), &rep);
	if (rc != RC_OK)
		gateway_fail(c, rc);
	else
		svc_reply(c, &rep);
}

void
on_souls_create(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_soul_create_request *req = svc_call_request(c);
	struct souls_new new = { .name = gateway_trim_text(req->name),
		.mbti_type = gateway_trim_text(req->mbti_type) };
	struct soul soul;
	enum rc rc;

	if (!caller_user(g, c, req->user_id, &new.user_id))
		return;
	if (new.name.n == 0 || new.mbti_type.n == 0) {
		svc_fail(c, RC_INVALID, "name and mbti_type are required");
		return;
	}
	if (new.mbti_type.n != 4) {
		svc_fail(c, RC_INVALID, "mbti must be 4 letters");
		return;
	}
	rc = souls_create(g, c, &new, &soul);
	if (rc == RC_INVALID)
		gateway_reject(
		    c, rc, "invalid mbti type: %.*s", STR_ARG(new.mbti_type));
	else if (rc == RC_CONFLICT)
		gateway_reject(c, RC_INVALID, "soul name already exists: %.*s",
		    STR_ARG(new.name));
	else if (rc != RC_OK)
		souls_reject(c, rc);
	else
		souls_reply_new(c, &soul);
}

bool
souls_find_owned(
    struct gateway *g, struct svc_call *c, struct str *user, struct str *id)
{
	struct soul soul;
	enum rc rc;

	*id = svc_call_param(c, 0);
	if (!caller_query_user(g, c, user) || !gateway_id(c, *id, "soul_id"))
		return false;
	rc = soul_read(g->state, *user, *id, svc_call_arena(c), &soul);
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "soul not found");
	return rc == RC_OK;
}

/* One event per terminal, but not so many that they displace other events. */
static void
souls_audit_deleted(struct svc_call *c, const struct memory_scope *of,
    const struct soul_unbound *unbound)
{
	size_t i,
	    n = unbound->n < UNBOUND_AUDIT_MAX ? unbound->n : UNBOUND_AUDIT_MAX;

	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_SOUL_DELETED,
		.user_id = of->user_id,
		.soul_id = of->soul_id });
	for (i = 0; i < n; i++)
		gateway_audit_binding(c, SOUL_DELETED,
		    &(struct binding){
			unbound->ids[i], of->user_id, { NULL, 0 } });
	if (n < unbound->total)
		svc_audit_call(c,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_BINDING_CHANGED,
			.user_id = of->user_id,
			.reason = STR(SOUL_DELETED),
			.has_count = true,
			.count = (int64_t)(unbound->total - n) });
}

static void
souls_delete(struct peer_request *q, const struct memory_scope *of)
{
	struct soul_unbound unbound = { .a = q->a };
	enum rc rc;

	rc = soul_delete(q->g->state, of->user_id, of->soul_id, &unbound);
	if (rc != RC_OK) {
		gateway_fail_missing(q->arg, rc, "soul not found");
	} else {
		souls_audit_deleted(q->arg, of, &unbound);
		svc_reply(q->arg, &(struct wire_ok_response){ .ok = true });
	}
}

/* Without memory-worker, memories exist in Redis only. */
static void
souls_on_forgotten(struct peer_request *q, enum rc rc)
{
	const struct wire_memory_forget_request *req = q->msg;
	const struct memory_scope of = { req->user_id, req->soul_id };
	bool no_worker = rc == RC_DOWN && q->error.p == NULL;
	size_t n;

	if (!no_worker)
		memory_request_audit(q, rc);
	else if ((rc = memory_clear(q->g->state, &of, &n)) == RC_OK && n > 0)
		memory_request_audit_deleted(q->arg, req, n);
	if (rc == RC_OK)
		souls_delete(q, &of);
	else if (no_worker)
		gateway_fail(q->arg, rc);
	else
		memory_request_fail(q->arg, q, rc);
}

/*
 * The memories first: once the soul is deleted, no user may delete
 * what is left.
 */
void
on_souls_delete(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { 0 };
	struct gateway *g = app;

	if (souls_find_owned(g, c, &req.user_id, &req.soul_id))
		memory_request_forget(g, c, &req, souls_on_forgotten);
}
