#include "ws/handshake.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"

/* RFC 6455, 1.3. */
#define HANDSHAKE_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define KEY_LENGTH     24 /* 16 bytes in base64 */
#define KEY_BYTES      16

/* Whether one of the fields of that name has the token. */
static bool
handshake_has_token(
    const struct http_head *h, struct str name, struct str token)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (str_eq_nocase(h->field[i].name, name) &&
		    header_has_token(h->field[i].value, token))
			return true;
	return false;
}

static struct str
handshake_find(const struct http_head *h, struct str name)
{
	return header_find(h->field, h->n, name);
}

static size_t
handshake_count(const struct http_head *h, struct str name)
{
	return header_count(h->field, h->n, name);
}

static bool
handshake_key_is_valid(struct str key)
{
	struct buf b = BUF_INIT(KEY_LENGTH);
	bool valid = key.n == KEY_LENGTH && base64_decode(key, &b) == RC_OK &&
	    b.n == KEY_BYTES;

	buf_free(&b);
	return valid;
}

static void
handshake_accept(struct str key, char dst[WS_ACCEPT_MAX])
{
	char text[KEY_LENGTH + sizeof(HANDSHAKE_GUID)];
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	memcpy(text, key.p, KEY_LENGTH);
	memcpy(text + KEY_LENGTH, HANDSHAKE_GUID, sizeof(HANDSHAKE_GUID));
	if (EVP_Digest(text, KEY_LENGTH + sizeof(HANDSHAKE_GUID) - 1, digest,
		&n, EVP_sha1(), NULL) != 1)
		abort();
	EVP_EncodeBlock((unsigned char *)dst, digest, (int)n);
}

static void
handshake_reject(struct handshake *out, int status, const char *why)
{
	out->status = status;
	out->why = why;
}

/* NULL, or what is wrong with it as a request. */
static const char *
handshake_request_error(const struct http_head *h)
{
	if (!h->http11)
		return "the version must be HTTP/1.1";
	if (handshake_count(h, STR("Host")) != 1)
		return "there must be one Host";
	if (handshake_count(h, STR("Content-Length")) > 0 ||
	    handshake_count(h, STR("Transfer-Encoding")) > 0)
		return "the request must not have a body";
	return NULL;
}

bool
handshake_is_plain(const struct http_head *h)
{
	return (str_eq(h->method, STR("GET")) ||
		   str_eq(h->method, STR("HEAD"))) &&
	    handshake_count(h, STR("Upgrade")) == 0 &&
	    handshake_request_error(h) == NULL;
}

void
handshake_check(const struct http_head *h, struct handshake *out)
{
	struct str key = handshake_find(h, STR("Sec-WebSocket-Key"));
	struct str version = handshake_find(h, STR("Sec-WebSocket-Version"));
	const char *error = handshake_request_error(h);

	*out = (struct handshake){ .status = 101 };
	if (!str_eq(h->method, STR("GET")))
		handshake_reject(out, 405, "the method must be GET");
	else if (error != NULL)
		handshake_reject(out, 400, error);
	else if (!handshake_has_token(h, STR("Upgrade"), STR("websocket")) ||
	    !handshake_has_token(h, STR("Connection"), STR("Upgrade")))
		handshake_reject(out, 426,
		    "this address speaks WebSocket: send Upgrade: websocket "
		    "and Connection: Upgrade");
	else if (handshake_count(h, STR("Sec-WebSocket-Version")) != 1 ||
	    !str_eq(version, STR("13")))
		handshake_reject(out, 426, "Sec-WebSocket-Version must be 13");
	else if (handshake_count(h, STR("Sec-WebSocket-Key")) != 1 ||
	    !handshake_key_is_valid(key))
		handshake_reject(
		    out, 400, "Sec-WebSocket-Key must be 16 bytes in base64");
	else
		handshake_accept(key, out->accept);
}

/* ---- subprotocols ---- */

struct offers {
	const struct http_head *h;
	size_t field;
	struct str list;
};

static bool
offers_next(struct offers *o, struct str *item)
{
	for (;;) {
		while (o->list.p != NULL) {
			*item = str_trim(str_split(&o->list, ','));
			if (item->n > 0)
				return true;
		}
		while (o->field < o->h->n &&
		    !str_eq_nocase(o->h->field[o->field].name,
			STR("Sec-WebSocket-Protocol")))
			o->field++;
		if (o->field == o->h->n)
			return false;
		o->list = o->h->field[o->field++].value;
	}
}

bool
handshake_offers(const struct http_head *h, struct str protocol)
{
	struct offers o = { .h = h };
	struct str item;

	while (offers_next(&o, &item))
		if (str_eq(item, protocol))
			return true;
	return false;
}

struct str
handshake_offer_after(const struct http_head *h, struct str prefix)
{
	struct offers o = { .h = h };
	struct str item;

	while (offers_next(&o, &item))
		if (str_starts(item, prefix))
			return (
			    struct str){ item.p + prefix.n, item.n - prefix.n };
	return (struct str){ NULL, 0 };
}

void
handshake_write(
    const struct handshake *hs, struct str protocol, struct buf *out)
{
	buf_puts(out,
	    "HTTP/1.1 101 Switching Protocols\r\n"
	    "Upgrade: websocket\r\n"
	    "Connection: Upgrade\r\n"
	    "Sec-WebSocket-Accept: ");
	buf_puts(out, hs->accept);
	if (protocol.p != NULL) {
		buf_puts(out, "\r\nSec-WebSocket-Protocol: ");
		buf_put_str(out, protocol);
	}
	buf_puts(out, "\r\n\r\n");
}
