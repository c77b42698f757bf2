/*
 * Embeddings of a provider whose responses each test defines.
 */
#include "llm/embed.h"
#include "testkit/loop_thread.h"
#include "testkit/raw_server.h"

#define CALL_MS 10000

static const char *_Atomic answer;
static struct buf requests = BUF_INIT(1024 * 1024);
static pthread_mutex_t requests_lock = PTHREAD_MUTEX_INITIALIZER;

static void
provider(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(1024 * 1024);

	(void)p;
	if (raw_server_read(fd, &in)) {
		pthread_mutex_lock(&requests_lock);
		buf_reset(&requests);
		buf_put_str(&requests, buf_str(&in));
		pthread_mutex_unlock(&requests_lock);
		(void)raw_server_write(fd, answer);
	}
	buf_free(&in);
}

struct talk {
	struct tk_loop k;
	struct raw_server p;
	struct embed *e;
	struct embed_request request;
	enum rc started, rc;
	struct buf vectors;
	size_t dimensions;
	int times;
	_Atomic bool done;
};

static struct talk talk;

static void
on_done(void *arg, const struct embed_result *r)
{
	struct talk *me = arg;
	size_t i, k;

	me->rc = r->rc;
	me->times++;
	me->dimensions = r->dimensions;
	for (i = 0; r->rc == RC_OK && i < r->n; i++)
		for (k = 0; k < r->dimensions; k++)
			buf_printf(&me->vectors, "%g ", r->vectors[i][k]);
	me->done = true;
}

static void
do_new(void *arg)
{
	struct talk *me = arg;
	char url[64];
	struct embed_opts o = { .loop = me->k.l,
		.base_url = url,
		.api_key = "secret",
		.model = "e1",
		.dimensions = 2 };

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/", me->p.port);
	ck_assert_int_eq(embed_new(&o, &me->e), RC_OK);
	ck_assert_str_eq(embed_model(me->e), "e1");
	o.model = "";
	ck_assert_int_eq(embed_new(&o, &me->e), RC_INVALID);
	o.model = "e1";
	o.base_url = "ftp://x";
	ck_assert_int_eq(embed_new(&o, &me->e), RC_INVALID);
}

static void
do_request(void *arg)
{
	static const struct str texts[] = { STR_INIT("喝茶"), STR_INIT("b") };
	struct talk *me = arg;

	me->done = false;
	me->times = 0;
	buf_reset(&me->vectors);
	me->request = (struct embed_request){ .texts = texts,
		.n = 2,
		.deadline = { clock_wall().ms + CALL_MS },
		.fn = on_done,
		.arg = me };
	me->started = embed_request(me->e, &me->request);
}

static void
do_free(void *arg)
{
	embed_free(((struct talk *)arg)->e);
}

static bool
is_done(void *arg)
{
	return ((struct talk *)arg)->done;
}

static void
start(void)
{
	talk = (struct talk){ .vectors = BUF_INIT(4096) };
	raw_server_open(&talk.p, provider);
	tk_loop_new(&talk.k, 256);
	tk_loop_start(&talk.k);
	tk_loop_call(&talk.k, do_new, &talk);
}

static void
stop(void)
{
	tk_loop_call(&talk.k, do_free, &talk);
	tk_loop_stop(&talk.k);
	loop_free(talk.k.l);
	raw_server_close(&talk.p);
	buf_free(&talk.vectors);
	buf_free(&requests);
}

/* The result of a call with that response. */
static enum rc
request(const char *text)
{
	answer = text;
	tk_loop_call(&talk.k, do_request, &talk);
	if (talk.started != RC_OK)
		return talk.started;
	ck_assert(tk_until(is_done, &talk, CALL_MS));
	ck_assert_int_eq(talk.times, 1);
	return talk.rc;
}

#define RESPONDS(status, body) \
	"HTTP/1.1 " status "\r\nConnection: close\r\n\r\n" body
#define DATA(rows) \
	RESPONDS("200 OK", "{\"object\":\"list\",\"data\":[" rows "]}")

TEST(vectors_are_in_the_order_of_the_texts)
{
	start();
	ck_assert_int_eq(request(DATA("{\"index\":1,\"embedding\":[3,4]},"
				      "{\"index\":0,\"embedding\":[1,2.5]}")),
	    RC_OK);
	ck_assert_str_eq(talk.vectors.p, "1 2.5 3 4 ");
	ck_assert_uint_eq(talk.dimensions, 2);
	pthread_mutex_lock(&requests_lock);
	ck_assert(str_starts(
	    buf_str(&requests), STR("POST /v1/embeddings HTTP/1.1\r\n")));
	ck_assert(str_find(buf_str(&requests),
		      STR("Authorization: Bearer secret\r\n")) > 0);
	ck_assert(str_ends(buf_str(&requests),
	    STR("{\"model\":\"e1\",\"input\":[\"喝茶\",\"b\"],"
		"\"encoding_format\":\"float\",\"dimensions\":2}")));
	pthread_mutex_unlock(&requests_lock);
	/* Without indexes they are in order. */
	ck_assert_int_eq(
	    request(DATA("{\"embedding\":[5]},{\"embedding\":[6]}")), RC_OK);
	ck_assert_str_eq(talk.vectors.p, "5 6 ");
	stop();
}

static const struct {
	const char *answer;
	enum rc rc;
} bad[] = {
	{ DATA(""), RC_INVALID },
	{ DATA("{\"embedding\":[1]}"), RC_INVALID },
	{ DATA("{\"embedding\":[1]},{\"embedding\":[]}"), RC_INVALID },
	{ DATA("{\"embedding\":[1]},{\"embedding\":[1,2]}"), RC_INVALID },
	{ DATA("{\"index\":0,\"embedding\":[1]},"
	       "{\"index\":0,\"embedding\":[1]}"),
	    RC_INVALID },
	{ DATA("{\"index\":0,\"embedding\":[1]},"
	       "{\"index\":2,\"embedding\":[1]}"),
	    RC_INVALID },
	{ RESPONDS("200 OK", "{}"), RC_INVALID },
	{ RESPONDS("200 OK", "<html>"), RC_INVALID },
	{ RESPONDS("400 Bad", "{\"error\":{\"message\":\"no\"}}"), RC_INVALID },
};

TEST(invalid_responses_fail)
{
	size_t i;

	start();
	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    request(bad[i].answer) == bad[i].rc, "%s", bad[i].answer);
	stop();
}

static const struct {
	const char *answer;
	enum rc rc;
} failures[] = {
	{ RESPONDS("503 Busy", ""), RC_DOWN },
	{ RESPONDS("401 No", "{}"), RC_DENIED },
	{ RESPONDS("429 Slow", "{}"), RC_RETRY },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", RC_DOWN },
};

/* After a failure other calls fail at once, without a request. */
TEST(calls_fail_fast_after_a_failure)
{
	size_t i, n;

	for (i = 0; i < NELEM(failures); i++) {
		start();
		ck_assert_msg(request(failures[i].answer) == failures[i].rc,
		    "%s", failures[i].answer);
		n = talk.p.accepted;
		ck_assert_int_eq(request(DATA("")), RC_DOWN);
		ck_assert_int_eq(talk.times, 0);
		ck_assert_uint_eq(talk.p.accepted, n);
		stop();
	}
}
