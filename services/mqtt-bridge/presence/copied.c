#include "presence/copied.h"

#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"

/* What was copied of one terminal. */
struct copy {
	uint64_t binding; /* a digest of user and soul */
	int64_t until;
};

struct copied {
	struct map *by_id;
};

struct copied *
copied_new(void)
{
	struct copied *c = mem_zalloc(sizeof(*c));

	c->by_id = map_new();
	return c;
}

void
copied_clear(struct copied *c)
{
	struct copy *e;
	size_t pos = 0;

	while ((e = map_next(c->by_id, &pos, NULL)) != NULL)
		free(e);
	map_free(c->by_id);
	c->by_id = map_new();
}

void
copied_free(struct copied *c)
{
	if (c == NULL)
		return;
	copied_clear(c);
	map_free(c->by_id);
	free(c);
}

void
copied_forget(struct copied *c, struct str id)
{
	free(map_del(c->by_id, id));
}

/* FNV-1a of one more text, and of its end. */
static uint64_t
copied_digest(uint64_t h, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return (h ^ '\n') * UINT64_C(0x100000001b3);
}

static void
copied_remember(
    struct copied *c, const struct terminal_report *t, uint64_t binding)
{
	struct copy *e = map_get(c->by_id, t->id);

	if (e == NULL) {
		if (map_len(c->by_id) >= COPIED_MAX)
			return;
		e = mem_alloc(sizeof(*e));
		(void)map_put(c->by_id, t->id, e);
	}
	*e = (struct copy){ binding, t->until };
}

bool
copied_is_due(struct copied *c, const struct terminal_report *t, int64_t ttl_ms)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	const struct copy *e = map_get(c->by_id, t->id);
	bool known = e != NULL;

	/* Another broker's bridges tell of it, or there is nobody to tell. */
	if (!t->here || t->user_id.p == NULL) {
		copied_forget(c, t->id);
		return false;
	}
	if (t->until == 0) {
		copied_forget(c, t->id);
		return known || t->turned;
	}
	h = copied_digest(copied_digest(h, t->user_id), t->soul_id);
	if (known && e->binding == h && e->until - t->at >= ttl_ms / 2)
		return false;
	copied_remember(c, t, h);
	return true;
}
