/*
 * credential: the identities of terminals, and the sets that list them.
 *
 * An identity is in the slot of its terminal, all sets and the number of
 * changes are in another.  First the sets get the terminal, and an entry says
 * that it is being changed; then the identity is changed; then the change is
 * counted, and the entry goes.  An old entry counts as a change that may have
 * been made.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/terminal.h"

#define CREATED_MAX_MS INT64_C(9007199254740991) /* exact as a double */

/* The token of an id that may be absent. */
static void
credential_token(struct script_call *c, struct str id)
{
	if (id.p == NULL)
		call_text(c, STR_NONE, 0);
	else
		call_token(c, id);
}

/* ---- changes ---- */

enum rc
credential_begin(struct state *s, struct credential_change *ch)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_credential_change_begin);
	call_key(&c, KEY_CREDENTIALS_CHANGING, STR_NONE, STR_NONE);
	if (ch->is_new)
		call_key(&c, KEY_CREDENTIALS, STR_NONE, STR_NONE);
	if (ch->is_new && ch->tenant.p != NULL)
		call_key(&c, KEY_TENANT_TERMINALS, ch->tenant, STR_NONE);
	call_token(&c, ch->terminal);
	rc = call_run(s, &c, 1 + c.n_keys, &r);
	ch->began = state_reply_int(state_reply_at(r, 1));
	ch->joined = state_reply_int(state_reply_at(r, 2)) != 0;
	ch->joined_tenant = state_reply_int(state_reply_at(r, 3)) != 0;
	state_reply_free(r);
	return rc;
}

/* The set of a tenant that the terminal does not belong to any more. */
static void
credential_key_left(struct script_call *c, const struct credential_change *ch)
{
	char tenant[ID_MAX + 1], mine[ID_TOKEN_MAX] = "";

	if (ch->tenant.p != NULL && id_token(ch->tenant, mine) != RC_OK)
		return;
	if (strcmp(ch->left_tenant, mine) != 0 &&
	    id_untoken(str_of(ch->left_tenant), tenant) == RC_OK)
		call_key(c, KEY_TENANT_TERMINALS, str_of(tenant), STR_NONE);
}

enum rc
credential_end(
    struct state *s, const struct credential_change *ch, bool changed)
{
	struct script_call c;

	call_begin(&c, &script_credential_change_end);
	call_key(&c, KEY_CREDENTIALS_CHANGING, STR_NONE, STR_NONE);
	call_key(&c, KEY_CREDENTIALS_VERSION, STR_NONE, STR_NONE);
	if (changed)
		credential_key_left(&c, ch);
	if (!changed && ch->joined)
		call_key(&c, KEY_CREDENTIALS, STR_NONE, STR_NONE);
	if (!changed && ch->joined_tenant)
		call_key(&c, KEY_TENANT_TERMINALS, ch->tenant, STR_NONE);
	call_token(&c, ch->terminal);
	call_num(&c, ch->began);
	call_num(&c, changed ? 1 : 0);
	return call_run(s, &c, 1, NULL);
}

/*
 * The result rc of the second step is r: run the third, and take the terminal
 * out of the bucket of the user it is not bound to any more.
 */
static enum rc
credential_finish(struct state *s, struct credential_change *ch, enum rc rc,
    const struct state_reply *r, struct binding_record *was)
{
	enum rc end;

	memset(was, 0, sizeof(*was));
	/* If it is not known whether it was made, it counts later. */
	if (rc == RC_TIMEOUT)
		return rc;
	str_copy(state_reply_str(state_reply_at(r, 1)), was->user,
	    sizeof(was->user));
	str_copy(state_reply_str(state_reply_at(r, 2)), was->soul,
	    sizeof(was->soul));
	was->at = state_reply_int(state_reply_at(r, 3));
	str_copy(state_reply_str(state_reply_at(r, 4)), ch->left_tenant,
	    sizeof(ch->left_tenant));
	end = credential_end(s, ch, rc == RC_OK);
	if (rc != RC_OK)
		return rc;
	if (was->user[0] != '\0' &&
	    binding_unset_end(s, ch->terminal, was) != RC_OK)
		/* A reader of the user's terminals removes it. */
		log_debug("state.binding_left");
	return end;
}

