/*
 * Floods of several seconds on every port: connections, requests, random bytes,
 * messages of a device, requests of an owner. Meanwhile every turn of the load
 * generator completes in time.
 */
#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/cases.h"
#include "testkit/exhaustion.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/peer.h"
#include "testkit/stack/probe.h"

STACK_SHARED({ .locked = true, .no_capture = true })

#define GATEWAY  (stack.service[STACK_CHAT_GATEWAY].http)
#define FLOOD_MS 2000
/* Of one device; small messages fill the buffers for seconds. */
#define MESSAGES 20000

static bool
is_flooding(struct mono began)
{
	return mono_diff_ms(clock_mono(), began) < FLOOD_MS;
}

/* ---- every port ---- */

#define PORTS_MAX 32

static size_t
all_ports(int ports[PORTS_MAX])
{
	enum stack_service i;
	size_t n = 0, k;

	for (i = 0; i < STACK_SERVICES; i++) {
		ports[n++] = stack.service[i].admin;
		if (stack.service[i].http != 0)
			ports[n++] = stack.service[i].http;
	}
	for (k = 0; k < STACK_SERVERS; k++)
		ports[n++] = stack.server[k].port;
	ports[n++] = stack.lock.services;
	return n;
}

/* Send as much as the peer accepts within a moment, then disconnect. */
static void
send_bytes(int port, unsigned char from, struct str bytes)
{
	struct tk_http c = { 0 };
	struct timeval moment = { 0, 300000 };

	tk_http_open_from(&c, probe_address(from), port);
	(void)setsockopt(
	    c.fd, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof(moment));
	(void)tk_http_send(&c, bytes.p, bytes.n);
	(void)tk_http_fill(&c, 20);
	tk_http_close(&c);
}

/* xorshift64*: the same bytes every time. */
static void
put_noise(struct buf *b, size_t n, uint64_t seed)
{
	while (n-- > 0) {
		seed ^= seed >> 12;
		seed ^= seed << 25;
		seed ^= seed >> 27;
		buf_putc(b, (char)(seed * UINT64_C(2685821657736338717) >> 56));
	}
}

#define TEN_MIB (10UL * 1024 * 1024)

static void
put_many(struct buf *b, const char *text, size_t n)
{
	while (b->n < n)
		buf_puts(b, text);
}

/* Bytes that are invalid for every port. */
static size_t
make_payloads(struct buf payloads[8])
{
	static const char head[] =
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n";
	size_t n = 0, i;

	for (i = 0; i < 8; i++)
		buf_init(&payloads[i], TEN_MIB + 65536);
	put_noise(&payloads[n++], 65536, 20261123);
	put_many(&payloads[n++], "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1 << 20);
	buf_puts(&payloads[n], head);
	put_many(
	    &payloads[n++], "X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", 65536);
	buf_puts(&payloads[n], head);
	buf_puts(&payloads[n],
	    "Authorization: Bearer token-of-ada-3a77\r\n"
	    "Content-Length: 10485760\r\n\r\n{\"inputs\":[");
	put_many(&payloads[n++], "{},{},{},{},{},{},{},{},", TEN_MIB);
	buf_puts(&payloads[n], head);
	buf_puts(&payloads[n++],
	    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
	    "ffffffffffffffff\r\nx");
	/* MQTT: CONNECT of 256 MiB, then of nothing; PUBLISH before it. */
	buf_put(&payloads[n], "\x10\xff\xff\xff\x7f\0\4MQTT\4\xc2\0\x3c", 14);
	put_noise(&payloads[n++], 65536, 7);
	for (i = 0; i < 4096; i++)
		buf_put(
		    &payloads[n], "\x30\x05\0\1a\0\0\x10\0\xc0\0\xe0\0", 13);
	n++;
	/* NATS and Redis: announced sizes without the data. */
	buf_puts(
	    &payloads[n], "PUB a 1073741824\r\n*1000000\r\n$1073741824\r\n");
	put_noise(&payloads[n++], 65536, 11);
	return n;
}

TEST_T(random_bytes_affect_no_other_client, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct load_stats saw;
	int ports[PORTS_MAX];
	struct buf payloads[8];
	size_t i, k, nports = all_ports(ports),
		     nshots = make_payloads(payloads);

	for (i = 0; i < nports; i++)
		for (k = 0; k < nshots; k++)
			send_bytes(ports[i], 41, buf_str(&payloads[k]));
	load_end(n, &saw);
	ck_assert_uint_ge(saw.commands, 1);
	for (k = 0; k < 8; k++)
		buf_free(&payloads[k]);
}

/* ---- slow connections ---- */

static bool
is_exhausted(void *arg)
{
	return tk_exhaustion_open(arg) + tk_exhaustion_closed(arg) >= 500;
}

/* A complete head, then one byte at intervals. */
static void
exhaust_gateway(size_t clients)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct tk_exhaustion *s =
	    tk_exhaustion_begin(&(struct tk_exhaustion_opts){ .port = GATEWAY,
		.n = 500,
		.from = probe_address(51),
		.clients = clients,
		.send = "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
			"Content-Length: 9999\r\n"
			"Authorization: Bearer token-of-ada-3a77\r\n\r\n{",
		.drip_ms = 100,
		.opens_per_s = 1000 });
	struct mono began = clock_mono();

	ck_assert(tk_until(is_exhausted, s, STACK_MS));
	while (is_flooding(began))
		(void)probe(&(struct probe){ .port = GATEWAY,
				.from = 52,
				.path = "/v1/souls",
				.token = lock_token(LOCK_ADA) },
		    NULL);
	load_end(n, NULL);
	tk_exhaustion_end(s);
}

