/*
 * Floods and slow readers: who sends too much gets errors, and who does not
 * read harms itself only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/star_fixture.h"
#include "testkit/ws_load.h"

#define ENV "environment:demo_world"
#define A   "agent:agent_001"
#define B   "agent:agent_002"

TEST(too_many_messages_are_rate_limited)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	char payload[32];
	int i;

	star_start(&f,
	    TK_ENV("STAR_PRESENCE=off", "STAR_RATE=1", "STAR_RATE_BURST=3"));
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	for (i = 0; i < 4; i++) {
		(void)snprintf(payload, sizeof(payload), "%d", i);
		star_send(&a, A, ENV, payload);
	}
	for (i = 0; i < 3; i++) {
		(void)snprintf(payload, sizeof(payload), "%d", i);
		star_expect_message(&env, A, ENV, payload);
	}
	ck_assert_ptr_nonnull(
	    strstr(star_expect_error(&a, "RATE_LIMITED", "rate_limited"),
		"\"seq\":4,\"retry_after_ms\":"));
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

/* Another message, which is over the rate; true at the end. */
static bool
flood_is_over(void *arg)
{
	struct tk_ws *a = arg;

	star_send(a, A, ENV, "1");
	while (tk_ws_next(a, 0) != NULL)
		;
	return a->fd == -1;
}

TEST_T(who_goes_on_is_closed_with_1008, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws a;

	star_start(&f, TK_ENV("STAR_RATE=1", "STAR_RATE_BURST=1"));
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	ck_assert(tk_until(flood_is_over, &a, 20000));
	ck_assert_uint_eq(a.code, 1008);
	tk_ws_close(&a);
	star_stop(&f);
}

/* ---- a flood ---- */

/* Bytes of a message, masked head included, and of what the hub reads at once.
 */
#define FLOOD_BYTES 1024
#define READ_BYTES  65536
/* Reads of a flood until it is closed: one a second, and the first. */
#define FLOOD_READS 3

struct flood {
	struct star_fixture f;
	struct tk_ws env, live, flood;
	struct buf frame;       /* of FLOOD_BYTES */
	size_t at, sent;        /* in frame; bytes of all */
	unsigned long long seq; /* of the last error */
	int round_trips;        /* of env and live */
};

static void
flood_start(struct flood *s, const char *const settings[])
{
	static const char mask[4] = { 1, 2, 3, 4 };
	char text[FLOOD_BYTES - 7], payload[FLOOD_BYTES];
	size_t n, i;

	memset(s, 0, sizeof(*s));
	star_start(&s->f, settings);
	star_open(&s->f, &s->flood, "/env/demo_world/agent/agent_001");
	memset(payload, 'x', sizeof(payload));
	star_envelope(text, sizeof(text), A, "agent:nobody", "\"\"");
	n = sizeof(text) - 1 - strlen(text);
	payload[0] = payload[n + 1] = '"';
	payload[n + 2] = '\0';
	star_envelope(text, sizeof(text), A, "agent:nobody", payload);
	buf_init(&s->frame, FLOOD_BYTES);
	buf_put(&s->frame, "\x81\xfe", 2);
	buf_putc(&s->frame, (char)(strlen(text) >> 8));
	buf_putc(&s->frame, (char)strlen(text));
	buf_put(&s->frame, mask, 4);
	for (i = 0; i < strlen(text); i++)
		buf_putc(&s->frame, (char)(text[i] ^ mask[i % 4]));
}

