/* Exported spans: JSON and batches. */
#include "testkit/otlp_fixture.h"

TEST(queued_spans_are_sent_in_one_request)
{
	otlp_fixture.respond = otlp_fixture_ok;
	raw_server_open(&otlp_fixture.server, otlp_fixture_serve);
	snprintf(otlp_fixture.url, sizeof(otlp_fixture.url),
	    "http://127.0.0.1:%d/in/", otlp_fixture.server.port);
	otlp_fixture_open_exporter("X-Key=a%20b,Authorization=Bearer t");
	for (unsigned i = 1; i < 4; i++)
		otlp_fixture_queue(i);
	otlp_fixture_wait("sent", 3);
	ck_assert_int_eq(otlp_fixture_requests(), 1);
	otlp_fixture_check_body(0, 1, 4);
	struct str head = buf_str(&otlp_fixture.requests[0]);
	ck_assert(str_starts(head, STR("POST /in/v1/traces HTTP/1.1\r\n")));
	ck_assert_int_ge(str_find(head, STR("\r\nX-Key: a b\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nAuthorization: Bearer t\r\n")), 0);
	ck_assert_int_ge(
	    str_find(head, STR("\r\nContent-Type: application/json\r\n")), 0);
	otlp_fixture_queue(4);
	otlp_fixture_wait("sent", 4);
	otlp_fixture_check_body(1, 4, 5);
	otlp_fixture_close();
}

TEST(full_batches_are_sent_without_waiting)
{
	enum { N = 3 * OTLP_BATCH_SPANS + 7 };

	otlp_fixture_open(otlp_fixture_ok);
	for (unsigned i = 0; i < N; i++)
		otlp_fixture_queue(i);
	otlp_fixture_wait("sent", N);
	ck_assert_int_eq(otlp_fixture_requests(), 4);
	for (unsigned i = 0; i < 4; i++)
		otlp_fixture_check_body((int)i, i * OTLP_BATCH_SPANS,
		    i < 3 ? (i + 1) * OTLP_BATCH_SPANS : N);
	ck_assert_uint_eq(otlp_fixture.server.accepted, 1);
	otlp_fixture_close();
}

TEST(batches_are_limited_by_bytes)
{
	enum { N = 200 };
	char text[OTLP_TEXT_MAX];
	struct otlp_attr attrs[16];
	struct trace t;
	size_t found = 0;

	otlp_fixture_open(otlp_fixture_ok);
	trace_new(&t);
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < NELEM(attrs); i++)
		attrs[i] = OTLP_S("a", ((struct str){ text, sizeof(text) }));
	for (int i = 0; i < N; i++)
		otlp_span(otlp_fixture.otlp,
		    &(struct otlp_span){ .trace = &t,
			.name = STR("large"),
			.attrs = attrs,
			.nattrs = NELEM(attrs) });
	otlp_fixture_wait("sent", N);
	ck_assert_int_gt(otlp_fixture_requests(), 3);
	for (int i = 0; i < otlp_fixture_requests(); i++) {
		ck_assert_uint_le(strlen(otlp_fixture_body(i)),
		    OTLP_BATCH_BYTES + sizeof(OTLP_FIXTURE_HEAD) + 8);
		for (const char *p = otlp_fixture_body(i);
		     (p = strstr(p, "\"large\"")) != NULL; p++)
			found++;
	}
	ck_assert_uint_eq(found, N);
	otlp_fixture_close();
}

TEST(unsampled_spans_are_ignored)
{
	struct trace t;

	otlp_fixture_open(otlp_fixture_ok);
	trace_new(&t);
	ck_assert(otlp_wants(otlp_fixture.otlp, &t));
	t.flags = 2;
	ck_assert(!otlp_wants(otlp_fixture.otlp, &t));
	otlp_span(otlp_fixture.otlp,
	    &(struct otlp_span){ .trace = &t, .name = STR("no") });
	otlp_fixture_queue(1);
	otlp_fixture_wait("sent", 1);
	otlp_fixture_check_body(0, 1, 2);
	otlp_fixture_close();
}

TEST(without_an_endpoint_nothing_is_exported)
{
	struct otlp_conf conf = { .endpoint = "", .service_name = "mind" };
	struct trace t;
	const char *why;

	otlp_fixture.loop = loop_new(64);
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = otlp_fixture.loop, .conf = &conf },
		&otlp_fixture.otlp, &why),
	    RC_OK);
	ck_assert_ptr_null(otlp_fixture.otlp);
	trace_new(&t);
	ck_assert(!otlp_wants(otlp_fixture.otlp, &t));
	ck_assert_int_eq(otlp_unix_ns(otlp_fixture.otlp, clock_mono()), 0);
	otlp_fixture_queue(1);
	otlp_flush(otlp_fixture.otlp, 1000);
	otlp_free(otlp_fixture.otlp);
	conf.endpoint = "collector:4318";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = otlp_fixture.loop, .conf = &conf },
		&otlp_fixture.otlp, &why),
	    RC_INVALID);
	conf.endpoint = "http://collector:4318";
	conf.headers = "a";
	ck_assert_int_eq(
	    otlp_new(
		&(struct otlp_opts){ .loop = otlp_fixture.loop, .conf = &conf },
		&otlp_fixture.otlp, &why),
	    RC_INVALID);
	loop_free(otlp_fixture.loop);
}
