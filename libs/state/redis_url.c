/*
 * redis_url: REDIS_URL and the options of a client.
 */
#include "state/state_internal.h"

#define DEADLINE_MS 100 /* of calls, by default */

/* The database is the path: "", "/" or "/<number>". */
static bool
url_database(struct str path, int64_t *db)
{
	*db = 0;
	if (path.n <= 1)
		return true;
	path = (struct str){ path.p + 1, path.n - 1 };
	return str_to_i64(path, 0, INT32_MAX, db) == RC_OK;
}

/* What is wrong with the address, or NULL. */
static const char *
url_read(const char *text, struct url *u, int64_t *db)
{
	const char *why = NULL;

	if (url_parse(str_of(text), u, &why) != RC_OK)
		return why;
	if (!str_eq(str_of(u->scheme), STR("redis")))
		return "the scheme is not redis://";
	if (!url_database(str_of(u->path), db))
		return "the path is not a database number";
	if (u->user[0] != '\0' && u->password[0] == '\0')
		return "there is a user without a password";
	return NULL;
}

const char *
state_url_error(const char *url)
{
	struct url u;
	int64_t db;

	return url_read(url, &u, &db);
}

enum rc
state_url_read(const struct state_opts *o, struct connection_opts *c)
{
	const char *why = url_read(o->url, &c->url, &c->db);

	if (why != NULL) {
		log_error("state.url", LOG_S("why", why));
		return RC_INVALID;
	}
	if (c->url.port == 0)
		c->url.port = 6379;
	str_copy(str_of(o->name), c->name, sizeof(c->name));
	c->deadline_ms = o->deadline_ms > 0 ? o->deadline_ms : DEADLINE_MS;
	return RC_OK;
}
