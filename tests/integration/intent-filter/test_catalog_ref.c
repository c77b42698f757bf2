/*
 * Catalogs that are referenced instead of sent.
 */
#include <signal.h>

#include "core/buf.h"
#include "state/terminal.h"
#include "testkit/intent_filter_load.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define LIGHT(word)                                                       \
	"[{\"id\":\"light\",\"match\":{\"keywords_any\":[\"" word "\"]}," \
	"\"slots\":[{\"name\":\"skill\",\"default\":\"control_light\"}]}]"
#define REFERENCE(terminal, hash)                                            \
	"{\"command\":\"开灯\",\"catalog_ref\":{\"terminal_id\":\"" terminal \
	"\",\"hash\":\"" hash "\"}}"
#define FILTERED "soul_requests_total{route=\"filter\",code=\"ok\"}"
#define PATH     "/v1/intents/filter"

struct ref_test {
	struct tk_server nats, redis;
	struct filter_fixture r;
	struct filter_load load;
};

static void
ref_test_start_with(struct ref_test *n, int redis_ms)
{
	memset(n, 0, sizeof(*n));
	n->r.redis_ms = redis_ms;
	tk_server_start(&n->nats, TK_NATS);
	tk_server_start(&n->redis, TK_REDIS);
	n->r.redis = n->redis.url;
	filter_fixture_start(&n->r, "filter", n->nats.url);
	filter_load_start(&n->load, n->nats.url, n->redis.url);
}

static void
ref_test_start(struct ref_test *n)
{
	ref_test_start_with(n, 0);
}

static void
ref_test_stop(struct ref_test *n)
{
	tk_service_end(&n->r.s);
	filter_load_stop(&n->load);
	tk_server_stop(&n->nats, SIGTERM);
}

static void
ref_test_expect(
    struct ref_test *n, const char *body, long status, const char *text)
{
	struct filter_response a = filter_fixture_http(n->r.s.http, PATH, body);

	ck_assert_msg(
	    a.status == status, "%s: %ld: %s", body, a.status, a.body);
	ck_assert_msg(strstr(a.body, text) != NULL, "%s", a.body);
	filter_response_free(&a);
}

/* A counter of the service. */
static long
ref_test_counter(struct ref_test *n, const char *name)
{
	struct filter_response a =
	    filter_fixture_http(n->r.s.admin, "/metrics", NULL);
	char line[96];
	const char *at;
	long v;

	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(a.body, line);
	ck_assert_msg(at != NULL, "no %s", name);
	v = strtol(at + strlen(line), NULL, 10);
	filter_response_free(&a);
	return v;
}

static bool
ref_test_is_connected(void *arg)
{
	struct ref_test *n = arg;
	struct filter_response a =
	    filter_fixture_http(n->r.s.http, PATH, REFERENCE("t9", "h"));
	bool is = a.status == 404;

	filter_response_free(&a);
	return is;
}

TEST_T(a_catalog_is_found_by_its_hash, 60)
{
	struct ref_test n;

	ref_test_start(&n);
	ck_assert(tk_until(ref_test_is_connected, &n, FILTER_LOAD_MS));
	ref_test_expect(&n, REFERENCE("t1", "h1"), 404,
	    "\"/catalog_ref/terminal_id: has no catalog");
	filter_load_put_record(&n.load, LIGHT("开灯"), "h1");
	for (int i = 0; i < 3; i++)
		ref_test_expect(
		    &n, REFERENCE("t1", "h1"), 200, "\"execute_intents\"");
	ck_assert_int_eq(
	    ref_test_counter(&n, "soul_intent_catalog_reads_total"), 1);

	ref_test_expect(&n,
	    "{\"command\":\"开灯\",\"catalog_ref\":{\"terminal_id\":\"t1\"}}",
	    400, "\"/catalog_ref/hash: is missing; ");

	/* The record has another catalog by now. */
	ref_test_expect(&n, REFERENCE("t1", "h2"), 409,
	    "\"/catalog_ref/hash: the catalog has");
	filter_load_put_record(&n.load, LIGHT("关灯"), "h2");
	ref_test_expect(
	    &n, REFERENCE("t1", "h2"), 200, "\"fallback_reasoning\"");
	ref_test_expect(&n, REFERENCE("t1", "h3"), 409, "\"conflict\"");
	ck_assert_int_eq(
	    ref_test_counter(&n, "soul_intent_catalog_reads_total"), 2);
	/* A hash stands for a content, in any terminal's record. */
	ref_test_expect(&n, REFERENCE("t1", "h1"), 200, "\"execute_intents\"");
	ref_test_expect(&n, REFERENCE("t2", "h1"), 200, "\"execute_intents\"");

	/* Records that mqtt-bridge would never write. */
	filter_load_put_record(&n.load, "[{\"id\":7}]", "h4");
	ref_test_expect(&n, REFERENCE("t1", "h4"), 400, "id");
	filter_load_put_record(&n.load, "[]", "h5");
	ref_test_expect(&n, REFERENCE("t1", "h5"), 200, "\"decision\"");
	ref_test_expect(&n,
	    "{\"command\":\"开灯\",\"intent_catalog\":[{\"id\":\"a\"}],"
	    "\"catalog_ref\":{\"terminal_id\":\"t1\",\"hash\":\"h1\"}}",
	    400, "\"/catalog_ref: must not stand beside intent_catalog");
	ref_test_stop(&n);
}

