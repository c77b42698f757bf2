/*
 * Floods and slow readers: who sends too much gets errors, and who does not
 * read harms itself only.
 */
#include <stdio.h>
#include <string.h>

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

TEST_T(a_slow_recipient_is_reported_and_delays_nobody, 60)
{
	struct stalled s;
	int i;

	stalled_start(&s, TK_ENV("STAR_PRESENCE=off", "STAR_STALL_MS=60000"));
	stalled_fill(&s);
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
