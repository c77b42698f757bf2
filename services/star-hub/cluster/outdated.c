/*
 * outdated: identities that another hub has claimed, which is to give them up,
 * though NATS does not reach it: by Redis, which each hub reads as often as it
 * renews.
 */
#include "cluster/handlers.h"
#include "core/log.h"
#include "core/mem.h"
#include "state/star.h"

#define OUTDATED_ARENA (256UL * 1024)
#define OUTDATED_MS    50
/* A hub is dead by then, or has given it up. */
#define OUTDATED_MAX_MS (2L * PEERS_TTL_MS)

/* ---- of other hubs ---- */

/* Nothing is to be waited for any more. */
static bool
outdated_is_over(const struct peers *c, const struct client *client,
    struct str hub, struct mono until)
{
	if (!client->held || c->stopped || peers_find(c, hub) == NULL)
		return true;
	if (mono_diff_ms(until, clock_mono()) > 0)
		return false;
	log_warn("star.not_given_up", LOG_V("hub", hub));
	return true;
}

void
outdated_give_up(
    struct peers *c, const struct client *client, struct str hub, bool awaited)
{
	struct hub *h = c->hub;
	struct mono until = mono_add_ms(clock_mono(), OUTDATED_MAX_MS);
	char text[IDENTITY_KEY_MAX];
	const struct star_outdated o = { client_key(client, text),
		client->gen };
	bool is_put = false;
	enum rc rc;

	for (; !outdated_is_over(c, client, hub, until);
	     hub_pause(h, OUTDATED_MS)) {
		rc = is_put ? star_is_outdated(h->state, hub, o.key)
			    : star_outdate(h->state, hub, &o);
		if (is_put ? rc == RC_NOENT : !awaited)
			return;
		is_put = is_put || rc == RC_OK || rc == RC_UNREPLICATED;
	}
}

/* ---- of this hub ---- */

void
outdated_read(struct peers *c)
{
	struct hub *h = c->hub;
	struct arena *a = arena_new(OUTDATED_ARENA);
	struct star_outdated_list list = { NULL, 0 }, done;
	char name[sizeof(h->name)];
	enum rc rc;
	size_t i;

	str_copy(str_of(h->name), name, sizeof(name));
	do {
		done = list;
		rc =
		    star_read_outdated(h->state, str_of(name), &done, a, &list);
		for (i = 0; i < list.n; i++)
			claims_outdate(h->claims, list.v[i].key, list.v[i].gen);
	} while ((rc == RC_OK || rc == RC_UNREPLICATED) && list.n > 0);
	arena_free(a);
}
