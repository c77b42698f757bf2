/*
 * soul.tool.mcp-host.call and .cancel, soul.mcp.call.<instance>.
 */
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/map.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "tool_call.h"
#include "wire/msgs.h"

static struct mono
on_call_end(const struct host *h, struct wall deadline)
{
	int64_t ms = h->conf->timeout_max_s * 1000;
	int64_t left = deadline.ms - clock_wall().ms;

	if (deadline.ms != 0 && left < ms)
		ms = left;
	return mono_add_ms(clock_mono(), ms);
}

void
on_tool_call(void *app, struct svc_call *c)
{
	struct host *h = app;
	struct tool_call *t = mem_zalloc(sizeof(*t));

	t->host = h;
	t->svc = c;
	t->q = svc_call_request(c);
	t->a = svc_call_arena(c);
	t->trace = svc_call_trace(c);
	t->began = clock_mono();
	t->end = on_call_end(h, svc_call_deadline(c));
	tool_call_run(t);
	free(t);
}

/* ---- from another replica ---- */

struct passed_call {
	struct tool_call call;
	struct wire_tool_call_request q;
	struct trace trace;
};

static void
on_passed_fiber(void *arg)
{
	struct passed_call *p = arg;
	struct svc *s = p->call.host->svc;

	tool_call_run(&p->call);
	arena_free(p->call.a);
	free(p);
	svc_release(s);
}

void
on_call_passed(void *arg, struct bus_msg *m)
{
	struct host *h = arg;
	struct passed_call *p = mem_zalloc(sizeof(*p));
	struct arena *a = arena_new(WIRE_ARENA_MAX);

	if (wire_decode(&wire_tool_call_request_desc, bus_msg_data(m), a, &p->q,
		NULL) != RC_OK) {
		(void)!bus_reply_error(m, RC_INVALID, STR("not a call"));
		arena_free(a);
		free(p);
		return;
	}
	p->call = (struct tool_call){ .host = h,
		.msg = m,
		.q = &p->q,
		.a = a,
		.began = clock_mono(),
		.end = on_call_end(h, bus_msg_deadline(m)) };
	if (bus_msg_trace(m, &p->trace))
		p->call.trace = &p->trace;
	svc_hold(h->svc);
	fiber_start(on_passed_fiber, p);
}

/* ---- cancel ---- */

void
on_tool_cancel(void *arg, struct bus_msg *m)
{
	struct host *h = arg;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_tool_cancel q;
	struct tool_call *t;

	if (wire_decode(&wire_tool_cancel_desc, bus_msg_data(m), a, &q, NULL) ==
	    RC_OK) {
		t = map_get(h->calls, q.call_id);
		if (t != NULL)
			tool_call_cancel(t);
	}
	arena_free(a);
	bus_msg_free(m);
}
