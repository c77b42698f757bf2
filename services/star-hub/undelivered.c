/*
 * undelivered: messages that waited for a client that does not come back: their
 * senders get an error for each.
 */
#include "cluster/handlers.h"
#include "core/mem.h"
#include "envelope.h"
#include "hub.h"

#define UNDELIVERED_ARENA (8UL * 1024)

/* False: it is a broadcast, or the hub's. */
static bool
undelivered_read(const struct hub *h, const struct client *c, struct str text,
    struct arena *a, struct envelope *e)
{
	struct envelope_errors errors;

	return envelope_read(text, (size_t)h->conf->message_bytes, a, e,
		   &errors) == RC_OK &&
	    e->type == ENVELOPE_MESSAGE && e->sender.class < CLASS_HUB &&
	    e->recipient.class == c->identity.class &&
	    str_eq(e->recipient.id, c->identity.id);
}

/* Who sent e to c. */
static struct identity
undelivered_sender(const struct client *c, const struct envelope *e)
{
	struct identity i = { .class = e->sender.class,
		.tenant = c->identity.tenant,
		.id = e->sender.id };

	if (i.class == CLASS_ENVIRONMENT)
		i.env = i.id;
	else if (i.class == CLASS_AGENT)
		i.env =
		    e->sender.env.p != NULL ? e->sender.env : c->identity.env;
	return i;
}

static void
undelivered_fail(struct hub *h, struct client *c, const struct envelope *e)
{
	const struct identity from = undelivered_sender(c, e);
	struct hub_failure f = { .error = HUB_ERROR_TARGET,
		.message_id = e->message_id };
	char text[IDENTITY_KEY_MAX];
	struct str key = identity_key(&from, text);
	struct client *to = directory_find(h->directory, key);
	struct outgoing *o;

	if (c->identity.class == CLASS_ENVIRONMENT && from.class == CLASS_AGENT)
		f.error = HUB_ERROR_ENVIRONMENT;
	if (to != NULL) {
		client_fail(h, to, &f);
		return;
	}
	o = outgoing_new(client_ref(c), 0, (struct str){ 0 }, key);
	o->is_hubs = true;
	hub_error_write(&f, &from, hub_now(h), &h->out);
	remote_route(h->peers, o, buf_str(&h->out));
	buf_reset(&h->out);
}

void
undelivered_report(struct hub *h, struct client *c)
{
	const struct frame *f;
	struct envelope e;
	struct arena *a;
	uint64_t n = replay_sent(&c->replay) - c->waiting;

	if (c->waiting == 0)
		return;
	a = arena_new(UNDELIVERED_ARENA);
	for (; n < replay_sent(&c->replay); n++) {
		f = replay_at(&c->replay, n + 1);
		arena_reset(a);
		if (f->seq == 0 &&
		    undelivered_read(h, c, frame_payload(f), a, &e))
			undelivered_fail(h, c, &e);
	}
	arena_free(a);
	c->waiting = c->waiting_bytes = 0;
}
