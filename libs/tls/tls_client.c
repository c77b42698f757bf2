#include "tls/tls_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

#include "core/url.h"

static bool
tls_set_name(SSL_CTX *ctx, const char *host)
{
	X509_VERIFY_PARAM *p = SSL_CTX_get0_param(ctx);

	if (url_is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(p, host) == 1;
	X509_VERIFY_PARAM_set_hostflags(
	    p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(p, host, 0) == 1;
}

/* What is wrong, or NULL. */
static const char *
tls_set_files(SSL_CTX *ctx, const struct tls_files *f)
{
	if (f->ca == NULL) {
		if (SSL_CTX_set_default_verify_paths(ctx) != 1)
			return "the system's authorities cannot be read";
	} else if (SSL_CTX_load_verify_locations(ctx, f->ca, NULL) != 1) {
		return "the file of authorities cannot be used";
	}
	if (f->cert == NULL)
		return f->key == NULL ? NULL : "a key without a certificate";
	if (f->key == NULL)
		return "a certificate without a key";
	if (SSL_CTX_use_certificate_chain_file(ctx, f->cert) != 1)
		return "the certificate cannot be used";
	if (SSL_CTX_use_PrivateKey_file(ctx, f->key, SSL_FILETYPE_PEM) != 1)
		return "the key cannot be used, or is not the certificate's";
	return NULL;
}

const char *
tls_client_new(
    const struct tls_files *f, const char *host, struct ssl_ctx_st **out)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	const char *why = "no memory for TLS";

	if (ctx != NULL && tls_set_name(ctx, host) &&
	    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
		why = tls_set_files(ctx, f);
	}
	ERR_clear_error();
	if (why != NULL)
		SSL_CTX_free(ctx);
	else
		*out = ctx;
	return why;
}
