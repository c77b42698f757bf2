/* Addresses of one server, of sentinels, of a cluster. */
#include "state/state_internal.h"
#include "testkit/testkit.h"

static struct redis_url
parsed(const char *text)
{
	struct redis_url u;
	const char *why = redis_url_parse(str_of(text), &u);

	ck_assert_msg(why == NULL, "%s: %s", text, why);
	return u;
}

static void
is_address(const struct redis_url *u, size_t i, const char *host, int port)
{
	ck_assert_uint_lt(i, u->n);
	ck_assert_str_eq(u->addresses[i].host, host);
	ck_assert_int_eq(u->addresses[i].port, port);
}

TEST(one_server)
{
	struct redis_url u = parsed("redis://h");

	ck_assert_int_eq(u.mode, REDIS_SINGLE);
	ck_assert_uint_eq(u.n, 1);
	is_address(&u, 0, "h", 6379);
	u = parsed("REDIS://u:p%40ss@[::1]:7000/12");
	is_address(&u, 0, "::1", 7000);
	ck_assert_str_eq(u.user, "u");
	ck_assert_str_eq(u.password, "p@ss");
	ck_assert_int_eq(u.db, 12);
}

TEST(sentinels)
{
	struct redis_url u = parsed("redis+sentinel://a,b:7,[::1]:9/main.soul");

	ck_assert_int_eq(u.mode, REDIS_SENTINEL);
	ck_assert_uint_eq(u.n, 3);
	is_address(&u, 0, "a", 26379);
	is_address(&u, 1, "b", 7);
	is_address(&u, 2, "::1", 9);
	ck_assert_str_eq(u.master, "main.soul");
	ck_assert_int_eq(u.db, 0);
	ck_assert_str_eq(u.password, "");
	/* A comma in a password. */
	u = parsed("redis+sentinel://:x,y@a:1,b:2/soul/3");
	ck_assert_uint_eq(u.n, 2);
	ck_assert_str_eq(u.password, "x,y");
	is_address(&u, 0, "a", 1);
	is_address(&u, 1, "b", 2);
	ck_assert_int_eq(u.db, 3);
}

TEST(a_cluster)
{
	struct redis_url u = parsed("redis+cluster://u:p@a:1,b/");

	ck_assert_int_eq(u.mode, REDIS_CLUSTER);
	ck_assert_uint_eq(u.n, 2);
	is_address(&u, 0, "a", 1);
	is_address(&u, 1, "b", 6379);
	ck_assert_str_eq(u.user, "u");
	ck_assert_str_eq(u.password, "p");
}

TEST(what_is_wrong_is_reported)
{
	static const struct {
		const char *url, *why;
	} t[] = {
		{ "", "there is no scheme" },
		{ "h:6379", "there is no scheme" },
		{ "http://h", "the scheme is none of" },
		{ "redis+x://h", "the scheme is none of" },
		{ "rediss://h", "TLS proxy" },
		{ "RedisS://h", "TLS proxy" },
		{ "rediss+sentinel://h/soul", "TLS proxy" },
		{ "redis://", "the host" },
		{ "redis://a,b", "the host" },
		{ "redis://h:0", "the port" },
		{ "redis://h/x", "database" },
		{ "redis://h/1/2", "database" },
		{ "redis://u@h", "a user without a password" },
		{ "redis+sentinel:///soul", "no address" },
		{ "redis+sentinel://u:p@/soul", "no address" },
		{ "redis+sentinel://a", "the name of a master" },
		{ "redis+sentinel://a/", "the name of a master" },
		{ "redis+sentinel://a/so ul", "the name of a master" },
		{ "redis+sentinel://a/soul/x", "database" },
		{ "redis+sentinel://a,,b/soul", "the host" },
		{ "redis+sentinel://a,/soul", "the host" },
		{ "redis+cluster://a,b:x", "the port" },
		{ "redis+cluster://a/1", "no databases" },
		{ "redis+cluster://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
		    "more than 16" },
	};
	size_t i;

	for (i = 0; i < NELEM(t); i++) {
		const char *why = state_url_error(t[i].url);

		ck_assert_msg(why != NULL && strstr(why, t[i].why) != NULL,
		    "%s: %s", t[i].url, why != NULL ? why : "accepted");
	}
	ck_assert_ptr_nonnull(state_url_error(NULL));
}
