/*
 * A client comes back to its session, at any hub; and events that it missed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/star.h"
#include "testkit/redis_set.h"
#include "testkit/star_fixture.h"
#include "testkit/state.h"

#define A   "agent:agent_001"
#define B   "agent:agent_002"
#define BOB "human:bob"
#define ENV "environment:demo_world"

#define AGENT_A "/env/demo_world/agent/agent_001"
#define AGENT_B "/env/demo_world/agent/agent_002"

static void
expect_numbers(struct tk_ws *c, const char *to, int from, int n)
{
	int i;

	for (i = from; i < from + n; i++)
		star_expect_message(c, ENV, to, star_numbered(i));
}

static void
send_numbers(struct tk_ws *c, const char *to, int from, int n)
{
	int i;

	for (i = from; i < from + n; i++)
		star_send(c, ENV, to, star_numbered(i));
}

/* The session in a heartbeat. */
struct session {
	char id[33];
};

static struct session
session_of(const char *heartbeat)
{
	const char *at = strstr(heartbeat, "\"session\":\"");
	struct session s;

	ck_assert_ptr_nonnull(at);
	(void)snprintf(
	    s.id, sizeof(s.id), "%.32s", at + strlen("\"session\":\""));
	return s;
}

/* Come back with n frames; the heartbeat is returned. */
static const char *
come_back(struct star_fixture *f, int hub, struct tk_ws *c, const char *path,
    struct session s, int n)
{
	char text[256];

	(void)snprintf(
	    text, sizeof(text), "%s?session=%s&last=%d", path, s.id, n);
	return star_open_at(f, hub, c, text);
}

/* It misses nothing, and nothing comes twice, at hub number back. */
static void
check_resumed(int back)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	const char *h;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	s = session_of(star_open_at(&f, 1, &a, AGENT_A));
	star_expect_has(&env, "\"agent_joined\"");
	send_numbers(&env, A, 1, 3);
	expect_numbers(&a, A, 1, 3);
	tk_ws_close(&a);
	star_expect_has(
	    &env, "\"agent_detached\",\"data\":{\"agent_id\":\"agent_001\"}");
	send_numbers(&env, A, 4, 2);
	send_numbers(&env, "agent:*", 6, 1);
	star_idle(&env, ENV);
	h = come_back(&f, back, &a, AGENT_A, s, 2);
	ck_assert_ptr_nonnull(strstr(h, "\"resumed\":true"));
	star_expect_has(
	    &env, "\"agent_resumed\",\"data\":{\"agent_id\":\"agent_001\"}");
	send_numbers(&env, A, 7, 2);
	/* The third one was on its way, as far as the client knows. */
	expect_numbers(&a, A, 3, 3);
	expect_numbers(&a, "agent:*", 6, 1);
	expect_numbers(&a, A, 7, 2);
	star_idle(&a, A);
	star_leave(&a);
	star_expect_has(&env, "\"agent_left\"");
	tk_ws_close(&env);
	star_stop(&f);
}

