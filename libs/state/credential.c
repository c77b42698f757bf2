/*
 * credential: the identities of terminals, and the sets that list them.
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

/* Run c; *from is the user it unbound the terminal from. */
static enum rc
credential_run(
    struct state *s, struct script_call *c, struct arena *a, struct str *from)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	enum rc rc;

	if (from != NULL)
		*from = STR_NONE;
	rc = call_run(s, c, 2, &r);
	/* The change is made, so an unreadable user is no error. */
	if (rc == RC_OK && from != NULL)
		*from = record_id(&rd, state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
credential_mint(struct state *s, const struct credential *cr, struct arena *a,
    struct str *from)
{
	struct script_call c;

	if (cr->created.ms < 0 || cr->created.ms > CREATED_MAX_MS ||
	    !id_terminal_valid(cr->terminal_id))
		return RC_INVALID;
	call_begin(&c, &script_credential_mint);
	call_key(&c, KEY_CREDENTIAL, cr->terminal_id, STR_NONE);
	call_key(&c, KEY_CREDENTIALS, STR_NONE, STR_NONE);
	call_key(&c, KEY_CREDENTIALS_VERSION, STR_NONE, STR_NONE);
	call_key(&c, KEY_TERMINAL, cr->terminal_id, STR_NONE);
	if (cr->tenant.p != NULL)
		call_key(&c, KEY_TENANT_TERMINALS, cr->tenant, STR_NONE);
	call_token(&c, cr->terminal_id);
	credential_token(&c, cr->tenant);
	credential_token(&c, cr->user_id);
	call_text(&c, cr->hash, CREDENTIAL_HASH_MAX);
	call_num(&c, cr->created.ms);
	return credential_run(s, &c, a, from);
}

enum rc
credential_rotate(struct state *s, struct str id, struct str hash)
{
	struct script_call c;

	call_begin(&c, &script_credential_rotate);
	call_key(&c, KEY_CREDENTIAL, id, STR_NONE);
	call_key(&c, KEY_CREDENTIALS_VERSION, STR_NONE, STR_NONE);
	call_text(&c, hash, CREDENTIAL_HASH_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
credential_revoke(
    struct state *s, struct str id, struct arena *a, struct str *from)
{
	struct script_call c;

	call_begin(&c, &script_credential_revoke);
	call_key(&c, KEY_CREDENTIAL, id, STR_NONE);
	call_key(&c, KEY_CREDENTIALS_VERSION, STR_NONE, STR_NONE);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_token(&c, id);
	return credential_run(s, &c, a, from);
}

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

static void
credential_read_page(const struct state_reply *r, struct record_reader *rd,
    struct credential *out, struct str *next)
{
	const struct state_reply *h;
	size_t i;

	for (i = 2; rd->rc == RC_OK && i < state_reply_len(r); i++) {
		h = state_reply_at(r, i);
		out[i - 2].terminal_id = record_id(rd, state_reply_at(h, 6));
		credential_read_fields(h, rd, &out[i - 2]);
	}
	*next = record_text(rd, state_reply_at(r, 1));
}

enum rc
credential_list(struct state *s, struct str tenant, struct str cursor,
    size_t limit, struct arena *a, struct credential **out, size_t *n,
    struct str *next)
{
	struct record_reader rd = { .a = a };
	char id[ID_MAX + 1];
	struct state_reply *r;
	struct script_call c;
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
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*n = state_reply_len(r) - 2;
		*out = arena_alloc(a, (*n + 1) * sizeof(**out));
		if (*out == NULL)
			rd.rc = RC_TOOBIG;
		else
			credential_read_page(r, &rd, *out, next);
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK) {
		*n = 0;
		*next = STR_NONE;
	}
	state_reply_free(r);
	return rc;
}

enum rc
credential_version(struct state *s, int64_t *version)
{
	struct record_reader rd = { 0 };
	char text[STATE_KEY_MAX];
	struct state_reply *r;
	struct str key;
	enum rc rc;

	*version = 0;
	rc = state_key(text, KEY_CREDENTIALS_VERSION, NULL, 0, &key);
	if (rc != RC_OK)
		return rc;
	rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	if (rc == RC_OK) {
		*version = record_num(&rd, r);
		rc = record_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}
