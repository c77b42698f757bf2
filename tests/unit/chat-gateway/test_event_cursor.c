/*
 * The position of a reader, and its next event.
 */
#include "chat/chat_turn.h"
#include "core/mem.h"
#include "streams/event_cursor.h"
#include "testkit/testkit.h"

TEST(live_events_are_sent_dropped_or_read_from_the_log)
{
	static const struct {
		int64_t last, seq;
		enum event_cursor_step step;
	} rows[] = {
		{ 0, 1, EVENT_CURSOR_SEND },
		{ 0, 2, EVENT_CURSOR_READ },
		{ 7, 8, EVENT_CURSOR_SEND },
		{ 7, 7, EVENT_CURSOR_DROP },
		{ 7, 1, EVENT_CURSOR_DROP },
		{ 7, 0, EVENT_CURSOR_DROP },
		{ 7, 9, EVENT_CURSOR_READ },
		{ 7, 9007199254740991, EVENT_CURSOR_READ },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct event_cursor c = { .last = rows[i].last };

		ck_assert_int_eq(
		    event_cursor_live(&c, rows[i].seq), rows[i].step);
		ck_assert_int_eq(c.last, rows[i].last);
	}
}

TEST(taking_an_event_detects_duplicates_and_gaps)
{
	static const struct {
		int64_t last, seq;
		bool taken, gap;
	} rows[] = {
		{ 0, 1, true, false },
		{ 0, 5, true, true },
		{ 7, 8, true, false },
		{ 7, 9, true, true },
		{ 7, 7, false, false },
		{ 7, 3, false, false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct event_cursor c = { .last = rows[i].last };

		ck_assert_int_eq(
		    event_cursor_take(&c, rows[i].seq), rows[i].taken);
		ck_assert_int_eq(c.gap, rows[i].gap);
		ck_assert_int_eq(
		    c.last, rows[i].taken ? rows[i].seq : rows[i].last);
	}
}

TEST(the_end_of_the_log_detects_expired_events)
{
	static const struct {
		int64_t last, newest;
		bool end, gap;
		int64_t then;
	} rows[] = {
		{ 0, 0, true, false, 0 },
		{ 7, 7, true, false, 7 },
		/* All of it has expired. */
		{ 7, 9, true, true, 9 },
		{ 0, 9, true, true, 9 },
		/* The log was restarted. */
		{ 7, 3, false, true, 0 },
		{ 7, 0, true, true, 0 },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct event_cursor c = { .last = rows[i].last };

		ck_assert_int_eq(
		    event_cursor_end(&c, rows[i].newest), rows[i].end);
		ck_assert_int_eq(c.gap, rows[i].gap);
		ck_assert_int_eq(c.last, rows[i].then);
	}
}

TEST(the_header_has_precedence_over_the_query)
{
	static const struct {
		const char *header, *query;
		enum rc rc;
		int64_t after;
	} rows[] = {
		{ NULL, NULL, RC_OK, -1 },
		{ NULL, "0", RC_OK, 0 },
		{ NULL, "17", RC_OK, 17 },
		{ "18", NULL, RC_OK, 18 },
		{ "18", "17", RC_OK, 18 },
		{ "18", "x", RC_OK, 18 },
		{ "x", "17", RC_INVALID, 0 },
		{ NULL, "9007199254740991", RC_OK, 9007199254740991 },
		{ NULL, "9007199254740992", RC_INVALID, 0 },
		{ NULL, "99999999999999999999", RC_INVALID, 0 },
		{ NULL, "-1", RC_INVALID, 0 },
		{ NULL, "", RC_INVALID, 0 },
		{ "", NULL, RC_INVALID, 0 },
		{ NULL, "1.5", RC_INVALID, 0 },
		{ NULL, " 1", RC_INVALID, 0 },
		{ NULL, "+1", RC_INVALID, 0 },
		{ "1, 2", NULL, RC_INVALID, 0 },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		int64_t after = -7;

		ck_assert_int_eq(event_cursor_parse(str_of(rows[i].header),
				     str_of(rows[i].query), &after),
		    rows[i].rc);
		if (rows[i].rc == RC_OK)
			ck_assert_int_eq(after, rows[i].after);
	}
}

TEST(an_accept_header_requests_a_stream)
{
	static const struct {
		const char *accept;
		bool stream;
	} rows[] = {
		{ NULL, false },
		{ "", false },
		{ "*/*", false },
		{ "text/*", false },
		{ "application/json", false },
		{ "text/event-stream", true },
		{ "Text/Event-Stream", true },
		{ "text/event-stream;q=0.9", true },
		{ "application/json, text/event-stream ; q=0.1", true },
		{ "text/event-streams", false },
		{ "x;a=\"text/event-stream\"", false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		ck_assert_msg(
		    turn_sse_accepted(str_of(rows[i].accept)) == rows[i].stream,
		    "%s", rows[i].accept);
}
