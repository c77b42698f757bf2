/*
 * TLS: trusted authorities, the client's certificate, the server's name.
 *
 * libmosquitto connects to an address, since names are resolved in a worker, so
 * the name for SNI and for checking the certificate is set here.
 */
#include <mosquitto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "mqtt/mqtt_internal.h"

static void
tls_set_sni(const SSL *ssl, int where, int ret)
{
	const char *host = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	SSL *mine = (SSL *)(uintptr_t)ssl;

	(void)ret;
	if ((where & SSL_CB_HANDSHAKE_START) != 0 && host != NULL &&
	    SSL_get_state(ssl) == TLS_ST_BEFORE)
		(void)SSL_set_tlsext_host_name(mine, host);
}

/* The certificate must be for the host of the URL. */
static bool
tls_set_name(SSL_CTX *ctx, const char *host)
{
	X509_VERIFY_PARAM *p = SSL_CTX_get0_param(ctx);

	if (mqtt_is_ip_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(p, host) == 1;
	X509_VERIFY_PARAM_set_hostflags(
	    p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(p, host, 0) == 1 &&
	    SSL_CTX_set_app_data(ctx, (void *)(uintptr_t)host) == 1;
}

/* What is wrong, or NULL. */
static const char *
tls_set_files(SSL_CTX *ctx, const struct mqtt_opts *o)
{
	if (o->ca_file == NULL) {
		if (SSL_CTX_set_default_verify_paths(ctx) != 1)
			return "the system's authorities cannot be read";
	} else if (SSL_CTX_load_verify_locations(ctx, o->ca_file, NULL) != 1) {
		return "the file of authorities cannot be used";
	}
	if (o->cert_file == NULL)
		return o->key_file == NULL ? NULL
					   : "a key without a certificate";
	if (o->key_file == NULL)
		return "a certificate without a key";
	if (SSL_CTX_use_certificate_chain_file(ctx, o->cert_file) != 1)
		return "the certificate cannot be used";
	if (SSL_CTX_use_PrivateKey_file(ctx, o->key_file, SSL_FILETYPE_PEM) !=
	    1)
		return "the key cannot be used, or is not the certificate's";
	return NULL;
}

const char *
mqtt_tls_load(struct mqtt *m)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	const char *why = "no memory for TLS";

	if (ctx != NULL && tls_set_name(ctx, m->url.host) &&
	    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_info_callback(ctx, tls_set_sni);
		why = tls_set_files(ctx, &m->o);
	}
	ERR_clear_error();
	if (why != NULL) {
		SSL_CTX_free(ctx);
		return why;
	}
	mqtt_tls_free(m);
	m->tls = ctx;
	return NULL;
}

void
mqtt_tls_free(struct mqtt *m)
{
	SSL_CTX_free(m->tls);
	m->tls = NULL;
}

bool
mqtt_tls_pending(const struct mqtt *m)
{
	SSL *ssl = m->tls != NULL && m->mosq != NULL
	    ? mosquitto_ssl_get(m->mosq)
	    : NULL;

	return ssl != NULL && SSL_pending(ssl) > 0;
}

const char *
mqtt_tls_error(const struct mqtt *m)
{
	SSL *ssl = m->tls != NULL && m->mosq != NULL
	    ? mosquitto_ssl_get(m->mosq)
	    : NULL;
	long result = ssl != NULL ? SSL_get_verify_result(ssl) : X509_V_OK;

	return result != X509_V_OK ? X509_verify_cert_error_string(result)
				   : NULL;
}
