/*
 * What another replica has found out is in Redis; that it has is seen by its
 * revision.
 */
#include "presence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "catalogue.h"
#include "catalogue_store.h"
#include "context.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "core/mem.h"
#include "svc/svc.h"
#include "tool_server.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define PRESENCE_MS 5000
#define PROVIDER    "mcp-host"
#define MESSAGE_MAX 4096

struct presence {
	struct host *host;
	struct loop_timer timer;
	struct loop_deferred soon;
	struct bus_sub *sub;
	bool loading; /* a fiber reads what others have found */
};

static void
presence_publish(struct presence *p, struct str user)
{
	struct host *h = p->host;
	struct buf json = BUF_INIT(MESSAGE_MAX);
	char revision[MCP_KEY_MAX], subject[64];
	struct wire_tool_present m = { .provider = STR(PROVIDER),
		.instance = str_of(h->id),
		.user_id = user };

	if (h->draining)
		return;
	host_revision(h, revision);
	m.revision = str_of(revision);
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_TOOL_PRESENT, PROVIDER);
	/* While there is no connection, nobody is to know of it. */
	if (wire_encode(&wire_tool_present_desc, &m, &json, NULL) == RC_OK)
		(void)!bus_publish(h->bus, subject, buf_str(&json), NULL);
	buf_free(&json);
}

static void
presence_on_timer(void *arg)
{
	struct presence *p = arg;

	loop_timer_set(p->host->loop, &p->timer,
	    mono_add_ms(clock_mono(), PRESENCE_MS), presence_on_timer, p);
	presence_publish(p, (struct str){ NULL, 0 });
}

static void
presence_on_soon(void *arg)
{
	presence_publish(arg, (struct str){ NULL, 0 });
}

void
presence_changed(struct presence *p, struct str user)
{
	if (p == NULL)
		return;
	if (user.p != NULL)
		presence_publish(p, user);
	else
		loop_defer(p->host->loop, &p->soon, presence_on_soon, p);
}

/* ---- other replicas ---- */

static void
presence_read(struct presence *p)
{
	struct host *h = p->host;
	struct tool_server *list[MCP_SERVERS_MAX], *s;
	struct catalogue *c;
	bool changed = false;
	size_t n = 0;

	LIST_FOREACH (s, &h->servers, link)
		if (n < MCP_SERVERS_MAX)
			list[n++] = tool_server_ref(s);
	for (size_t i = 0; i < n; i++) {
		if (!h->stopping &&
		    catalogue_store_read(h->state, list[i]->key, &c) == RC_OK) {
			changed |= tool_server_set_tools(list[i], c);
			catalogue_unref(c);
		}
		tool_server_unref(list[i]);
	}
	if (changed)
		presence_changed(p, (struct str){ NULL, 0 });
}

static void
presence_read_fiber(void *arg)
{
	struct presence *p = arg;
	struct host *h = p->host;

	presence_read(p);
	p->loading = false;
	svc_release(h->svc);
}

static void
presence_on_other(void *arg, struct bus_msg *m)
{
	struct presence *p = arg;
	struct host *h = p->host;
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_tool_present other;
	char revision[MCP_KEY_MAX];

	host_revision(h, revision);
	if (!p->loading && !h->draining &&
	    wire_decode(&wire_tool_present_desc, bus_msg_data(m), a, &other,
		NULL) == RC_OK &&
	    !str_eq(other.instance, str_of(h->id)) &&
	    !str_eq(other.revision, str_of(revision))) {
		p->loading = true;
		svc_hold(h->svc);
		fiber_start(presence_read_fiber, p);
	}
	arena_free(a);
	bus_msg_free(m);
}

struct presence *
presence_new(struct host *h)
{
	struct presence *p = mem_zalloc(sizeof(*p));
	char subject[64];

	p->host = h;
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_TOOL_PRESENT, PROVIDER);
	if (bus_subscribe(h->bus, subject, NULL, presence_on_other, p,
		&p->sub) != RC_OK) {
		free(p);
		return NULL;
	}
	presence_on_timer(p);
	return p;
}

void
presence_free(struct presence *p)
{
	if (p == NULL)
		return;
	loop_timer_cancel(p->host->loop, &p->timer);
	loop_defer_cancel(p->host->loop, &p->soon);
	bus_unsubscribe(p->sub);
	free(p);
}
