/*
 * GET /v1/live: events as they are stored, resumed without a gap, and the
 * reader that is too slow.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/mem.h"
#include "testkit/event_fixture.h"

static struct gateway_fixture b;

#define IDLE "session_idle"

static void
put_idle(const char *user)
{
	char payload[64];

	snprintf(payload, sizeof(payload), "{\"user_id\":\"%s\"}", user);
	event_fixture_put(&b, IDLE, payload);
}

static void
put_many(int n)
{
	int i;

	for (i = 0; i < n; i++)
		put_idle("u1");
}

TEST(events_come_as_they_are_stored)
{
	struct tk_sse all, some, user;

	gateway_fixture_start_alone(&b, NULL);
	/* Before there is a stream. */
	tk_sse_open(&all, b.gateway.http, "/v1/live");
	tk_nats_events(b.nc);
	put_idle("u1");
	event_fixture_is(&all, 1, IDLE);
	/* Only new ones. */
	tk_sse_open(&some, b.gateway.http, "/v1/live?types=turn_completed");
	tk_sse_open(&user, b.gateway.http, "/v1/live?user_id=u2");
	put_idle("u1");
	event_fixture_put(&b, "turn_completed", "{\"user_id\":\"u2\"}");
	put_idle("u2");
	event_fixture_is(&all, 2, IDLE);
	event_fixture_is(&all, 3, "turn_completed");
	event_fixture_is(&all, 4, IDLE);
	event_fixture_is(&some, 3, "turn_completed");
	event_fixture_is(&user, 3, "turn_completed");
	event_fixture_is(&user, 4, IDLE);
	ck_assert(gw_has_metric(&b, "soul_live_readers 3\n"));
	ck_assert(gw_has_metric(&b, "soul_live_events_total 7\n"));
	tk_sse_close(&some);
	tk_sse_close(&user);
	/* A stopping gateway ends it. */
	gateway_fixture_stop(&b);
	ck_assert(tk_sse_ends(&all, TK_SSE_MS));
	tk_sse_close(&all);
}

/* As GET /v1/events; here it is decided for all readers of an event. */
TEST(readers_get_what_is_theirs)
{
	struct tk_sse ann, bob, provisioner, root;
	natsSubscription *audits;
	char soul[GW_SOUL_ID];
	int64_t seq;

	gw_start_with_tokens(&b);
	audits = gw_audit_subscribe(&b);
	gw_mint_ok_as(&b, TOKEN_ACME_PROVISIONER, "acme-lamp");
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "lamp");
	gw_soul_as(&b, TOKEN_ANN, "a", soul);
	gw_bind_as(&b, TOKEN_ANN, "lamp", soul, NULL);
	json_decref(gw_audit_next(audits, "terminal_minted"));
	json_decref(gw_audit_next(audits, "terminal_minted"));
	json_decref(gw_audit_next(audits, "binding_changed"));
	tk_sse_open_as(&ann, b.gateway.http, "/v1/live", TOKEN_ANN);
	tk_sse_open_as(&bob, b.gateway.http, "/v1/live", TOKEN_BOB);
	tk_sse_open_as(
	    &provisioner, b.gateway.http, "/v1/live", TOKEN_ACME_PROVISIONER);
	tk_sse_open_as(&root, b.gateway.http,
	    "/v1/live?types=audit,"
	    "terminal_online,turn_completed",
	    TOKEN_OPERATOR);
	seq = event_fixture_put(&b, "audit", "{\"user_id\":\"ann\"}");
	event_fixture_put(&b, "terminal_online", "{\"terminal_id\":\"lamp\"}");
	event_fixture_put(
	    &b, "terminal_online", "{\"terminal_id\":\"acme-lamp\"}");
	event_fixture_put(&b, "turn_completed", "{\"user_id\":\"bob\"}");
	event_fixture_put(&b, "turn_completed", "{\"user_id\":\"ann\"}");
	event_fixture_is(&ann, seq + 1, "terminal_online");
	event_fixture_is(&ann, seq + 4, "turn_completed");
	event_fixture_is(&bob, seq + 3, "turn_completed");
	event_fixture_is(&provisioner, seq + 2, "terminal_online");
	event_fixture_is(&root, seq, "audit");
	event_fixture_is(&root, seq + 1, "terminal_online");
	event_fixture_is(&root, seq + 2, "terminal_online");
	event_fixture_is(&root, seq + 3, "turn_completed");
	event_fixture_is(&root, seq + 4, "turn_completed");
	natsSubscription_Destroy(audits);
	gateway_fixture_stop(&b);
	ck_assert(tk_sse_ends(&bob, TK_SSE_MS));
	ck_assert(tk_sse_ends(&provisioner, TK_SSE_MS));
	tk_sse_close(&ann);
	tk_sse_close(&bob);
	tk_sse_close(&provisioner);
	tk_sse_close(&root);
}

