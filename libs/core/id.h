/*
 * id: random identifiers, and the rules for external ones.
 */
#ifndef CORE_ID_H
#define CORE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

/* Longest external id, in bytes of UTF-8. */
#define ID_MAX 128
/* Room for any result of id_token(), NUL included: '~' + base64url. */
#define ID_TOKEN_MAX (1 + (ID_MAX * 4 + 2) / 3 + 1)
#define ID_UUID_MAX  37
#define ID_HEX32_MAX 33

/* id_random(dst, n): n unpredictable bytes.  Any thread. */
void id_random(void *dst, size_t n);

/*
 * A stock of unpredictable bytes for ids that are no secrets, because a system
 * call for each costs a microsecond.  Zero at first.  One thread at a time, and
 * never in two processes: after a fork both would have the same.
 *
 * id_stock_take(s, dst, n): n bytes, which s then has no more.
 */
struct id_stock {
	unsigned char bytes[480];
	size_t left;
};
void id_stock_take(struct id_stock *s, void *dst, size_t n);

/* id_hex(p, n, dst): 2 · n lower-case hexadecimal digits, and a NUL. */
void id_hex(const unsigned char *p, size_t n, char *dst);

/* id_random_below(n): Uniform in [0, n), n > 0.  Any thread. */
uint64_t id_random_below(uint64_t n);

/* id_uuid(dst): A new random UUID (version 4), lower case.  Any thread. */
void id_uuid(char dst[ID_UUID_MAX]);

/* id_hex32(dst): 32 random lower-case hexadecimal digits.  Any thread. */
void id_hex32(char dst[ID_HEX32_MAX]);

/*
 * id_valid(s), id_terminal_valid(s):
 * Whether s is an id: UTF-8, 1 to ID_MAX bytes, no control characters; a
 * terminal id, which is an MQTT topic level, also has none of '/', '+', '#'.
 */
bool id_valid(struct str s);
bool id_terminal_valid(struct str s);

/*
 * id_token(id, dst):
 * The form of id in NATS subjects and Redis keys: id itself if it matches
 * [A-Za-z0-9_-]{1,64}, otherwise '~' + base64url without padding.  It is
 * injective.  RC_INVALID unless id_valid().
 */
enum rc id_token(struct str id, char dst[ID_TOKEN_MAX]) RC_CHECK;

/*
 * id_untoken(token, dst):
 * The id of a token.  RC_INVALID if it is not a result of id_token().
 */
enum rc id_untoken(struct str token, char dst[ID_MAX + 1]) RC_CHECK;

#endif /* !CORE_ID_H */
