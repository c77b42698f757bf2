/* The logs of a run's events: their limits, and reading them. */
#include "core/mem.h"
#include "state/events.h"
#include "state/keys.h"
#include "state/run.h"
#include "testkit/run_fixture.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static struct state_fixture b;
static struct run_record rec;
static char id[RUN_ID_MAX];

static void
start(void)
{
	state_fixture_start(&b);
	run_fixture_create(b.s, id);
	rec = run_fixture_claim(b.s, id, b.a);
}

/* Append n events of one size to the log of RASP. */
static void
append(struct str event, size_t n)
{
	struct str json[RUN_PUBLISH_MAX];
	struct run_publish p = { .run_id = rec.run_id,
		.user_id = rec.user_id,
		.workspace = rec.workspace,
		.epoch = rec.epoch,
		.rasp = rec.rasp,
		.rasp_json = json,
		.n_rasp = n,
		.status = RUN_IS_RUNNING };

	for (size_t i = 0; i < n; i++)
		json[i] = event;
	OK(run_publish(b.s, &p));
	rec.rasp += (int64_t)n;
}

/* All events of the log: how many, and the first one's seq. */
static size_t
read_all(struct str event, int64_t *first)
{
	const struct events_key k = { .kind = EVENTS_RUN_RASP,
		.id = str_of(id) };
	struct arena *a = arena_new(8UL * 1024 * 1024);
	struct events page;
	int64_t after = 0;
	size_t n = 0;

	do {
		arena_reset(a);
		OK(events_read(b.s, &k, after, false, a, &page));
		ck_assert_int_eq(page.newest, rec.rasp);
		ck_assert_uint_gt(page.n, 0);
		ck_assert_uint_le(page.n, EVENTS_PAGE_MAX);
		for (size_t i = 0; i < page.n; i++) {
			if (n++ == 0)
				*first = page.item[i].seq;
			else
				ck_assert_int_eq(page.item[i].seq, after + 1);
			after = page.item[i].seq;
			ck_assert(str_eq(page.item[i].json, event));
			ck_assert(page.item[i].lost_turn.p == NULL);
		}
	} while (page.more);
	ck_assert_int_eq(after, rec.rasp);
	arena_free(a);
	return n;
}

TEST_T(a_log_has_at_most_so_many_events, 120)
{
	const struct str event = STR("{\"n\":1}");
	int64_t first = 0;
	size_t n;

	start();
	while (rec.rasp < RUN_EVENTS_MAX + 1000)
		append(event, RUN_PUBLISH_MAX);
	append(event, 7);
	n = read_all(event, &first);
	ck_assert_uint_le(n, RUN_EVENTS_MAX);
	ck_assert_uint_ge(n, RUN_EVENTS_MAX - 2 * RUN_EVENTS_TRIM_EVERY);
	ck_assert_int_eq(first, rec.rasp - (int64_t)n + 1);
	state_fixture_stop(&b);
}

TEST_T(a_log_has_at_most_so_many_bytes, 120)
{
	enum { SIZE = 100 * 1000 };
	struct buf text = BUF_INIT(SIZE + 16);
	int64_t first = 0;
	size_t n;

	start();
	while (text.n < SIZE)
		buf_puts(&text, "0123456789");
	for (int i = 0; i < 200; i++) {
		append(buf_str(&text), 1);
		if (i == 150)
			ck_assert_uint_eq(
			    read_all(buf_str(&text), &first), 151);
	}
	n = read_all(buf_str(&text), &first);
	ck_assert_uint_le(n * SIZE, RUN_EVENTS_BYTES);
	ck_assert_uint_ge(
	    (n + 1) * SIZE, RUN_EVENTS_BYTES - 2 * RUN_EVENTS_TRIM_BYTES);
	buf_free(&text);
	state_fixture_stop(&b);
}

TEST(a_log_is_read_after_a_seq)
{
	const struct events_key none =
	    events_of_run(STR("20260221T091252-codex-00017e67"));
	const struct events_key bad = events_of_run(STR("turn_1"));
	struct events_key k;
	struct events page;
	int64_t newest = -1;

	start();
	k = events_of_run(str_of(id));
	OK(events_newest(b.s, &k, &newest));
	ck_assert_int_eq(newest, 0);
	OK(run_fixture_publish(b.s, &rec, RUN_IS_RUNNING, 5, 2));
	OK(events_follow(b.s, &k, 1000, &newest));
	ck_assert_int_eq(newest, 5);
	OK(events_read(b.s, &k, 3, true, b.a, &page));
	ck_assert_uint_eq(page.n, 2);
	ck_assert_int_eq(page.item[0].seq, 4);
	OK(events_read(b.s, &k, 5, true, b.a, &page));
	ck_assert_uint_eq(page.n, 0);
	ck_assert_int_eq(page.newest, 5);
	OK(events_read(b.s, &none, 0, false, b.a, &page));
	ck_assert_uint_eq(page.n, 0);
	ck_assert_int_eq(page.newest, 0);
	IS(RC_INVALID, events_read(b.s, &bad, 0, false, b.a, &page));
	IS(RC_INVALID, events_newest(b.s, &bad, &newest));
	IS(RC_INVALID, events_read(b.s, &k, -1, false, b.a, &page));
	state_fixture_stop(&b);
}
