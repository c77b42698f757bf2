/*
 * The token file.
 */
#include "auth/token_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/msgs.h"

struct token {
	struct auth_digest digest;
	struct auth_identity *who;
};

struct auth_tokens {
	struct map *by_place;
};

static const enum wire_role roles[] = {
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_OWNER] = WIRE_ROLE_OWNER,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_TERMINAL] = WIRE_ROLE_TERMINAL,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_MAKER] = WIRE_ROLE_MAKER,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_OPERATOR] = WIRE_ROLE_OPERATOR,
};

/* What may not stand beside the role, and what the holder's rules say. */
static struct auth_identity *
holder_of(const struct wire_access_tokens_tokens *w, struct auth_error *fault)
{
	struct auth_claims says = { roles[w->role], w->user, w->tenant,
		w->terminal_id, { 0 } };

	*fault = (struct auth_error){ 0 };
	if (w->expires_at.p != NULL &&
	    wall_parse(w->expires_at, &says.until) != RC_OK)
		*fault = (struct auth_error){ "expires_at",
			"must be a time as 2030-01-31T00:00:00Z" };
	else if (says.role == WIRE_ROLE_TERMINAL && w->user.p != NULL)
		*fault = (struct auth_error){ "user",
			"must not be there: a terminal acts for the user it "
			"is bound to" };
	else if (says.role != WIRE_ROLE_TERMINAL && w->terminal_id.p != NULL)
		*fault = (struct auth_error){ "terminal_id",
			"must not be there: only the role terminal has one" };
	return fault->member == NULL ? auth_identity_new(&says, fault) : NULL;
}

static enum rc
add(struct auth_tokens *t, const struct wire_access_tokens_tokens *w,
    struct auth_error *fault)
{
	struct auth_identity *who = holder_of(w, fault);
	struct token *k;

	if (who == NULL)
		return RC_INVALID;
	k = mem_zalloc(sizeof(*k));
	k->who = who;
	if (auth_digest_parse(w->sha256, &k->digest) != RC_OK)
		abort(); /* the schema has seen it */
	who->caller.key = auth_digest_id(&k->digest);
	if (map_get(t->by_place, auth_digest_map_key(&k->digest)) != NULL) {
		free(who);
		free(k);
		*fault = (struct auth_error){ "sha256", "stands there twice" };
		return RC_INVALID;
	}
	map_put(t->by_place, auth_digest_map_key(&k->digest), k);
	return RC_OK;
}

enum rc
auth_tokens_parse(
    struct str json, struct auth_tokens **out, struct wire_err *err)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct auth_tokens *t = mem_zalloc(sizeof(*t));
	struct wire_access_tokens file = { 0 };
	struct auth_error fault;
	size_t i;
	enum rc rc;

	t->by_place = map_new();
	rc = wire_decode(&wire_access_tokens_desc, json, a, &file, err);
	for (i = 0; rc == RC_OK && i < file.n_tokens; i++) {
		rc = add(t, &file.tokens[i], &fault);
		if (rc != RC_OK) {
			snprintf(err->path, sizeof(err->path), "/tokens/%zu/%s",
			    i, fault.member);
			snprintf(err->why, sizeof(err->why), "%s", fault.why);
		}
	}
	arena_free(a);
	if (rc != RC_OK)
		auth_tokens_free(t);
	else
		*out = t;
	return rc;
}

void
auth_tokens_free(struct auth_tokens *t)
{
	struct token *k;
	size_t pos = 0;

	if (t == NULL)
		return;
	while ((k = map_next(t->by_place, &pos, NULL)) != NULL) {
		free(k->who);
		free(k);
	}
	map_free(t->by_place);
	free(t);
}

size_t
auth_tokens_count(const struct auth_tokens *t)
{
	return map_len(t->by_place);
}

enum rc
auth_tokens_find(const struct auth_tokens *t, const struct auth_digest *d,
    struct wall now, const struct auth_caller **out)
{
	const struct token *k;

	k = t != NULL ? map_get(t->by_place, auth_digest_map_key(d)) : NULL;
	if (k == NULL || !auth_digest_is(&k->digest, d))
		return RC_NOENT;
	*out = &k->who->caller;
	if ((*out)->until.ms != 0 && now.ms >= (*out)->until.ms)
		return RC_DENIED;
	return RC_OK;
}
