/*
 * Catalogs that are named instead of carried.
 */
#include <signal.h>

#include "asking.h"

#define LIGHT(word)                                                       \
	"[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"" word "\"]}," \
	"\"slots\":[{\"name\":\"skill\",\"default\":\"control_light\"}]}]"
#define NAMED(terminal, hash)                                                \
	"{\"command\":\"开灯\",\"catalog_ref\":{\"terminal_id\":\"" terminal \
	"\",\"hash\":\"" hash "\"}}"
#define FILTERED "soul_requests_total{route=\"filter\",code=\"ok\"}"
#define PATH     "/v1/intents/filter"

struct named {
	struct tk_server nats, redis;
	struct running r;
	struct asking asking;
};

static void
named_start(struct named *n)
{
	memset(n, 0, sizeof(*n));
	tk_server_start(&n->nats, TK_NATS);
	tk_server_start(&n->redis, TK_REDIS);
	n->r.redis = n->redis.url;
	running_start(&n->r, "filter", n->nats.url);
	asking_start(&n->asking, n->nats.url, n->redis.url);
}

static void
named_stop(struct named *n)
{
	tk_service_end(&n->r.s);
	asking_stop(&n->asking);
	tk_server_stop(&n->nats, SIGTERM);
}

static void
want(struct named *n, const char *body, long status, const char *text)
{
	struct answer a = http(n->r.s.http, PATH, body);

	ck_assert_msg(
	    a.status == status, "%s: %ld: %s", body, a.status, a.body);
	ck_assert_msg(strstr(a.body, text) != NULL, "%s", a.body);
	answer_free(&a);
}

/* A counter of the service. */
static long
counted(struct named *n, const char *name)
{
	struct answer a = http(n->r.s.admin, "/metrics", NULL);
	char line[96];
	const char *at;
	long v;

	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(a.body, line);
	ck_assert_msg(at != NULL, "no %s", name);
	v = strtol(at + strlen(line), NULL, 10);
	answer_free(&a);
	return v;
}

static bool
redis_connected(void *arg)
{
	struct named *n = arg;
	struct answer a = http(n->r.s.http, PATH, NAMED("t9", "h"));
	bool is = a.status == 404;

	answer_free(&a);
	return is;
}

TEST_T(a_catalog_is_found_by_its_name, 60)
{
	struct named n;

	named_start(&n);
	ck_assert(tk_until(redis_connected, &n, ASKING_MS));
	want(&n, NAMED("t1", "h1"), 404,
	    "\"/catalog_ref/terminal_id: has no catalog");
	asking_record(&n.asking, LIGHT("开灯"), "h1");
	for (int i = 0; i < 3; i++)
		want(&n, NAMED("t1", "h1"), 200, "\"execute_intents\"");
	ck_assert_int_eq(counted(&n, "soul_intent_catalog_reads_total"), 1);

	/* Another by now; who still has the old one in hand is told. */
	want(
	    &n, NAMED("t1", "h2"), 409, "\"/catalog_ref/hash: the catalog has");
	asking_record(&n.asking, LIGHT("关灯"), "h2");
	want(&n, NAMED("t1", "h2"), 200, "\"fallback_reasoning\"");
	want(&n, NAMED("t1", "h3"), 409, "\"conflict\"");
	ck_assert_int_eq(counted(&n, "soul_intent_catalog_reads_total"), 2);
	/* A name stands for a content, whoever has it. */
	want(&n, NAMED("t1", "h1"), 200, "\"execute_intents\"");
	want(&n, NAMED("t2", "h1"), 200, "\"execute_intents\"");

	/* What a body should never have got into its record. */
	asking_record(&n.asking, "[{\"id\":7}]", "h4");
	want(&n, NAMED("t1", "h4"), 400, "id");
	asking_record(&n.asking, "[]", "h5");
	want(&n, NAMED("t1", "h5"), 200, "\"decision\"");
	want(&n,
	    "{\"command\":\"开灯\",\"intent_catalog\":[{\"id\":\"a\"}],"
	    "\"catalog_ref\":{\"terminal_id\":\"t1\",\"hash\":\"h1\"}}",
	    400, "\"/catalog_ref: must not stand beside intent_catalog");
	named_stop(&n);
}

