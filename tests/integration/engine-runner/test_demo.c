/*
 * The engine of "make run", and a reader that follows its run.
 */
#include <stdio.h>

#include "testkit/engine_runner_fixture.h"
#include "testkit/sse.h"

static struct engine_runner_fixture f;

static void
demo_start(void)
{
	er_start(&f, NULL);
	tk_service_end(&f.runner[0]);
	er_use_demo_engine();
	er_start_runner(&f, 0, NULL);
}

static void
demo_read_to(struct tk_sse *s, int64_t *seq, const char *type)
{
	struct tk_sse_event e;
	bool is = false;

	while (!is) {
		ck_assert_msg(tk_sse_next(s, TK_SSE_MS, &e), "no %s", type);
		ck_assert_int_eq(tk_int(e.j, "seq"), ++*seq);
		is = strcmp(tk_text(e.j, "type"), type) == 0;
		json_decref(e.j);
	}
}

TEST(a_reader_follows_a_run_through_its_question)
{
	struct tk_response a = { 0 };
	struct tk_sse s, last;
	char id[RUN_ID_MAX], path[256], cursor[24];
	int64_t seq = 0, n;

	demo_start();
	er_begin(&f, id, ER_STEPS("Write a greeting."), "");
	snprintf(
	    path, sizeof(path), "/v1/runs/%s/events?cursor=0&user_id=ann", id);
	tk_sse_open(&s, f.gw.gateway.http, path);
	demo_read_to(&s, &seq, STARTED);
	demo_read_to(&s, &seq, DELTA);
	demo_read_to(&s, &seq, FINAL);
	demo_read_to(&s, &seq, "user.input.required");
	ck_assert_int_eq(er_reply(&f, &a, id, "ix_1", ER_STEPS("Ann")), 400);
	ck_assert_int_eq(er_reply_text(&f, &a, id, "ix_1", "Ann"), 200);
	demo_read_to(&s, &seq, "user.input.replied");
	demo_read_to(&s, &seq, FINAL);
	demo_read_to(&s, &seq, COMPLETED);
	ck_assert(tk_sse_ends(&s, TK_SSE_MS));
	/* A Last-Event-ID counts more than the cursor. */
	n = seq - 1;
	snprintf(cursor, sizeof(cursor), "%lld", (long long)n);
	tk_sse_send(&last, f.gw.gateway.http, path, cursor);
	tk_sse_begun(&last);
	demo_read_to(&last, &n, COMPLETED);
	ck_assert(tk_sse_ends(&last, TK_SSE_MS));
	tk_sse_close(&last);
	tk_sse_close(&s);
	tk_response_free(&a);
	er_stop(&f);
}
