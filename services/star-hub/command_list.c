/*
 * command_list: requests about all hubs: each of them says what it has.
 */
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "cluster/handlers.h"
#include "command.h"
#include "core/fiber.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/subjects.h"

/* An environment, as all hubs together know it. */
struct listed {
	char *id;
	size_t members;
	bool up;
};

/* What hubs have replied. */
struct listing {
	struct map *by_id;
	size_t clients[CLASS_HUB];
	size_t replies, expected;
	struct fiber *fiber;
	bool done;
};

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
	    out->n < COMMAND_LIST_BYTES)
		if (str_eq(env->identity.tenant, tenant))
			link_record_write(
			    &(struct link_record){ .kind = LINK_ENVIRONMENT,
				.audience = 1,
				.to = env->identity.id },
			    out);
	for (pos = 0; (room = rooms_next(h->rooms, &pos)) != NULL &&
	     out->n < COMMAND_LIST_BYTES;)
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

/* In a fiber.  All hubs reply, this one too. */
static void
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

static void
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

/* ---- requests ---- */

static bool
command_environments_in_fiber(struct command_run *r)
{
	struct listing l = { 0 };
	const struct listed *e;
	size_t pos = 0;
	bool all = true;

	listing_request(r->h, r->c->identity.tenant, &l);
	command_begin(r);
	wire_out_key(&r->o, STR("environments"));
	wire_out_array(&r->o);
	while ((e = map_next(l.by_id, &pos, NULL)) != NULL) {
		if (!e->up)
			continue;
		if (r->h->out.n > COMMAND_LIST_BYTES) {
			all = false;
			continue;
		}
		wire_out_object(&r->o);
		command_put(r, "id", str_of(e->id));
		command_put_count(r, "client_count", e->members);
		command_put_flag(r, "up", true);
		wire_out_object_end(&r->o);
	}
	wire_out_array_end(&r->o);
	if (!all)
		command_put_flag(r, "truncated", true);
	listing_free(&l);
	return command_end(r);
}

bool
command_get_environments(struct command_run *r)
{
	return command_later(r, command_environments_in_fiber);
}

static bool
command_stats_in_fiber(struct command_run *r)
{
	const struct hub *h = r->h;
	struct listing l = { 0 };
	size_t agents, envs, humans;

	listing_request(r->h, r->c->identity.tenant, &l);
	agents = l.clients[CLASS_AGENT];
	envs = l.clients[CLASS_ENVIRONMENT];
	humans = l.clients[CLASS_HUMAN];
	listing_free(&l);
	command_begin(r);
	command_put_count(r, "active_connections", agents + envs + humans);
	command_put_count(r, "active_agents", agents);
	command_put_count(r, "active_environments", envs);
	command_put_count(r, "active_humans", humans);
	command_put_count(r, "active_env_count", envs);
	command_put_count(
	    r, "uptime_ms", (size_t)mono_diff_ms(clock_mono(), h->since));
	command_put(r, "hub", str_of(h->name));
	command_put_count(r, "hubs", h->peers->n + 1);
	return command_end(r);
}

bool
command_get_server_stats(struct command_run *r)
{
	return command_later(r, command_stats_in_fiber);
}
