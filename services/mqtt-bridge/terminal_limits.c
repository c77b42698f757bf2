#include "terminal_limits.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "core/rate.h"
#include "wire/iface.h"
#include "wire/subjects.h"

/* ---- messages ---- */

enum flood_kind { REPORTS, HEARTBEATS, RESULTS, KINDS };

struct flood_limiter {
	struct rate *rates[KINDS];
	struct notice_window *noticed;
};

struct flood_limiter *
flood_limiter_new(int64_t per_s, int64_t burst)
{
	struct flood_limiter *f = mem_zalloc(sizeof(*f));
	int i;

	for (i = 0; i < KINDS; i++)
		f->rates[i] = rate_new(per_s, burst, FLOOD_TERMINALS);
	f->noticed = notice_window_new();
	return f;
}

void
flood_limiter_free(struct flood_limiter *f)
{
	int i;

	if (f == NULL)
		return;
	for (i = 0; i < KINDS; i++)
		rate_free(f->rates[i]);
	notice_window_free(f->noticed);
	free(f);
}

static struct rate *
flood_rate(const struct flood_limiter *f, size_t row)
{
	return f->rates[row == WIRE_TOPIC_RESULT ? RESULTS
		: row == WIRE_TOPIC_HEARTBEAT    ? HEARTBEATS
						 : REPORTS];
}

static int64_t
flood_cost(size_t bytes)
{
	return 1 + (int64_t)(bytes / FLOOD_BYTES);
}

enum flood_verdict
flood_limiter_take(struct flood_limiter *f, size_t row, struct str id,
    size_t bytes, struct mono now)
{
	if (rate_take_n(flood_rate(f, row), id, flood_cost(bytes), now) == 0)
		return FLOOD_OK;
	return notice_window_first(f->noticed, id, now) ? FLOOD_OVER_FIRST
							: FLOOD_OVER;
}

bool
flood_limiter_has_room(struct flood_limiter *f, size_t row, struct str id,
    size_t bytes, struct mono now)
{
	if (rate_take_n(flood_rate(f, row), id, flood_cost(bytes), now) != 0)
		return false;
	flood_limiter_refund(f, row, id, bytes);
	return true;
}

void
flood_limiter_refund(
    struct flood_limiter *f, size_t row, struct str id, size_t bytes)
{
	rate_refund(flood_rate(f, row), id, flood_cost(bytes));
}

/* ---- events ---- */

struct event_quota {
	struct map *counts; /* the count is stored as the pointer */
	struct mono ends;
};

struct event_quota *
event_quota_new(void)
{
	struct event_quota *q = mem_zalloc(sizeof(*q));

	q->counts = map_new();
	return q;
}

void
event_quota_free(struct event_quota *q)
{
	if (q == NULL)
		return;
	map_free(q->counts);
	free(q);
}

bool
event_quota_take(struct event_quota *q, struct str id, struct mono now)
{
	uintptr_t n;

	if (mono_diff_ns(now, q->ends) >= 0) {
		map_free(q->counts);
		q->counts = map_new();
		q->ends = mono_add_ms(now, EVENT_QUOTA_WINDOW_MS);
	}
	n = (uintptr_t)map_get(q->counts, id);
	if (n >= EVENT_QUOTA)
		return false;
	if (n > 0 || map_len(q->counts) < EVENT_QUOTA_TERMINALS)
		(void)map_put(q->counts, id, (void *)(n + 1));
	return true;
}

/* ---- notices ---- */

struct notice_window {
	struct map *ids;
	struct mono ends;
};

struct notice_window *
notice_window_new(void)
{
	struct notice_window *w = mem_zalloc(sizeof(*w));

	w->ids = map_new();
	return w;
}

void
notice_window_free(struct notice_window *w)
{
	if (w == NULL)
		return;
	map_free(w->ids);
	free(w);
}

bool
notice_window_first(struct notice_window *w, struct str id, struct mono now)
{
	if (mono_diff_ns(now, w->ends) >= 0) {
		map_free(w->ids);
		w->ids = map_new();
		w->ends = mono_add_ms(now, NOTICE_WINDOW_MS);
	}
	if (map_len(w->ids) >= NOTICE_WINDOW_TERMINALS ||
	    map_get(w->ids, id) != NULL)
		return false;
	(void)map_put(w->ids, id, w);
	return true;
}
