/*
 * The loop by itself: posts, stopping, timers.
 */
#include <stdlib.h>
#include <unistd.h>

#include "core/loop.h"
#include "core/mem.h"
#include "testkit/testkit.h"

/* The calls, in order. */
struct calls {
	struct loop *l;
	int got[64];
	int n;
	int stop_at; /* stop the loop after this many calls */
};

struct call {
	struct calls *all;
	int number;
};

static void
record(void *arg)
{
	struct call *c = arg;

	c->all->got[c->all->n++] = c->number;
	if (c->all->n == c->all->stop_at)
		loop_stop(c->all->l);
}

static void
stop(void *arg)
{
	loop_stop(arg);
}

TEST(posts_run_in_order_in_a_bounded_inbox)
{
	struct loop *l = loop_new(4);
	struct calls all = { .l = l, .stop_at = 4 };
	struct call c[5];

	/* Several rounds, so that the ring wraps around. */
	for (int round = 0; round < 3; round++) {
		all.n = 0;
		for (int i = 0; i < 5; i++) {
			c[i] = (struct call){ &all, i };
			ck_assert_uint_eq(
			    loop_inbox_len(l), (size_t)(i < 4 ? i : 4));
			ck_assert_int_eq(loop_post(l, record, &c[i]),
			    i < 4 ? RC_OK : RC_RETRY);
		}
		loop_run(l);
		ck_assert_int_eq(all.n, 4);
		for (int i = 0; i < 4; i++)
			ck_assert_int_eq(all.got[i], i);
		ck_assert_uint_eq(loop_inbox_len(l), 0);
	}
	loop_free(l);
	loop_free(NULL);
}

TEST(a_stop_takes_effect_after_the_callback)
{
	struct loop *l = loop_new(8);
	struct calls all = { .l = l, .stop_at = 2 };
	struct call c[4];

	/* Before loop_run() it makes it return at once. */
	loop_stop(l);
	for (int i = 0; i < 4; i++) {
		c[i] = (struct call){ &all, i };
		ck_assert_int_eq(loop_post(l, record, &c[i]), RC_OK);
	}
	loop_run(l);
	ck_assert_int_eq(all.n, 0);
	loop_run(l);
	ck_assert_int_eq(all.n, 2);
	ck_assert_uint_eq(loop_inbox_len(l), 2);
	all.stop_at = 4;
	loop_run(l);
	ck_assert_int_eq(all.n, 4);
	loop_free(l);
}

static void
post_rejected(void *arg)
{
	struct call *c = arg;

	ck_assert_int_eq(loop_post(c->all->l, record, c), RC_DOWN);
	record(c);
}