/* Send as much as the socket takes. */
static void
flood_send(struct flood *s)
{
	ssize_t n;

	while ((n = send(s->flood.fd, s->frame.p + s->at, s->frame.n - s->at,
		    MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
		s->sent += (size_t)n;
		s->at = (s->at + (size_t)n) % s->frame.n;
	}
}

/* A step of all three: true when the flood is closed. */
static bool
flood_is_closed(void *arg)
{
	struct flood *s = arg;
	const char *msg, *seq;

	flood_send(s);
	while ((msg = tk_ws_next(&s->flood, 0)) != NULL) {
		seq = strstr(msg, "\"seq\":");
		if (seq != NULL)
			s->seq = strtoull(seq + 6, NULL, 10);
	}
	return s->flood.fd == -1;
}

TEST_T(a_flood_waits_in_its_socket, 60)
{
	struct flood s;

	flood_start(&s,
	    TK_ENV("STAR_PRESENCE=off", "STAR_RATE=1", "STAR_RATE_BURST=1"));
	ck_assert(tk_until(flood_is_closed, &s, 20000));
	ck_assert_uint_eq(s.flood.code, 1008);
	/* The hub has read a few times, of the megabytes that were sent. */
	ck_assert_uint_ge(s.seq, FLOOD_READS);
	ck_assert_uint_le(s.seq, FLOOD_READS * (READ_BYTES / FLOOD_BYTES + 1));
	ck_assert_uint_gt(s.sent, 2 * FLOOD_READS * READ_BYTES);
	tk_ws_close(&s.flood);
	buf_free(&s.frame);
	star_stop(&s.f);
}

/* The same with a round trip of two others. */
static bool
flood_beside_others_is_closed(void *arg)
{
	struct flood *s = arg;
	char payload[32];

	(void)snprintf(payload, sizeof(payload), "%d", s->round_trips++);
	star_send(&s->env, ENV, B, payload);
	star_expect_message(&s->live, ENV, B, payload);
	star_send(&s->live, B, ENV, payload);
	star_expect_message(&s->env, B, ENV, payload);
	return flood_is_closed(s);
}

TEST_T(a_flood_disturbs_nobody, 60)
{
	struct mono start = clock_mono();
	struct flood s;
	int64_t ms;

	flood_start(&s,
	    TK_ENV(
		"STAR_PRESENCE=off", "STAR_RATE=2000", "STAR_RATE_BURST=4000"));
	star_open(&s.f, &s.env, "/env/demo_world");
	star_open(&s.f, &s.live, "/env/demo_world/agent/agent_002");
	ck_assert(tk_until(flood_beside_others_is_closed, &s, 20000));
	ms = mono_diff_ms(clock_mono(), start);
	ck_assert_uint_eq(s.flood.code, 1008);
	/* What the rate allows, and one read more in each pause of 100 ms. */
	ck_assert_uint_gt(s.seq, 4000);
	ck_assert_uint_le(s.seq,
	    4000 + 2000 * (unsigned long long)ms / 1000 +
		(READ_BYTES / FLOOD_BYTES + 1) *
		    ((unsigned long long)ms / 100 + 1));
	ck_assert_int_gt(s.round_trips, 100);
	tk_ws_close(&s.flood);
	tk_ws_close(&s.env);
	tk_ws_close(&s.live);
	buf_free(&s.frame);
	star_stop(&s.f);
}

TEST(too_many_broadcasts_are_rate_limited)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;

	star_start(&f, TK_ENV("STAR_PRESENCE=off", "STAR_BROADCAST_RATE=1"));
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	star_send(&env, ENV, "agent:*", "1");
	star_send(&env, ENV, "agent:*", "2");
	star_expect_error(&env, "RATE_LIMITED", "rate_limited");
	star_expect_message(&a, ENV, "agent:*", "1");
	/* Other messages are not limited by it. */
	star_send(&env, ENV, A, "3");
	star_expect_message(&a, ENV, A, "3");
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(too_many_bytes_are_rate_limited, 60)
{
	static char text[60001];
	struct star_fixture f = { 0 };
	struct ws_load l;
	struct tk_ws a;
	int i = 0;

	star_start(&f, STAR_QUIET);
	star_open(&f, &a, "/env/demo_world/agent/agent_001");
	/* JSON that is no message: 36 MB, of which 8 MiB may come at a time. */
	memset(text, 'x', sizeof(text) - 1);
	text[0] = text[sizeof(text) - 2] = '"';
	ws_load_start(&l, 1);
	ws_load_add(&l, a.fd, text);
	ws_load_send(&l.end[0], 600);
	while (strstr(star_next(&a), "RATE_LIMITED") == NULL)
		i++;
	ck_assert_int_gt(i, 8 * 1024 * 1024 / 60010 - 1);
	ws_load_free(&l);
	a.fd = -1;
	tk_ws_close(&a);
	star_stop(&f);
}

/* ---- a reader that has stopped ---- */

struct stalled {
	struct star_fixture f;
	struct tk_ws env, slow, live;
	char payload[20000];
	int sent; /* to slow, until it was full */
};

static void
stalled_start(struct stalled *s, const char *const settings[])
{
	memset(s, 0, sizeof(*s));
	memset(s->payload, 'x', sizeof(s->payload) - 1);
	s->payload[0] = s->payload[sizeof(s->payload) - 2] = '"';
	star_start(&s->f, settings);
	star_open(&s->f, &s->env, "/env/demo_world");
	star_open(&s->f, &s->slow, "/env/demo_world/agent/agent_001");
	star_open(&s->f, &s->live, "/env/demo_world/agent/agent_002");
}

static void
stalled_stop(struct stalled *s)
{
	tk_ws_close(&s->env);
	tk_ws_close(&s->slow);
	tk_ws_close(&s->live);
	star_stop(&s->f);
}

/* Send a message to the one that does not read.  Returns the error, or NULL. */
static const char *
stalled_send(struct stalled *s, const char *payload)
{
	static char error[1024];
	const char *msg;

	star_send(&s->env, ENV, A, payload);
	/* Its heartbeat comes after what the message caused. */
	tk_ws_send(&s->env,
	    "{\"type\":\"heartbeat\",\"sender\":{\"id\":\"demo_world\","
	    "\"type\":\"environment\"},\"recipient\":{\"id\":\"hub\","
	    "\"type\":\"hub\"}}");
	msg = star_next(&s->env);
	if (strncmp(msg, "{\"type\":\"heartbeat\"", 19) == 0)
		return NULL;
	(void)snprintf(error, sizeof(error), "%s", msg);
	star_expect_has(&s->env, "{\"type\":\"heartbeat\"");
	return error;
}

/* Without a pause, since a reader is closed that has stopped for long. */
static void
stalled_fill(struct stalled *s)
{
	struct mono end = mono_add_ms(clock_mono(), 20000);
	const char *error;

	while ((error = stalled_send(s, s->payload)) == NULL) {
		s->sent++;
		ck_assert_int_lt(clock_mono().ns, end.ns);
	}
	ck_assert_msg(
	    strstr(error, "\"error_type\":\"recipient_slow\"") != NULL, "%s",
	    error);
}

static bool
nobody_is_stalled(void *arg)
{
	const struct stalled *s = arg;

	return tk_service_metric(&s->f.hub, "soul_star_stalled") == 0;
}

TEST_T(a_slow_recipient_is_reported_and_delays_nobody, 60)
{
	struct stalled s;
	int i;

	stalled_start(&s, TK_ENV("STAR_PRESENCE=off", "STAR_STALL_MS=60000"));
	ck_assert(nobody_is_stalled(&s));
	stalled_fill(&s);
	ck_assert_int_eq(tk_service_metric(&s.f.hub, "soul_star_stalled"), 1);
	star_send(&s.env, ENV, "agent:*", "1");
	star_expect_message(&s.live, ENV, "agent:*", "1");
	star_send(&s.env, ENV, "agent:*", s.payload);
	star_expect_message(&s.live, ENV, "agent:*", s.payload);
	star_idle(&s.env, ENV);
	/* All that was queued comes, then how much was not. */
	for (i = 0; i < s.sent; i++)
		star_expect_message(&s.slow, ENV, A, s.payload);
	/* The short one may have found room. */
	if (strstr(star_next(&s.slow), "\"payload\":1") != NULL)
		star_next(&s.slow);
	ck_assert_ptr_nonnull(
	    strstr(s.slow.msg.p, "\"event\":\"messages_dropped\","));
	star_send(&s.env, ENV, "agent:*", "2");
	star_expect_message(&s.slow, ENV, "agent:*", "2");
	ck_assert(tk_until(nobody_is_stalled, &s, 20000));
	stalled_stop(&s);
}

/* Send to it; true when nobody can any more. */
static bool
stalled_is_closed(void *arg)
{
	struct stalled *s = arg;
	const char *error = stalled_send(s, s->payload);

	return error != NULL && strstr(error, "\"target_not_found\"") != NULL;
}

TEST_T(a_reader_that_has_stopped_is_closed_with_1013, 60)
{
	struct stalled s;

	stalled_start(&s,
	    TK_ENV(
		"STAR_PRESENCE=off", "STAR_STALL_MS=500", "STAR_RESUME_MS=0"));
	ck_assert(tk_until(stalled_is_closed, &s, 20000));
	/* It reads on just in time to see why. */
	ck_assert_uint_eq(tk_ws_end(&s.slow), 1013);
	star_send(&s.env, ENV, B, "1");
	star_expect_message(&s.live, ENV, B, "1");
	stalled_stop(&s);
}

TEST_T(the_largest_queue_is_shed_when_memory_is_short, 60)
{
	struct stalled s;

	stalled_start(&s,
	    TK_ENV("STAR_PRESENCE=off", "STAR_MEMORY_MIB=1",
		"STAR_QUEUE_BYTES=16777216", "STAR_STALL_MS=60000"));
	stalled_fill(&s);
	ck_assert_uint_eq(tk_ws_end(&s.slow), 1013);
	star_send(&s.env, ENV, B, "1");
	star_expect_message(&s.live, ENV, B, "1");
	stalled_stop(&s);
}
