/*
 * Phases with given times.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "turn/turn_timeline.h"

static struct mono
us(int64_t n)
{
	return (struct mono){ 1000000 + n * 1000 };
}

static void
begin(struct turn_timeline *t, enum timeline_kind kind, size_t key,
    const char *what, int64_t at)
{
	timeline_begin(t,
	    &(struct timeline_phase){ .kind = kind,
		.key = key,
		.what = str_of(what),
		.begin = us(at) });
}

static void
writes(const struct turn_timeline *t, const char *want)
{
	struct arena *a = arena_new(1024 * 1024);
	struct buf b = BUF_INIT(1024 * 1024);

	ck_assert_int_eq(timeline_write(t, a, &b), RC_OK);
	ck_assert_str_eq(b.p, want);
	buf_free(&b);
	arena_free(a);
}

TEST(phases_begin_and_end)
{
	struct turn_timeline t = { .start = us(0) };

	writes(&t, "[]");
	begin(&t, TIMELINE_QUEUE, 0, NULL, 0);
	timeline_end(&t, TIMELINE_QUEUE, 0, "ok", us(250));
	begin(&t, TIMELINE_COMPLETION, 0, "1", 300);
	timeline_first(&t, TIMELINE_COMPLETION, us(1300));
	timeline_first(&t, TIMELINE_COMPLETION, us(1400));
	timeline_end(&t, TIMELINE_COMPLETION, 0, "ok", us(2300));
	/* Two of a kind in parallel. */
	begin(&t, TIMELINE_INVOKE, 0, "nod", 2400);
	begin(&t, TIMELINE_INVOKE, 1, "sing", 2500);
	timeline_end(&t, TIMELINE_INVOKE, 0, "not_confirmed", us(9400));
	writes(&t,
	    "[{\"stage\":\"queue\",\"start_ms\":0,\"ms\":0.25,"
	    "\"outcome\":\"ok\"},"
	    "{\"stage\":\"think\",\"what\":\"1\",\"start_ms\":0.3,"
	    "\"ms\":2,\"first_ms\":1,\"outcome\":\"ok\"},"
	    "{\"stage\":\"invoke\",\"what\":\"nod\",\"start_ms\":2.4,"
	    "\"ms\":7,\"outcome\":\"not_confirmed\"},"
	    "{\"stage\":\"invoke\",\"what\":\"sing\",\"start_ms\":2.5}]");
	timeline_close(&t, "canceled", us(2600));
	ck_assert_str_eq(t.list[3].outcome, "canceled");
	ck_assert_str_eq(t.list[2].outcome, "not_confirmed");
	timeline_free(&t);
}

/* A retried action is still the same phase. */
TEST(an_ended_phase_stays_ended)
{
	struct turn_timeline t = { .start = us(0) };

	begin(&t, TIMELINE_LOAD, 0, NULL, 1);
	begin(&t, TIMELINE_LOAD, 0, NULL, 2);
	ck_assert_uint_eq(timeline_count(&t, TIMELINE_LOAD), 1);
	timeline_end(&t, TIMELINE_LOAD, 0, "ok", us(3));
	timeline_end(&t, TIMELINE_LOAD, 0, "late", us(4));
	ck_assert_str_eq(t.list[0].outcome, "ok");
	timeline_end(&t, TIMELINE_ACT, 0, "ok", us(5));
	ck_assert_uint_eq(t.n, 1);
	timeline_free(&t);
}

TEST(phases_are_limited)
{
	struct turn_timeline t = { .start = us(0) };

	for (size_t i = 0; i < TIMELINE_MAX + 5; i++)
		begin(&t, TIMELINE_INVOKE, i, "nod", (int64_t)i);
	ck_assert_uint_eq(t.n, TIMELINE_MAX);
	timeline_end(&t, TIMELINE_INVOKE, TIMELINE_MAX + 1, "ok", us(1));
	timeline_free(&t);
	ck_assert_uint_eq(t.n, 0);
}
