/*
 * A client that checks the format of keys, on a server and on a cluster.
 */
#include "testkit/redis_set.h"
#include "testkit/state_fixture.h"

static struct state_fixture f;
static int wrong;

static void
format_on_wrong(void *arg)
{
	(void)arg;
	wrong++;
}

static bool
format_is_known(void *arg)
{
	return wrong > 0 || state_up(arg);
}

/* Whether a client that checks the format connects. */
static bool
format_connects(const char *url)
{
	const struct state_opts o = { .loop = f.loop,
		.workers = f.workers,
		.url = url,
		.name = "checks",
		.deadline_ms = 5000,
		.on_format = format_on_wrong };
	struct state *s;
	bool up;

	wrong = 0;
	OK(state_new(&o, &s));
	ck_assert(
	    tk_loop_until(f.loop, format_is_known, s, STATE_FIXTURE_WAIT_MS));
	up = state_up(s);
	ck_assert_int_eq(up, wrong == 0);
	state_free(s);
	return up;
}

static const struct {
	const char *key; /* NULL: none */
	const char *format;
	bool connects;
} rows[] = {
	{ NULL, NULL, true },
	{ NULL, "2", true },
	{ NULL, "1", false },
	{ NULL, "1>2", false },
	{ NULL, "2>1", false },
	{ NULL, "3", false },
	{ NULL, "", false },
	{ "other:key", NULL, true },
	/* Only of format 1. */
	{ "soul:soul:{x}", NULL, false },
	{ "soul:session:{u1:s1}", NULL, false },
	{ "soul:ticks:interval:1", NULL, false },
	{ "soul:profile:{b0123}", NULL, false },
	{ "soul:soul:{b0123}:state", "2", true },
	/* Not only of format 1. */
	{ "soul:terminal:{t}", NULL, true },
	{ "soul:soul:{b0478}:u1:x1", NULL, true },
	{ "soul:ticks:{b0478}:1", NULL, true },
	{ "soul:credentials:{identities}:version:1", NULL, true },
};

TEST(a_server_has_the_format_or_no_keys)
{
	size_t i;

	state_fixture_start(&f);
	for (i = 0; i < NELEM(rows); i++) {
		DO(&f, STR("FLUSHALL"));
		if (rows[i].key != NULL)
			DO(&f, STR("SET"), str_of(rows[i].key), STR("x"));
		if (rows[i].format != NULL)
			DO(&f, STR("SET"), STR("soul:format"),
			    str_of(rows[i].format));
		ck_assert_msg(
		    format_connects(f.redis.url) == rows[i].connects, "%zu", i);
		state_fixture_expect(&f,
		    rows[i].connects ? "2" : rows[i].format,
		    STATE_ARGS(STR("GET"), STR("soul:format")));
	}
	state_fixture_stop(&f);
}

TEST_T(a_cluster_has_the_format_on_one_master, 60)
{
	static struct tk_cluster c;
	char text[64];
	size_t i, n = 0;

	tk_cluster_start(&c);
	state_fixture_init(&f);
	ck_assert(format_connects(c.url));
	for (i = 0; i < TK_CLUSTER_MASTERS; i++) {
		tk_redis_do(&c.node[i], text, sizeof(text), "GET soul:format");
		n += text[0] == '2';
		tk_redis_do(
		    &c.node[i], text, sizeof(text), "SET soul:format 1");
	}
	ck_assert_uint_eq(n, 1);
	ck_assert(!format_connects(c.url));
	worker_free(f.workers);
	loop_free(f.loop);
	metric_set_free(f.metrics);
	arena_free(f.a);
}