TEST(freeing_runs_pending_posts)
{
	struct loop *l = loop_new(8);
	struct calls all = { .l = l };
	struct call c[3];

	for (int i = 0; i < 3; i++) {
		c[i] = (struct call){ &all, i };
		ck_assert_int_eq(
		    loop_post(l, i == 1 ? post_rejected : record, &c[i]),
		    RC_OK);
	}
	loop_free(l);
	ck_assert_int_eq(all.n, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(all.got[i], i);
}

TEST(a_closed_loop_rejects_posts_but_runs)
{
	struct loop *l = loop_new(8);

	ck_assert_int_eq(loop_post(l, stop, l), RC_OK);
	loop_close(l);
	ck_assert_int_eq(loop_post(l, stop, l), RC_DOWN);
	ck_assert_int_eq(loop_post_wait(l, stop, l), RC_DOWN);
	loop_run(l);
	ck_assert_uint_eq(loop_inbox_len(l), 0);
	loop_free(l);
}

TEST(timers_run_in_order_of_time)
{
	/* Offsets in ms; equal ones run in order of setting. */
	static const int offs[] = { 5, 1, 3, 1, 0, 9, -7, 3, 2, 0 };
	static const int want[] = { 6, 4, 9, 1, 3, 8, 2, 7, 0, 5 };
	struct loop *l = loop_new(1);
	struct calls all = { .l = l, .stop_at = NELEM(offs) };
	struct call c[NELEM(offs)];
	struct loop_timer t[NELEM(offs)] = { 0 };
	struct mono now = clock_mono();

	for (size_t i = 0; i < NELEM(offs); i++) {
		c[i] = (struct call){ &all, (int)i };
		loop_timer_set(
		    l, &t[i], mono_add_ms(now, offs[i]), record, &c[i]);
	}
	loop_run(l);
	for (size_t i = 0; i < NELEM(offs); i++) {
		ck_assert_int_eq(all.got[i], want[i]);
		ck_assert_uint_eq(t[i].pos, 0);
	}
	/* Never early. */
	ck_assert_int_ge(mono_diff_ms(clock_mono(), now), 9);
	loop_free(l);
}

TEST(timers_can_be_moved_and_cancelled)
{
	struct loop *l = loop_new(1);
	struct calls all = { .l = l, .stop_at = 3 };
	struct call c[5];
	struct loop_timer t[5] = { 0 };
	struct mono now = clock_mono();

	loop_timer_cancel(l, &t[0]);
	for (int i = 0; i < 5; i++) {
		c[i] = (struct call){ &all, i };
		loop_timer_set(l, &t[i], mono_add_ms(now, i), record, &c[i]);
	}
	loop_timer_cancel(l, &t[1]);
	loop_timer_cancel(l, &t[1]);
	loop_timer_set(l, &t[0], mono_add_ms(now, 20), record, &c[0]);
	loop_timer_set(l, &t[4], now, record, &c[4]);
	/* "Never" is not set. */
	loop_timer_set(l, &t[2], (struct mono){ 0 }, record, &c[2]);
	ck_assert_uint_eq(t[2].pos, 0);
	loop_run(l);
	ck_assert_int_eq(all.got[0], 4);
	ck_assert_int_eq(all.got[1], 3);
	ck_assert_int_eq(all.got[2], 0);
	loop_free(l);
}

/* Deferred work that defers the next, and the posts beside it. */
struct defers {
	struct calls *all;
	struct loop_deferred first, second, third;
	struct call c[4];
};

static void
defer_second(void *arg)
{
	struct defers *d = arg;

	record(&d->c[1]);
	loop_defer(d->all->l, &d->second, record, &d->c[3]);
	loop_defer(d->all->l, &d->second, record, &d->c[3]);
	loop_defer_cancel(d->all->l, &d->third);
	ck_assert_int_eq(loop_post(d->all->l, record, &d->c[2]), RC_OK);
}

static void
defer_first(void *arg)
{
	struct defers *d = arg;

	loop_defer(d->all->l, &d->first, defer_second, d);
	loop_defer(d->all->l, &d->third, record, &d->c[1]);
	ck_assert_int_eq(loop_post(d->all->l, record, &d->c[0]), RC_OK);
}

TEST(deferred_work_ends_the_iteration)
{
	struct calls all = { .l = loop_new(4), .stop_at = 4 };
	struct defers d = { .all = &all };

	for (int i = 0; i < 4; i++)
		d.c[i] = (struct call){ &all, i };
	ck_assert_int_eq(loop_post(all.l, defer_first, &d), RC_OK);
	loop_run(all.l);
	/* The post of the same iteration is before it, the next one's too. */
	ck_assert_int_eq(all.n, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(all.got[i], i);
	loop_defer(all.l, &d.first, record, &d.c[0]);
	loop_free(all.l);
	ck_assert_ptr_null(d.first.prev);
}

TEST(freeing_drops_timers)
{
	struct loop *l = loop_new(1);
	struct loop_timer t = { 0 };

	loop_timer_set(l, &t, mono_add_ms(clock_mono(), 1), stop, l);
	ck_assert_uint_ne(t.pos, 0);
	loop_free(l);
	ck_assert_uint_eq(t.pos, 0);
}

/* The heap of timers compared with a plain list. */
struct model {
	struct loop *l;
	struct timer_row {
		struct model *m;
		struct loop_timer t;
		bool set;
	} rows[200];
	int64_t last_ns;
	int left;
};

static void
on_model_timer(void *arg)
{
	struct timer_row *r = arg;
	struct model *m = r->m;

	ck_assert(r->set);
	r->set = false;
	ck_assert_int_ge(r->t.at.ns, m->last_ns);
	m->last_ns = r->t.at.ns;
	if (--m->left == 0)
		loop_stop(m->l);
}

TEST(random_timer_operations_match_a_plain_list)
{
	struct model m = { .l = loop_new(1) };
	unsigned state = 1;

	for (int i = 0; i < 20000; i++) {
		struct timer_row *r;
		/* In the past, so that all are due. */
		struct mono at;

		state = state * 1103515245 + 12345;
		r = &m.rows[state / 65536 % NELEM(m.rows)];
		at.ns = 1 + state / 16 % 1000;
		r->m = &m;
		m.left += (state & 0x300) != 0 ? !r->set : -(int)r->set;
		r->set = (state & 0x300) != 0;
		if (r->set)
			loop_timer_set(m.l, &r->t, at, on_model_timer, r);
		else
			loop_timer_cancel(m.l, &r->t);
	}
	ck_assert_int_gt(m.left, 50);
	loop_run(m.l);
	for (size_t i = 0; i < NELEM(m.rows); i++)
		ck_assert(!m.rows[i].set && m.rows[i].t.pos == 0);
	loop_free(m.l);
}

/* One timer that cancels another due at the same time, and frees itself. */
struct pair {
	struct loop *l;
	struct loop_timer *a, *b;
	int calls;
};

static void
cancel_both(void *arg)
{
	struct pair *p = arg;

	p->calls++;
	loop_timer_cancel(p->l, p->b);
	free(p->a);
	free(p->b);
	loop_stop(p->l);
}

TEST(a_callback_may_cancel_and_free_timers)
{
	struct pair p = { .l = loop_new(1) };

	p.a = mem_zalloc(sizeof(*p.a));
	p.b = mem_zalloc(sizeof(*p.b));
	loop_timer_set(p.l, p.a, (struct mono){ 1 }, cancel_both, &p);
	loop_timer_set(p.l, p.b, (struct mono){ 1 }, cancel_both, &p);
	loop_run(p.l);
	ck_assert_int_eq(p.calls, 1);
	loop_free(p.l);
}

/* A timer, a post and a descriptor that are always ready. */
struct greedy {
	struct loop *l;
	struct loop_timer t, other;
	struct loop_fd w;
	int timer_calls, post_calls, fd_calls, other_calls;
	bool over;
};

static void
stop_when_all_ran(struct greedy *g)
{
	if (g->timer_calls >= 3 && g->post_calls >= 3 && g->fd_calls >= 3 &&
	    g->other_calls >= 3)
		loop_stop(g->l);
}

static void
rearm_timer(void *arg)
{
	struct greedy *g = arg;

	g->timer_calls++;
	loop_timer_set(g->l, &g->t, (struct mono){ 1 }, rearm_timer, g);
	stop_when_all_ran(g);
}

static void
rearm_other(void *arg)
{
	struct greedy *g = arg;

	g->other_calls++;
	loop_timer_set(g->l, &g->other, clock_mono(), rearm_other, g);
	stop_when_all_ran(g);
}

static void
rearm_post(void *arg)
{
	struct greedy *g = arg;

	g->post_calls++;
	if (!g->over)
		ck_assert_int_eq(loop_post(g->l, rearm_post, g), RC_OK);
	stop_when_all_ran(g);
}

static void
rearm_fd(void *arg, unsigned events)
{
	struct greedy *g = arg;

	ck_assert_uint_eq(events, LOOP_WRITE);
	g->fd_calls++;
	stop_when_all_ran(g);
}

TEST(posts_timers_and_descriptors_do_not_starve_each_other)
{
	struct greedy g = { .l = loop_new(4) };
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	g.w = (struct loop_fd){ .fd = p[1], .fn = rearm_fd, .arg = &g };
	loop_timer_set(g.l, &g.t, (struct mono){ 1 }, rearm_timer, &g);
	loop_timer_set(g.l, &g.other, clock_mono(), rearm_other, &g);
	ck_assert_int_eq(loop_post(g.l, rearm_post, &g), RC_OK);
	loop_fd_watch(g.l, &g.w, LOOP_WRITE);
	loop_run(g.l);
	loop_fd_watch(g.l, &g.w, 0);
	loop_timer_cancel(g.l, &g.t);
	loop_timer_cancel(g.l, &g.other);
	g.over = true;
	loop_free(g.l);
	(void)close(p[0]);
	(void)close(p[1]);
}
