/*
 * The lease of an instance that is a process.  Its holder subscribes to the
 * calls that other replicas pass on.
 */
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "handlers.h"
#include "instance_internal.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/subjects.h"

/* A process is stopped, which takes 4 s, before another may start it. */
#define LEASE_MS     20000
#define LEASE_OLD_MS 12000
#define LEASE_RETRY  1000

static struct str
lease_name(const struct instance *i, char dst[INSTANCE_ID_MAX + 8])
{
	int n = snprintf(dst, INSTANCE_ID_MAX + 8, "mcp-%s", i->id);

	return (struct str){ dst, n > 0 ? (size_t)n : 0 };
}

static void
lease_subscribe(struct instance *i)
{
	char subject[128];

	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_MCP_CALL, i->id);
	if (i->sub == NULL &&
	    bus_subscribe(i->host->bus, subject, NULL, on_call_passed, i->host,
		&i->sub) != RC_OK)
		log_warn("mcp.no_subscription", LOG_S("instance", i->id));
}

static void
lease_lost(struct instance *i)
{
	i->leased = false;
	bus_unsubscribe(i->sub);
	i->sub = NULL;
}

/* ---- acquiring ---- */

static void
lease_begin_fiber(void *arg)
{
	struct instance *i = arg;
	struct host *h = i->host;
	char name[INSTANCE_ID_MAX + 8];
	struct mono began = clock_mono();
	int64_t epoch = 0;
	enum rc rc = lease_acquire(
	    h->state, lease_name(i, name), str_of(h->id), LEASE_MS, &epoch);

	i->fiber = false;
	if (!h->stopping && rc != RC_OK) {
		(void)snprintf(
		    i->why, sizeof(i->why), "its lease: %s", rc_name(rc));
		instance_retry_in(i, LEASE_RETRY);
	} else if (!h->stopping && epoch == 0) {
		i->phase = PHASE_ELSEWHERE;
		i->elsewhere = clock_mono();
		host_wake(&i->waits);
	} else if (!h->stopping) {
		i->leased = true;
		i->renewed = began;
		lease_subscribe(i);
		instance_on_leased(i);
	}
	svc_release(h->svc);
}

void
instance_lease_begin(struct instance *i)
{
	if (i->fiber)
		return;
	i->fiber = true;
	svc_hold(i->host->svc);
	fiber_start(lease_begin_fiber, i);
}

/* ---- renewing ---- */

static void
lease_renew_fiber(void *arg)
{
	struct instance *i = arg;
	struct host *h = i->host;
	char name[INSTANCE_ID_MAX + 8];
	struct mono began = clock_mono();
	int64_t epoch = 0;
	enum rc rc = lease_acquire(
	    h->state, lease_name(i, name), str_of(h->id), LEASE_MS, &epoch);

	i->fiber = false;
	if (rc == RC_OK && epoch != 0)
		i->renewed = began;
	else if (!h->stopping &&
	    (rc == RC_OK ||
		mono_diff_ms(clock_mono(), i->renewed) > LEASE_OLD_MS)) {
		log_warn(
		    "mcp.lease_lost", LOG_S("instance", i->id), LOG_RC(rc));
		lease_lost(i);
		instance_close(i);
	}
	svc_release(h->svc);
}

void
instance_lease_renew(struct instance *i)
{
	if (i->fiber)
		return;
	i->fiber = true;
	svc_hold(i->host->svc);
	fiber_start(lease_renew_fiber, i);
}

/* ---- releasing ---- */

static void
lease_end_fiber(void *arg)
{
	struct instance *i = arg;
	struct host *h = i->host;
	char name[INSTANCE_ID_MAX + 8];

	/* What is not released expires. */
	(void)!lease_release(h->state, lease_name(i, name), str_of(h->id));
	i->fiber = false;
	svc_release(h->svc);
}

void
instance_lease_end(struct instance *i)
{
	if (i->fiber)
		return;
	lease_lost(i);
	i->fiber = true;
	svc_hold(i->host->svc);
	fiber_start(lease_end_fiber, i);
}
