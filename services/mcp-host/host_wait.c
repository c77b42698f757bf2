
#include "context.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/loop.h"

struct host_waiting {
	LIST_ENTRY(host_waiting) link; /* while listed */
	LIST_ENTRY(host_waiting) all;
	struct host *host;
	struct loop_timer timer;
	struct fiber *fiber;
	bool listed, woken;
};

static void
host_unlist(struct host_waiting *w)
{
	if (w->listed)
		LIST_REMOVE(w, link);
	w->listed = false;
}

static void
host_resume(void *arg)
{
	struct host_waiting *w = arg;

	host_unlist(w);
	LIST_REMOVE(w, all);
	loop_timer_cancel(w->host->loop, &w->timer);
	fiber_resume(w->fiber);
}

bool
host_wait(struct host *h, struct host_waits *l, int64_t ms)
{
	struct host_waiting w = { .host = h, .fiber = fiber_self() };

	if (h->stopping || ms <= 0)
		return false;
	LIST_INSERT_HEAD(&h->waits, &w, all);
	if (l != NULL)
		LIST_INSERT_HEAD(l, &w, link);
	w.listed = l != NULL;
	loop_timer_set(
	    h->loop, &w.timer, mono_add_ms(clock_mono(), ms), host_resume, &w);
	fiber_suspend();
	return w.woken;
}

void
host_wake(struct host_waits *l)
{
	struct host_waiting *w;

	while ((w = LIST_FIRST(l)) != NULL) {
		host_unlist(w);
		w->woken = true;
		loop_timer_set(
		    w->host->loop, &w->timer, clock_mono(), host_resume, w);
	}
}

void
host_wake_all(struct host *h)
{
	while (!LIST_EMPTY(&h->waits))
		host_resume(LIST_FIRST(&h->waits));
}
