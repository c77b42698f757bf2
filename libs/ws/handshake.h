/*
 * handshake: the HTTP request that opens a WebSocket (RFC 6455, 4.2).  Pure.
 */
#ifndef WS_HANDSHAKE_H
#define WS_HANDSHAKE_H

#include "core/buf.h"
#include "http/head_reader.h"

/* Bytes of a Sec-WebSocket-Accept, NUL included. */
#define WS_ACCEPT_MAX 29

struct handshake {
	int status;      /* 101, or that of the error */
	const char *why; /* of an error, in words */
	char accept[WS_ACCEPT_MAX];
};

/*
 * handshake_check(h, out):
 * Whether the request opens a WebSocket: GET, HTTP/1.1, one Host, Upgrade,
 * Connection, version 13, one valid key.  400: it is invalid; 405: another
 * method; 426: it is no upgrade, or of another version.
 */
void handshake_check(const struct http_head *h, struct handshake *out);

/*
 * handshake_is_plain(h): Whether it is a valid GET or HEAD without an upgrade.
 */
bool handshake_is_plain(const struct http_head *h);

/*
 * handshake_offers(h, protocol): Whether the client offers this subprotocol,
 * by its exact name.
 * handshake_offer_after(h, prefix): The rest of the first subprotocol that
 * begins with prefix, such as a token; absent: there is none.
 */
bool handshake_offers(const struct http_head *h, struct str protocol);
struct str handshake_offer_after(const struct http_head *h, struct str prefix);

/*
 * handshake_write(hs, protocol, out): The response of a valid handshake;
 * protocol absent: none is selected.
 */
void handshake_write(
    const struct handshake *hs, struct str protocol, struct buf *out);

#endif /* !WS_HANDSHAKE_H */
