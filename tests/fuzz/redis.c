/*
 * What Redis and its operators write: REDIS_URL, redirections, replies to
 * CLUSTER SLOTS, keys.  The first byte selects the reader.
 */
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "must.h"
#include "state/cluster.h"

#define ARENA_MAX (1UL << 20)

static void
address_is_valid(const struct redis_address *a)
{
	must(a->host[0] != '\0' && strpbrk(a->host, "\r\n ") == NULL);
	must(a->port >= 1 && a->port <= 65535);
}

static void
fuzz_url(struct str s)
{
	struct redis_url u;
	size_t i;

	if (redis_url_parse(s, &u) != NULL)
		return;
	must(u.n >= 1 && u.n <= REDIS_ADDRESSES_MAX && u.db >= 0);
	for (i = 0; i < u.n; i++)
		address_is_valid(&u.addresses[i]);
	must((u.mode == REDIS_SENTINEL) == (u.master[0] != '\0'));
	must(u.mode != REDIS_SINGLE || u.n == 1);
	must(u.mode != REDIS_CLUSTER || u.db == 0);
}

static void
fuzz_redirect(struct str s)
{
	struct redirect d;

	redirect_parse(s, &d);
	if (d.kind == REDIRECT_NONE)
		return;
	must(d.slot >= 0 && d.slot < CLUSTER_SLOTS);
	if (d.to.host[0] != '\0')
		address_is_valid(&d.to);
}

static void
fuzz_key(struct str s)
{
	int slot = slot_of_key(s);
	size_t other;

	must(slot >= 0 && slot < CLUSTER_SLOTS);
	must(slot_of_keys(&s, 1, &other) == slot);
	must(slot_of_command(STATE_ARGS(STR("GET"), s)) == slot);
}

static void
fuzz_slots(struct str s)
{
	struct slot_map *m = mem_alloc(sizeof(*m));
	struct reply_sink sink = { arena_new(ARENA_MAX), false };
	redisReplyObjectFunctions fn;
	redisReader *reader;
	void *reply = NULL;
	size_t i;

	reply_functions(&fn);
	reader = redisReaderCreateWithFunctions(&fn);
	must(reader != NULL);
	reader->privdata = &sink;
	if (redisReaderFeed(reader, s.p, s.n) == REDIS_OK &&
	    redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL &&
	    slot_map_read(reply, "host", m) == RC_OK) {
		must(m->n > 0 && m->n <= CLUSTER_NODES_MAX);
		for (i = 0; i < m->n; i++)
			address_is_valid(&m->nodes[i]);
		for (i = 0; i < CLUSTER_SLOTS; i++)
			must(
			    m->owner[i] == SLOT_UNSERVED || m->owner[i] < m->n);
	}
	redisReaderFree(reader);
	arena_free(sink.a);
	free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static void (*const readers[])(
	    struct str s) = { fuzz_url, fuzz_redirect, fuzz_key, fuzz_slots };

	if (n == 0)
		return 0;
	/* An exact copy, so that reads past its end are detected. */
	char *copy = mem_alloc(n);
	memcpy(copy, data + 1, n - 1);
	readers[data[0] % NELEM(readers)]((struct str){ copy, n - 1 });
	free(copy);
	return 0;
}
