/*
 * format: whether the keys of a server are those that this program knows.
 *
 * A key names the format of all others.  Up to 0.1 there was no such key: keys
 * without it are of the format 1, and a server without keys gets ours.  One
 * that has keys, but not this one, is searched for those of format 1.  The
 * users of redis-users.acl may not list keys: for them such a server has the
 * format 1, until "chat-gateway migrate" has looked.
 */
#include "state/state_internal.h"

#define QUERY_MS  1000
#define REPLY_MAX (1024UL * 1024)
/* Keys that the server inspects for one reply. */
#define PAGE "100"

static enum rc
format_query(struct connection *c, const struct str *args, size_t n,
    struct state_reply **out, char why[STATE_ERROR_MAX])
{
	const struct connection_query q = { args, n, QUERY_MS, REPLY_MAX };

	return state_connection_query(c, &q, out, why);
}

/* Another node has the key, and is asked for it when it is connected. */
static bool
format_is_elsewhere(const struct connection_opts *o, const char *why)
{
	static const struct str codes[] = { STR_INIT("MOVED "),
		STR_INIT("ASK "), STR_INIT("CLUSTERDOWN "),
		STR_INIT("TRYAGAIN ") };
	size_t i;

	for (i = 0; i < NELEM(codes) && o->url.mode == REDIS_CLUSTER; i++)
		if (str_starts(str_of(why), codes[i]))
			return true;
	return false;
}

/* Whether a key of the suite can only be of format 1. */
static bool
format_is_old(struct str key)
{
	/* Of both formats, or of ours without a bucket. */
	static const struct str others[] = { STR_INIT("soul:terminal:{"),
		STR_INIT("soul:credential:{"), STR_INIT("soul:result:{"),
		STR_INIT("soul:timers:{"), STR_INIT("soul:lease:{"),
		STR_INIT("soul:credentials:{"),
		STR_INIT("soul:tenant:{identities}:"), STR_INIT(KEY_FORMAT) };
	ptrdiff_t tag = str_find(key, STR("{b"));
	size_t i;

	for (i = 0; i < NELEM(others); i++)
		if (str_starts(key, others[i]))
			return false;
	/* "{b0123}:" */
	return tag < 0 || (size_t)tag + 8 > key.n || key.p[tag + 6] != '}' ||
	    key.p[tag + 7] != ':';
}

static bool
format_any_is_old(const struct state_reply *keys)
{
	size_t i;

	for (i = 0; i < state_reply_len(keys); i++)
		if (format_is_old(state_reply_str(state_reply_at(keys, i))))
			return true;
	return false;
}

/* RC_CONFLICT: the server has keys of format 1. */
static enum rc
format_search(struct connection *c, char why[STATE_ERROR_MAX])
{
	char cursor[STR_NUM_MAX] = "0";
	struct state_reply *r;
	enum rc rc;

	do {
		rc = format_query(c,
		    STATE_ARGS(STR("SCAN"), str_of(cursor), STR("MATCH"),
			STR("soul:*"), STR("COUNT"), STR(PAGE)),
		    &r, why);
		if (rc != RC_OK)
			return rc;
		if (format_any_is_old(state_reply_at(r, 1)))
			rc = RC_CONFLICT;
		str_copy(state_reply_str(state_reply_at(r, 0)), cursor,
		    sizeof(cursor));
		state_reply_free(r);
	} while (rc == RC_OK && strcmp(cursor, "0") != 0);
	if (rc == RC_CONFLICT)
		str_copy(STR("1"), why, STATE_ERROR_MAX);
	return rc;
}

/*
 * There is no key that names the format, and the server had keys or not before
 * that was known.
 */
static enum rc
format_begin(struct connection *c, const struct connection_opts *o, bool empty,
    char why[STATE_ERROR_MAX])
{
	enum rc rc = RC_OK;

	/* A cluster has never had another format. */
	if (!empty && o->url.mode != REDIS_CLUSTER)
		rc = format_search(c, why);
	/* It may not list keys. */
	if (rc == RC_DENIED) {
		str_copy(STR("1"), why, STATE_ERROR_MAX);
		rc = RC_CONFLICT;
	}
	if (rc != RC_OK)
		return rc;
	return format_query(c,
	    STATE_ARGS(
		STR("SET"), STR(KEY_FORMAT), STR(STATE_FORMAT), STR("NX")),
	    NULL, why);
}

enum rc
format_check(struct connection *c, const struct connection_opts *o,
    char why[STATE_ERROR_MAX])
{
	struct state_reply *r = NULL;
	bool empty;
	enum rc rc;

	/* Before the format, which every other client sets before it writes. */
	rc = format_query(c, STATE_ARGS(STR("DBSIZE")), &r, why);
	empty = rc == RC_OK && state_reply_int(r) == 0;
	state_reply_free(r);
	r = NULL;
	if (rc == RC_OK)
		rc = format_query(
		    c, STATE_ARGS(STR("GET"), STR(KEY_FORMAT)), &r, why);
	if (rc == RC_OK && state_reply_kind(r) == STATE_NIL) {
		rc = format_begin(c, o, empty, why);
	} else if (rc == RC_OK &&
	    !str_eq(state_reply_str(r), STR(STATE_FORMAT))) {
		str_copy(state_reply_str(r), why, STATE_ERROR_MAX);
		rc = RC_CONFLICT;
	}
	state_reply_free(r);
	if (rc != RC_OK && rc != RC_CONFLICT && format_is_elsewhere(o, why))
		rc = RC_OK;
	return rc;
}

const char *
state_format_remedy(struct str found)
{
	if (str_eq(found, STR("1")) || str_eq(found, STR(FORMAT_UPGRADING)))
		return "stop all services and run: chat-gateway migrate --to 2";
	if (str_eq(found, STR(FORMAT_REVERTING)))
		return "run: chat-gateway migrate --back, or --to 2";
	return "use the release that wrote these keys";
}