TEST(a_stream_resumes_without_a_gap)
{
	enum { N = 100 };
	struct tk_sse s, other;
	int i;

	gateway_fixture_start_alone(&b, NULL);
	tk_nats_events(b.nc);
	put_many(N);
	tk_sse_open(&s, b.gateway.http, "/v1/live?cursor=0");
	tk_sse_send(&other, b.gateway.http, "/v1/live?cursor=1", "90");
	tk_sse_begun(&other);
	for (i = 1; i <= N; i++)
		event_fixture_is(&s, i, IDLE);
	for (i = 91; i <= N; i++)
		event_fixture_is(&other, i, IDLE);
	tk_sse_close(&other);
	put_many(2);
	event_fixture_is(&s, N + 1, IDLE);
	event_fixture_is(&s, N + 2, IDLE);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(a_gap_is_announced)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	tk_nats_events(b.nc);
	put_many(9);
	event_fixture_purge(&b, 6);
	tk_sse_open(&s, b.gateway.http, "/v1/live?cursor=2");
	event_fixture_notice(&s, "EVENTS_GONE", 2, 6);
	event_fixture_is(&s, 7, IDLE);
	event_fixture_is(&s, 8, IDLE);
	event_fixture_is(&s, 9, IDLE);
	tk_sse_close(&s);
	/* A position of an earlier stream. */
	tk_sse_open(&s, b.gateway.http, "/v1/live?cursor=70");
	event_fixture_notice(&s, "EVENTS_GONE", 70, 9);
	put_many(1);
	event_fixture_is(&s, 10, IDLE);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A client with a small receive buffer. */
static void
open_slow(struct tk_sse *s)
{
	int small = 4096;
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)b.gateway.http),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*s = (struct tk_sse){ 0 };
	buf_init(&s->c.in, 64 * 1024 * 1024);
	s->c.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    setsockopt(s->c.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)),
	    0);
	ck_assert_int_eq(
	    connect(s->c.fd, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert(
	    tk_http_puts(&s->c, "GET /v1/live?cursor=0 HTTP/1.0\r\n\r\n"));
}

static bool
one_reader(void *arg)
{
	return gw_has_metric(arg, "soul_live_readers 1\n");
}

/* All that has come before it was disconnected; the number of the next. */
static int64_t
take_rest(struct tk_sse *s)
{
	struct tk_sse_event e;
	int64_t next = 1;

	for (; tk_sse_next(s, TK_SSE_MS, &e); next++) {
		ck_assert_int_eq(event_fixture_seq(&e), next);
		json_decref(e.j);
	}
	ck_assert(s->c.eof);
	return next;
}

TEST_T(only_the_stalled_reader_is_disconnected, 60)
{
	enum { N = 200, LARGE = 60000 };
	static char payload[LARGE];
	struct tk_sse slow, s;
	char path[64];
	int64_t next;
	int i;

	memset(payload, 'x', sizeof(payload) - 1);
	memcpy(payload, "{\"user_id\":\"", 12);
	memcpy(payload + sizeof(payload) - 3, "\"}", 2);
	gateway_fixture_start_alone(&b, NULL);
	tk_nats_events(b.nc);
	for (i = 0; i < N; i++)
		event_fixture_put(&b, IDLE, payload);
	open_slow(&slow);
	tk_sse_begun(&slow);
	tk_sse_open(&s, b.gateway.http, "/v1/live?cursor=0");
	for (i = 1; i <= N; i++)
		event_fixture_is(&s, i, IDLE);
	ck_assert(tk_until(one_reader, &b, 60000));
	/* It resumes where it was. */
	next = take_rest(&slow);
	tk_sse_close(&slow);
	ck_assert_int_lt(next, N);
	snprintf(
	    path, sizeof(path), "/v1/live?cursor=%lld", (long long)next - 1);
	tk_sse_open(&slow, b.gateway.http, path);
	for (; next <= N; next++)
		event_fixture_is(&slow, next, IDLE);
	tk_sse_close(&slow);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(readers_are_limited)
{
	enum { MAX = 128 };
	static struct tk_sse s[MAX];
	int i;

	gateway_fixture_start_alone(
	    &b, TK_ENV("STREAMS_PER_ADDRESS=1000", "HTTP_WORKERS=256"));
	tk_nats_events(b.nc);
	for (i = 0; i < MAX; i++)
		tk_sse_open(&s[i], b.gateway.http, "/v1/live");
	gw_rejects(
	    &b, "GET", "/v1/live", NULL, 503, "too many streams at once");
	put_many(1);
	for (i = 0; i < MAX; i++) {
		event_fixture_is(&s[i], 1, IDLE);
		tk_sse_close(&s[i]);
	}
	gateway_fixture_stop(&b);
}

TEST(streams_survive_nats)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	tk_nats_events(b.nc);
	tk_sse_open(&s, b.gateway.http, "/v1/live");
	put_many(1);
	event_fixture_is(&s, 1, IDLE);
	tk_server_stop(&b.nats, SIGKILL);
	tk_server_restart(&b.nats);
	put_many(1);
	event_fixture_is(&s, 2, IDLE);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}
