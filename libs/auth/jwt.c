/*
 * A token is checked part by part in the order in which it can be trusted: its
 * form, its header, its signature, its claims.
 */
#include "auth/auth_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/arena.h"
#include "core/base64.h"
#include "wire/msgs.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Bytes of an RSA signature of 4096 bits. */
#define SIG_MAX 512

/* A token being verified. */
struct jwt_check {
	struct str header, claims, signature; /* encoded */
	struct str signed_text;
	const struct auth_jwk *key; /* that has signed it */
	struct arena *a;
	char *why; /* AUTH_WHY_MAX */
};

static enum rc
jwt_deny(const struct jwt_check *l, const char *why)
{
	str_copy(str_of(why), l->why, AUTH_WHY_MAX);
	return RC_DENIED;
}

bool
auth_jwt_is_compact(struct str token)
{
	size_t i, dots = 0;

	for (i = 0; i < token.n; i++)
		dots += token.p[i] == '.';
	return dots == 2;
}

static enum rc
jwt_split(struct jwt_check *l, struct str token)
{
	struct str rest = token;

	if (token.n > AUTH_TOKEN_MAX || !auth_jwt_is_compact(token))
		return jwt_deny(l, "the token is no JWT");
	l->header = str_split(&rest, '.');
	l->claims = str_split(&rest, '.');
	l->signature = rest;
	l->signed_text = token;
	l->signed_text.n = l->header.n + 1 + l->claims.n;
	return RC_OK;
}

/* A part of the token, decoded as message d. */
static enum rc
jwt_decode(const struct jwt_check *l, struct str part,
    const struct wire_desc *d, void *msg)
{
	size_t max = BASE64URL_BYTES(part.n), n;
	unsigned char *json = arena_alloc(l->a, max);
	const char *name = part.p == l->header.p ? "header" : "claims";
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;

	if (base64url_decode(part, json, max, &n) != RC_OK) {
		snprintf(l->why, AUTH_WHY_MAX,
		    "the token's %s are not base64url", name);
		return RC_DENIED;
	}
	if (wire_decode(d, (struct str){ (const char *)json, n }, l->a, msg,
		&err) == RC_OK)
		return RC_OK;
	wire_err_text(&err, text, sizeof(text));
	snprintf(l->why, AUTH_WHY_MAX, "the token's %s: %s", name, text);
	return RC_DENIED;
}

static enum rc
jwt_check_signature(struct jwt_check *l, const struct auth_keyset *keys)
{
	struct wire_jwt_header h;
	unsigned char sig[SIG_MAX];
	const struct auth_jwk *key;
	size_t n;
	enum rc rc = jwt_decode(l, l->header, &wire_jwt_header_desc, &h);

	if (rc != RC_OK)
		return rc;
	if (h.crit.p != NULL)
		return jwt_deny(
		    l, "the token's header: /crit: is not understood");
	l->key = key = auth_keyset_find(keys, h.kid);
	if (key == NULL)
		return jwt_deny(l,
		    "the token's header: /kid: no key is known by "
		    "that name");
	if (!str_eq(h.alg, str_of(auth_jwk_alg(key))))
		return jwt_deny(l,
		    "the token's header: /alg: is not the "
		    "algorithm of the key");
	if (base64url_decode(l->signature, sig, sizeof(sig), &n) != RC_OK)
		return jwt_deny(l, "the token's signature is not base64url");
	rc = auth_jwk_verify(
	    key, l->signed_text, (struct str){ (const char *)sig, n });
	return rc == RC_OK ? rc : jwt_deny(l, "the token's signature is wrong");
}

