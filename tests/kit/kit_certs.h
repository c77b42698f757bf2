/*
 * kit_certs: authorities and certificates, made by openssl in the test's
 * folder: "<name>.crt" and "<name>.key" there (kit_path()).
 */
#ifndef KIT_KIT_CERTS_H
#define KIT_KIT_CERTS_H

struct kit_cert {
	const char *ca;   /* name of who signs it */
	const char *name; /* of its files */
	const char *cn;   /* its common name */
	const char *alt;  /* subjectAltName, "DNS:x,IP:127.0.0.1" */
	int days;         /* it is good for; -1: it has expired */
};

/* kit_certs_ca(name): An authority, and "<name>.crl", which revokes none. */
void kit_certs_ca(const char *name);

/* kit_certs_make(c): A certificate. */
void kit_certs_make(const struct kit_cert *c);

/* kit_certs_revoke(ca, name): One more in "<ca>.crl". */
void kit_certs_revoke(const char *ca, const char *name);

#endif /* !KIT_KIT_CERTS_H */
