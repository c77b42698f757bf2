/*
 * A stream outlives the look at its token; so it is looked at again.
 */
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "svc/audit.h"
#include "svc/call.h"
#include "svc/guard.h"
#include "svc/guard_own.h"
#include "wire/msgs.h"

/* With AUTH_REMEMBER_S less than a minute from revocation to the end. */
#define LOOK_MS 10000

/* A check that may come back after its call has ended. */
struct guard_watch {
	struct svc_call *call; /* NULL: it has */
};

void
guard_leave(struct svc_call *c)
{
	if (c->watch != NULL)
		c->watch->call = NULL;
	c->watch = NULL;
}

static void
on_checked(
    void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	struct guard_watch *w = arg;
	struct svc_call *c = w->call;

	(void)who;
	free(w);
	if (c == NULL)
		return;
	c->watch = NULL;
	/* While it cannot be found out nobody is thrown out. */
	if (rc != RC_DENIED)
		return;
	log_trace_set(c->trace.trace_id);
	log_info("auth.stream_cut", LOG_S("route", c->lane->route->name),
	    LOG_V("address", svc_call_address(c)), LOG_S("why", why));
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_LOGIN_REFUSED,
		.route = str_of(c->lane->route->name),
		.reason = STR("stream_cut") });
	log_trace_set("");
	httpd_stream_abort(c->http);
}

static void
look(void *arg)
{
	struct svc_guard *g = arg;
	struct svc_call *c, *next;

	for (c = TAILQ_FIRST(&g->svc->open); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (!c->known || !c->streaming || c->watch != NULL)
			continue;
		c->watch = mem_zalloc(sizeof(*c->watch));
		c->watch->call = c;
		auth_check(
		    g->auth, guard_bearer(c->http), on_checked, c->watch);
	}
	guard_streams_start(g);
}

void
guard_streams_start(struct svc_guard *g)
{
	loop_timer_set(g->svc->loop, &g->look,
	    mono_add_ms(clock_mono(), LOOK_MS), look, g);
}

void
guard_streams_stop(struct svc_guard *g)
{
	loop_timer_cancel(g->svc->loop, &g->look);
}