TEST_T(five_hundred_slow_connections_to_the_gateway, 60)
{
	exhaust_gateway(1);
	/* Each address stays below its connection limit. */
	exhaust_gateway(8);
}

static void
exhaust_server(int port, const char *flood_publish)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	struct tk_exhaustion *s =
	    tk_exhaustion_begin(&(struct tk_exhaustion_opts){ .port = port,
		.n = 500,
		.from = probe_address(52),
		.send = flood_publish,
		.drip_ms = 100,
		.opens_per_s = 1000 });

	ck_assert(tk_until(is_exhausted, s, STACK_MS));
	load_end(n, NULL);
	tk_exhaustion_end(s);
}

TEST_T(five_hundred_slow_connections_to_the_servers, 60)
{
	exhaust_server(stack.server[STACK_MQTT].port, "\x10\x7f");
	exhaust_server(stack.lock.services, "\x10\x7f");
	exhaust_server(stack.server[STACK_NATS].port, "CONNECT {");
	exhaust_server(stack.server[STACK_REDIS].port, "*2\r\n$9");
	exhaust_server(stack.service[STACK_EMOTION_ENGINE].http, "POST /v1");
	exhaust_server(stack.service[STACK_INTENT_FILTER].http, "POST /v1");
	exhaust_server(stack.service[STACK_CHAT_GATEWAY].admin, "GET /met");
	exhaust_server(stack.service[STACK_LLM_ORCHESTRATOR].admin, "GET /m");
}

/* ---- an owner ---- */

struct requester {
	const char *token, *path, *body;
	unsigned char from;
	pthread_t thread;
	size_t requested, rejected; /* responses with status 429 */
};

static void *
request_on(void *arg)
{
	struct requester *a = arg;
	struct mono began = clock_mono();

	while (is_flooding(began)) {
		a->rejected += probe(&(struct probe){ .port = GATEWAY,
					 .from = a->from,
					 .path = a->path,
					 .token = a->token,
					 .body = a->body },
				   NULL) == 429;
		a->requested++;
	}
	return NULL;
}

/* Concurrent requests with one token from one address. */
static void
request_often(const struct requester *what, size_t n)
{
	struct client o = load_prepare(&stack);
	struct load *beside = load_begin(&o);
	struct requester all[16];
	struct load_stats saw;
	size_t i, rejected = 0, requested = 0;

	for (i = 0; i < n; i++) {
		all[i] = *what;
		ck_assert_int_eq(
		    pthread_create(&all[i].thread, NULL, request_on, &all[i]),
		    0);
	}
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(pthread_join(all[i].thread, NULL), 0);
		rejected += all[i].rejected;
		requested += all[i].requested;
	}
	load_end(beside, &saw);
	ck_assert_uint_ge(saw.commands, 1);
	ck_assert_msg(rejected > 0, "%zu sent, none rejected", requested);
}

#define TALK                                                                   \
	"{\"session_id\":\"s\",\"terminal_id\":\"" LOCK_EVIL "\",\"inputs\":[" \
	"{\"type\":\"keyboard_text\",\"text\":\"今天上海天气如何？\"}]}"

