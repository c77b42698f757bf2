/*
 * A session's events from a cursor on.
 */
#include <stdio.h>

#include "testkit/gateway_turn_fixture.h"

#define EVENTS_N 200
#define PATH     "/v1/sessions/s1/events"

static struct gateway_fixture b;
static struct gw_run r;

/* Log this many events; the last two end the turn. */
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
no_stream_is_open(void *arg)
{
	return gw_has_metric(arg, "\nsoul_event_streams 0\n");
}

TEST_T(every_cursor_returns_exactly_the_rest, 120)
{
	struct tk_sse s;
	int64_t at, seq;

	gateway_fixture_start_alone(&b, NULL);
	write_log(EVENTS_N);
	for (at = 0; at <= EVENTS_N; at++) {
		open_at(&s, at, at % 2 == 1);
		for (seq = at + 1; seq <= EVENTS_N; seq++)
			tk_sse_is(&s, seq, type_of(seq, EVENTS_N));
		ck_assert_uint_eq(s.at, s.c.in.n);
		tk_sse_close(&s);
		/* Closed streams count until their end is noticed. */
		if (at % 100 == 99)
			ck_assert(tk_until(no_stream_is_open, &b, GW_MS));
	}
	/* At the end, only new events follow. */
	open_at(&s, EVENTS_N, false);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, EVENTS_N + 1, STARTED);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(without_a_cursor_only_new_events_are_sent)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	write_log(10);
	tk_sse_open(&s, b.gateway.http, PATH);
	gw_run_begin(&r, &b, "s1", "turn_2");
	gw_run_delta(&r, "x");
	tk_sse_is(&s, 11, STARTED);
	tk_sse_is(&s, 12, DELTA);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* The session of a cursor need not exist yet. */
TEST(a_cursor_can_wait_for_a_future_session)
{
	struct tk_sse s;

	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "GET", PATH, NULL, 404, "session not found");
	open_at(&s, 0, false);
	gw_run_begin(&r, &b, "s1", "turn_1");
	tk_sse_is(&s, 1, STARTED);
	/* Sessions of other users are missing. */
	gw_rejects(
	    &b, "GET", PATH "?user_id=eve", NULL, 404, "session not found");
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

TEST(invalid_cursors_are_rejected)
{
	struct tk_response a = { 0 };

	gateway_fixture_start_alone(&b, NULL);
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
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

/* The log stores about 1,000 events. */
TEST_T(expired_events_are_reported_by_one_warning, 60)
{
	enum { N = 1400 };
	struct events_key log;
	struct events page;
	struct tk_sse s;
	int64_t first, seq;

	gateway_fixture_start_alone(&b, NULL);
	write_log(N);
	log = events_of_session(&r.p.key);
	ck_assert_int_eq(
	    events_read(b.db.s, &log, 0, false, b.db.arena, &page), RC_OK);
	first = page.item[0].seq;
	ck_assert_int_gt(first, 3);
	open_at(&s, 2, false);
	tk_sse_warns(&s, first - 1);
	for (seq = first; seq <= N; seq++)
		tk_sse_is(&s, seq, type_of(seq, N));
	ck_assert_uint_eq(s.at, s.c.in.n);
	tk_sse_close(&s);
	/* The seq of the warning is a valid cursor. */
	open_at(&s, first - 1, true);
	tk_sse_is(&s, first, DELTA);
	tk_sse_close(&s);
	/* The log has expired. */
	ck_assert_int_eq(state_cmd(b.db.s,
			     STATE_ARGS(STR("DEL"),
				 STR("soul:events:{b0619}:demo-user:s1:1")),
			     NULL),
	    RC_OK);
	open_at(&s, 2, false);
	tk_sse_warns(&s, N);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, N + 1, STARTED);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A deleted session starts again at seq 1. */
TEST(a_cursor_above_the_newest_restarts_the_log)
{
	struct tk_sse s, late;
	int64_t seq;

	gateway_fixture_start_alone(&b, NULL);
	write_log(10);
	open_at(&s, 99, false);
	tk_sse_warns(&s, 0);
	for (seq = 1; seq <= 10; seq++)
		tk_sse_is(&s, seq, type_of(seq, 10));
	gw_ok(&b, "DELETE", "/v1/sessions/s1", NULL);
	open_at(&late, 10, false);
	tk_sse_warns(&late, 0);
	/* An open stream is warned without a request. */
	tk_sse_warns(&s, 0);
	gw_run_begin(&r, &b, "s1", "turn_2");
	tk_sse_is(&s, 1, STARTED);
	tk_sse_is(&late, 1, STARTED);
	tk_sse_close(&s);
	tk_sse_close(&late);
	gateway_fixture_stop(&b);
}

/* The first reader of the log reports the failure of a dead process. */
TEST(a_turn_whose_process_died_has_failed)
{
	struct tk_sse s;
	struct gw_run next;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_kill(&r);
	open_at(&s, 0, false);
	tk_sse_is(&s, 1, STARTED);
	/* The next turn reports it. */
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
