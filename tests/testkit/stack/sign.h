/*
 * sign: JWTs of the identity provider of a locked stack, and forged ones.
 */
#ifndef TESTKIT_STACK_SIGN_H
#define TESTKIT_STACK_SIGN_H

/* Issuer and audience. */
#define SIGN_ISSUER   "https://id.example"
#define SIGN_AUDIENCE "soul"

enum sign_key {
	SIGN_RSA,      /* kid "rsa", of the provider */
	SIGN_EC,       /* kid "ec", of the provider */
	SIGN_STRANGER, /* RSA, unknown to the provider */
	SIGN_PUBLIC,   /* HS256 with the provider's public key as the secret */
	SIGN_NOTHING,  /* an empty signature */
	SIGN_KEYS
};

/* sign_begin(path): Create the keys, and write the provider's as a JWKS. */
void sign_begin(const char *path);

/*
 * sign_jwt(key, header, claims): A token over these JSON texts; valid until the
 * fourth call after it.
 */
const char *sign_jwt(enum sign_key key, const char *header, const char *claims);

#endif /* !TESTKIT_STACK_SIGN_H */
