/*
 * sentinel: the address of a master, from the first sentinel that knows it.
 */
#include "state/state_internal.h"

/* Of one sentinel, so that one that hangs delays the others little. */
#define SENTINEL_MS 500
#define REPLY_MAX   (64UL * 1024)

static enum rc
sentinel_read_master(
    const struct state_reply *r, struct redis_address *a, char *why)
{
	struct str host = state_reply_str(state_reply_at(r, 0));
	struct str port = state_reply_str(state_reply_at(r, 1));
	int64_t n;

	if (state_reply_kind(r) == STATE_NIL) {
		str_copy(STR("the sentinel knows no master of this name"), why,
		    STATE_ERROR_MAX);
		return RC_NOENT;
	}
	if (host.n == 0 || host.n >= sizeof(a->host) ||
	    str_to_i64(port, 1, 65535, &n) != RC_OK) {
		str_copy(STR("the sentinel's reply is not an address"), why,
		    STATE_ERROR_MAX);
		return RC_INVALID;
	}
	str_copy(host, a->host, sizeof(a->host));
	a->port = (int)n;
	return RC_OK;
}

/* Query one sentinel. */
static enum rc
sentinel_query(const struct connection_opts *o,
    const struct redis_address *sentinel, struct redis_address *master,
    char why[STATE_ERROR_MAX])
{
	const struct connection_query q = { STATE_ARGS(STR("SENTINEL"),
						STR("get-master-addr-by-name"),
						str_of(o->url.master)),
		SENTINEL_MS, REPLY_MAX };
	struct state_reply *r = NULL;
	struct connection *c;
	enum rc rc;

	rc = state_connection_dial(sentinel, SENTINEL_MS, &c, why);
	if (rc != RC_OK)
		return rc;
	rc = state_connection_login(
	    c, o->sentinel_user, o->sentinel_password, why);
	if (rc == RC_OK)
		rc = state_connection_query(c, &q, &r, why);
	if (rc == RC_OK)
		rc = sentinel_read_master(r, master, why);
	state_reply_free(r);
	state_connection_close(c);
	return rc;
}

enum rc
sentinel_find_master(const struct connection_opts *o, size_t *first,
    struct redis_address *master, char why[STATE_ERROR_MAX])
{
	char text[STATE_ERROR_MAX];
	enum rc rc, worst = RC_DOWN;
	size_t i, at;

	for (i = 0; i < o->url.n; i++) {
		at = (*first + i) % o->url.n;
		rc = sentinel_query(o, &o->url.addresses[at], master, text);
		if (rc == RC_OK) {
			*first = at;
			return RC_OK;
		}
		/* What an operator has to correct is reported before what may
		 * come back. */
		if (i == 0 || rc == RC_DENIED || worst != RC_DENIED)
			str_copy(str_of(text), why, STATE_ERROR_MAX);
		if (rc == RC_DENIED)
			worst = RC_DENIED;
	}
	return worst;
}
