/* Spans that arrive: their JSON, their batches. */
#include "integration/otlp/collector.h"

TEST(a_batch)
{
	collector.answer = say_ok;
	raw_server_open(&collector.peer, serve);
	snprintf(
	    url, sizeof(url), "http://127.0.0.1:%d/in/", collector.peer.port);
	open_otlp("X-Key=a%20b,Authorization=Bearer t");
	for (unsigned i = 1; i < 4; i++)
		queue(i);
	until("sent", 3);
	ck_assert_int_eq(asked(), 1);
	check_body(0, 1, 4);
	struct str head = buf_str(&collector.asked[0]);
	ck_assert(str_starts(head, STR("POST /in/v1/traces HTTP/1.1\r\n")));
	ck_assert_int_ge(str_find(head, STR("\r\nX-Key: a b\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nAuthorization: Bearer t\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nContent-Type: application/json\r\n")), 0);
	queue(4);
	until("sent", 4);
	check_body(1, 4, 5);
	close_all();
}

/* Full batches go without waiting, one request at a time. */
TEST(many)
{
	enum { N = 3 * OTLP_BATCH_SPANS + 7 };

	open_all(say_ok);
	for (unsigned i = 0; i < N; i++)
		queue(i);
	until("sent", N);
	ck_assert_int_eq(asked(), 4);
	for (unsigned i = 0; i < 4; i++)
		check_body((int)i, i * OTLP_BATCH_SPANS,
		    i < 3 ? (i + 1) * OTLP_BATCH_SPANS : N);
	ck_assert_uint_eq(collector.peer.accepted, 1);
	close_all();
}

/* Batches are cut by size too, and no span is lost between two. */
TEST(large_ones)
{
	enum { N = 200 };
	char text[OTLP_TEXT_MAX];
	struct otlp_attr attrs[16];
	struct trace t;
	size_t found = 0;

	open_all(say_ok);
	trace_new(&t);
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S("a", ((struct str){ text, sizeof(text) }));
	for (int i = 0; i < N; i++)
		otlp_span(o,
		    &(struct otlp_span){ .trace = &t,
			.name = STR("large"),
			.attrs = attrs,
			.nattrs = NELEM(attrs) });
	until("sent", N);
	ck_assert_int_gt(asked(), 3);
	for (int i = 0; i < asked(); i++) {
		ck_assert_uint_le(
		    strlen(body(i)), OTLP_BATCH_BYTES + sizeof(HEAD) + 8);
		for (const char *p = body(i);
		     (p = strstr(p, "\"large\"")) != NULL; p++)
			found++;
	}
	ck_assert_uint_eq(found, N);
	close_all();
}

TEST(what_is_not_sampled)
{
	struct trace t;

	open_all(say_ok);
	trace_new(&t);
	ck_assert(otlp_wants(o, &t));
	t.flags = 2;
	ck_assert(!otlp_wants(o, &t));
	otlp_span(o, &(struct otlp_span){ .trace = &t, .name = STR("no") });
	queue(1);
	until("sent", 1);
	check_body(0, 1, 2);
	close_all();
}

TEST(without_an_endpoint)
{
	struct otlp_conf conf = { .endpoint = "", .service_name = "mind" };
	struct trace t;
	const char *why;

	loop = loop_new(64);
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_OK);
	ck_assert_ptr_null(o);
	trace_new(&t);
	ck_assert(!otlp_wants(o, &t));
	ck_assert_int_eq(otlp_unix_ns(o, clock_mono()), 0);
	queue(1);
	otlp_flush(o, 1000);
	otlp_free(o);
	conf.endpoint = "collector:4318";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_INVALID);
	conf.endpoint = "http://collector:4318";
	conf.headers = "a";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = loop, .conf = &conf }, &o, &why),
	    RC_INVALID);
	loop_free(loop);
}
