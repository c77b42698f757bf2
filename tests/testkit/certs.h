/*
 * tk_certs: authorities and certificates, made by openssl in the test's
 * folder: "<name>.crt" and "<name>.key" there (tk_path()).
 */
#ifndef TESTKIT_CERTS_H
#define TESTKIT_CERTS_H

struct tk_cert {
	const char *ca;   /* name of who signs it */
	const char *name; /* of its files */
	const char *cn;   /* its common name */
	const char *alt;  /* subjectAltName, "DNS:x,IP:127.0.0.1" */
	int days;         /* it is good for; -1: it has expired */
};

/* tk_certs_ca(name): An authority, and "<name>.crl", which revokes none. */
void tk_certs_ca(const char *name);

/* tk_certs_make(c): A certificate. */
void tk_certs_make(const struct tk_cert *c);

/* tk_certs_revoke(ca, name): One more in "<ca>.crl". */
void tk_certs_revoke(const char *ca, const char *name);

#endif /* !TESTKIT_CERTS_H */
