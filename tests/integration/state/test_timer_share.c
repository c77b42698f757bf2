/* Replicas share the buckets of timers. */
#include "state/timer_share.h"
#include "testkit/state_fixture.h"

#define SWEEP_MS   30000
#define REPLICAS   3
#define TAKEOVER_S 5

struct replicas {
	struct state_fixture f;
	struct timer_share *t[REPLICAS];
	size_t n; /* they renew their membership */
};

static void
replicas_start(struct replicas *x)
{
	struct timer_share_opts o = { .role = "ticks", .sweep_ms = SWEEP_MS };
	size_t i;

	state_fixture_start(&x->f);
	o.state = x->f.s;
	for (i = 0; i < REPLICAS; i++)
		x->t[i] = timer_share_new(&o);
	x->n = REPLICAS;
}

static void
replicas_stop(struct replicas *x)
{
	size_t i;

	for (i = 0; i < REPLICAS; i++)
		timer_share_free(x->t[i]);
	state_fixture_stop(&x->f);
}

/* All buckets belong to those that renew. */
static bool
shared(void *arg)
{
	struct replicas *x = arg;
	size_t i, sum = 0;

	for (i = 0; i < x->n; i++)
		OK(timer_share_renew(x->t[i], clock_mono()));
	for (i = 0; i < x->n; i++)
		sum += timer_share_owned(x->t[i]);
	return sum == STATE_BUCKETS;
}

/* How many buckets are due at that time; they are polled, and empty. */
static size_t
poll_all(struct timer_share *t, struct mono at)
{
	unsigned b[STATE_BUCKETS];
	size_t i, n = timer_share_due(t, at, b, NELEM(b));

	for (i = 0; i < n; i++)
		timer_share_polled(t, b[i], at, -1);
	return n;
}

TEST(each_bucket_has_one_owner_and_each_replica_a_share)
{
	struct replicas x;
	size_t owners, i, k;
	unsigned bucket;
	struct mono now;

	replicas_start(&x);
	ck_assert_uint_eq(timer_share_owned(x.t[0]), 0);
	ck_assert(tk_until(shared, &x, STATE_FIXTURE_WAIT_MS));
	now = clock_mono();
	for (i = 0; i < REPLICAS; i++)
		ck_assert_uint_ge(timer_share_owned(x.t[i]), 200);
	for (bucket = 0; bucket < STATE_BUCKETS; bucket++) {
		for (owners = k = 0; k < REPLICAS; k++)
			owners += timer_share_hint(x.t[k], bucket, now);
		ck_assert_uint_eq(owners, 1);
	}
	replicas_stop(&x);
}

TEST(a_replica_that_stops_loses_its_buckets_within_five_seconds)
{
	struct mono start, soon;
	struct replicas x;
	size_t had, lost;

	replicas_start(&x);
	ck_assert(tk_until(shared, &x, STATE_FIXTURE_WAIT_MS));
	soon = mono_add_ms(clock_mono(), TIMER_TAKEOVER_MS);
	had = timer_share_owned(x.t[0]);
	ck_assert_uint_eq(poll_all(x.t[0], soon), had);
	lost = timer_share_owned(x.t[2]);
	x.n = REPLICAS - 1;
	start = clock_mono();
	ck_assert(!shared(&x));
	ck_assert(tk_until(shared, &x, TAKEOVER_S * 1000));
	soon = mono_add_ms(clock_mono(), TIMER_TAKEOVER_MS);
	ck_assert_int_le(mono_diff_ms(soon, start), TAKEOVER_S * 1000);
	/* What it had before is polled as before, what is new at once. */
	ck_assert_uint_le(timer_share_owned(x.t[0]) - had, lost);
	ck_assert_uint_ge(
	    poll_all(x.t[0], soon), timer_share_owned(x.t[0]) - had);
	replicas_stop(&x);
}

TEST(a_replica_that_leaves_loses_its_buckets_at_the_next_renewal)
{
	struct timer_share_opts o = { .role = "ticks", .sweep_ms = SWEEP_MS };
	struct replicas x;

	replicas_start(&x);
	ck_assert(tk_until(shared, &x, STATE_FIXTURE_WAIT_MS));
	OK(timer_share_leave(x.t[1]));
	timer_share_free(x.t[1]);
	o.state = x.f.s;
	x.t[1] = x.t[2];
	x.t[2] = timer_share_new(&o);
	x.n = REPLICAS - 1;
	ck_assert(tk_until(shared, &x, TIMER_RENEW_MS + TIMER_MEMBER_MS / 2));
	replicas_stop(&x);
}

TEST(each_sweep_polls_all_empty_buckets_evenly)
{
	struct replicas x;
	struct mono now;
	size_t n, sum = 0;
	int ms;

	replicas_start(&x);
	x.n = 1;
	ck_assert(tk_until(shared, &x, STATE_FIXTURE_WAIT_MS));
	now = mono_add_ms(clock_mono(), TIMER_TAKEOVER_MS);
	ck_assert_uint_eq(poll_all(x.t[0], now), STATE_BUCKETS);
	for (ms = 100; ms <= SWEEP_MS; ms += 100) {
		n = poll_all(x.t[0], mono_add_ms(now, ms));
		ck_assert_uint_le(n, 5);
		sum += n;
	}
	ck_assert_uint_eq(sum, STATE_BUCKETS);
	replicas_stop(&x);
}

TEST(a_bucket_is_polled_when_its_timer_is_due_or_a_hint_comes)
{
	struct replicas x;
	struct mono now;
	unsigned b[STATE_BUCKETS];

	replicas_start(&x);
	x.n = 1;
	ck_assert(tk_until(shared, &x, STATE_FIXTURE_WAIT_MS));
	now = mono_add_ms(clock_mono(), TIMER_TAKEOVER_MS);
	ck_assert_uint_eq(timer_share_due(x.t[0], now, b, 3), 3);
	/* Not those three again while they are polled. */
	ck_assert_uint_eq(poll_all(x.t[0], now), STATE_BUCKETS - 3);
	/* A hint that comes while a bucket is polled is not lost. */
	ck_assert(timer_share_hint(x.t[0], b[0], now));
	timer_share_polled(x.t[0], b[0], now, -1);
	timer_share_polled(x.t[0], b[1], now, 2);
	timer_share_polled(x.t[0], b[2], now, INT64_C(86400000));
	ck_assert(timer_share_next(x.t[0]).ns <= now.ns);
	ck_assert_uint_eq(timer_share_due(x.t[0], now, b + 3, 9), 1);
	ck_assert_uint_eq(b[3], b[0]);
	timer_share_polled(x.t[0], b[0], now, INT64_C(86400000));
	now = mono_add_ms(now, 2);
	ck_assert(timer_share_hint(x.t[0], b[2], now));
	ck_assert_uint_ge(poll_all(x.t[0], now), 2);
	/* A timer of the next day is looked at once a sweep all the same. */
	ck_assert_uint_eq(
	    poll_all(x.t[0], mono_add_ms(now, SWEEP_MS)), STATE_BUCKETS);
	replicas_stop(&x);
}
