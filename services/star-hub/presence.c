/*
 * presence: events to environments about their members, and to members about
 * their environment.
 */
#include <stdio.h>

#include "cluster/link_record.h"
#include "hub.h"
#include "wire/out.h"

void
presence_member(struct hub *h, struct client *env, struct str member,
    const char *event, const char *reason)
{
	struct wire_out o = { .b = &h->out };
	struct identity i;
	char name[32];
	bool agent;

	if (!h->conf->presence || identity_parse(member, &i) != RC_OK)
		return;
	agent = i.class == CLASS_AGENT;
	(void)snprintf(
	    name, sizeof(name), "%s_%s", agent ? "agent" : "human", event);
	hub_message_begin(&o, "message", &env->identity);
	hub_event_begin(&o, ++h->events, name);
	hub_put(&o, agent ? "agent_id" : "human_id", i.id);
	if (reason != NULL)
		hub_put(&o, "reason", str_of(reason));
	hub_event_end(&o);
	hub_message_end(&o, hub_now(h));
	if (!client_send_text(h, env) && !env->closing)
		client_drop(h, env);
}

void
presence_environment(struct hub *h, struct str key, const char *reason)
{
	struct wire_out o = { .b = &h->out };
	struct identity env;
	struct frame *f;

	if (!h->conf->presence || identity_parse(key, &env) != RC_OK)
		return;
	hub_message_begin(&o, "message", NULL);
	hub_event_begin(&o, ++h->events,
	    reason == NULL ? "environment_up" : "environment_down");
	hub_put(&o, "env_id", env.id);
	if (reason != NULL)
		hub_put(&o, "reason", str_of(reason));
	hub_event_end(&o);
	hub_message_end(&o, hub_now(h));
	f = frame_new(FRAME_TEXT, buf_str(&h->out));
	buf_reset(&h->out);
	broadcast_here(
	    h, &(struct link_record){ .to = key, .audience = CLASS_HUB }, f);
	frame_unref(f);
}