/* Whether aud is the text want, or a list that contains it. */
static bool
jwt_has_audience(struct str aud, const char *want)
{
	struct wire_tree *t;
	bool is = false;
	size_t i;

	if (aud.p == NULL || wire_tree_parse(aud, &t) != RC_OK)
		return false;
	if (wire_tree_kind(t) == WIRE_TREE_TEXT)
		is = str_eq(wire_tree_text(t), str_of(want));
	for (i = 0; i < wire_tree_len(t) && !is; i++) {
		const struct wire_tree *e = wire_tree_at(t, i);
		is = wire_tree_kind(e) == WIRE_TREE_TEXT &&
		    str_eq(wire_tree_text(e), str_of(want));
	}
	wire_tree_free(t);
	return is;
}

static enum rc
jwt_check_claims(const struct jwt_check *l, const struct wire_jwt_claims *c,
    const struct auth_jwt_rules *rules, struct wall now)
{
	double s = (double)now.ms / 1000;

	if (s >= c->exp + AUTH_LEEWAY_S)
		return jwt_deny(l, "the token has expired");
	if (c->has_nbf && s < c->nbf - AUTH_LEEWAY_S)
		return jwt_deny(l, "the token does not begin yet");
	if (rules->issuer[0] != '\0' &&
	    (c->iss.p == NULL || !str_eq(c->iss, str_of(rules->issuer))))
		return jwt_deny(l, "the token is of another issuer");
	if (rules->audience[0] != '\0' &&
	    !jwt_has_audience(c->aud, rules->audience))
		return jwt_deny(l, "the token is for another audience");
	return RC_OK;
}

static const enum wire_role jwt_roles[] = {
	[WIRE_JWT_CLAIMS_ROLE_OWNER] = WIRE_ROLE_OWNER,
	[WIRE_JWT_CLAIMS_ROLE_TERMINAL] = WIRE_ROLE_TERMINAL,
	[WIRE_JWT_CLAIMS_ROLE_PROVISIONER] = WIRE_ROLE_PROVISIONER,
	[WIRE_JWT_CLAIMS_ROLE_NOTIFIER] = WIRE_ROLE_NOTIFIER,
	[WIRE_JWT_CLAIMS_ROLE_OPERATOR] = WIRE_ROLE_OPERATOR,
	[WIRE_JWT_CLAIMS_ROLE_MAKER] = WIRE_ROLE_PROVISIONER,
};

static enum rc
jwt_identify(const struct jwt_check *l, const struct wire_jwt_claims *c,
    struct auth_identity **out)
{
	double until = floor((c->exp + AUTH_LEEWAY_S) * 1000);
	struct auth_claims claims_of = { jwt_roles[c->role], c->sub, c->tenant,
		c->terminal_id, { (int64_t)until }, c->users, c->n_users };
	struct auth_error error;

	*out = auth_identity_new(&claims_of, &error);
	if (*out != NULL) {
		(*out)->deprecated_role = c->role == WIRE_JWT_CLAIMS_ROLE_MAKER;
		(*out)->caller.proof =
		    auth_digest_prove(auth_jwk_digest(l->key), AUTH_BY_KEY);
		return RC_OK;
	}
	snprintf(l->why, AUTH_WHY_MAX, "the token's claims: /%s: %s",
	    strcmp(error.member, "user") == 0 ? "sub" : error.member,
	    error.why);
	return RC_DENIED;
}

enum rc
auth_jwt_verify(struct str token, const struct auth_jwt_rules *rules,
    struct wall now, struct auth_identity **out, char why[AUTH_WHY_MAX])
{
	struct jwt_check l = { .why = why };
	struct wire_jwt_claims claims;
	enum rc rc = jwt_split(&l, token);

	if (rc != RC_OK)
		return rc;
	l.a = arena_new(WIRE_ARENA_MAX);
	rc = jwt_check_signature(&l, rules->keys);
	if (rc == RC_OK)
		rc = jwt_decode(&l, l.claims, &wire_jwt_claims_desc, &claims);
	if (rc == RC_OK)
		rc = jwt_check_claims(&l, &claims, rules, now);
	if (rc == RC_OK)
		rc = jwt_identify(&l, &claims, out);
	arena_free(l.a);
	return rc;
}