static bool
ref_test_is_down(void *arg)
{
	struct ref_test *n = arg;
	struct filter_response a =
	    filter_fixture_http(n->r.s.http, PATH, REFERENCE("t1", "new"));
	bool is = a.status == 503;

	filter_response_free(&a);
	return is;
}

/* Redis hangs, dies and comes back. */
TEST_T(without_redis_catalogs_must_be_sent, 90)
{
	struct ref_test n;

	ref_test_start(&n);
	ck_assert(tk_until(ref_test_is_connected, &n, FILTER_LOAD_MS));
	filter_load_put_record(&n.load, LIGHT("开灯"), "h1");
	ref_test_expect(&n, REFERENCE("t1", "h1"), 200, "\"execute_intents\"");

	tk_signal(&n.redis.proc, SIGSTOP);
	ref_test_expect(&n, REFERENCE("t1", "h9"), 503, "\"unavailable\"");
	ref_test_expect(&n, REFERENCE("t1", "h9"), 503, "send intent_catalog");
	ref_test_expect(&n, REFERENCE("t1", "h1"), 200, "\"execute_intents\"");
	ref_test_expect(
	    &n, filter_fixture_protocol(), 200, "\"execute_intents\"");
	tk_signal(&n.redis.proc, SIGCONT);
	ck_assert(tk_until(ref_test_is_connected, &n, FILTER_LOAD_MS));

	tk_server_stop(&n.redis, SIGKILL);
	ck_assert(tk_until(ref_test_is_down, &n, FILTER_LOAD_MS));
	ref_test_expect(&n, REFERENCE("t1", "h1"), 200, "\"execute_intents\"");
	ref_test_expect(
	    &n, filter_fixture_protocol(), 200, "\"execute_intents\"");
	ck_assert(filter_fixture_status_is(n.r.s.admin, "/readyz", 200));
	tk_server_restart(&n.redis);
	ck_assert(tk_until(ref_test_is_connected, &n, FILTER_LOAD_MS));
	ref_test_stop(&n);
}

TEST(a_filter_without_redis_rejects_references)
{
	struct ref_test n = { 0 };

	tk_server_start(&n.nats, TK_NATS);
	filter_fixture_start(&n.r, "filter", n.nats.url);
	ref_test_expect(&n, REFERENCE("t1", "h1"), 503,
	    "\"/catalog_ref: cannot be read now; send intent_catalog\"");
	ref_test_expect(
	    &n, filter_fixture_protocol(), 200, "\"execute_intents\"");
	tk_service_end(&n.r.s);
	tk_server_stop(&n.nats, SIGTERM);
}

/* A catalog that takes long to compile; freed by the caller. */
static char *
ref_test_slow_catalog(void)
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
ref_test_is_read(void *arg)
{
	return ref_test_counter(arg, "soul_intent_catalog_reads_total") == 1;
}

/* Concurrent requests for one new catalog share one read; others proceed. */
TEST_T(a_burst_is_one_read, 60)
{
	struct ref_test n;
	char *slow = ref_test_slow_catalog();

	/* A busy machine does not read a large record within the default. */
	ref_test_start_with(&n, 10000);
	ck_assert(tk_until(ref_test_is_connected, &n, FILTER_LOAD_MS));
	ref_test_expect(
	    &n, filter_fixture_protocol(), 200, "\"execute_intents\"");
	filter_load_put_record(&n.load, slow, "slow");
	n.load.request_text = STR(REFERENCE("t1", "slow"));
	n.load.deadline_ms = FILTER_LOAD_MS;
	n.load.to_send = 200;
	filter_load_fill(&n.load, 200);
	ck_assert(
	    tk_loop_until(n.load.loop, ref_test_is_read, &n, FILTER_LOAD_MS));
	ref_test_expect(
	    &n, filter_fixture_protocol(), 200, "\"execute_intents\"");
	ck_assert_int_eq(ref_test_counter(&n, FILTERED), 2);
	ck_assert(tk_loop_until(
	    n.load.loop, filter_load_is_done, &n.load, FILTER_LOAD_MS));
	ck_assert_uint_eq(n.load.good, 200);
	ck_assert_int_eq(
	    ref_test_counter(&n, "soul_intent_catalog_reads_total"), 1);
	free(slow);
	ref_test_stop(&n);
}
