/*
 * TLS of libmosquitto, which connects to an address, since names are resolved
 * in a worker, so that the name for SNI is set here.
 */
#include <mosquitto.h>
#include <openssl/ssl.h>

#include "mqtt/mqtt_internal.h"
#include "tls/tls_client.h"

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

const char *
mqtt_tls_load(struct mqtt *m)
{
	const struct tls_files f = { m->o.ca_file, m->o.cert_file,
		m->o.key_file };
	const char *why;
	SSL_CTX *ctx;

	why = tls_client_new(&f, m->url.host, &ctx);
	if (why != NULL)
		return why;
	if (!url_is_address(m->url.host)) {
		SSL_CTX_set_app_data(ctx, m->url.host);
		SSL_CTX_set_info_callback(ctx, tls_set_sni);
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
