#include "listing.h"

#include <stdlib.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "core/fiber.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/subjects.h"

/* ---- what a hub has ---- */

static void
list_write(struct hub *h, struct str tenant, struct buf *out)
{
	struct client *env;
	struct room *room;
	size_t pos = 0;

	link_record_write(&(struct link_record){ .kind = LINK_CLIENTS,
			      .n = (int64_t)directory_count(
				  h->directory, CLASS_AGENT, tenant),
			      .seq = (int64_t)directory_count(
				  h->directory, CLASS_ENVIRONMENT, tenant),
			      .audience = (int64_t)directory_count(
				  h->directory, CLASS_HUMAN, tenant) },
	    out);
	while ((env = directory_next(h->directory, CLASS_ENVIRONMENT, &pos)) !=
		NULL &&
	    out->n < LISTING_BYTES)
		if (str_eq(env->identity.tenant, tenant))
			link_record_write(
			    &(struct link_record){ .kind = LINK_ENVIRONMENT,
				.audience = 1,
				.to = env->identity.id },
			    out);
	for (pos = 0; (room = rooms_next(h->rooms, &pos)) != NULL &&
	     out->n < LISTING_BYTES;)
		if (room_is_of(room, tenant))
			link_record_write(
			    &(struct link_record){ .kind = LINK_ENVIRONMENT,
				.n = (int64_t)room_count(room),
				.to = room_env(room) },
			    out);
}

void
query_on_message(void *arg, struct bus_msg *m)
{
	struct peers *c = arg;
	struct str in = bus_msg_data(m);
	struct buf out = BUF_INIT(BUS_PAYLOAD_MAX);
	struct link_record r;

	if (link_record_next(&in, &r) != RC_OK || r.kind != LINK_QUERY) {
		bus_msg_free(m);
		return;
	}
	list_write(c->hub, r.to, &out);
	/* Who asked waits a little, and then has less. */
	(void)!bus_reply(m, buf_str(&out));
	buf_free(&out);
}

/* ---- what all have ---- */

static void
listing_read(struct listing *l, struct str in)
{
	struct link_record r;
	struct listed *e;

	while (link_record_next(&in, &r) == RC_OK) {
		if (r.kind == LINK_CLIENTS) {
			l->clients[CLASS_AGENT] += (size_t)r.n;
			l->clients[CLASS_ENVIRONMENT] += (size_t)r.seq;
			l->clients[CLASS_HUMAN] += (size_t)r.audience;
		}
		if (r.kind != LINK_ENVIRONMENT)
			continue;
		e = map_get(l->by_id, r.to);
		if (e == NULL) {
			e = mem_zalloc(sizeof(*e));
			e->id = str_dup(r.to);
			map_put(l->by_id, r.to, e);
		}
		e->members += (size_t)r.n;
		e->up = e->up || r.audience == 1;
	}
}

static void
listing_on_reply(void *arg, enum rc rc, struct str data)
{
	struct listing *l = arg;

	if (rc == RC_OK) {
		listing_read(l, data);
		l->replies++;
	}
	if (rc == RC_OK && l->replies < l->expected)
		return;
	l->done = true;
	if (l->fiber != NULL)
		fiber_resume(l->fiber);
}

/* All hubs reply, this one too. */
void
listing_request(struct hub *h, struct str tenant, struct listing *l)
{
	const struct bus_meta meta = { .deadline = { clock_wall().ms +
					   WIRE_DEADLINE_MS_STAR_QUERY } };
	struct buf out = BUF_INIT(LINK_RECORD_MAX);
	uint64_t id = 0;
	enum rc rc = RC_DOWN;

	l->by_id = map_new();
	l->expected = h->peers->n + 1;
	link_record_write(
	    &(struct link_record){ .kind = LINK_QUERY, .to = tenant }, &out);
	if (l->expected > 1)
		rc = bus_request(h->bus, WIRE_SUBJECT_STAR_QUERY, buf_str(&out),
		    &meta,
		    (struct bus_reply_handler){ listing_on_reply, l, true },
		    &id);
	if (rc == RC_OK && !l->done) {
		l->fiber = fiber_self();
		fiber_suspend();
		bus_request_cancel(h->bus, id);
	} else if (rc != RC_OK) {
		buf_reset(&out);
		buf_free(&out);
		buf_init(&out, BUS_PAYLOAD_MAX);
		list_write(h, tenant, &out);
		listing_read(l, buf_str(&out));
	}
	buf_free(&out);
}

void
listing_free(struct listing *l)
{
	struct listed *e;
	size_t pos = 0;

	while ((e = map_next(l->by_id, &pos, NULL)) != NULL) {
		free(e->id);
		free(e);
	}
	map_free(l->by_id);
}
