/*
 * Following a run: live events, those of its log, and those that have expired.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fcmp/fcmp_write.h"
#include "state/state_internal.h"
#include "testkit/gateway_fixture.h"
#include "testkit/run_fixture.h"
#include "testkit/sse.h"

static struct gateway_fixture b;
static struct run_record rec;
static char id[RUN_ID_MAX];

static void
start(void)
{
	gateway_fixture_start_alone(&b, NULL);
	run_fixture_create(b.db.s, id);
	rec = run_fixture_claim(b.db.s, id, b.db.arena);
}

static void
publish(enum run_status status, size_t n)
{
	ck_assert_int_eq(
	    run_fixture_publish(b.db.s, &rec, status, n, n), RC_OK);
}

/* An event of the run, as an engine-runner publishes it on NATS. */
static struct str
event_of(int64_t seq, struct buf *text)
{
	const struct fcmp_head h = { .run_id = str_of(id),
		.engine = STR("codex"),
		.ts = STR("2026-02-21T12:34:56.789Z"),
		.seq = seq,
		.confidence = 1,
		.attempt = 1 };

	buf_reset(text);
	fcmp_delta(&h, STR("m_1_1"), STR("x"), text);
	return buf_str(text);
}

static void
publish_live(int64_t seq)
{
	struct buf text = BUF_INIT(FCMP_EVENT_MAX);
	char subject[RUN_ID_MAX + 32];

	snprintf(subject, sizeof(subject), "soul.run.stream.%s", id);
	ck_assert_int_eq(
	    natsConnection_PublishString(b.nc, subject, event_of(seq, &text).p),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b.nc), NATS_OK);
	buf_free(&text);
}

static void
open_at(struct tk_sse *s, const char *log, int64_t cursor)
{
	char path[160];

	snprintf(path, sizeof(path), "/v1/runs/%s/%s?user_id=ann&cursor=%lld",
	    id, log, (long long)cursor);
	tk_sse_open(s, b.gateway.http, path);
}

/* Live ones are sent at once, each event a single time, in order. */
TEST(live_events_of_a_run_are_sent_before_the_log_has_them)
{
	struct tk_sse s, late;

	start();
	publish(RUN_IS_RUNNING, 1);
	open_at(&s, "events", 0);
	tk_sse_is(&s, 1, STARTED);
	publish_live(2);
	tk_sse_is(&s, 2, DELTA);
	publish_live(2);
	publish_live(1);
	publish_live(3);
	tk_sse_is(&s, 3, DELTA);
	/* The log has the same, and one that was not seen. */
	publish(RUN_IS_RUNNING, 3);
	tk_sse_is(&s, 4, DELTA);
	open_at(&late, "events", 2);
	tk_sse_is(&late, 3, DELTA);
	tk_sse_is(&late, 4, DELTA);
	publish(RUN_IS_FAILED, 1);
	publish_live(5);
	tk_sse_is(&late, 5, DELTA);
	tk_sse_is(&s, 5, DELTA);
	tk_sse_close(&late);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}

/* A reader that reconnects after each event. */
TEST(a_reader_that_reconnects_gets_each_event_once)
{
	enum { N = 20 };
	struct tk_sse s;
	int64_t seq;

	start();
	for (seq = 1; seq <= N; seq++) {
		publish(seq < N ? RUN_IS_RUNNING : RUN_IS_SUCCEEDED, 1);
		open_at(&s, "events", seq - 1);
		tk_sse_is(&s, seq,
		    seq == 1      ? STARTED
			: seq < N ? DELTA
				  : COMPLETED);
		tk_sse_close(&s);
	}
	gateway_fixture_stop(&b);
}

static void
trim(const char *pattern, const char *least)
{
	struct script_call c;

	call_begin(&c, NULL);
	call_run_key(&c, pattern, str_of(id));
	ck_assert_int_eq(c.rc, RC_OK);
	ck_assert_int_eq(state_cmd(b.db.s,
			     STATE_ARGS(STR("XTRIM"), c.keys[0], STR("MINID"),
				 str_of(least)),
			     NULL),
	    RC_OK);
}

TEST(expired_events_of_a_run_are_reported)
{
	struct tk_sse_event e;
	struct tk_sse s;
	json_t *j;

	start();
	publish(RUN_IS_RUNNING, 6);
	trim(KEY_RUN_EVENTS, "0-4");
	trim(KEY_RUN_RASP, "0-5");
	open_at(&s, "events", 1);
	j = tk_sse_take(&s, 3, WARNING);
	ck_assert_str_eq(tk_text(j, "data.code"), "EVENTS_GONE");
	ck_assert_str_eq(tk_text(j, "run_id"), id);
	ck_assert_str_eq(tk_text(j, "engine"), "codex");
	ck_assert_ptr_null(json_object_get(j, "session_id"));
	ck_assert_int_eq(tk_int(j, "meta.attempt"), 1);
	json_decref(j);
	tk_sse_is(&s, 4, DELTA);
	tk_sse_is(&s, 5, DELTA);
	tk_sse_is(&s, 6, DELTA);
	tk_sse_close(&s);

	open_at(&s, "rasp", 0);
	ck_assert(tk_sse_next(&s, TK_SSE_MS, &e));
	ck_assert_str_eq(e.name, "events_gone");
	ck_assert_int_eq(atoi(e.id), 4);
	json_decref(e.j);
	/* A live event of FCMP is not sent to readers of RASP. */
	publish_live(7);
	for (int i = 5; i <= 6; i++) {
		ck_assert(tk_sse_next(&s, TK_SSE_MS, &e));
		ck_assert_str_eq(e.name, "run_event");
		ck_assert_int_eq(atoi(e.id), i);
		json_decref(e.j);
	}
	publish(RUN_IS_RUNNING, 1);
	ck_assert(tk_sse_next(&s, TK_SSE_MS, &e));
	ck_assert_str_eq(e.name, "run_event");
	ck_assert_int_eq(atoi(e.id), 7);
	json_decref(e.j);
	tk_sse_close(&s);
	gateway_fixture_stop(&b);
}
