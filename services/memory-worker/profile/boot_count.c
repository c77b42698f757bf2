/*
 * boot_count: one of the workers holds a lease, and counts its own start; the
 * others try to get it.
 */
#include <stdlib.h>

#include "core/clock.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "memory_worker.h"
#include "state/state.h"
#include "state/system.h"
#include "svc/svc.h"

#define BOOT_LEASE "system"
#define LEASE_MS   15000
#define RETRY_MS   1000

struct boot_count {
	struct memory_worker *w;
	struct loop_timer timer;
	char owner[ID_UUID_MAX];
	bool counted, stopping;
};

static void boot_count_run(void *arg);

static void
boot_count_schedule(struct boot_count *b, int64_t ms)
{
	if (!b->stopping)
		loop_timer_set(svc_loop(b->w->svc), &b->timer,
		    mono_add_ms(clock_mono(), ms), boot_count_run, b);
}

static void
boot_count_try(void *arg)
{
	struct boot_count *b = arg;
	int64_t epoch = 0;
	enum rc rc = lease_acquire(
	    b->w->state, STR(BOOT_LEASE), str_of(b->owner), LEASE_MS, &epoch);

	if (rc == RC_OK && epoch > 0 && !b->counted) {
		rc = system_boot(b->w->state, epoch, str_of(svc_version()));
		b->counted = rc == RC_OK;
	}
	if (rc != RC_OK)
		log_debug("boot.not_counted", LOG_RC(rc));
	boot_count_schedule(b, rc == RC_OK ? LEASE_MS / 3 : RETRY_MS);
	svc_release(b->w->svc);
}

static void
boot_count_run(void *arg)
{
	struct boot_count *b = arg;

	svc_hold(b->w->svc);
	fiber_start(boot_count_try, b);
}

struct boot_count *
boot_count_new(struct memory_worker *w)
{
	struct boot_count *b = mem_zalloc(sizeof(*b));

	b->w = w;
	id_uuid(b->owner);
	boot_count_schedule(b, 0);
	return b;
}

static void
boot_count_leave(void *arg)
{
	struct boot_count *b = arg;

	/* What is not released expires. */
	(void)!lease_release(b->w->state, STR(BOOT_LEASE), str_of(b->owner));
	svc_release(b->w->svc);
}

void
boot_count_drain(struct boot_count *b)
{
	b->stopping = true;
	loop_timer_cancel(svc_loop(b->w->svc), &b->timer);
	svc_hold(b->w->svc);
	fiber_start(boot_count_leave, b);
}

void
boot_count_free(struct boot_count *b)
{
	if (b == NULL)
		return;
	b->stopping = true;
	loop_timer_cancel(svc_loop(b->w->svc), &b->timer);
	free(b);
}
