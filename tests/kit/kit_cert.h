/*
 * kit_cert: certificates for a test, in its folder: <name>.pem and <name>.key.
 */
#ifndef KIT_KIT_CERT_H
#define KIT_KIT_CERT_H

/* kit_cert_authority(name): One that signs itself and others. */
void kit_cert_authority(const char *name);

/*
 * kit_cert_issue(name, authority, who):
 * One for who ("DNS:localhost", "IP:127.0.0.1", …), signed by an authority.
 */
void kit_cert_issue(const char *name, const char *authority, const char *who);

/* kit_cert_pem(name), kit_cert_key(name): The files. */
const char *kit_cert_pem(const char *name);
const char *kit_cert_key(const char *name);

#endif /* !KIT_KIT_CERT_H */