static bool
is_down(void *arg)
{
	struct named *n = arg;
	struct answer a = http(n->r.s.http, PATH, NAMED("t1", "new"));
	bool is = a.status == 503;

	answer_free(&a);
	return is;
}

/* Redis that goes, hangs and comes back. */
TEST_T(without_redis_catalogs_are_carried, 90)
{
	struct named n;

	named_start(&n);
	ck_assert(tk_until(redis_connected, &n, ASKING_MS));
	asking_record(&n.asking, LIGHT("开灯"), "h1");
	want(&n, NAMED("t1", "h1"), 200, "\"execute_intents\"");

	tk_signal(&n.redis.proc, SIGSTOP);
	want(&n, NAMED("t1", "h9"), 503, "\"unavailable\"");
	want(&n, NAMED("t1", "h9"), 503, "send intent_catalog");
	want(&n, NAMED("t1", "h1"), 200, "\"execute_intents\"");
	want(&n, protocol(), 200, "\"execute_intents\"");
	tk_signal(&n.redis.proc, SIGCONT);
	ck_assert(tk_until(redis_connected, &n, ASKING_MS));

	tk_server_stop(&n.redis, SIGKILL);
	ck_assert(tk_until(is_down, &n, ASKING_MS));
	want(&n, NAMED("t1", "h1"), 200, "\"execute_intents\"");
	want(&n, protocol(), 200, "\"execute_intents\"");
	ck_assert(status_is(n.r.s.admin, "/readyz", 200));
	tk_server_restart(&n.redis);
	ck_assert(tk_until(redis_connected, &n, ASKING_MS));
	named_stop(&n);
}

TEST(a_filter_without_redis_says_so)
{
	struct named n = { 0 };

	tk_server_start(&n.nats, TK_NATS);
	running_start(&n.r, "filter", n.nats.url);
	want(&n, NAMED("t1", "h1"), 503,
	    "\"/catalog_ref: cannot be read now; send intent_catalog\"");
	want(&n, protocol(), 200, "\"execute_intents\"");
	tk_service_end(&n.r.s);
	tk_server_stop(&n.nats, SIGTERM);
}

/* A catalog that takes long to compile; freed by the caller. */
static char *
slow_catalog(void)
{
	struct buf b = BUF_INIT(TERMINAL_JSON_MAX);

	buf_puts(&b, "[");
	for (int i = 0; i < 2000; i++)
		buf_printf(&b,
		    "%s{\"id\":\"i%d\",\"match\":{\"keywords_any\":[\"开灯\"],"
		    "\"regex_any\":[\"((a{1,9}){1,9}%d){1,9}\",\"b{1,9}%d\"]},"
		    "\"slots\":[{\"name\":\"skill\",\"default\":\"x\"}]}",
		    i > 0 ? "," : "", i, i, i);
	buf_puts(&b, "]");
	ck_assert_int_eq(buf_rc(&b), RC_OK);
	return b.p;
}

static bool
is_read(void *arg)
{
	return counted(arg, "soul_intent_catalog_reads_total") == 1;
}

/* Many want one new catalog: it is read once, and others do not wait for it. */
TEST_T(a_burst_is_one_read, 60)
{
	struct named n;
	char *slow = slow_catalog();

	named_start(&n);
	ck_assert(tk_until(redis_connected, &n, ASKING_MS));
	want(&n, protocol(), 200, "\"execute_intents\"");
	asking_record(&n.asking, slow, "slow");
	n.asking.question = STR(NAMED("t1", "slow"));
	n.asking.deadline_ms = ASKING_MS;
	n.asking.to_send = 200;
	asking_fill(&n.asking, 200);
	ck_assert(tk_until(is_read, &n, ASKING_MS));
	want(&n, protocol(), 200, "\"execute_intents\"");
	ck_assert_int_eq(counted(&n, FILTERED), 2);
	ck_assert(
	    tk_loop_until(n.asking.loop, asking_done, &n.asking, ASKING_MS));
	ck_assert_uint_eq(n.asking.good, 200);
	ck_assert_int_eq(counted(&n, "soul_intent_catalog_reads_total"), 1);
	free(slow);
	named_stop(&n);
}
