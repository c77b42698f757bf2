/* The order and the limits of the queue; how much is written at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "reports/report_pace.h"
#include "reports/report_queue.h"
#include "testkit/testkit.h"

#define MS INT64_C(1000000)

static struct report_entry *
numbered_entry(int i)
{
	char id[16];

	snprintf(id, sizeof(id), "t%d", i);
	return report_entry_new(TERMINAL_ONLINE, str_of(id));
}

static void
ck_taken(struct report_queue *q, size_t room, int i)
{
	struct report_entry *e = report_queue_take(q, room);
	char id[16];

	snprintf(id, sizeof(id), "t%d", i);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->id, id);
	ck_assert(str_eq(e->t.id, str_of(id)));
	report_entry_free(e);
}

TEST(reports_leave_in_the_order_of_arrival)
{
	struct report_queue *q = report_queue_new();
	struct report_entry *e;
	int i;

	ck_assert_ptr_null(report_queue_take(q, SIZE_MAX));
	for (i = 0; i < REPORT_QUEUE_MAX; i++) {
		e = numbered_entry(i);
		e->t.replayed = i % 2 == 0;
		ck_assert(report_queue_push(q, e));
	}
	e = numbered_entry(i);
	ck_assert(!report_queue_push(q, e));
	report_entry_free(e);
	ck_assert_uint_eq(report_queue_replays(q), REPORT_QUEUE_MAX / 2);
	for (i = 0; i < REPORT_QUEUE_MAX / 2; i++)
		ck_taken(q, 1, i);
	ck_assert_uint_eq(report_queue_replays(q), REPORT_QUEUE_MAX / 4);
	ck_assert_uint_eq(report_queue_len(q), REPORT_QUEUE_MAX / 2);
	report_queue_free(q);
	report_queue_free(NULL);
}

TEST(a_large_report_takes_more_room)
{
	struct report_queue *q = report_queue_new();
	struct report_entry *e = numbered_entry(0);
	char *text = mem_zalloc(10 * REPORT_WEIGHT_BYTES);

	e->t.snap.json = (struct str){ text, 9 * REPORT_WEIGHT_BYTES };
	e->t.snap.soul_hint = (struct str){ text, REPORT_WEIGHT_BYTES };
	ck_assert_uint_eq(report_entry_weight(e), 11);
	ck_assert(report_queue_push(q, e));
	/* A small one does not overtake it. */
	ck_assert(report_queue_push(q, numbered_entry(1)));
	ck_assert_ptr_null(report_queue_take(q, 10));
	ck_taken(q, 11, 0);
	ck_taken(q, 1, 1);
	report_queue_free(q);
	free(text);
}

TEST(an_entry_owns_its_details)
{
	struct report_queue *q = report_queue_new();
	struct report_entry *e = report_entry_new(TERMINAL_REJECTION, STR("t"));

	e->details = mem_zalloc(sizeof(*e->details));
	buf_init(&e->details->json, 1024);
	buf_puts(&e->details->json, "{}");
	e->t.rejection.json = buf_str(&e->details->json);
	ck_assert(report_queue_push(q, e));
	report_queue_free(q);
}

/* A server that needs that many ns for one, and for each write. */
static int64_t
served_in(size_t weight, int64_t each, int64_t fixed)
{
	return (int64_t)weight * each + fixed;
}

static void
pace_run(struct report_pace *p, int writes, int64_t each, int64_t fixed)
{
	while (writes-- > 0)
		report_pace_took(
		    p, p->weight, served_in(p->weight, each, fixed));
}

TEST(a_write_takes_about_its_time)
{
	static const int64_t costs[] = { 60000, 100000, 300000, 1000000 };
	struct report_pace p = REPORT_PACE_INIT;
	int64_t took;
	size_t i;

	for (i = 0; i < NELEM(costs); i++) {
		pace_run(&p, 20, costs[i], 0);
		took = served_in(p.weight, costs[i], 0);
		ck_assert_int_le(took, REPORT_PACE_MS * MS);
		ck_assert_int_ge(took, REPORT_PACE_MS * MS * 9 / 10);
	}
	/* And back, as soon as it is faster. */
	pace_run(&p, 6, 10000, 0);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MAX);
}

TEST(the_weight_stays_in_its_limits)
{
	struct report_pace p = REPORT_PACE_INIT;

	pace_run(&p, 20, 1, 0);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MAX);
	pace_run(&p, 1, 0, 0);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MAX);
	/* One write that hung is enough. */
	pace_run(&p, 1, 0, 2000 * MS);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MIN);
	pace_run(&p, 20, 0, 400 * MS);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MIN);
	/* It grows by steps. */
	pace_run(&p, 1, 1, 0);
	ck_assert_uint_eq(p.weight, 2 * REPORT_PACE_MIN);
}

TEST(a_short_write_teaches_nothing_unless_it_is_slow)
{
	struct report_pace p = REPORT_PACE_INIT;

	pace_run(&p, 20, 1, 0);
	report_pace_took(&p, 1, REPORT_PACE_MS * MS);
	ck_assert_uint_eq(p.weight, REPORT_PACE_MAX);
	report_pace_took(&p, 100, 2 * REPORT_PACE_MS * MS);
	ck_assert_uint_eq(p.weight, 50);
}
