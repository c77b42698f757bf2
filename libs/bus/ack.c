/*
 * The reply subject of a JetStream delivery.
 */
#include "bus/ack.h"

/* Tokens of the two forms; the newer one may get more. */
#define OLD_N 9
#define NEW_N 11

enum rc
ack_subject_read(struct str subject, struct bus_delivery *j)
{
	struct str t[NEW_N], rest = subject;
	struct bus_delivery r;
	size_t n = 0, at;

	while (rest.p != NULL && n < NEW_N)
		t[n++] = str_split(&rest, '.');
	if (n < OLD_N || n == OLD_N + 1 || !str_eq(t[0], STR("$JS")) ||
	    !str_eq(t[1], STR("ACK")))
		return RC_INVALID;
	at = n == OLD_N ? 4 : 6;
	if (str_to_i64(t[at], 1, INT64_MAX, &r.delivered) != RC_OK ||
	    str_to_i64(t[at + 1], 1, INT64_MAX, &r.seq) != RC_OK ||
	    str_to_i64(t[at + 4], 0, INT64_MAX, &r.pending) != RC_OK)
		return RC_INVALID;
	*j = r;
	return RC_OK;
}
