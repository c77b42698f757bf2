/*
 * Live events of a session, whatever NATS does with them.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

#define PATH "/v1/sessions/s1/events?cursor=0"

static struct gateway_fixture b;
static struct gw_run r;

static void
take_all(struct tk_sse *s, int64_t from, int64_t to)
{
	for (; from <= to; from++)
		tk_sse_is(s, from, DELTA);
}

TEST(events_are_sent_immediately)
{
	struct tk_sse s, other;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	tk_sse_open(&s, b.gateway.http, PATH);
	tk_sse_open(&other, b.gateway.http, "/v1/sessions/s2/events?cursor=0");
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	gw_run_delta(&r, "你好");
	j = tk_sse_take(&s, 2, DELTA);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_1");
	ck_assert_str_eq(tk_text(j, "data.text_delta"), "你好");
	json_decref(j);
	gw_run_end(&r);
	tk_sse_is(&s, 3, FINAL);
	tk_sse_is(&s, 4, COMPLETED);
	/* The next turn continues the stream. */
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, 5, STARTED);
	/* Another session is not affected. */
	gw_run_begin(&r, &b, "s2", "turn_3");
	tk_sse_is(&other, 1, STARTED);
	tk_sse_close(&s);
	tk_sse_close(&other);
	gateway_fixture_stop(&b);
}

/* Publish an event not at all, once, twice, or later. */
static void
publish_unreliably(const char *const *json, int n)
{
	static const int steps[] = { 0, 2, 1, 1, 5, 3, 4, 7, 6, 6, 2 };
	int i, at;

	for (i = 0; i < n; i++) {
		at = i - i % 8 + steps[i % (int)NELEM(steps)] % 8;
		if (i % 5 != 3 && at < n)
			gw_run_publish(&r, at + 2, json[at]);
	}
}

TEST(lost_duplicated_and_reordered_events_are_corrected)
{
	enum { N = 120 };
	static char text[N][512];
	const char *json[N];
	struct str event;
	char data[64];
	struct tk_sse s;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	for (i = 0; i < N; i++) {
		snprintf(data, sizeof(data),
		    "{\"message_id\":\"m\",\"text_delta\":\"%d\"}", i);
		gw_run_event(&r, text[i], sizeof(text[i]), DELTA, data);
		json[i] = text[i];
		event = str_of(text[i]);
		gw_run_log(&r, &event, 1);
		if (i % 8 == 7)
			publish_unreliably(json, i + 1);
	}
	tk_sse_is(&s, 1, STARTED);
	take_all(&s, 2, N + 1);
	/* The last event may be lost and an invalid one published. */
	tk_nats_send(b.nc, "soul.stream.demo-user.s1", "no event");
	tk_nats_send(b.nc, "soul.stream.demo-user.s1", "{\"seq\":999}");
	r.mute = true;
	gw_run_delta(&r, "last");
	tk_sse_is(&s, N + 2, DELTA);
	ck_assert_uint_eq(s.at, s.c.in.n);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST_T(streams_survive_a_nats_restart, 60)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	tk_server_stop(&b.nats, SIGKILL);
	r.mute = true;
	gw_run_deltas(&r, 20);
	/* The log is read in the meantime. */
	take_all(&s, 2, 21);
	tk_server_restart(&b.nats);
	natsConnection_Destroy(b.nc);
	b.nc = tk_nats_connect(b.nats.url);
	r.mute = false;
	gw_run_delta(&r, "x");
	gw_run_delta(&r, "y");
	take_all(&s, 22, 23);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST_T(streams_survive_a_redis_restart, 60)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_restart(&b.redis);
	tk_state_wait(&b.db);
	ck_assert_int_eq(gw_run_alive(&r, 60000), RC_OK);
	r.mute = true;
	gw_run_deltas(&r, 5);
	take_all(&s, 2, 6);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A client that reconnects elsewhere uses its cursor. */
TEST_T(two_gateways_send_the_same_events, 60)
{
	struct tk_service second = { 0 };
	char path[128];
	struct tk_sse one, two, hop = { 0 };
	int64_t seq = 0;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	gateway_fixture_spawn(&b, &second, "chat-gateway", NULL);
	tk_sse_open(&one, b.gateway.http, PATH);
	tk_sse_open(&two, second.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	for (i = 0; i < 20; i++) {
		gw_run_delta(&r, "x");
		gw_run_delta(&r, "y");
		snprintf(path, sizeof(path),
		    "/v1/sessions/s1/events?cursor=%lld", (long long)seq);
		tk_sse_open(
		    &hop, i % 2 == 0 ? second.http : b.gateway.http, path);
		for (; seq < r.seq; seq++)
			tk_sse_is(&hop, seq + 1, seq == 0 ? STARTED : DELTA);
		tk_sse_close(&hop);
	}
	tk_sse_is(&one, 1, STARTED);
	tk_sse_is(&two, 1, STARTED);
	take_all(&one, 2, r.seq);
	take_all(&two, 2, r.seq);
	tk_sse_close(&one);
	tk_sse_close(&two);
	tk_service_end(&second);
	gateway_fixture_stop(&b);
}

/* A client with a small receive buffer. */
static void
open_slow(struct tk_http *c)
{
	int small = 4096;
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)b.gateway.http),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	buf_init(&c->in, 64 * 1024 * 1024);
	c->eof = false;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&to, sizeof(to)), 0);
}

