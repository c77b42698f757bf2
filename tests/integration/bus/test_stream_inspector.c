/*
 * The stream inspector: stored messages are found, gaps or not, with headers
 * and all of their bytes, and deleted.
 */
#include <unistd.h>

#include "bus/jetstream.h"
#include "core/mem.h"
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

struct query_result {
	int calls;
	enum rc rc;
	int64_t first_seq, last_seq, count, seq;
	struct wall stored;
	char subject[64], header[64], data[64];
	size_t n;
};

static void
on_query_result(void *arg, enum rc rc, const struct bus_stream_result *a)
{
	struct query_result *g = arg;

	g->calls++;
	g->rc = rc;
	ck_assert((a != NULL) == (rc == RC_OK));
	if (a == NULL)
		return;
	g->first_seq = a->first_seq;
	g->last_seq = a->last_seq;
	g->count = a->count;
	g->seq = a->m.seq;
	g->stored = a->m.stored;
	g->n = a->m.data.n;
	str_copy(a->m.subject, g->subject, sizeof(g->subject));
	str_copy(a->m.data, g->data, sizeof(g->data));
	str_copy(bus_stream_msg_header(&a->m, "Soul-Why"), g->header,
	    sizeof(g->header));
	ck_assert_ptr_null(bus_stream_msg_header(&a->m, "soul-why").p);
}

static bool
query_is_done(void *arg)
{
	return ((struct query_result *)arg)->calls > 0;
}

enum kind { STATE, COUNT_A, GET, NEXT, DELETE };

static enum rc
run_query(
    struct bus_fixture *e, enum kind kind, int64_t seq, struct query_result *g)
{
	struct bus_stream_query q = { "JOBS", bus_fixture_in_ms(5000),
		on_query_result, g };
	enum rc rc;

	*g = (struct query_result){ 0 };
	rc = kind == STATE    ? bus_stream_info(e->bus, &q)
	    : kind == COUNT_A ? bus_stream_count(e->bus, &q, "job.a")
	    : kind == GET     ? bus_stream_msg_get(e->bus, &q, seq)
	    : kind == NEXT    ? bus_stream_msg_next(e->bus, &q, seq)
			      : bus_stream_msg_delete(e->bus, &q, seq);
	if (rc != RC_OK)
		return rc;
	ck_assert_int_eq(g->calls, 0);
	BUS_FIXTURE_WAIT(e, query_is_done, g);
	ck_assert_int_eq(g->calls, 1);
	return g->rc;
}

/* Publish with a custom header. */
static void
publish_with_header(
    struct bus_fixture *e, const char *id, struct str data, const char *why)
{
	const struct bus_header h = { "Soul-Why", why };
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(5000),
		.msg_id = id,
		.headers = &h,
		.nheaders = 1 };
	struct bus_jobs_ack p = { 0 };

	ck_assert_int_eq(
	    bus_stream_publish(e->bus, "job.a", data, &meta,
		(struct bus_pub_ack_handler){ bus_jobs_on_ack, &p }),
	    RC_OK);
	BUS_FIXTURE_WAIT(e, bus_jobs_is_acked, &p);
	ck_assert_int_eq(p.rc, RC_OK);
}

