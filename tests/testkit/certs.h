/*
 * tk_certs: authorities and certificates, created by openssl in the test's
 * folder: "<name>.crt" and "<name>.key" there (tk_path()).
 */
#ifndef TESTKIT_CERTS_H
#define TESTKIT_CERTS_H

struct tk_cert {
	const char *ca;   /* the name of the signer */
	const char *name; /* the base name of its files */
	const char *cn;   /* its common name */
	const char *alt;  /* subjectAltName, "DNS:x,IP:127.0.0.1" */
	int days;         /* days until it expires; -1: it has expired */
};

/*
 * tk_certs_ca(name): An authority, and "<name>.crl", an empty revocation list.
 */
void tk_certs_ca(const char *name);

/* tk_certs_make(c): Create a certificate. */
void tk_certs_make(const struct tk_cert *c);

/* tk_certs_revoke(ca, name): Add a certificate to "<ca>.crl". */
void tk_certs_revoke(const char *ca, const char *name);

#endif /* !TESTKIT_CERTS_H */
