/*
 * presence: events to environments about who joins and leaves, and to members
 * about their environment.
 */
#include "hub.h"
#include "wire/out.h"

/* reason NULL: without. */
static void
presence_send_environment(struct hub *h, const struct client *c, struct str key,
    const char *event, const char *reason)
{
	struct client *env = directory_find(h->directory, key);
	struct wire_out o = { .b = &h->out };

	if (!h->conf->presence || env == NULL)
		return;
	hub_message_begin(&o, "message", &env->identity);
	hub_event_begin(&o, ++h->events, event);
	hub_put(&o, c->identity.class == CLASS_AGENT ? "agent_id" : "human_id",
	    c->identity.id);
	if (reason != NULL)
		hub_put(&o, "reason", str_of(reason));
	hub_event_end(&o);
	hub_message_end(&o, hub_now(h));
	if (!client_send_text(h, env) && !env->closing)
		client_drop(h, env);
}

void
presence_joined(struct hub *h, const struct client *c, struct str key)
{
	presence_send_environment(h, c, key,
	    c->identity.class == CLASS_AGENT ? "agent_joined" : "human_joined",
	    NULL);
}

void
presence_left(
    struct hub *h, const struct client *c, struct str key, const char *reason)
{
	presence_send_environment(h, c, key,
	    c->identity.class == CLASS_AGENT ? "agent_left" : "human_left",
	    reason);
}

void
presence_environment(struct hub *h, const struct client *c, const char *reason)
{
	char text[IDENTITY_KEY_MAX];
	struct wire_out o = { .b = &h->out };
	struct frame *f;

	if (!h->conf->presence)
		return;
	hub_message_begin(&o, "message", NULL);
	hub_event_begin(&o, ++h->events,
	    reason == NULL ? "environment_up" : "environment_down");
	hub_put(&o, "env_id", c->identity.id);
	if (reason != NULL)
		hub_put(&o, "reason", str_of(reason));
	hub_event_end(&o);
	hub_message_end(&o, hub_now(h));
	f = frame_new(FRAME_TEXT, buf_str(&h->out));
	buf_reset(&h->out);
	broadcast_room(h, client_env_key(c, text), CLASS_HUB, c, f);
	frame_unref(f);
}
