/*
 * A turn's record as the message that its user gets.
 */
#include "chat/chat_turn.h"
#include "core/mem.h"
#include "state/turn.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define END(state) "{\"turn_id\":\"t\",\"state\":\"" state "\"}"

static const struct {
	enum turn_state state;
	const char *reply, *timeline;
	enum rc rc;
	enum wire_turn_record_state is;
	double total; /* < 0: none */
	size_t stages;
} rows[] = {
	{ TURN_STATE_OPEN, NULL, NULL, RC_OK, WIRE_TURN_RECORD_STATE_RUNNING,
	    500, 0 },
	{ TURN_STATE_LOST, NULL, NULL, RC_OK, WIRE_TURN_RECORD_STATE_LOST, -1,
	    0 },
	{ TURN_STATE_ENDED, END("completed"), NULL, RC_OK,
	    WIRE_TURN_RECORD_STATE_COMPLETED, -1, 0 },
	{ TURN_STATE_ENDED, END("canceled"), "[]", RC_OK,
	    WIRE_TURN_RECORD_STATE_CANCELED, -1, 0 },
	/* Spans overlap: the last end counts. */
	{ TURN_STATE_ENDED, END("failed"),
	    "[{\"stage\":\"think\",\"start_ms\":2,\"ms\":9},"
	    "{\"stage\":\"commit\",\"start_ms\":4}]",
	    RC_OK, WIRE_TURN_RECORD_STATE_FAILED, 11, 2 },
	{ TURN_STATE_ENDED, END("running"), NULL, RC_INVALID, 0, 0, 0 },
	{ TURN_STATE_ENDED, END("repeated"), NULL, RC_INVALID, 0, 0, 0 },
	{ TURN_STATE_ENDED, "x", NULL, RC_INVALID, 0, 0, 0 },
	{ TURN_STATE_ENDED, END("completed"), "{}", RC_INVALID, 0, 0, 0 },
	{ TURN_STATE_ENDED, END("completed"), "[{}]", RC_INVALID, 0, 0, 0 },
};

TEST(records_become_their_messages)
{
	struct turn_record rec = { .known = true,
		.user_id = STR("u"),
		.session_id = STR("s"),
		.instance = STR("o"),
		.started = { 1771755630000 } };
	struct wall now = { 1771755630500 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_turn_record out;
	enum rc rc;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		rec.state = rows[i].state;
		rec.reply = str_of(rows[i].reply);
		rec.timeline = str_of(rows[i].timeline);
		rc = turn_view_put(&rec, STR("turn_1"), now, a, &out);
		ck_assert_msg(rc == rows[i].rc, "row %zu", i);
		if (rc != RC_OK)
			continue;
		ck_assert_int_eq(out.state, rows[i].is);
		ck_assert_int_eq(out.has_total_ms, rows[i].total >= 0);
		if (out.has_total_ms)
			ck_assert(out.total_ms == rows[i].total);
		ck_assert_uint_eq(out.n_timeline, rows[i].stages);
		ck_assert(str_eq(out.started_at, STR("2026-02-22T10:20:30Z")));
		buf_reset(&b);
		ck_assert_int_eq(
		    wire_encode(&wire_turn_record_desc, &out, &b, NULL), RC_OK);
	}
	buf_free(&b);
	arena_free(a);
}

/* What the commit took is stored beside the timeline, later. */
TEST(the_commit_gets_its_time)
{
	struct turn_record rec = { .known = true,
		.state = TURN_STATE_ENDED,
		.user_id = STR("u"),
		.session_id = STR("s"),
		.instance = STR("o"),
		.reply = STR(END("completed")),
		.timeline = STR("[{\"stage\":\"begin\",\"start_ms\":0,"
				"\"ms\":1,\"outcome\":\"ok\"},"
				"{\"stage\":\"commit\",\"start_ms\":4}]") };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_turn_record out;
	struct wall now = { 0 };

	ck_assert_int_eq(turn_view_put(&rec, STR("t"), now, a, &out), RC_OK);
	ck_assert(!out.timeline[1].has_ms && out.total_ms == 4);
	rec.commit_us = 1250;
	ck_assert_int_eq(turn_view_put(&rec, STR("t"), now, a, &out), RC_OK);
	ck_assert(out.timeline[0].ms == 1);
	ck_assert(out.timeline[1].has_ms && out.timeline[1].ms == 1.25);
	ck_assert(str_eq(out.timeline[1].outcome, STR("ok")));
	ck_assert(out.total_ms == 5.25);
	arena_free(a);
}
