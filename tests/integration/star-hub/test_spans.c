/*
 * Spans of messages that are part of a trace, at a collector.
 */
#include "testkit/json.h"
#include "testkit/otlp_fixture.h"
#include "testkit/star_fixture.h"

#define AGENT_A "/env/demo_world/agent/agent_001"
#define AGENT_B "/env/demo_world/agent/agent_002"

#define TRACE   "0af7651916cd43dd8448eb211c80319c"
#define PARENT  "b7ad6b7169203331"
#define SAMPLED "00-" TRACE "-" PARENT "-01"

#define EVENT "{\"type\":\"event\",\"id\":\"e1\",\"event\":\"seen\"}"

/* A message from agent_001 to an agent, with a traceparent. */
static void
send_traced(struct tk_ws *c, const char *to, const char *traceparent)
{
	char text[512];

	snprintf(text, sizeof(text),
	    "{\"type\":\"message\",\"message_id\":\"m1\",\"traceparent\":\"%s\""
	    ",\"sender\":{\"id\":\"agent_001\",\"type\":\"agent\"},"
	    "\"recipient\":{\"id\":\"%s\",\"type\":\"agent\"},"
	    "\"payload\":" EVENT "}",
	    traceparent, to);
	tk_ws_send(c, text);
}

/* ---- the collector ---- */

static void
spans_start(struct star_fixture *f, int hubs)
{
	char endpoint[96];

	otlp_fixture.respond = otlp_fixture_ok;
	raw_server_open(&otlp_fixture.server, otlp_fixture_serve);
	snprintf(endpoint, sizeof(endpoint),
	    "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:%d",
	    otlp_fixture.server.port);
	star_start_hubs(f, hubs, TK_ENV("STAR_PRESENCE=off", endpoint));
}

/* All spans that it has, in an array. */
static json_t *
spans_all(void)
{
	json_t *all = json_array(), *body, *some;
	int i, n;

	pthread_mutex_lock(&otlp_fixture.lock);
	n = otlp_fixture.n;
	pthread_mutex_unlock(&otlp_fixture.lock);
	for (i = 0; i < n; i++) {
		body =
		    tk_json(otlp_fixture_body(i), strlen(otlp_fixture_body(i)));
		some = tk_at(body, "resourceSpans.0.scopeSpans.0.spans");
		ck_assert_int_eq(json_array_extend(all, some), 0);
		json_decref(body);
	}
	return all;
}

static bool
spans_are(void *arg)
{
	json_t *all = spans_all();
	bool enough = json_array_size(all) >= *(size_t *)arg;

	json_decref(all);
	return enough;
}

/* There are n, and no more after the hubs have ended. */
static json_t *
spans_stop(struct star_fixture *f, size_t n)
{
	json_t *all;

	ck_assert(tk_until(spans_are, &n, OTLP_FIXTURE_MS));
	star_stop(f);
	all = spans_all();
	ck_assert_uint_eq(json_array_size(all), n);
	raw_server_close(&otlp_fixture.server);
	for (int i = 0; i < otlp_fixture.n; i++)
		buf_free(&otlp_fixture.requests[i]);
	return all;
}

/* The only one of that name, which is part of TRACE. */
static json_t *
span_named(json_t *all, const char *name)
{
	json_t *span, *found = NULL;
	size_t i;

	json_array_foreach (all, i, span) {
		ck_assert_str_eq(tk_text(span, "traceId"), TRACE);
		if (strcmp(tk_text(span, "name"), name) != 0)
			continue;
		ck_assert_ptr_null(found);
		found = span;
	}
	ck_assert_ptr_nonnull(found);
	return found;
}

/* ---- the tests ---- */

TEST(a_message_with_a_trace_has_spans)
{
	struct star_fixture f = { 0 };
	json_t *all, *route, *deliver;
	struct tk_ws a, b;

	spans_start(&f, 2);
	star_open_at(&f, 0, &a, AGENT_A);
	star_open_at(&f, 1, &b, AGENT_B);
	send_traced(&a, "agent_002", SAMPLED);
	star_expect_has(&b, "\"traceparent\":\"" SAMPLED "\"");
	tk_ws_close(&a);
	tk_ws_close(&b);
	all = spans_stop(&f, 2);
	route = span_named(all, "star.route");
	deliver = span_named(all, "star.deliver");
	ck_assert_str_eq(tk_text(route, "parentSpanId"), PARENT);
	ck_assert_str_eq(
	    tk_text(deliver, "parentSpanId"), tk_text(route, "spanId"));
	ck_assert_ptr_null(tk_find(route, "status"));
	ck_assert_ptr_null(tk_find(deliver, "status"));
	json_decref(all);
}

TEST(an_error_is_in_the_spans)
{
	struct star_fixture f = { 0 };
	struct tk_ws a;
	json_t *all;

	spans_start(&f, 2);
	star_open_at(&f, 0, &a, AGENT_A);
	send_traced(&a, "agent_003", SAMPLED);
	star_expect_error(&a, "CONNECTION_ERROR", "target_not_found");
	tk_ws_close(&a);
	all = spans_stop(&f, 2);
	ck_assert_str_eq(
	    tk_text(json_object_get(span_named(all, "star.deliver"), "status"),
		"message"),
	    "CONNECTION_ERROR");
	json_decref(all);
}

TEST(a_message_is_part_of_the_trace_of_its_connection)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, b;
	json_t *all;

	spans_start(&f, 1);
	ck_assert_int_eq(
	    tk_ws_open(&a, f.hub.http, AGENT_A, "traceparent: " SAMPLED "\r\n"),
	    101);
	(void)star_next(&a);
	star_open(&f, &b, AGENT_B);
	star_send(&a, "agent:agent_001", "agent:agent_002", EVENT);
	star_expect_message(&b, "agent:agent_001", "agent:agent_002", EVENT);
	tk_ws_close(&a);
	tk_ws_close(&b);
	all = spans_stop(&f, 1);
	ck_assert_str_eq(
	    tk_text(span_named(all, "star.route"), "parentSpanId"), PARENT);
	json_decref(all);
}

/* The last one has a span, so that the collector has all when it has that. */
TEST(other_messages_have_none)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, b;

	spans_start(&f, 1);
	star_open(&f, &a, AGENT_A);
	star_open(&f, &b, AGENT_B);
	star_send(&a, "agent:agent_001", "agent:agent_002", EVENT);
	star_expect_has(&b, "seen");
	send_traced(&a, "agent_002", "00-" TRACE "-" PARENT "-00");
	star_expect_has(&b, "seen");
	send_traced(&a, "agent_002", "no trace");
	star_expect_has(&b, "seen");
	send_traced(&a, "agent_002", SAMPLED);
	star_expect_has(&b, "seen");
	tk_ws_close(&a);
	tk_ws_close(&b);
	json_decref(spans_stop(&f, 1));
}
