/*
 * tk_cert: certificates for a test, in its folder: <name>.pem and <name>.key.
 */
#ifndef TESTKIT_CERT_H
#define TESTKIT_CERT_H

/* tk_cert_authority(name): A self-signed authority. */
void tk_cert_authority(const char *name);

/*
 * tk_cert_issue(name, authority, who): A certificate for who ("DNS:localhost",
 * "IP:127.0.0.1", …), signed by an authority.
 */
void tk_cert_issue(const char *name, const char *authority, const char *who);

/* tk_cert_pem(name), tk_cert_key(name): The files. */
const char *tk_cert_pem(const char *name);
const char *tk_cert_key(const char *name);

#endif /* !TESTKIT_CERT_H */
