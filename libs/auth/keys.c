/*
 * JWK to key, by the algorithm that each kind of key has here.
 */
#include "auth/auth_internal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/msgs.h"

struct auth_keyset {
	_Atomic int refs;
	size_t n;
	struct auth_jwk *key[AUTH_KEYS_MAX];
};

static enum rc
fail(struct wire_err *err, size_t i, const char *member, const char *why)
{
	snprintf(err->path, sizeof(err->path), "/keys/%zu%s%s", i,
	    member[0] != '\0' ? "/" : "", member);
	snprintf(err->why, sizeof(err->why), "%s", why);
	return RC_INVALID;
}

static bool
has_kid(const struct auth_keyset *k, struct str kid)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		if (str_eq(auth_jwk_kid(k->key[i]), kid))
			return true;
	}
	return false;
}

static enum rc
add(struct auth_keyset *k, const struct wire_jwks_keys *w, size_t i,
    struct wire_err *err)
{
	struct auth_jwk_error fault = { "", "" };
	enum rc rc;

	/* An encryption key, another curve, another padding, a shared secret:
	 * providers list them beside the ones that sign. */
	if (!auth_jwk_supported(w)) {
		log_info("auth.key_left_out", LOG_I("index", i),
		    LOG_V("kid", w->kid), LOG_V("kty", w->kty));
		return RC_OK;
	}
	if (has_kid(k, w->kid))
		return fail(err, i, "kid", "another key has it");
	rc = auth_jwk_new(w, &k->key[k->n], &fault);
	if (rc != RC_OK)
		return fail(err, i, fault.member, fault.why);
	k->n++;
	return RC_OK;
}

enum rc
auth_keyset_parse(
    struct str json, struct auth_keyset **out, struct wire_err *err)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct auth_keyset *k = mem_zalloc(sizeof(*k));
	struct wire_jwks file = { 0 };
	size_t i;
	enum rc rc;

	k->refs = 1;
	rc = wire_decode(&wire_jwks_desc, json, a, &file, err);
	for (i = 0; rc == RC_OK && i < file.n_keys; i++)
		rc = add(k, &file.keys[i], i, err);
	if (rc == RC_OK && k->n == 0) {
		snprintf(err->path, sizeof(err->path), "/keys");
		snprintf(err->why, sizeof(err->why),
		    "has no key that can be used: RSA for RS256, EC P-256 for "
		    "ES256 or OKP Ed25519 for EdDSA");
		rc = RC_INVALID;
	}
	arena_free(a);
	if (rc != RC_OK)
		auth_keyset_unref(k);
	else
		*out = k;
	return rc;
}

struct auth_keyset *
auth_keyset_ref(struct auth_keyset *k)
{
	if (k != NULL)
		atomic_fetch_add(&k->refs, 1);
	return k;
}

void
auth_keyset_unref(struct auth_keyset *k)
{
	size_t i;

	if (k == NULL || atomic_fetch_sub(&k->refs, 1) > 1)
		return;
	for (i = 0; i < k->n; i++)
		auth_jwk_free(k->key[i]);
	free(k);
}

size_t
auth_keyset_count(const struct auth_keyset *k)
{
	return k->n;
}

const struct auth_jwk *
auth_keyset_find(const struct auth_keyset *k, struct str kid)
{
	size_t i;

	if (kid.p == NULL)
		return k->n == 1 ? k->key[0] : NULL;
	for (i = 0; i < k->n; i++) {
		if (auth_jwk_kid(k->key[i]).p != NULL &&
		    str_eq(auth_jwk_kid(k->key[i]), kid))
			return k->key[i];
	}
	return NULL;
}
