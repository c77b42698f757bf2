/*
 * A session's events from a cursor on.
 */
#include <stdio.h>

#include "testkit/gateway_fixture.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/sse.h"
#include "testkit/testkit.h"

#define EVENTS_N 200
#define PATH     "/v1/sessions/s1/events"

static struct gateway_fixture b;
static struct gw_run r;

static void
open_bed(void)
{
	gateway_fixture_servers(&b);
	gateway_fixture_spawn(&b, &b.gateway, "chat-gateway", NULL);
}

/* A log of so many events, the last two of which end the turn. */
static void
write_log(int n)
{
	gw_run_begin(&r, &b, "s1", "turn_1");
	r.mute = true;
	gw_run_deltas(&r, n - 3);
	gw_run_end(&r);
	ck_assert_int_eq(r.seq, n);
}

static const char *
type_of(int64_t seq, int64_t n)
{
	if (seq == 1)
		return STARTED;
	return seq == n ? COMPLETED : seq == n - 1 ? FINAL : DELTA;
}

static void
open_at(struct tk_sse *s, int64_t cursor, bool by_header)
{
	char path[128], last[24];

	snprintf(last, sizeof(last), "%lld", (long long)cursor);
	snprintf(
	    path, sizeof(path), "%s?cursor=%s", PATH, by_header ? "0" : last);
	tk_sse_send(s, b.gateway.http, path, by_header ? last : NULL);
	tk_sse_begun(s);
}

static bool
no_stream(void *arg)
{
	return gw_has_metric(arg, "\nsoul_event_streams 0\n");
}

TEST_T(every_cursor_gives_exactly_the_rest, 120)
{
	struct tk_sse s;
	int64_t at, seq;

	open_bed();
	write_log(EVENTS_N);
	for (at = 0; at <= EVENTS_N; at++) {
		open_at(&s, at, at % 2 == 1);
		for (seq = at + 1; seq <= EVENTS_N; seq++)
			tk_sse_is(&s, seq, type_of(seq, EVENTS_N));
		ck_assert_uint_eq(s.at, s.c.in.n);
		tk_sse_close(&s);
		/* A stream that was closed is one until that is noticed. */
		if (at % 100 == 99)
			ck_assert(tk_until(no_stream, &b, GW_MS));
	}
	/* Behind the last comes what happens next, and nothing before. */
	open_at(&s, EVENTS_N, false);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, EVENTS_N + 1, STARTED);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(who_names_no_cursor_gets_what_happens_from_now_on)
{
	struct tk_sse s;

	open_bed();
	write_log(10);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_2");
	gw_run_delta(&r, "x");
	tk_sse_is(&s, 11, STARTED);
	tk_sse_is(&s, 12, DELTA);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A cursor is a client's own word: it may wait for a session to begin. */
TEST(a_session_may_begin_later)
{
	struct tk_sse s;

	open_bed();
	gw_rejects(&b, "GET", PATH, NULL, 404, "session not found");
	open_at(&s, 0, false);
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	/* What is another user's is not told. */
	gw_rejects(
	    &b, "GET", PATH "?user_id=eve", NULL, 404, "session not found");
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(what_is_no_cursor_is_refused)
{
	struct tk_answer a = { 0 };

	open_bed();
	gw_rejects(&b, "GET", PATH "?cursor=x", NULL, 400,
	    "cursor: must be the seq of an event, or 0");
	gw_rejects(&b, "GET", PATH "?cursor=-1", NULL, 400,
	    "cursor: must be the seq of an event, or 0");
	gw_rejects(&b, "GET", PATH "?cursor=", NULL, 400,
	    "cursor: must be the seq of an event, or 0");
	tk_http_call(b.gateway.http, &a,
	    "GET " PATH " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "Last-Event-ID: 7a\r\n\r\n");
	gw_check_error(
	    &a, 400, "Last-Event-ID: must be the seq of an event, or 0");
	gw_rejects(&b, "GET", PATH "?user_id=", NULL, 400,
	    "user_id: must be 1 to 128 bytes without control characters");
	tk_answer_free(&a);
	gateway_fixture_stop(&b);
}

/* The log keeps about the last thousand. */
TEST_T(what_is_not_kept_any_more_is_said_once, 60)
{
	enum { N = 1400 };
	struct session_events page;
	struct tk_sse s;
	int64_t first, seq;

	open_bed();
	write_log(N);
	ck_assert_int_eq(
	    session_events_read(b.db.s, &r.p.key, 0, b.db.arena, &page), RC_OK);
	first = page.item[0].seq;
	ck_assert_int_gt(first, 3);
	open_at(&s, 2, false);
	tk_sse_warns(&s, first - 1);
	for (seq = first; seq <= N; seq++)
		tk_sse_is(&s, seq, type_of(seq, N));
	ck_assert_uint_eq(s.at, s.c.in.n);
	tk_sse_close(&s);
	/* The warning is a cursor as good as any. */
	open_at(&s, first - 1, true);
	tk_sse_is(&s, first, DELTA);
	tk_sse_close(&s);
	/* An hour later nothing of it is there. */
	ck_assert_int_eq(state_cmd(b.db.s,
			     STATE_ARGS(STR("DEL"),
				 STR("soul:session:{demo-user:s1}:events:1")),
			     NULL),
	    RC_OK);
	open_at(&s, 2, false);
	tk_sse_warns(&s, N);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, N + 1, STARTED);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A session that was forgotten counts from one again. */
TEST(a_cursor_above_the_newest_begins_again)
{
	struct tk_sse s, late;
	int64_t seq;

	open_bed();
	write_log(10);
	open_at(&s, 99, false);
	tk_sse_warns(&s, 0);
	for (seq = 1; seq <= 10; seq++)
		tk_sse_is(&s, seq, type_of(seq, 10));
	gw_ok(&b, "DELETE", "/v1/sessions/s1", NULL);
	open_at(&late, 10, false);
	tk_sse_warns(&late, 0);
	/* Who is there is told without asking. */
	tk_sse_warns(&s, 0);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, 1, STARTED);
	tk_sse_is(&late, 1, STARTED);
	tk_sse_close(&s);
	tk_sse_close(&late);
	gateway_fixture_stop(&b);
}

/* Who died in the middle of a turn is told of by whoever finds it. */
TEST(a_turn_whose_process_died_has_failed)
{
	struct tk_sse s;
	struct gw_run next;
	json_t *j;

	open_bed();
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_kill(&r);
	open_at(&s, 0, false);
	tk_sse_is(&s, 1, STARTED);
	/* The next turn finds it. */
	gw_run_begin(&next, &b, "s1", "turn_2");
	j = tk_sse_take(&s, 2, FAILED);
	ck_assert_str_eq(tk_text(j, "run_id"), "turn_1");
	ck_assert_str_eq(tk_text(j, "session_id"), "s1");
	ck_assert_str_eq(tk_text(j, "data.error.category"), "runtime");
	ck_assert_str_eq(tk_text(j, "data.error.code"), "TURN_LOST");
	json_decref(j);
	tk_sse_is(&s, 3, STARTED);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}
