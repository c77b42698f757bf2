/* Many calls, cancelling in each phase, calls from callbacks, freeing. */
#include "testkit/httpc_fixture.h"

static struct httpc_fixture s;

/* "ok" to each request. */
static void
respond_ok(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	while (raw_server_read(fd, &in) &&
	    raw_server_write(
		fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
		continue;
	buf_free(&in);
}

static void
hold_first(struct raw_server *p, int fd)
{
	raw_server_hold(p, fd);
}

/* The start of an endless stream. */
static void
send_endless(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	if (raw_server_read(fd, &in) &&
	    raw_server_write(fd,
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"))
		raw_server_hold(p, fd);
	buf_free(&in);
}

#define MANY 100

static struct httpc_fixture_call many[MANY];

static bool
all_done(void *arg)
{
	size_t n = *(size_t *)arg;

	for (size_t i = 0; i < n; i++)
		if (!many[i].done)
			return false;
	return true;
}

static void
start_all(void *arg)
{
	size_t n = *(size_t *)arg;

	for (size_t i = 0; i < n; i++)
		httpc_fixture_call_start(&many[i]);
}

TEST(a_hundred_calls_run_concurrently)
{
	size_t n = MANY;

	httpc_fixture_open(
	    &s, respond_ok, (struct httpc_opts){ .active_max = 20 });
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < n; i++)
			httpc_fixture_call_init(&many[i], s.c, s.url);
		tk_loop_call(&s.k, start_all, &n);
		ck_assert(tk_until(all_done, &n, HTTPC_FIXTURE_MS));
		tk_loop_call(&s.k, NULL, NULL);
		for (size_t i = 0; i < n; i++) {
			ck_assert_int_eq(many[i].times, 1);
			ck_assert_int_eq(many[i].rc, RC_OK);
			ck_assert(str_eq(buf_str(&many[i].body), STR("ok")));
			buf_free(&many[i].body);
		}
	}
	ck_assert_uint_le(s.p.accepted, 20);
	httpc_fixture_close(&s);
}

TEST(a_full_queue_rejects_calls)
{
	size_t n = 7;

	httpc_fixture_open(&s, hold_first,
	    (struct httpc_opts){ .active_max = 2, .queue_max = 4 });
	for (size_t i = 0; i < n; i++) {
		httpc_fixture_call_init(&many[i], s.c, s.url);
		many[i].rq.deadline.ms = clock_wall().ms + 500;
	}
	tk_loop_call(&s.k, start_all, &n);
	httpc_fixture_check_counts(&s, 2, 4);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(many[i].started, RC_OK);
	ck_assert_int_eq(many[6].started, RC_RETRY);
	/* Queued calls have their deadlines too. */
	n = 6;
	ck_assert(tk_until(all_done, &n, HTTPC_FIXTURE_MS));
	tk_loop_call(&s.k, NULL, NULL);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(many[i].rc, RC_TIMEOUT);
		ck_assert_int_eq(many[i].times, 1);
		ck_assert_int_lt(httpc_fixture_call_ms(&many[i]), 2000);
	}
	ck_assert_int_eq(many[6].times, 0);
	httpc_fixture_check_counts(&s, 0, 0);
	httpc_fixture_close(&s);
}

static void
cancel(void *arg)
{
	httpc_cancel(((struct httpc_fixture_call *)arg)->call);
}

static bool
accepted_has_reached(void *arg)
{
	return s.p.accepted >= *(size_t *)arg;
}

TEST(calls_are_cancelled_when_queued_and_active)
{
	size_t one = 1, two = 2;

	httpc_fixture_open(
	    &s, hold_first, (struct httpc_opts){ .active_max = 1 });
	/* Before the loop's next iteration. */
	httpc_fixture_call_init(&many[0], s.c, s.url);
	httpc_fixture_call_init(&many[1], s.c, s.url);
	tk_loop_call(&s.k, start_all, &one);
	tk_loop_call(&s.k, cancel, &many[0]);
	httpc_fixture_check_counts(&s, 0, 0);
	/* While the response is pending, and in the queue after it. */
	tk_loop_call(&s.k, start_all, &two);
	ck_assert(tk_until(accepted_has_reached, &one, 5000));
	httpc_fixture_check_counts(&s, 1, 1);
	tk_loop_call(&s.k, cancel, &many[1]);
	httpc_fixture_check_counts(&s, 1, 0);
	tk_loop_call(&s.k, cancel, &many[0]);
	httpc_fixture_check_counts(&s, 0, 0);
	/* Cancelling the first one starts the second. */
	tk_loop_call(&s.k, start_all, &two);
	tk_loop_call(&s.k, cancel, &many[0]);
	httpc_fixture_check_counts(&s, 1, 0);
	tk_loop_call(&s.k, cancel, &many[1]);
	tk_loop_call(&s.k, NULL, NULL);
	ck_assert_int_eq(many[0].times + many[1].times, 0);
	httpc_fixture_close(&s);
}

/* What on_chunk does, by the number of the call: see the tests. */
static _Atomic int chunks;

static enum rc
count_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	(void)arg;
	if (chunk.n == 3 && httpc_status(call) == 200 &&
	    str_eq(
		httpc_header(call, "Content-Type"), STR("text/event-stream")))
		chunks++;
	return RC_OK;
}