TEST_T(an_owner_over_the_rate_affects_no_other, 60)
{
	struct terminal body = { .user = "mallory",
		.manner = TERMINAL_IS_SILENT };
	size_t lines;

	terminal_connect(&body, &stack, LOCK_EVIL, TERMINAL_0222);
	client_select_soul(&stack, "mallory", LOCK_EVIL,
	    client_create_soul(&stack, "mallory", "x", "INTJ"));
	request_often(&(struct requester){ .token = lock_token(LOCK_MALLORY),
			  .path = "/v1/chat",
			  .body = TALK,
			  .from = 61 },
	    16);
	lines = stack_lines(&stack, STACK_CHAT_GATEWAY,
	    "ev=auth.rejected reason=rate address=127.0.0.61");
	ck_assert_uint_le(lines, 6 + FLOOD_MS / 1000 + 4);
	terminal_free(&body);
}

/* Each attempt costs a signature check, or a hash that is slow by design. */
TEST_T(guessing_tokens_affects_no_other_client, 60)
{
	char token[128];

	snprintf(token, sizeof(token), "soul_body.%s.%s", "dmljdGltLTE",
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	request_often(
	    &(struct requester){
		.token = token, .path = "/v1/souls", .from = 62 },
	    8);
}

/* ---- a device ---- */

struct flood {
	const char *leaf;
	const char *sample;  /* a case; NULL: use payload */
	const char *message; /* whose cases to send */
	const char *payload;
	bool counts; /* contains a version, which is increased */
};

static const struct flood floods[] = {
	{ "heartbeat", NULL, NULL, "1", false },
	{ "online", NULL, NULL, "online", false },
	{ "result/00000000-0000-4000-8000-000000000000", NULL, NULL,
	    "{\"request_id\":\"00000000-0000-4000-8000-000000000000\","
	    "\"ok\":true,\"output\":\"x\"}",
	    false },
	{ "skills", NULL, NULL, "{\"skills\":[\"", false },
	{ "skills", "protocol 02-22, 3.3", "skills_report", NULL, true },
	{ "intent_catalog", "protocol 02-22, 3.10", "intent_catalog_report",
	    NULL, true },
};

static void
flood_publish_one(
    struct mosquitto *m, const struct flood *f, json_t *sample, int i)
{
	const char *version = strcmp(f->leaf, "skills") == 0
	    ? "skill_version"
	    : "catalog_version";
	char topic[256], *text = NULL;
	const char *payload = f->payload;

	snprintf(
	    topic, sizeof(topic), "soul/terminal/" LOCK_OTHER "/%s", f->leaf);
	if (f->counts) {
		json_object_set_new(
		    sample, "terminal_id", json_string(LOCK_OTHER));
		json_object_set_new(sample, version, json_integer(i + 1));
		payload = text = json_dumps(sample, 0);
	}
	(void)mosquitto_publish(
	    m, NULL, topic, (int)strlen(payload), payload, 0, i % 2 > 0);
	free(text);
}

/* Publish as fast as the broker accepts. */
static void
flood(const struct flood *f)
{
	struct mosquitto *m = mosquitto_new(NULL, true, NULL);
	json_t *sample =
	    f->sample != NULL ? tk_case_data(f->message, f->sample) : NULL;
	int i;

	ck_assert_ptr_nonnull(m);
	(void)mosquitto_username_pw_set(
	    m, LOCK_OTHER, lock_password(LOCK_OTHER));
	ck_assert_int_eq(mosquitto_connect(
			     m, "127.0.0.1", stack.server[STACK_MQTT].port, 60),
	    MOSQ_ERR_SUCCESS);
	for (i = 0; i < MESSAGES; i++) {
		flood_publish_one(m, f, sample, i);
		if (i % 64 < 63 && i < MESSAGES - 1)
			continue;
		do
			if (mosquitto_loop(m, 1, 1) != MOSQ_ERR_SUCCESS)
				(void)mosquitto_reconnect(m);
		while (mosquitto_want_write(m));
	}
	mosquitto_destroy(m);
	json_decref(sample);
}

TEST_T(a_terminal_over_its_rate_affects_no_other, 90)
{
	struct client o = load_prepare(&stack);
	struct load *n;
	size_t i, was, lines;

	for (i = 0; i < NELEM(floods); i++) {
		was = stack_lines(&stack, STACK_MQTT_BRIDGE, LOCK_OTHER);
		n = load_begin(&o);
		flood(&floods[i]);
		load_end(n, NULL);
		lines =
		    stack_lines(&stack, STACK_MQTT_BRIDGE, LOCK_OTHER) - was;
		ck_assert_msg(lines <= 30, "%s: %zu lines of %d messages",
		    floods[i].leaf, lines, MESSAGES);
	}
}
