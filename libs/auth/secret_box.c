#include "auth/secret_box.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define KEY_BYTES   32
#define NONCE_BYTES 12
#define TAG_BYTES   16
/* Longest text, and what it belongs to. */
#define SECRET_MAX (1024UL * 1024)

struct secret_key {
	char name[SECRET_KEY_NAME_MAX + 1];
	unsigned char bytes[KEY_BYTES];
};

struct secret_box {
	struct secret_key keys[SECRET_KEYS_MAX];
	size_t n;
};

/* ---- keys ---- */

static bool
secret_name_is_valid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (base64url_digit(s.p[i]) < 0)
			return false;
	return s.n > 0 && s.n <= SECRET_KEY_NAME_MAX;
}

static bool
secret_read_key(struct str s, unsigned char dst[KEY_BYTES])
{
	size_t i, n = 0;
	int hi, lo;

	if (s.n != 2 * KEY_BYTES)
		return base64url_decode(s, dst, KEY_BYTES, &n) == RC_OK &&
		    n == KEY_BYTES;
	for (i = 0; i < KEY_BYTES; i++) {
		hi = str_hex_value(s.p[2 * i]);
		lo = str_hex_value(s.p[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		dst[i] = (unsigned char)(hi << 4 | lo);
	}
	return true;
}

static const struct secret_key *
secret_find_key(const struct secret_box *b, struct str name)
{
	size_t i;

	for (i = 0; b != NULL && i < b->n; i++)
		if (str_eq(name, str_of(b->keys[i].name)))
			return &b->keys[i];
	return NULL;
}

static const char *
secret_add_key(struct secret_box *b, struct str s)
{
	struct str name = str_split(&s, ':');
	struct secret_key *k = &b->keys[b->n];

	if (b->n == SECRET_KEYS_MAX)
		return "too many keys";
	if (s.p == NULL || !secret_name_is_valid(name))
		return "must be name:key, with names of letters, digits, _ "
		       "and -";
	if (secret_find_key(b, name) != NULL)
		return "two keys have the same name";
	if (!secret_read_key(s, k->bytes))
		return "a key must be 32 bytes in base64url or hexadecimal";
	str_copy(name, k->name, sizeof(k->name));
	b->n++;
	return NULL;
}

enum rc
secret_box_new(struct str keys, struct secret_box **out, const char **why)
{
	struct secret_box *b;

	*out = NULL;
	*why = NULL;
	if (keys.n == 0)
		return RC_OK;
	b = mem_zalloc(sizeof(*b));
	while (*why == NULL && keys.p != NULL)
		*why = secret_add_key(b, str_trim(str_split(&keys, ',')));
	if (*why != NULL) {
		secret_box_free(b);
		return RC_INVALID;
	}
	*out = b;
	return RC_OK;
}

void
secret_box_free(struct secret_box *b)
{
	if (b == NULL)
		return;
	OPENSSL_cleanse(b, sizeof(*b));
	free(b);
}

/* ---- sealing ---- */

static int
secret_int(size_t n)
{
	return (int)(n < SECRET_MAX ? n : SECRET_MAX);
}

/* Nonce, ciphertext and tag into dst, which has room; false: it failed. */
static bool
secret_encrypt(const struct secret_key *k, struct str of, struct str text,
    unsigned char *dst)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	unsigned char *at = dst + NONCE_BYTES;
	int n = 0;
	bool ok;

	id_random(dst, NONCE_BYTES);
	ok = ctx != NULL &&
	    EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, k->bytes, dst) ==
		1 &&
	    EVP_EncryptUpdate(ctx, NULL, &n, (const unsigned char *)of.p,
		secret_int(of.n)) == 1 &&
	    EVP_EncryptUpdate(ctx, at, &n, (const unsigned char *)text.p,
		secret_int(text.n)) == 1 &&
	    EVP_EncryptFinal_ex(ctx, at + text.n, &n) == 1 &&
	    EVP_CIPHER_CTX_ctrl(
		ctx, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, at + text.n) == 1;
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

enum rc
secret_box_seal(
    const struct secret_box *b, struct str of, struct str text, struct buf *out)
{
	size_t n = NONCE_BYTES + text.n + TAG_BYTES;
	unsigned char *bytes;
	char *digits;
	bool ok;

	if (text.n == 0 || text.n > SECRET_MAX || of.n == 0 ||
	    of.n > SECRET_MAX)
		return RC_INVALID;
	bytes = mem_alloc(n);
	ok = secret_encrypt(&b->keys[0], of, text, bytes);
	if (ok) {
		digits = mem_alloc(BASE64URL_CHARS(n));
		base64url_encode(bytes, n, digits);
		buf_puts(out, b->keys[0].name);
		buf_putc(out, '.');
		buf_puts(out, digits);
		free(digits);
	}
	free(bytes);
	return ok ? buf_rc(out) : RC_BUG;
}

/* False: it was changed, or belongs to something else. */
static bool
secret_decrypt(const struct secret_key *k, struct str of, unsigned char *bytes,
    size_t n, unsigned char *dst)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	size_t text = n - NONCE_BYTES - TAG_BYTES;
	int done = 0;
	bool ok;

	ok = ctx != NULL &&
	    EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, k->bytes, bytes) ==
		1 &&
	    EVP_DecryptUpdate(ctx, NULL, &done, (const unsigned char *)of.p,
		secret_int(of.n)) == 1 &&
	    EVP_DecryptUpdate(
		ctx, dst, &done, bytes + NONCE_BYTES, secret_int(text)) == 1 &&
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG_BYTES,
		bytes + NONCE_BYTES + text) == 1 &&
	    EVP_DecryptFinal_ex(ctx, dst + text, &done) == 1;
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

enum rc
secret_box_open(const struct secret_box *b, struct str of, struct str sealed,
    struct buf *out)
{
	struct str name = str_split(&sealed, '.');
	const struct secret_key *k = secret_find_key(b, name);
	unsigned char *bytes, *text;
	size_t n, max = sealed.n;
	enum rc rc;

	if (k == NULL)
		return RC_NOENT;
	if (sealed.n > 2 * SECRET_MAX || of.n == 0 || of.n > SECRET_MAX)
		return RC_INVALID;
	bytes = mem_alloc(max + 1);
	text = mem_alloc(max + 1);
	rc = base64url_decode(sealed, bytes, max, &n);
	if (rc == RC_OK && n <= NONCE_BYTES + TAG_BYTES)
		rc = RC_INVALID;
	if (rc == RC_OK && !secret_decrypt(k, of, bytes, n, text))
		rc = RC_INVALID;
	if (rc == RC_OK) {
		buf_put(out, text, n - NONCE_BYTES - TAG_BYTES);
		OPENSSL_cleanse(text, max);
		rc = buf_rc(out);
	}
	free(bytes);
	free(text);
	return rc;
}
