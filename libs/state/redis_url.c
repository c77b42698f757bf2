/*
 * redis_url: REDIS_URL and the options of a client.
 */
#include "state/state_internal.h"

#define DEADLINE_MS   100 /* of calls, by default */
#define REDIS_PORT    6379
#define SENTINEL_PORT 26379
/* Bytes of the user, the password and one host. */
#define URL_PART_MAX 4096

static const struct {
	struct str prefix;
	enum redis_mode mode;
} redis_schemes[] = {
	{ STR_INIT("redis://"), REDIS_SINGLE },
	{ STR_INIT("redis+sentinel://"), REDIS_SENTINEL },
	{ STR_INIT("redis+cluster://"), REDIS_CLUSTER },
};

static bool
redis_url_has_scheme(struct str text, struct str prefix)
{
	return text.n >= prefix.n &&
	    str_eq_nocase((struct str){ text.p, prefix.n }, prefix);
}

/* A database is a number; absent and empty are 0. */
static bool
redis_url_database(struct str s, int64_t *db)
{
	*db = 0;
	return s.n == 0 || str_to_i64(s, 0, INT32_MAX, db) == RC_OK;
}

static bool
redis_url_master(struct str s, char dst[REDIS_MASTER_MAX])
{
	size_t i;

	if (s.n == 0 || s.n >= REDIS_MASTER_MAX)
		return false;
	for (i = 0; i < s.n; i++)
		if ((s.p[i] < 'a' || s.p[i] > 'z') &&
		    (s.p[i] < 'A' || s.p[i] > 'Z') &&
		    (s.p[i] < '0' || s.p[i] > '9') &&
		    memchr("._-", s.p[i], 3) == NULL)
			return false;
	memcpy(dst, s.p, s.n);
	dst[s.n] = '\0';
	return true;
}

/* What follows the addresses, without its first '/'. */
static const char *
redis_url_path(struct str path, struct redis_url *u)
{
	struct str name;

	switch (u->mode) {
	case REDIS_SENTINEL:
		name = str_split(&path, '/');
		if (!redis_url_master(name, u->master))
			return "the path does not begin with the name of a "
			       "master, expected "
			       "redis+sentinel://host:port,host:port/name";
		break;
	case REDIS_CLUSTER:
		if (path.n > 0)
			return "a cluster has no databases; remove the path";
		break;
	case REDIS_SINGLE:
		break;
	}
	if (!redis_url_database(path, &u->db))
		return "the path is not a database number";
	return NULL;
}

/* One of the addresses; the first comes with user and password. */
static const char *
redis_url_address(struct str text, struct redis_url *u)
{
	struct buf b = BUF_INIT(URL_PART_MAX);
	struct redis_address *a;
	const char *why = NULL;
	struct url one;

	if (u->n == REDIS_ADDRESSES_MAX)
		return "there are more than 16 addresses";
	buf_puts(&b, "redis://");
	buf_put_str(&b, text);
	if (buf_rc(&b) != RC_OK)
		why = "the user or the password is too long";
	else
		(void)!url_parse(buf_str(&b), &one, &why);
	if (b.p != NULL)
		explicit_bzero(b.p, b.cap);
	buf_free(&b);
	if (why != NULL)
		return why;
	a = &u->addresses[u->n++];
	str_copy(str_of(one.host), a->host, sizeof(a->host));
	a->port = one.port;
	if (a->port == 0)
		a->port =
		    u->mode == REDIS_SENTINEL ? SENTINEL_PORT : REDIS_PORT;
	if (u->n == 1) {
		str_copy(str_of(one.user), u->user, sizeof(u->user));
		str_copy(
		    str_of(one.password), u->password, sizeof(u->password));
	}
	explicit_bzero(&one, sizeof(one));
	return NULL;
}

/*
 * The part before the last '@', which may have commas, belongs to the first
 * address.
 */
static const char *
redis_url_addresses(struct str text, struct redis_url *u)
{
	const char *at = text.n > 0 ? memrchr(text.p, '@', text.n) : NULL;
	struct str rest = text, one;
	const char *why;

	if (u->mode == REDIS_SINGLE)
		return redis_url_address(text, u);
	if (at != NULL)
		rest =
		    (struct str){ at + 1, text.n - (size_t)(at + 1 - text.p) };
	if (rest.n == 0)
		return "there is no address";
	one = str_split(&rest, ',');
	if (at != NULL)
		one = (struct str){ text.p, (size_t)(one.p - text.p) + one.n };
	why = redis_url_address(one, u);
	while (why == NULL && rest.p != NULL) {
		one = str_split(&rest, ',');
		why = redis_url_address(one, u);
	}
	return why;
}

const char *
redis_url_parse(struct str text, struct redis_url *u)
{
	const char *why, *slash;
	struct str path = { NULL, 0 };
	size_t i;

	*u = (struct redis_url){ .n = 0 };
	if (str_find(text, STR("://")) < 0)
		return "there is no scheme, expected redis://host:port";
	if (redis_url_has_scheme(text, STR("rediss://")) ||
	    redis_url_has_scheme(text, STR("rediss+")))
		return "TLS is not built in; run a TLS proxy such as stunnel "
		       "beside the service and name it with redis://";
	for (i = 0; i < NELEM(redis_schemes); i++)
		if (redis_url_has_scheme(text, redis_schemes[i].prefix))
			break;
	if (i == NELEM(redis_schemes))
		return "the scheme is none of redis://, redis+sentinel://, "
		       "redis+cluster://";
	u->mode = redis_schemes[i].mode;
	text.p += redis_schemes[i].prefix.n;
	text.n -= redis_schemes[i].prefix.n;
	slash = text.n > 0 ? memchr(text.p, '/', text.n) : NULL;
	if (slash != NULL) {
		path = (struct str){ slash + 1,
			text.n - (size_t)(slash + 1 - text.p) };
		text.n = (size_t)(slash - text.p);
	}
	why = redis_url_addresses(text, u);
	if (why == NULL)
		why = redis_url_path(path, u);
	if (why == NULL && u->user[0] != '\0' && u->password[0] == '\0')
		why = "there is a user without a password";
	return why;
}

const char *
state_url_error(const char *url)
{
	struct redis_url u;

	return redis_url_parse(str_of(url), &u);
}

enum rc
state_url_read(const struct state_opts *o, struct connection_opts *c)
{
	const char *why = redis_url_parse(str_of(o->url), &c->url);

	if (why != NULL) {
		log_error("state.url", LOG_S("why", why));
		return RC_INVALID;
	}
	str_copy(str_of(o->name), c->name, sizeof(c->name));
	if (o->conf != NULL) {
		str_copy(str_of(o->conf->sentinel_user), c->sentinel_user,
		    sizeof(c->sentinel_user));
		str_copy(str_of(o->conf->sentinel_password),
		    c->sentinel_password, sizeof(c->sentinel_password));
	}
	c->deadline_ms = o->deadline_ms > 0 ? o->deadline_ms : DEADLINE_MS;
	return RC_OK;
}
