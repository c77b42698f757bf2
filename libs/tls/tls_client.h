/*
 * tls_client: how a client trusts a server, and what it shows of itself.
 */
#ifndef TLS_TLS_CLIENT_H
#define TLS_TLS_CLIENT_H

struct ssl_ctx_st; /* OpenSSL's SSL_CTX */

/* PEM files; NULL: none. */
struct tls_files {
	const char *ca;   /* trusted authorities; NULL: the system's */
	const char *cert; /* the client's chain, with key */
	const char *key;
};

/*
 * tls_client_new(f, host, out):
 * A context for connections to host, a name or an address that the server's
 * certificate must be for; TLS 1.2 or newer.  The files are read here.  Returns
 * NULL and sets *out, which SSL_CTX_free() frees, or a constant text that says
 * what is wrong.  Any thread.
 */
const char *tls_client_new(
    const struct tls_files *f, const char *host, struct ssl_ctx_st **out);

#endif /* !TLS_TLS_CLIENT_H */
