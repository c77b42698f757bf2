/*
 * timer_share: members, their buckets, and when these are polled.
 */
#include "state/timer_share.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

struct timer_bucket {
	struct mono at; /* when it is polled next */
	bool mine;
	bool polling; /* it is due, and what the poll found is not known yet */
	bool hinted;  /* while it was polled */
};

struct timer_share {
	struct state *state;
	struct str role;
	int64_t sweep_ms;
	char me[ID_HEX32_MAX];
	struct mono renew_at;
	uint64_t members; /* a digest of all */
	size_t owned;
	unsigned from; /* where the search for due ones goes on */
	struct timer_bucket bucket[STATE_BUCKETS];
};

struct timer_share *
timer_share_new(const struct timer_share_opts *o)
{
	struct timer_share *t = mem_zalloc(sizeof(*t));

	t->state = o->state;
	t->role = str_of(o->role);
	t->sweep_ms = o->sweep_ms;
	id_hex32(t->me);
	return t;
}

void
timer_share_free(struct timer_share *t)
{
	free(t);
}

/* ---- members ---- */

/* The finaliser of splitmix64: each bit depends on all of v's. */
static uint64_t
timer_mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

/* All replicas must agree, so it is not keyed. */
static uint64_t
timer_member_hash(struct str member)
{
	return timer_mix(str_hash(member));
}

static uint64_t
timer_owner(unsigned bucket, const uint64_t *members, size_t n)
{
	uint64_t owner = 0, best = 0, weight;
	size_t i;

	for (i = 0; i < n; i++) {
		weight = timer_mix(
		    members[i] + bucket * UINT64_C(0x9e3779b97f4a7c15));
		if (i == 0 || weight > best ||
		    (weight == best && members[i] > owner)) {
			owner = members[i];
			best = weight;
		}
	}
	return owner;
}

/* What is new is polled soon, but not all of it at the same moment. */
static void
timer_share_divide(
    struct timer_share *t, struct mono now, const uint64_t *members, size_t n)
{
	uint64_t me = timer_member_hash(str_of(t->me));
	struct timer_bucket *b;
	unsigned i;
	bool mine;

	t->owned = 0;
	for (i = 0; i < STATE_BUCKETS; i++) {
		b = &t->bucket[i];
		mine = n > 0 && timer_owner(i, members, n) == me;
		if (mine && !b->mine)
			b->at = mono_add_ms(now,
			    (int64_t)i * TIMER_TAKEOVER_MS / STATE_BUCKETS);
		b->mine = mine;
		t->owned += mine;
	}
}

static void
timer_share_set_members(
    struct timer_share *t, struct mono now, const struct state_reply *list)
{
	size_t i, n = state_reply_len(list);
	uint64_t *members = mem_calloc(n + 1, sizeof(*members));
	uint64_t digest = n;

	for (i = 0; i < n; i++) {
		members[i] =
		    timer_member_hash(state_reply_str(state_reply_at(list, i)));
		digest += timer_mix(members[i]);
	}
	if (digest != t->members)
		timer_share_divide(t, now, members, n);
	t->members = digest;
	free(members);
}

static enum rc
timer_share_call(struct timer_share *t, int64_t ttl_ms, struct state_reply **r)
{
	struct script_call c;

	call_begin(&c, &script_timer_member);
	call_key(&c, KEY_TIMERS, t->role, STR_NONE);
	call_text(&c, str_of(t->me), sizeof(t->me));
	call_num(&c, ttl_ms);
	return call_run(t->state, &c, 2, r);
}

enum rc
timer_share_renew(struct timer_share *t, struct mono now)
{
	struct state_reply *r;
	enum rc rc;

	if (mono_diff_ns(t->renew_at, now) > 0)
		return RC_OK;
	t->renew_at = mono_add_ms(now, TIMER_RENEW_MS);
	rc = timer_share_call(t, TIMER_MEMBER_MS, &r);
	if (rc == RC_OK)
		timer_share_set_members(t, now, state_reply_at(r, 1));
	else
		t->renew_at = mono_add_ms(now, TIMER_RENEW_MS / 4);
	state_reply_free(r);
	return rc;
}

enum rc
timer_share_leave(struct timer_share *t)
{
	struct state_reply *r;
	enum rc rc = timer_share_call(t, 0, &r);

	state_reply_free(r);
	return rc;
}

/* ---- buckets ---- */

size_t
timer_share_due(
    struct timer_share *t, struct mono now, unsigned *buckets, size_t max)
{
	struct timer_bucket *b;
	unsigned i, k;
	size_t n = 0;

	for (i = 0; i < STATE_BUCKETS && n < max; i++) {
		k = (t->from + i) % STATE_BUCKETS;
		b = &t->bucket[k];
		if (!b->mine || b->polling || mono_diff_ns(b->at, now) > 0)
			continue;
		b->polling = true;
		b->hinted = false;
		buckets[n++] = k;
	}
	/* With more than max, the others are first the next time. */
	t->from = (t->from + i) % STATE_BUCKETS;
	return n;
}

/* The bucket's moment of the sweep that follows now. */
static struct mono
timer_share_sweep(const struct timer_share *t, unsigned bucket, struct mono now)
{
	int64_t sweep = t->sweep_ms > 0 ? t->sweep_ms : 1;
	int64_t ms = now.ns / 1000000, at = sweep * bucket / STATE_BUCKETS;

	return mono_add_ms(now, sweep - ((ms - at) % sweep + sweep) % sweep);
}

void
timer_share_polled(
    struct timer_share *t, unsigned bucket, struct mono now, int64_t in_ms)
{
	struct timer_bucket *b = &t->bucket[bucket % STATE_BUCKETS];
	struct mono at = mono_add_ms(now, in_ms);

	if (b->hinted)
		at = now;
	else if (in_ms < 0 ||
	    mono_diff_ns(at, timer_share_sweep(t, bucket, now)) > 0)
		at = timer_share_sweep(t, bucket, now);
	b->at = at;
	b->polling = false;
	b->hinted = false;
}

bool
timer_share_hint(struct timer_share *t, unsigned bucket, struct mono now)
{
	struct timer_bucket *b = &t->bucket[bucket % STATE_BUCKETS];

	if (!b->mine)
		return false;
	b->hinted = b->polling;
	if (mono_diff_ns(b->at, now) > 0)
		b->at = now;
	return true;
}

struct mono
timer_share_next(const struct timer_share *t)
{
	struct mono at = t->renew_at;
	const struct timer_bucket *b;

	for (b = t->bucket; b < t->bucket + STATE_BUCKETS; b++)
		if (b->mine && !b->polling && mono_diff_ns(at, b->at) > 0)
			at = b->at;
	return at;
}

size_t
timer_share_owned(const struct timer_share *t)
{
	return t->owned;
}
