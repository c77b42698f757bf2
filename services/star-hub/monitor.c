/*
 * monitor: an operator follows what passes in an environment.  Each hub reports
 * what its clients send, for as long as the request lasts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"
#include "envelope.h"

/* At a time; reports of one in a second; bytes of a payload. */
#define MONITORS_MAX     8
#define MONITOR_PER_S    1000
#define MONITOR_PAYLOAD  4096
#define MONITOR_RECORD   (MONITOR_PAYLOAD + LINK_RECORD_MAX)
#define MONITOR_TEXT_MAX 512

struct monitor {
	LIST_ENTRY(monitor) link;
	struct bus_msg *request;
	char *key;
	bool payloads;
	struct throttle rate;
};

static void
monitor_free(struct hub *h, struct monitor *t)
{
	LIST_REMOVE(t, link);
	h->nmonitors--;
	bus_msg_free(t->request);
	free(t->key);
	free(t);
}

void
monitors_expire(struct hub *h, bool all)
{
	struct wall now = clock_wall();
	struct monitor *t, *next;

	for (t = LIST_FIRST(&h->monitors); t != NULL; t = next) {
		next = LIST_NEXT(t, link);
		if (all || bus_msg_deadline(t->request).ms <= now.ms)
			monitor_free(h, t);
	}
}

void
monitor_on_message(void *arg, struct bus_msg *m)
{
	struct hub *h = ((struct peers *)arg)->hub;
	struct str in = bus_msg_data(m);
	struct link_record r;
	struct identity env;
	struct monitor *t;

	if (link_record_next(&in, &r) != RC_OK || r.kind != LINK_MONITOR ||
	    identity_parse(r.to, &env) != RC_OK ||
	    h->nmonitors == MONITORS_MAX || !bus_msg_wants_reply(m) ||
	    bus_msg_deadline(m).ms == 0) {
		bus_msg_free(m);
		return;
	}
	log_info("star.monitor", LOG_V("env", env.id));
	t = mem_zalloc(sizeof(*t));
	t->request = m;
	t->key = str_dup(r.to);
	t->payloads = r.n > 0;
	LIST_INSERT_HEAD(&h->monitors, t, link);
	h->nmonitors++;
}

/* Whether a message is one of an environment. */
static bool
monitor_covers(const struct hub *h, const struct monitor *t,
    const struct client *c, const struct envelope *e)
{
	char text[IDENTITY_KEY_MAX];
	struct str key = str_of(t->key), env = e->recipient.env;

	if (c->identity.class != CLASS_HUMAN)
		return str_eq(client_env_key(c, text), key);
	if (e->recipient.class == CLASS_ENVIRONMENT)
		env = e->recipient.id;
	if (env.p == NULL)
		return client_membership(h, c, key) != NULL;
	return str_eq(identity_env_key(c->identity.tenant, env, text), key);
}

static void
monitor_report(struct hub *h, struct monitor *t, const struct client *c,
    const struct envelope *e)
{
	static const struct throttle_limit limit = { 1000000000 / MONITOR_PER_S,
		1000000000 };
	struct buf out = BUF_INIT(MONITOR_RECORD);
	char from[IDENTITY_KEY_MAX], to[MONITOR_TEXT_MAX];
	struct str payload = e->payload;

	if (throttle_take(&t->rate, &limit, 1, clock_mono()) > 0)
		return;
	(void)snprintf(to, sizeof(to), "%.*s %.*s",
	    STR_ARG(client_class_names[e->recipient.class]),
	    STR_ARG(e->recipient.id));
	if (payload.n > MONITOR_PAYLOAD)
		payload.n = MONITOR_PAYLOAD;
	if (!t->payloads)
		payload.n = 0;
	link_record_write(&(struct link_record){ .kind = LINK_MONITOR,
			      .to = str_of(t->key),
			      .from = client_key(c, from),
			      .text = str_of(to),
			      .n = (int64_t)e->payload.n,
			      .bytes = payload },
	    &out);
	/* A monitor that has left gets nothing more. */
	(void)!bus_reply_partial(t->request, buf_str(&out));
	buf_free(&out);
	(void)h;
}

void
monitors_report(struct hub *h, const struct client *c, const struct envelope *e)
{
	struct monitor *t;

	LIST_FOREACH (t, &h->monitors, link)
		if (monitor_covers(h, t, c, e))
			monitor_report(h, t, c, e);
}