/* *from is the user whom the terminal was unbound from. */
static void
credential_put_from(
    const struct binding_record *was, struct arena *a, struct str *from)
{
	char user[ID_MAX + 1];

	if (from == NULL)
		return;
	*from = STR_NONE;
	/* The change is made, so an unreadable user is no error. */
	if (id_untoken(str_of(was->user), user) == RC_OK)
		*from = arena_str(a, str_of(user));
}

/* Run the steps; call makes the second one. */
static enum rc
credential_change(struct state *s, struct credential_change *ch,
    struct script_call *call, struct binding_record *was)
{
	struct state_reply *r;
	enum rc rc;

	memset(was, 0, sizeof(*was));
	if (call->rc != RC_OK)
		return call->rc;
	rc = credential_begin(s, ch);
	if (rc != RC_OK)
		return rc;
	(void)str_num(ch->began / 1000, call->num_text[0]);
	call->args[0] = str_of(call->num_text[0]);
	rc = call_run(s, call, 1, &r);
	rc = credential_finish(s, ch, rc, r, was);
	state_reply_free(r);
	return rc;
}

/* The second step; when the first was is not known yet. */
static void
credential_call(struct script_call *c, const struct state_script *script,
    struct str terminal)
{
	call_begin(c, script);
	call_key(c, KEY_CREDENTIAL, terminal, STR_NONE);
	call_key(c, KEY_TERMINAL, terminal, STR_NONE);
	call_num(c, 0);
}

void
credential_call_mint(struct script_call *c, const struct credential *cr)
{
	credential_call(c, &script_credential_mint, cr->terminal_id);
	if (cr->created.ms < 0 || cr->created.ms > CREATED_MAX_MS ||
	    !id_terminal_valid(cr->terminal_id))
		c->rc = RC_INVALID;
	credential_token(c, cr->tenant);
	credential_token(c, cr->user_id);
	call_text(c, cr->hash, CREDENTIAL_HASH_MAX);
	call_num(c, cr->created.ms);
}

enum rc
credential_mint(struct state *s, const struct credential *cr, struct arena *a,
    struct str *from)
{
	struct credential_change ch = { .terminal = cr->terminal_id,
		.tenant = cr->tenant,
		.is_new = true };
	struct binding_record was;
	struct script_call c;
	enum rc rc;

	credential_call_mint(&c, cr);
	rc = credential_change(s, &ch, &c, &was);
	credential_put_from(&was, a, from);
	return rc;
}

enum rc
credential_rotate(struct state *s, struct str id, struct str hash)
{
	struct credential_change ch = { .terminal = id };
	struct binding_record was;
	struct script_call c;

	credential_call(&c, &script_credential_rotate, id);
	call_text(&c, hash, CREDENTIAL_HASH_MAX);
	return credential_change(s, &ch, &c, &was);
}

enum rc
credential_revoke(
    struct state *s, struct str id, struct arena *a, struct str *from)
{
	struct credential_change ch = { .terminal = id };
	struct binding_record was;
	struct script_call c;
	enum rc rc;

	credential_call(&c, &script_credential_revoke, id);
	rc = credential_change(s, &ch, &c, &was);
	credential_put_from(&was, a, from);
	return rc;
}

/* ---- reading ---- */

static void
credential_read_fields(const struct state_reply *h, struct record_reader *rd,
    struct credential *out)
{
	out->tenant = record_id(rd, state_reply_at(h, 0));
	out->user_id = record_id(rd, state_reply_at(h, 1));
	out->hash = record_text(rd, state_reply_at(h, 2));
	out->created.ms = record_num(rd, state_reply_at(h, 3));
	out->changed.ms = record_num(rd, state_reply_at(h, 4));
	out->revoked = record_num(rd, state_reply_at(h, 5)) != 0;
}

