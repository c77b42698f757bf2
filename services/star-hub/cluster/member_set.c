#include "cluster/member_set.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

/* Hubs with members. */
struct set_hub {
	const struct peer *peer;
	size_t n;
};

struct member_set {
	struct map *by_key;
	struct set_hub *hub;
	size_t nhubs;
	unsigned load;
	/* While it loads: claims that have left since. */
	struct map *exited;
	bool reload; /* another load was wanted meanwhile */
	bool known;  /* the last load was complete */
};

struct member_set *
member_set_new(void)
{
	struct member_set *r = mem_zalloc(sizeof(*r));

	r->by_key = map_new();
	return r;
}

void
member_set_free(struct member_set *r)
{
	struct set_member *m;
	size_t pos = 0;

	if (r == NULL)
		return;
	while ((m = map_next(r->by_key, &pos, NULL)) != NULL)
		free(m);
	map_free(r->by_key);
	(void)member_set_load_end(r, false);
	free(r->hub);
	free(r);
}

static void
set_count_hub(struct member_set *r, const struct peer *peer)
{
	size_t i;

	for (i = 0; i < r->nhubs && r->hub[i].peer != peer; i++)
		;
	if (i == r->nhubs) {
		r->hub = mem_realloc(r->hub, ++r->nhubs * sizeof(*r->hub));
		r->hub[i] = (struct set_hub){ peer, 0 };
	}
	r->hub[i].n++;
}

static void
set_uncount_hub(struct member_set *r, const struct peer *peer)
{
	size_t i;

	for (i = 0; r->hub[i].peer != peer; i++)
		;
	if (--r->hub[i].n == 0)
		r->hub[i] = r->hub[--r->nhubs];
}

int64_t
member_set_put(
    struct member_set *r, struct str key, struct peer *peer, int64_t gen)
{
	struct set_member *m = map_get(r->by_key, key);
	int64_t before;

	if (m == NULL) {
		m = mem_zalloc(sizeof(*m));
		map_put(r->by_key, key, m);
	} else if (m->gen > gen) {
		return m->gen;
	} else {
		set_uncount_hub(r, m->peer);
	}
	before = m->gen;
	m->peer = peer;
	m->gen = gen;
	m->load = r->load;
	set_count_hub(r, peer);
	return before;
}

static void
set_note_exit(struct member_set *r, struct str key, int64_t gen)
{
	int64_t *exited;

	if (r->exited == NULL)
		return;
	exited = map_get(r->exited, key);
	if (exited == NULL) {
		exited = mem_zalloc(sizeof(*exited));
		map_put(r->exited, key, exited);
	}
	/* Hubs tell of different claims, in any order. */
	if (*exited < gen)
		*exited = gen;
}

bool
member_set_remove(struct member_set *r, struct str key, int64_t gen)
{
	struct set_member *m = map_get(r->by_key, key);

	set_note_exit(r, key, gen);
	if (m == NULL || m->gen != gen)
		return false;
	map_del(r->by_key, key);
	set_uncount_hub(r, m->peer);
	free(m);
	return true;
}

int64_t
member_set_gen(const struct member_set *r, struct str key)
{
	const struct set_member *m = map_get(r->by_key, key);

	return m != NULL ? m->gen : 0;
}

enum rc
member_set_load_begin(struct member_set *r)
{
	if (r->exited != NULL) {
		r->reload = true;
		return RC_RETRY;
	}
	r->known = false;
	r->exited = map_new();
	r->load++;
	return RC_OK;
}

int64_t
member_set_load(
    struct member_set *r, struct str key, struct peer *peer, int64_t gen)
{
	const int64_t *exited = map_get(r->exited, key);

	if (exited != NULL && *exited >= gen)
		return gen;
	return member_set_put(r, key, peer, gen);
}

struct set_member *
member_set_load_stale(const struct member_set *r, size_t *pos, struct str *key)
{
	struct set_member *m;

	do
		m = map_next(r->by_key, pos, key);
	while (m != NULL && m->load == r->load);
	return m;
}

bool
member_set_load_end(struct member_set *r, bool complete)
{
	bool reload = r->reload;
	int64_t *exited;
	size_t pos = 0;

	if (r->exited == NULL)
		return false;
	r->reload = false;
	r->known = complete;
	while ((exited = map_next(r->exited, &pos, NULL)) != NULL)
		free(exited);
	map_free(r->exited);
	r->exited = NULL;
	return reload;
}

size_t
member_set_count(const struct member_set *r)
{
	return map_len(r->by_key);
}

bool
member_set_has(const struct member_set *r, const struct peer *peer)
{
	size_t i;

	for (i = 0; i < r->nhubs; i++)
		if (r->hub[i].peer == peer)
			return true;
	return false;
}

bool
member_set_may_have(const struct member_set *r, const struct peer *peer)
{
	return !r->known || member_set_has(r, peer);
}

struct set_member *
member_set_next(const struct member_set *r, size_t *pos, struct str *key)
{
	return map_next(r->by_key, pos, key);
}