TEST(stored_messages_are_read_and_deleted)
{
	static char big[BUS_PAYLOAD_MAX];
	struct wall before = clock_wall();
	struct bus_fixture e;
	struct query_result g;
	struct bus_jobs_ack p;

	memset(big, 'b', sizeof(big));
	bus_fixture_start(&e);
	/* No stream yet. */
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_INVALID);
	ck_assert_int_eq(run_query(&e, GET, 1, &g), RC_INVALID);
	ck_assert_int_eq(run_query(&e, DELETE, 1, &g), RC_INVALID);
	bus_jobs_create(&e);
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_OK);
	ck_assert_int_eq(g.last_seq, 0);
	ck_assert_int_eq(run_query(&e, NEXT, 1, &g), RC_NOENT);
	publish_with_header(&e, "1", STR("one"), "because: 原因");
	ck_assert_int_eq(bus_jobs_publish(&e, "job.b", "2", &p), RC_OK);
	publish_with_header(
	    &e, "3", (struct str){ big, sizeof(big) }, "it is big");
	publish_with_header(&e, "4", STR(""), "it is empty");
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_OK);
	ck_assert_int_eq(g.last_seq, 4);
	ck_assert_int_eq(run_query(&e, GET, 1, &g), RC_OK);
	ck_assert_int_eq(g.seq, 1);
	ck_assert_str_eq(g.subject, "job.a");
	ck_assert_str_eq(g.header, "because: 原因");
	ck_assert_str_eq(g.data, "one");
	ck_assert_int_ge(g.stored.ms, before.ms);
	ck_assert_int_le(g.stored.ms, clock_wall().ms);
	ck_assert_int_eq(run_query(&e, DELETE, 2, &g), RC_OK);
	ck_assert_int_eq(run_query(&e, DELETE, 2, &g), RC_NOENT);
	ck_assert_int_eq(run_query(&e, DELETE, 99, &g), RC_NOENT);
	ck_assert_int_eq(run_query(&e, GET, 2, &g), RC_NOENT);
	ck_assert_int_eq(run_query(&e, NEXT, 2, &g), RC_OK);
	ck_assert_int_eq(g.seq, 3);
	ck_assert_uint_eq(g.n, sizeof(big));
	ck_assert_str_eq(g.header, "it is big");
	ck_assert_int_eq(run_query(&e, NEXT, 4, &g), RC_OK);
	ck_assert_str_eq(g.header, "it is empty");
	ck_assert_uint_eq(g.n, 0);
	/* Of one subject. */
	ck_assert_int_eq(run_query(&e, COUNT_A, 0, &g), RC_OK);
	ck_assert_int_eq(g.count, 3);
	ck_assert_int_eq(run_query(&e, DELETE, 4, &g), RC_OK);
	ck_assert_int_eq(run_query(&e, COUNT_A, 0, &g), RC_OK);
	ck_assert_int_eq(g.count, 2);
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_OK);
	ck_assert_int_eq(g.first_seq, 1);
	ck_assert_int_eq(g.count, 0);
	ck_assert_int_eq(run_query(&e, NEXT, 4, &g), RC_NOENT);
	/* The newest is deleted; its sequence number is not reused. */
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_OK);
	ck_assert_int_eq(g.last_seq, 4);
	bus_fixture_stop(&e);
}

TEST(invalid_queries_are_rejected)
{
	static const struct bus_header bad[] = { { "A b", "c" },
		{ "A", "b\nc" }, { "A", "" } };
	static const struct bus_header many[BUS_HEADERS_MAX + 1] = { { "A",
									 "1" },
		{ "B", "1" }, { "C", "1" }, { "D", "1" }, { "E", "1" } };
	struct bus_meta meta = { .headers = many, .nheaders = NELEM(many) };
	struct bus_stream_query q = { "no stream", bus_fixture_in_ms(5000),
		on_query_result, NULL };
	struct bus_fixture e;
	struct query_result g;
	size_t i;

	bus_fixture_start(&e);
	ck_assert_int_eq(bus_stream_info(e.bus, &q), RC_INVALID);
	q.stream = "JOBS";
	ck_assert_int_eq(bus_stream_count(e.bus, &q, "job.*"), RC_INVALID);
	ck_assert_int_eq(run_query(&e, GET, 0, &g), RC_INVALID);
	ck_assert_int_eq(run_query(&e, DELETE, -1, &g), RC_INVALID);
	ck_assert_int_eq(
	    bus_publish(e.bus, "job.a", STR(""), &meta), RC_INVALID);
	meta.nheaders = BUS_HEADERS_MAX;
	ck_assert_int_eq(bus_publish(e.bus, "job.a", STR(""), &meta), RC_OK);
	meta.nheaders = 1;
	for (i = 0; i < NELEM(bad); i++) {
		meta.headers = &bad[i];
		ck_assert_int_eq(
		    bus_publish(e.bus, "job.a", STR(""), &meta), RC_INVALID);
	}
	/* A request that is resent cannot have custom headers. */
	meta = (struct bus_meta){ .deadline = bus_fixture_in_ms(1000),
		.headers = many,
		.nheaders = 1,
		.resend_ms = 100 };
	ck_assert_int_eq(bus_request(e.bus, "job.a", STR(""), &meta,
			     (struct bus_reply_handler){ 0 }, NULL),
	    RC_INVALID);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_DOWN);
	bus_fixture_stop(&e);
}

static int
start_plain_server(void *arg)
{
	execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p",
	    (char *)arg, (char *)NULL);
	return 1;
}

struct door {
	int port;
};

static bool
server_is_open(void *arg)
{
	return tk_port_open(((struct door *)arg)->port);
}

TEST(a_server_without_jetstream_is_denied)
{
	struct bus_fixture e = { 0 };
	struct tk_proc p;
	struct door d = { tk_port() };
	char port[16];
	struct query_result g;

	snprintf(port, sizeof(port), "%d", d.port);
	snprintf(e.nats.url, sizeof(e.nats.url), "nats://127.0.0.1:%d", d.port);
	tk_fork(&p, "plain", start_plain_server, port);
	ck_assert(tk_until(server_is_open, &d, BUS_FIXTURE_MS));
	e.loop = loop_new(4096);
	e.bus = bus_fixture_bus(&e, "test");
	ck_assert_int_eq(run_query(&e, STATE, 0, &g), RC_DENIED);
	bus_fixture_stop(&e);
}
