/*
 * Souls over HTTP.
 */
#include "on_souls.h"

#include "binding.h"
#include "caller.h"
#include "core/arena.h"
#include "core/id.h"
#include "gateway.h"
#include "memories.h"
#include "persona/persona.h"
#include "profile.h"
#include "state/memory.h"
#include "state/soul.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "text.h"
#include "wire/msgs.h"

/* Of a soul that is deleted, by name; of more only how many. */
#define UNBOUND_TOLD_MAX 64
#define SOUL_DELETED     "soul_deleted"

static void
put_list(
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
		profile_read(g, c, souls, n, put_list);
}

/* Upper case, of what persona_of_mbti() took. */
static struct str
type_of(struct str mbti, struct arena *a)
{
	return arena_printf(a, "%c%c%c%c", mbti.p[0] & ~0x20, mbti.p[1] & ~0x20,
	    mbti.p[2] & ~0x20, mbti.p[3] & ~0x20);
}

static bool
is_full(struct gateway *g, struct svc_call *c, struct str user)
{
	struct soul *list;
	size_t n;

	return soul_list(g->state, user, svc_call_arena(c), &list, &n) ==
	    RC_OK &&
	    n >= SOUL_LIST_MAX;
}

enum rc
souls_make(struct gateway *g, struct svc_call *c, const struct souls_new *new,
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
		.mbti_type = type_of(new->mbti_type, a),
		.model = str_of(g->conf->model),
		.created = clock_wall() };
	rc = soul_create(g->state, out, STR(""));
	/* Redis says the same when it is out of memory. */
	if (rc == RC_RETRY && is_full(g, c, new->user_id))
		return RC_TOOBIG;
	return rc;
}

void
souls_refuse(struct svc_call *c, enum rc rc)
{
	if (rc == RC_TOOBIG)
		gateway_refuse(c, RC_CONFLICT, "a user has at most %d souls",
		    SOUL_LIST_MAX);
	else
		gateway_fail(c, rc);
}

static void
answer_new(struct svc_call *c, const struct soul *soul)
{
	struct wire_soul rep;
	enum rc rc;

	rc = profile_newborn(soul, svc_call_arena(c), &rep);
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
	struct souls_new new = { .name = text_trim(req->name),
		.mbti_type = text_trim(req->mbti_type) };
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
	rc = souls_make(g, c, &new, &soul);
	if (rc == RC_INVALID)
		gateway_refuse(
		    c, rc, "invalid mbti type: %.*s", STR_ARG(new.mbti_type));
	else if (rc == RC_CONFLICT)
		gateway_refuse(c, RC_INVALID, "soul name already exists: %.*s",
		    STR_ARG(new.name));
	else if (rc != RC_OK)
		souls_refuse(c, rc);
	else
		answer_new(c, &soul);
}

/* Each of its terminals, but not so many that others' events have no room. */
static void
audit_deleted(struct svc_call *c, const struct memory_scope *of,
    const struct soul_unbound *gone)
{
	size_t i, n = gone->n < UNBOUND_TOLD_MAX ? gone->n : UNBOUND_TOLD_MAX;

	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_SOUL_DELETED,
		.user_id = of->user_id,
		.soul_id = of->soul_id });
	for (i = 0; i < n; i++)
		binding_audit(c, SOUL_DELETED,
		    &(struct binding){
			gone->ids[i], of->user_id, { NULL, 0 } });
	if (n < gone->total)
		svc_audit_call(c,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_BINDING_CHANGED,
			.user_id = of->user_id,
			.reason = STR(SOUL_DELETED),
			.has_count = true,
			.count = (int64_t)(gone->total - n) });
}

static void
delete_soul(struct question *q, const struct memory_scope *of)
{
	struct soul_unbound gone = { .a = q->a };
	enum rc rc;

	rc = soul_delete(q->g->state, of->user_id, of->soul_id, &gone);
	if (rc == RC_NOENT) {
		svc_fail(q->arg, rc, "soul not found");
	} else if (rc != RC_OK) {
		gateway_fail(q->arg, rc);
	} else {
		audit_deleted(q->arg, of, &gone);
		svc_reply(q->arg, &(struct wire_ok_response){ .ok = true });
	}
}

/* Where there is no memory-worker nothing is but in Redis. */
static void
on_forgotten(struct question *q, enum rc rc)
{
	const struct wire_memory_forget_request *req = q->msg;
	const struct memory_scope of = { req->user_id, req->soul_id };
	bool nobody = rc == RC_DOWN && q->told.p == NULL;
	size_t n;

	if (!nobody)
		memories_audit(q, rc);
	else if ((rc = memory_clear(q->g->state, &of, &n)) == RC_OK && n > 0)
		memories_audit_gone(q->arg, req, n);
	if (rc == RC_OK)
		delete_soul(q, &of);
	else if (nobody)
		gateway_fail(q->arg, rc);
	else
		memories_fail(q->arg, q, rc);
}

/*
 * The memories go first: once the soul is gone nobody may ask again for what is
 * left of it.
 */
void
on_souls_delete(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { .soul_id =
						      svc_call_param(c, 0) };
	struct gateway *g = app;
	struct soul soul;
	enum rc rc;

	if (!caller_query_user(g, c, &req.user_id) ||
	    !gateway_id(c, req.soul_id, "soul_id"))
		return;
	rc = soul_read(g->state, req.soul_id, svc_call_arena(c), &soul);
	/* Another user's soul is none of this one's business. */
	if (rc == RC_OK && !str_eq(soul.user_id, req.user_id))
		rc = RC_NOENT;
	if (rc == RC_NOENT)
		svc_fail(c, rc, "soul not found");
	else if (rc != RC_OK)
		gateway_fail(c, rc);
	else
		memories_forget(g, c, &req, on_forgotten);
}

void
on_souls_select(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_soul_select_request *req = svc_call_request(c);
	struct binding b = { .terminal_id = req->terminal_id,
		.soul_id = req->soul_id };

	if (!caller_user(g, c, req->user_id, &b.user_id) ||
	    !binding_make(g, c, &b))
		return;
	svc_reply(c,
	    &(struct wire_soul_select_response){ .ok = true,
		.user_id = b.user_id,
		.terminal_id = b.terminal_id,
		.soul_id = b.soul_id });
}
