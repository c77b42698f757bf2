/*
 * notice: what hubs tell all others: who has joined, left, is in a room.
 */
#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"

/* Reasons of events, as constants that live. */
static const char *
notice_reason(struct str text)
{
	static const char *const reasons[] = { "closed", "timeout", "replaced",
		"kicked", "hub_down" };
	size_t i;

	for (i = 0; i < NELEM(reasons); i++)
		if (str_eq(text, str_of(reasons[i])))
			return reasons[i];
	return reasons[0];
}

static bool
notice_is_environment(struct str key)
{
	struct identity i;

	return identity_parse(key, &i) == RC_OK && i.class == CLASS_ENVIRONMENT;
}

void
notice_send_client(struct peers *c, enum link_kind kind,
    const struct client *client, const char *reason)
{
	char text[IDENTITY_KEY_MAX];
	struct str key = client_key(client, text);

	notice_put(c,
	    &(struct link_record){ .kind = kind,
		.gen = client->gen,
		.to = key,
		.seq = client->cursor + 1,
		.text = str_of(reason != NULL ? reason : "") });
	if (client->identity.class != CLASS_ENVIRONMENT)
		return;
	if (kind == LINK_JOINED) {
		environment_came(c->hub, key, NULL, client->gen);
		broadcast_skip_all(c->hub, key, client->gen, client->cursor);
	} else
		environment_went(c->hub, key, client->gen, reason);
}

void
notice_sync(struct peers *c)
{
	remote_forget(c, NULL);
	membership_load_all(c->hub);
	c->announces = true;
}

void
notice_announce(struct peers *c)
{
	struct hub *h = c->hub;
	struct client *client;
	char text[IDENTITY_KEY_MAX];
	size_t pos;
	int class;

	for (class = 0; class < CLASS_HUB; class ++)
		for (pos = 0; (client = directory_next(h->directory,
				   (enum client_class) class, &pos)) != NULL;)
			/* Of one that still claims they are notified later. */
			if (client->phase != CLIENT_CLAIMING)
				notice_put(c,
				    &(struct link_record){ .kind = LINK_JOINED,
					.gen = client->gen,
					.to = client_key(client, text) });
}

static void
notice_receive(struct peers *c, struct peer *p, const struct link_record *r)
{
	struct hub *h = c->hub;

	switch (r->kind) {
	case LINK_JOINED:
		claims_outdate(h->claims, r->to, r->gen);
		remote_joined(c, r->to, p, r->gen);
		if (!notice_is_environment(r->to))
			break;
		environment_came(h, r->to, p, r->gen);
		if (r->seq > 0)
			broadcast_skip_all(h, r->to, r->gen, r->seq - 1);
		break;
	case LINK_LEFT:
		remote_left(c, r->to, r->gen);
		if (notice_is_environment(r->to))
			environment_went(
			    h, r->to, r->gen, notice_reason(r->text));
		break;
	case LINK_ENTERED:
		membership_entered(h, r->from, r->to, p, r->gen);
		membership_send_cursor(h, r->from, r->to, p);
		break;
	case LINK_RESUMED:
		membership_resumed(h, r->from, r->to, p, r->gen);
		membership_send_cursor(h, r->from, r->to, p);
		break;
	case LINK_EXITED:
		membership_exited(
		    h, r->from, r->to, r->gen, notice_reason(r->text));
		break;
	case LINK_DETACHED:
		membership_was_detached(h, r->from, r->to, r->gen);
		break;
	case LINK_SYNC:
		notice_sync(c);
		break;
	default:
		break;
	}
}

void
notice_on_message(void *arg, struct bus_msg *m)
{
	struct peers *c = arg;
	struct str in = bus_msg_data(m);
	static struct log_rate rate;
	struct link_record r;
	struct peer *p = NULL;
	int64_t missed;
	enum rc rc;

	while ((rc = link_record_next(&in, &r)) == RC_OK) {
		if (r.kind == LINK_HUB && str_eq(r.text, str_of(c->hub->name)))
			break;
		if (r.kind == LINK_HUB)
			p = peers_add(c, r.text);
		else if (p != NULL)
			notice_receive(c, p, &r);
	}
	if (rc == RC_INVALID && log_every(&rate, 10, &missed))
		log_error("star.notice_record", LOG_I("missed", missed));
	bus_msg_free(m);
}