enum rc
credential_read(
    struct state *s, struct str id, struct arena *a, struct credential *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	call_begin(&c, &script_credential_read);
	call_key(&c, KEY_CREDENTIAL, id, STR_NONE);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		credential_read_fields(state_reply_at(r, 1), &rd, out);
		out->terminal_id = arena_str(a, id);
		if (rd.rc == RC_OK && out->terminal_id.p == NULL)
			rd.rc = RC_TOOBIG;
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

enum rc
credential_find_hash(struct state *s, struct str id, struct arena *a,
    struct str *hash, struct str *tenant)
{
	struct credential cr;
	enum rc rc = credential_read(s, id, a, &cr);

	if (rc == RC_OK && (cr.revoked || cr.hash.p == NULL))
		rc = RC_NOENT;
	*hash = cr.hash;
	*tenant = cr.tenant;
	return rc;
}

/* A reply of credential_read. */
static enum rc
credential_parse(const struct state_reply *r, struct str id, struct arena *a,
    struct credential *out)
{
	struct record_reader rd = { .a = a };
	enum rc rc = call_status(r, 2);

	if (rc != RC_OK)
		return rc;
	credential_read_fields(state_reply_at(r, 1), &rd, out);
	out->terminal_id = id;
	return rd.rc;
}

/*
 * The identities of a page.  One that is about to be made, belongs to another
 * tenant by now, or cannot be read is left out.
 */
static enum rc
credential_read_page(struct state_pipe *p, const struct str *ids, size_t n,
    struct str tenant, struct arena *a, struct credential *out)
{
	const struct state_reply *r;
	size_t i, k = 0;
	enum rc rc = RC_OK;

	for (i = 0; rc == RC_OK && i < n; i++) {
		struct script_call c;

		call_begin(&c, &script_credential_read);
		call_key(&c, KEY_CREDENTIAL, ids[i], STR_NONE);
		rc = call_queue(p, &c);
	}
	if (rc == RC_OK)
		rc = state_pipe_run(p);
	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = state_pipe_reply(p, i, &r);
		if (rc == RC_OK)
			rc = credential_parse(r, ids[i], a, &out[k]);
		if (rc == RC_OK &&
		    (tenant.p == NULL || str_eq(out[k].tenant, tenant)))
			k++;
		if (rc == RC_NOENT || rc == RC_INVALID)
			rc = RC_OK;
	}
	out[k].terminal_id = STR_NONE;
	return rc;
}

/* The terminals of a page, one more than its identities at most. */
static enum rc
credential_page(struct script_call *c, struct state *s, struct arena *a,
    struct str **ids, size_t *n, struct str *next)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	enum rc rc;

	rc = call_run(s, c, 3, &r);
	if (rc == RC_OK) {
		*ids = record_ids(&rd, state_reply_at(r, 2), n);
		*next = record_text(&rd, state_reply_at(r, 1));
		rc = record_end(&rd, c->keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
credential_list(struct state *s, struct str tenant, struct str cursor,
    size_t limit, struct arena *a, struct credential **out, size_t *n,
    struct str *next)
{
	struct state_pipe *p;
	char id[ID_MAX + 1];
	struct script_call c;
	struct str *ids;
	size_t all = 0;
	enum rc rc;

	*out = NULL;
	*n = 0;
	*next = STR_NONE;
	if (limit == 0 || limit > CREDENTIAL_PAGE_MAX ||
	    (cursor.p != NULL && id_untoken(cursor, id) != RC_OK))
		return RC_INVALID;
	call_begin(&c, &script_credential_list);
	call_key(&c, tenant.p == NULL ? KEY_CREDENTIALS : KEY_TENANT_TERMINALS,
	    tenant, STR_NONE);
	call_text(&c, cursor, ID_TOKEN_MAX);
	call_num(&c, (int64_t)limit);
	rc = credential_page(&c, s, a, &ids, &all, next);
	if (rc == RC_OK) {
		*out = arena_alloc(a, (all + 1) * sizeof(**out));
		rc = *out == NULL ? RC_TOOBIG : RC_OK;
	}
	if (rc == RC_OK) {
		p = state_pipe_new(s, all);
		rc = credential_read_page(p, ids, all, tenant, a, *out);
		state_pipe_free(p);
	}
	if (rc != RC_OK)
		*next = STR_NONE;
	while (rc == RC_OK && (*out)[*n].terminal_id.p != NULL)
		(*n)++;
	return rc;
}

enum rc
credential_version(struct state *s, int64_t *version)
{
	struct record_reader rd = { 0 };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*version = 0;
	call_begin(&c, &script_credential_version);
	call_key(&c, KEY_CREDENTIALS_CHANGING, STR_NONE, STR_NONE);
	call_key(&c, KEY_CREDENTIALS_VERSION, STR_NONE, STR_NONE);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*version = record_num(&rd, state_reply_at(r, 1));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