/* What waits for one that does not come back is not delivered. */
static void
check_not_resumed(int sender)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	int i;

	star_start_hubs(&f, 2, TK_ENV("STAR_RESUME_MS=1000"));
	star_open_at(&f, sender, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	tk_ws_close(&a);
	star_expect_has(&env, "\"agent_detached\"");
	tk_ws_send(&env,
	    "{\"type\":\"message\",\"message_id\":\"first\","
	    "\"sender\":{\"id\":\"demo_world\",\"type\":\"environment\"},"
	    "\"recipient\":{\"id\":\"agent_001\",\"type\":\"agent\"},"
	    "\"payload\":{}}");
	send_numbers(&env, A, 1, 2);
	send_numbers(&env, "agent:*", 3, 1);
	star_expect_has(&env, "\"agent_left\"");
	for (i = 1; i <= 3; i++) {
		const char *error = star_expect_error(
		    &env, "CONNECTION_ERROR", "target_not_found");

		ck_assert_int_eq(strstr(error, "\"first\"") != NULL, i == 1);
	}
	star_idle(&env, ENV);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(what_waits_for_a_client_that_does_not_come_back_has_an_error)
{
	check_not_resumed(1);
	check_not_resumed(0);
}

TEST(a_session_goes_on_at_the_same_hub)
{
	check_resumed(1);
}

TEST(a_session_goes_on_at_another_hub)
{
	check_resumed(0);
}

#define JOIN                                                                 \
	"{\"type\":\"stream\",\"id\":\"q\",\"stream\":\"join_environment\"," \
	"\"data\":{\"env_id\":\"demo_world\"}}"
#define LEAVE                                                                 \
	"{\"type\":\"stream\",\"id\":\"q\",\"stream\":\"leave_environment\"," \
	"\"data\":{\"env_id\":\"demo_world\"}}"

#define MEMBERS                                                         \
	"{\"type\":\"stream\",\"id\":\"q\",\"stream\":\"get_members\"," \
	"\"data\":{}}"

/* What Redis did not get of the first one is not done after the second. */
TEST(a_human_that_joins_after_it_failed_stays)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, bob, carol;
	const char *members;

	star_start(&f, TK_ENV("REDIS_TIMEOUT_MS=300"));
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &bob, "/human/bob");
	star_open(&f, &carol, "/human/carol");
	star_send(&carol, "human:carol", "hub:hub", JOIN);
	star_expect_has(&carol, "\"status\":\"success\"");
	star_expect_has(&env, "\"human_joined\"");
	tk_signal(&f.redis.proc, SIGSTOP);
	star_send(&bob, BOB, "hub:hub", JOIN);
	(void)star_expect_error(&bob, "CONNECTION_ERROR", "hub_unreachable");
	tk_signal(&f.redis.proc, SIGCONT);
	tk_service_wait(&f.hub);
	star_send(&bob, BOB, "hub:hub", JOIN);
	star_expect_has(&bob, "\"status\":\"success\"");
	star_expect_has(&env, "\"human_joined\"");
	/* When Redis has got this, it has got all before. */
	star_send(&carol, "human:carol", "hub:hub", LEAVE);
	star_expect_has(&env, "\"human_left\"");
	do {
		star_send(&env, ENV, "hub:hub", MEMBERS);
		members = star_next(&env);
		ck_assert_ptr_nonnull(strstr(members, "\"count\":"));
	} while (strstr(members, "carol") != NULL);
	ck_assert_ptr_nonnull(strstr(members, "bob"));
	star_idle(&env, ENV);
	tk_ws_close(&env);
	tk_ws_close(&bob);
	tk_ws_close(&carol);
	star_stop(&f);
}

TEST(a_human_that_comes_back_is_where_it_was)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, mars, bob;
	struct session s;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 0, &mars, "/env/mars");
	s = session_of(star_open_at(&f, 0, &bob, "/human/bob"));
	star_send(&bob, BOB, "hub:hub",
	    "{\"type\":\"stream\",\"id\":\"q\",\"stream\":\"join_environment\","
	    "\"data\":{\"env_id\":\"demo_world\"}}");
	star_expect_has(&bob, "\"status\":\"success\"");
	star_expect_has(&env, "\"human_joined\"");
	star_send(&bob, BOB, "environment:mars", star_numbered(1));
	star_expect_message(&mars, BOB, "environment:mars", star_numbered(1));
	tk_ws_close(&bob);
	star_expect_has(&env, "\"human_detached\"");
	ck_assert_ptr_nonnull(strstr(
	    come_back(&f, 1, &bob, "/human/bob", s, 1), "\"resumed\":true"));
	star_expect_has(&env, "\"human_resumed\"");
	send_numbers(&env, "human:*", 1, 1);
	star_expect_message(&bob, ENV, "human:*", star_numbered(1));
	star_send(&mars, "environment:mars", BOB, star_numbered(2));
	star_expect_message(&bob, "environment:mars", BOB, star_numbered(2));
	tk_ws_close(&bob);
	tk_ws_close(&env);
	tk_ws_close(&mars);
	star_stop(&f);
}