static bool
chunks_have_reached(void *arg)
{
	return chunks == *(int *)arg;
}

TEST(a_stream_is_cancelled)
{
	size_t one = 1;
	int n = 1;

	httpc_fixture_open(&s, send_endless, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&many[0], s.c, s.url);
	many[0].rq.on_chunk = count_chunk;
	tk_loop_call(&s.k, start_all, &one);
	ck_assert(tk_until(chunks_have_reached, &n, 5000));
	tk_loop_call(&s.k, cancel, &many[0]);
	httpc_fixture_check_counts(&s, 0, 0);
	ck_assert_int_eq(many[0].times, 0);
	httpc_fixture_close(&s);
}

static enum rc
cancel_both(void *arg, struct httpc_call *call, struct str chunk)
{
	struct httpc_fixture_call *g = arg;

	(void)chunk;
	ck_assert(call == g->call);
	httpc_cancel(many[1].call);
	httpc_cancel(call);
	chunks++;
	return RC_OK;
}

TEST(on_chunk_may_cancel_its_call_and_others)
{
	size_t two = 2;
	int n = 1;

	httpc_fixture_open(&s, send_endless, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&many[0], s.c, s.url);
	httpc_fixture_call_init(&many[1], s.c, s.url);
	many[0].rq.on_chunk = cancel_both;
	tk_loop_call(&s.k, start_all, &two);
	ck_assert(tk_until(chunks_have_reached, &n, 5000));
	tk_loop_call(&s.k, NULL, NULL);
	httpc_fixture_check_counts(&s, 0, 0);
	ck_assert_int_eq(many[0].times + many[1].times, 0);
	httpc_fixture_close(&s);
}

static enum rc
reject_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	(void)arg;
	(void)call;
	(void)chunk;
	return RC_CONFLICT;
}

TEST(on_chunk_may_end_the_call)
{
	httpc_fixture_open(&s, send_endless, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&many[0], s.c, s.url);
	many[0].rq.on_chunk = reject_chunk;
	httpc_fixture_run(&s, &many[0]);
	ck_assert_int_eq(many[0].rc, RC_CONFLICT);
	ck_assert_int_eq(many[0].status, 200);
	ck_assert_uint_eq(many[0].body.n, 0);
	httpc_fixture_close(&s);
}

/* Starts the next of many from its on_done, and one from its on_chunk. */
static void
start_next(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *a)
{
	struct httpc_fixture_call *g = arg;

	if (g + 1 < many + MANY) {
		int before = g[1].times;
		httpc_fixture_call_start(g + 1);
		/* Never from inside httpc_start(). */
		ck_assert_int_eq(g[1].times, before);
	}
	httpc_fixture_on_done(g, call, rc, a);
}

static enum rc
start_on_chunk(void *arg, struct httpc_call *call, struct str chunk)
{
	(void)arg;
	(void)call;
	(void)chunk;
	httpc_fixture_call_start(&many[1]);
	return RC_OK;
}

TEST(on_done_may_start_the_next_call)
{
	size_t one = 1, n = MANY;

	httpc_fixture_open(
	    &s, respond_ok, (struct httpc_opts){ .active_max = 1 });
	for (size_t i = 0; i < n; i++) {
		httpc_fixture_call_init(&many[i], s.c, s.url);
		many[i].rq.on_done = start_next;
	}
	tk_loop_call(&s.k, start_all, &one);
	ck_assert(tk_until(all_done, &n, HTTPC_FIXTURE_MS));
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(many[i].rc, RC_OK);
		ck_assert_int_eq(many[i].times, 1);
		buf_free(&many[i].body);
	}
	httpc_fixture_close(&s);
}

TEST(on_chunk_may_start_a_call)
{
	size_t one = 1, two = 2;

	httpc_fixture_open(&s, respond_ok, (struct httpc_opts){ 0 });
	httpc_fixture_call_init(&many[0], s.c, s.url);
	httpc_fixture_call_init(&many[1], s.c, s.url);
	many[0].rq.on_chunk = start_on_chunk;
	tk_loop_call(&s.k, start_all, &one);
	ck_assert(tk_until(all_done, &two, HTTPC_FIXTURE_MS));
	ck_assert_int_eq(many[0].rc, RC_OK);
	ck_assert_int_eq(many[1].rc, RC_OK);
	buf_free(&many[1].body);
	httpc_fixture_close(&s);
}

/* Tries to start a call while the client is freed. */
static void
start_after_close(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *a)
{
	struct httpc_fixture_call *g = arg;

	httpc_fixture_on_done(g, call, rc, a);
	g->started = httpc_start(g->c, &g->rq, NULL);
}

TEST(freeing_the_client_ends_all_calls)
{
	size_t n = 6;

	httpc_fixture_open(
	    &s, hold_first, (struct httpc_opts){ .active_max = 3 });
	for (size_t i = 0; i < n; i++) {
		httpc_fixture_call_init(&many[i], s.c, s.url);
		many[i].rq.on_done = start_after_close;
	}
	tk_loop_call(&s.k, start_all, &n);
	httpc_fixture_close(&s);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(many[i].times, 1);
		ck_assert_int_eq(many[i].rc, RC_DOWN);
		ck_assert_int_eq(many[i].started, RC_DOWN);
		ck_assert_str_eq(many[i].why, "the client is stopping");
	}
}
