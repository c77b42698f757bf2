#include "webhooks/webhook_sign.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/buf.h"
#include "core/id.h"

#define SECRET_PREFIX STR("whsec_")
#define SECRET_BYTES  32
/* Bytes of a key. */
#define KEY_MIN   16
#define KEY_MAX   64
#define MAC_BYTES 32

/* n bytes in base64, with a NUL. */
static void
webhook_base64(const unsigned char *bytes, size_t n, char *dst)
{
	(void)EVP_EncodeBlock((unsigned char *)dst, bytes, (int)n);
}

void
webhook_secret_new(char dst[WEBHOOK_SECRET_MAX])
{
	const struct str prefix = SECRET_PREFIX;
	unsigned char key[SECRET_BYTES];

	id_random(key, sizeof(key));
	memcpy(dst, prefix.p, prefix.n);
	webhook_base64(key, sizeof(key), dst + prefix.n);
	OPENSSL_cleanse(key, sizeof(key));
}

static void
webhook_mac(struct str key, struct str text, unsigned char mac[MAC_BYTES])
{
	unsigned n = 0;

	if (HMAC(EVP_sha256(), key.p, (int)key.n, (const unsigned char *)text.p,
		text.n, mac, &n) == NULL ||
	    n != MAC_BYTES)
		abort();
}

enum rc
webhook_sign(struct str secret, const struct str parts[3],
    char dst[WEBHOOK_SIGNATURE_MAX])
{
	const struct str prefix = SECRET_PREFIX;
	struct buf key = BUF_INIT(KEY_MAX);
	struct buf text = BUF_INIT(parts[0].n + parts[1].n + parts[2].n + 2);
	unsigned char mac[MAC_BYTES];
	enum rc rc = RC_INVALID;

	if (str_starts(secret, prefix))
		rc = base64_decode(
		    (struct str){ secret.p + prefix.n, secret.n - prefix.n },
		    &key);
	if (rc == RC_OK && key.n >= KEY_MIN) {
		buf_put_str(&text, parts[0]);
		buf_putc(&text, '.');
		buf_put_str(&text, parts[1]);
		buf_putc(&text, '.');
		buf_put_str(&text, parts[2]);
		webhook_mac(buf_str(&key), buf_str(&text), mac);
		memcpy(dst, "v1,", 3);
		webhook_base64(mac, sizeof(mac), dst + 3);
	} else {
		rc = RC_INVALID;
	}
	buf_free(&key);
	buf_free(&text);
	return rc;
}