/* It would not know that it is out of a room. */
TEST(a_human_that_cannot_be_where_it_was_is_rejected)
{
	struct star_fixture f = { 0 };
	char key[256], path[256];
	struct tk_ws env, bob;
	struct session s;

	star_start(&f, NULL);
	star_open(&f, &env, "/env/demo_world");
	s = session_of(star_open(&f, &bob, "/human/bob"));
	star_send(&bob, BOB, "hub:hub", JOIN);
	star_expect_has(&bob, "\"status\":\"success\"");
	tk_ws_close(&bob);
	star_expect_has(&env, "\"human_joined\"");
	star_expect_has(&env, "\"human_detached\"");
	tk_redis_do(&f.redis, key, sizeof(key),
	    "EVAL \"return redis.call('KEYS', 'soul:star:room:*')[1]\" 0");
	key[strcspn(key, "\r\n")] = '\0';
	tk_redis_do(&f.redis, NULL, 0, "SET %s it-cannot-be-joined", key);
	(void)snprintf(
	    path, sizeof(path), "/human/bob?session=%s&last=0", s.id);
	ck_assert_int_eq(tk_ws_open(&bob, f.hub.http, path, NULL), 503);
	tk_ws_close(&bob);
	tk_redis_do(&f.redis, NULL, 0, "DEL %s", key);
	ck_assert_ptr_nonnull(
	    strstr(star_open(&f, &bob, path), "\"resumed\":false"));
	tk_ws_close(&bob);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(a_session_that_is_over_begins_anew)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	const char *h;

	star_start(&f, TK_ENV("STAR_RESUME_MS=300"));
	star_open(&f, &env, "/env/demo_world");
	h = star_open(&f, &a, AGENT_A);
	ck_assert_ptr_nonnull(
	    strstr(h, "\"resume\":{\"ms\":300,\"frames\":256}"));
	s = session_of(h);
	star_expect_has(&env, "\"agent_joined\"");
	tk_ws_close(&a);
	star_expect_has(&env, "\"agent_detached\"");
	star_expect_has(&env,
	    "\"agent_left\",\"data\":{\"agent_id\":\"agent_001\","
	    "\"reason\":\"closed\"}");
	ck_assert_ptr_nonnull(strstr(come_back(&f, 0, &a, AGENT_A, s, 0),
	    "\"resumed\":false,\"lost\":\"unknown\""));
	tk_ws_close(&a);
	/* A close with 1000 does not come back. */
	star_open(&f, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	tk_ws_close(&env);
	tk_ws_close(&a);
	star_stop(&f);
}

TEST(more_than_is_held_is_lost)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	const char *h;
	int i;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	s = session_of(star_open_at(&f, 0, &a, AGENT_A));
	for (i = 1; i <= 300; i++) {
		star_send(&env, ENV, A, star_numbered(i));
		star_expect_message(&a, ENV, A, star_numbered(i));
	}
	tk_ws_close(&a);
	h = come_back(&f, 1, &a, AGENT_A, s, 3);
	ck_assert_ptr_nonnull(strstr(h, "\"resumed\":false,\"lost\":297"));
	s = session_of(h);
	/* The new session counts from 1. */
	send_numbers(&env, A, 1, 2);
	expect_numbers(&a, A, 1, 2);
	tk_ws_close(&a);
	h = come_back(&f, 0, &a, AGENT_A, s, 1);
	ck_assert_ptr_nonnull(strstr(h, "\"resumed\":true"));
	expect_numbers(&a, A, 2, 1);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(a_detached_client_takes_so_much_and_no_more)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	s = session_of(star_open(&f, &a, AGENT_A));
	tk_ws_close(&a);
	send_numbers(&env, A, 1, 257);
	star_expect_error(&env, "CONNECTION_ERROR", "recipient_slow");
	ck_assert_ptr_nonnull(
	    strstr(come_back(&f, 0, &a, AGENT_A, s, 0), "\"resumed\":true"));
	expect_numbers(&a, A, 1, 256);
	star_idle(&a, A);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(a_drained_hub_gives_its_sessions_away, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	int n = 0;

	star_start_hubs(&f, 2, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	s = session_of(star_open_at(&f, 1, &a, AGENT_A));
	send_numbers(&env, A, 1, 5);
	tk_signal(&star_hub(&f, 1)->proc, SIGTERM);
	while (tk_ws_next(&a, TK_WS_MS) != NULL)
		n++;
	ck_assert_uint_eq(a.code, 1001);
	ck_assert_str_eq(a.reason, "restart, resume at once");
	tk_ws_close(&a);
	send_numbers(&env, A, 6, 2);
	ck_assert_ptr_nonnull(
	    strstr(come_back(&f, 0, &a, AGENT_A, s, 0), "\"resumed\":true"));
	expect_numbers(&a, A, 1, 7);
	star_idle(&a, A);
	star_idle(&env, ENV);
	printf("# %d of them came before the drain\n", n);
	tk_ws_close(&a);
	tk_ws_close(&env);
	ck_assert_int_eq(tk_wait(&star_hub(&f, 1)->proc, 60000), 0);
	star_stop(&f);
}

TEST_T(messages_stay_in_order_while_their_recipient_moves, 60)
{
	enum { N = 400, EACH = 20 };
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	const char *h;
	int i, at = 0, got = 0;

	star_start_hubs(&f, 3, STAR_QUIET);
	star_open_at(&f, 0, &env, "/env/demo_world");
	s = session_of(star_open_at(&f, 1, &a, AGENT_A));
	for (i = 1; i <= N; i += EACH) {
		send_numbers(&env, A, i, EACH);
		/* Some of them it reads, at a hub, before it moves on. */
		expect_numbers(&a, A, got + 1, EACH / 2);
		got += EACH / 2;
		at = (at + 1) % 3;
		tk_ws_close(&a);
		h = come_back(&f, at, &a, AGENT_A, s, got);
		ck_assert_ptr_nonnull(strstr(h, "\"resumed\":true"));
		expect_numbers(&a, A, got + 1, EACH / 2);
		got += EACH / 2;
	}
	star_idle(&a, A);
	star_idle(&env, ENV);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST_T(an_error_reaches_a_sender_that_has_come_back, 60)
{
	struct star_fixture f = { 0 };
	struct tk_ws a, b;
	struct session s;

	star_start_hubs(&f, 2, STAR_QUIET);
	s = session_of(star_open_at(&f, 0, &a, AGENT_A));
	star_open_at(&f, 1, &b, AGENT_B);
	star_send(&a, A, B, star_numbered(1));
	star_expect_message(&b, A, B, star_numbered(1));
	/* The next one is not confirmed. */
	tk_signal(&star_hub(&f, 1)->proc, SIGSTOP);
	star_send(&a, A, B, star_numbered(2));
	star_idle(&a, A);
	tk_ws_close(&a);
	ck_assert_ptr_nonnull(
	    strstr(come_back(&f, 0, &a, AGENT_A, s, 0), "\"resumed\":true"));
	star_expect_error(&a, "CONNECTION_LOST", "delivery_unknown");
	tk_service_kill(star_hub(&f, 1));
	tk_ws_close(&a);
	tk_ws_close(&b);
	star_stop(&f);
}

/* ---- what is broadcast while a client moves ---- */

struct moving {
	struct star_fixture *f;
	struct session s;
	struct tk_ws c;
	char heartbeat[512];
};

static void *
moving_run(void *arg)
{
	struct moving *m = arg;

	(void)snprintf(m->heartbeat, sizeof(m->heartbeat), "%s",
	    come_back(m->f, 0, &m->c, AGENT_A, m->s, 1));
	return NULL;
}

/* Who holds the identity of A; 0: it cannot be known. */
static int64_t
holder_gen(struct tk_state *db)
{
	const struct star_identity id = { STR("-"), STR("agent"),
		STR("demo_world/agent_001") };
	struct star_holder holder = { 0 };

	return star_find(db->s, &id, db->arena, &holder) == RC_OK ? holder.gen
								  : 0;
}

struct holder_wait {
	struct tk_state *db;
	int64_t gen;
};

static bool
holder_is_newer(void *arg)
{
	const struct holder_wait *w = arg;

	return holder_gen(w->db) > w->gen;
}

/* The one hub has it in no room any more, the other not yet, since Redis does
 * not answer. */
TEST_T(a_broadcast_that_a_moving_client_does_not_get_is_reported, 60)
{
	struct star_fixture f = { 0 };
	struct moving m = { .f = &f };
	struct holder_wait w;
	struct tk_state db;
	struct tk_ws env, old;
	pthread_t thread;

	star_start_hubs(
	    &f, 2, TK_ENV("STAR_PRESENCE=off", "REDIS_TIMEOUT_MS=10000"));
	tk_state_open(&db, f.redis.url);
	star_open_at(&f, 0, &env, "/env/demo_world");
	/* Of before it came. */
	send_numbers(&env, "agent:*", 1, 2);
	m.s = session_of(star_open_at(&f, 1, &old, AGENT_A));
	star_send(&old, A, ENV, star_numbered(3));
	star_expect_message(&env, A, ENV, star_numbered(3));
	star_send(&env, ENV, A, star_numbered(4));
	star_expect_message(&old, ENV, A, star_numbered(4));
	w = (struct holder_wait){ &db, holder_gen(&db) };
	ck_assert_int_gt(w.gen, 0);
	tk_signal(&star_hub(&f, 1)->proc, SIGSTOP);
	ck_assert_int_eq(pthread_create(&thread, NULL, moving_run, &m), 0);
	ck_assert(tk_until(holder_is_newer, &w, TK_WS_MS));
	tk_signal(&f.redis.proc, SIGSTOP);
	tk_signal(&star_hub(&f, 1)->proc, SIGCONT);
	ck_assert_uint_eq(tk_ws_end(&old), 4409);
	send_numbers(&env, "agent:*", 5, 1);
	star_idle(&env, ENV);
	tk_signal(&f.redis.proc, SIGCONT);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_nonnull(strstr(m.heartbeat, "\"resumed\":true"));
	star_expect_has(&m.c,
	    "\"event\":\"messages_dropped\",\"data\":"
	    "{\"count\":1}");
	tk_ws_close(&old);
	tk_ws_close(&m.c);
	tk_ws_close(&env);
	tk_state_close(&db);
	star_stop(&f);
}

/* ---- events ---- */

#define HISTORY(data)                                                    \
	"{\"type\":\"stream\",\"id\":\"q1\",\"stream\":\"get_history\"," \
	"\"data\":{" data "}}"

TEST(events_that_were_missed_are_read_by_cursor)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a, b;
	char cursor[64], path[160], request[160];
	const char *at;

	star_start_hubs(&f, 2, NULL);
	star_open_at(&f, 0, &env, "/env/demo_world");
	star_open_at(&f, 1, &a, AGENT_A);
	star_expect_has(&env, "\"agent_joined\"");
	send_numbers(&env, "agent:*", 1, 1);
	at = star_expect_has(&a, "\"cursor\":\"");
	at = strstr(at, "\"cursor\":\"") + strlen("\"cursor\":\"");
	(void)snprintf(
	    cursor, sizeof(cursor), "%.*s", (int)strcspn(at, "\""), at);
	star_leave(&a);
	star_expect_has(&env, "\"agent_left\"");
	send_numbers(&env, "agent:*", 2, 3);
	/* By a request, of another one. */
	star_open_at(&f, 0, &b, AGENT_B);
	star_expect_has(&env, "\"agent_joined\"");
	(void)snprintf(request, sizeof(request),
	    HISTORY("\"after\":\"%s\",\"limit\":2"), cursor);
	star_send(&b, B, "hub:hub", request);
	at = star_expect_has(&b, "\"gap\":false,\"more\":true,\"cursor\":\"");
	ck_assert_ptr_nonnull(strstr(at, "\"id\":\"e2\""));
	ck_assert_ptr_nonnull(strstr(at, "\"id\":\"e3\""));
	ck_assert_ptr_null(strstr(at, "\"id\":\"e4\""));
	star_send(&b, B, "hub:hub", HISTORY("\"after\":\"x\""));
	star_expect_error(&b, "VALIDATION_ERROR", "validation_error");
	/* When it connects, before what is new. */
	(void)snprintf(path, sizeof(path), AGENT_A "?cursor=%s", cursor);
	at = star_open_at(&f, 1, &a, path);
	ck_assert_ptr_nonnull(strstr(at, "\"gap\":false,\"more\":false"));
	star_expect_has(&env, "\"agent_joined\"");
	send_numbers(&env, "agent:*", 5, 1);
	expect_numbers(&a, "agent:*", 2, 4);
	star_idle(&a, A);
	tk_ws_close(&a);
	tk_ws_close(&b);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(expired_events_are_reported_as_a_gap)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	const char *at;
	int i;

	star_start(&f,
	    TK_ENV("STAR_PRESENCE=off", "STAR_HISTORY=1",
		"STAR_BROADCAST_RATE=10000"));
	star_open(&f, &env, "/env/demo_world");
	for (i = 1; i <= 300; i++) {
		star_send(&env, ENV, "agent:*", star_numbered(i));
		if (i % 50 == 0)
			star_idle(&env, ENV);
	}
	at = star_open(&f, &a, AGENT_A "?cursor=1-1");
	ck_assert_ptr_nonnull(strstr(at, "\"gap\":true"));
	tk_ws_close(&a);
	ck_assert_int_eq(
	    tk_ws_open(&a, f.hub.http, AGENT_A "?cursor=1", NULL), 400);
	tk_ws_close(&a);
	ck_assert_int_eq(
	    tk_ws_open(&a, f.hub.http, AGENT_A "?session=xyz", NULL), 400);
	tk_ws_close(&a);
	ck_assert_int_eq(
	    tk_ws_open(&a, f.hub.http, AGENT_A "?last=-1", NULL), 400);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

/* A message of n bytes to to. */
static void
send_large(struct tk_ws *env, const char *to, size_t n)
{
	struct buf b = BUF_INIT(2UL << 20);

	buf_printf(&b,
	    "{\"type\":\"message\",\"sender\":{\"id\":\"demo_world\",\"type\":"
	    "\"environment\"},\"recipient\":{\"id\":\"%s\",\"type\":"
	    "\"agent\"},\"payload\":\"",
	    to);
	while (b.n < n - 2)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}");
	tk_ws_send(env, b.p);
	buf_free(&b);
}

TEST(a_message_larger_than_a_session_holds_is_lost_with_it)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	struct session s;
	const char *h;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	s = session_of(star_open(&f, &a, AGENT_A));
	send_large(&env, "agent_001", 600000);
	ck_assert_uint_gt(strlen(star_next(&a)), 500000);
	tk_ws_close(&a);
	/* As far as it knows it has not got it. */
	h = come_back(&f, 0, &a, AGENT_A, s, 0);
	ck_assert_ptr_nonnull(strstr(h, "\"resumed\":false,\"lost\":1"));
	s = session_of(h);
	send_numbers(&env, A, 1, 1);
	expect_numbers(&a, A, 1, 1);
	/* Who has it misses nothing. */
	send_large(&env, "agent_001", 600000);
	ck_assert_uint_gt(strlen(star_next(&a)), 500000);
	tk_ws_close(&a);
	send_numbers(&env, A, 2, 1);
	star_idle(&env, ENV);
	h = come_back(&f, 0, &a, AGENT_A, s, 2);
	ck_assert_ptr_nonnull(strstr(h, "\"resumed\":true"));
	expect_numbers(&a, A, 2, 1);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(an_event_too_large_for_a_beginning_is_requested)
{
	struct star_fixture f = { 0 };
	struct tk_ws env, a;
	const char *h;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	send_numbers(&env, "agent:*", 1, 1);
	send_large(&env, "*", 600000);
	star_idle(&env, ENV);
	h = star_open(&f, &a, AGENT_A "?cursor=1-0");
	ck_assert_ptr_nonnull(strstr(h, "\"gap\":false,\"more\":true"));
	expect_numbers(&a, "agent:*", 1, 1);
	star_send(&a, A, "hub:hub", HISTORY("\"after\":\"1-1\""));
	ck_assert_uint_gt(strlen(star_next(&a)), 500000);
	tk_ws_close(&a);
	h = star_open(&f, &a, AGENT_A "?cursor=1-1");
	ck_assert_ptr_nonnull(strstr(h, "\"gap\":false,\"more\":true"));
	send_numbers(&env, "agent:*", 3, 1);
	star_expect_has(&a, "\"messages_dropped\",\"data\":{\"count\":1}");
	expect_numbers(&a, "agent:*", 3, 1);
	tk_ws_close(&a);
	tk_ws_close(&env);
	star_stop(&f);
}
