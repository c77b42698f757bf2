/* A timer that checks the condition and stops the loop. */
#include "testkit/loop.h"

#define POLL_MS 2

struct wait {
	struct loop *loop;
	struct loop_timer timer;
	struct mono end;
	bool (*fn)(void *arg);
	void *arg;
	bool met;
};

static void
loop_poll(void *arg)
{
	struct wait *w = arg;

	w->met = w->fn(w->arg);
	if (w->met || mono_diff_ns(w->end, clock_mono()) <= 0)
		loop_stop(w->loop);
	else
		loop_timer_set(w->loop, &w->timer,
		    mono_add_ms(clock_mono(), POLL_MS), loop_poll, w);
}

bool
tk_loop_until(struct loop *l, bool (*fn)(void *arg), void *arg, int ms)
{
	struct wait w = { .loop = l, .fn = fn, .arg = arg };

	w.end = mono_add_ms(clock_mono(), ms);
	loop_timer_set(l, &w.timer, clock_mono(), loop_poll, &w);
	loop_run(l);
	loop_timer_cancel(l, &w.timer);
	return w.met;
}

static bool
loop_step_done(void *arg)
{
	(void)arg;
	return true;
}

void
tk_loop_step(struct loop *l)
{
	(void)tk_loop_until(l, loop_step_done, NULL, 0);
}