/* An event of 100,000 bytes in the log only. */
static void
log_large(void)
{
	static char json[130000], data[110000], x[50001];
	struct str event;

	memset(x, 'x', sizeof(x) - 1);
	snprintf(data, sizeof(data),
	    "{\"message_id\":\"m\",\"text_delta\":\"%s\","
	    "\"content\":\"%s\"}",
	    x, x);
	gw_run_event(&r, json, sizeof(json), DELTA, data);
	event = str_of(json);
	gw_run_log(&r, &event, 1);
}

static bool
one_stream(void *arg)
{
	return gw_has_metric(arg, "\nsoul_event_streams 1\n");
}

/* Its stream ends; no other reader misses an event and no turn is delayed. */
TEST_T(only_the_stalled_reader_is_disconnected, 120)
{
	enum { N = 100 };
	struct tk_http slow;
	struct tk_sse s;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	open_slow(&slow);
	ck_assert(tk_http_puts(&slow, "GET " PATH " HTTP/1.0\r\n\r\n"));
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	r.mute = true;
	for (i = 0; i < N; i++)
		log_large();
	tk_sse_is(&s, 1, STARTED);
	take_all(&s, 2, N + 1);
	ck_assert(tk_until(one_stream, &b, 60000));
	r.mute = false;
	gw_run_delta(&r, "x");
	tk_sse_is(&s, N + 2, DELTA);
	ck_assert(tk_http_closed(&slow, GW_MS));
	tk_http_close(&slow);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A late reader gets the log at its own pace. */
TEST_T(a_large_log_is_read_completely, 60)
{
	enum { N = 60 };
	struct tk_sse s;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	r.mute = true;
	for (i = 0; i < N; i++)
		log_large();
	tk_sse_open(&s, b.gateway.http, PATH);
	tk_sse_is(&s, 1, STARTED);
	take_all(&s, 2, N + 1);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

static bool
no_stream(void *arg)
{
	return gw_has_metric(arg, "\nsoul_event_streams 0\n");
}

/* Also when the session is idle. */
TEST(a_disconnected_reader_is_cleaned_up)
{
	struct tk_sse s[4];
	size_t i;

	gateway_fixture_start_alone(&b, NULL);
	for (i = 0; i < NELEM(s); i++)
		tk_sse_open(&s[i], b.gateway.http, PATH);
	for (i = 0; i < NELEM(s); i++)
		tk_sse_close(&s[i]);
	ck_assert(tk_until(no_stream, &b, GW_MS));
	gateway_fixture_stop(&b);
}

static bool
one_less(void *arg)
{
	return gw_has_metric(arg, "\nsoul_event_streams 11\n");
}

TEST(streams_leave_workers_for_other_requests)
{
	enum { MOST = 12 }; /* 32 workers, 16 of which are reserved */
	struct tk_sse s[MOST];
	size_t i;

	gateway_fixture_start_alone(&b, TK_ENV("HTTP_WORKERS=32"));
	for (i = 0; i < MOST - 1; i++)
		tk_sse_open(&s[i], b.gateway.http, PATH);
	tk_sse_open(&s[i], b.gateway.http, PATH);
	gw_rejects(&b, "GET", PATH, NULL, 503, "too many streams at once");
	gw_rejects(&b, "GET", "/v1/sessions/s1/messages", NULL, 404,
	    "session not found");
	tk_sse_close(&s[0]);
	ck_assert(tk_until(one_less, &b, GW_MS));
	tk_sse_open(&s[0], b.gateway.http, PATH);
	for (i = 0; i < MOST; i++)
		tk_sse_close(&s[i]);
	gateway_fixture_stop(&b);
}

/* At SIGTERM clients reconnect elsewhere at once. */
TEST(streams_end_with_the_gateway)
{
	struct mono start;
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	start = clock_mono();
	tk_signal(&b.gateway.proc, SIGTERM);
	ck_assert(tk_sse_ends(&s, GW_MS));
	ck_assert_int_eq(tk_wait(&b.gateway.proc, GW_MS), 0);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 3000);
	b.gateway.proc.pid = 0;
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}
