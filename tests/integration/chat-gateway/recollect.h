/*
 * recollect: a bed with memory-worker, and memories in it.
 */
#ifndef RECOLLECT_H
#define RECOLLECT_H

#include "bed.h"
#include "state/memory.h"

struct recollect {
	struct bed b;
	struct tk_service worker;
};

static inline void
recollect_worker(struct recollect *r)
{
	bed_spawn(&r->b, &r->worker, "memory-worker",
	    TK_ENV("IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=60"));
}

static inline void
recollect_start(struct recollect *r)
{
	*r = (struct recollect){ 0 };
	bed_start(&r->b, NULL);
	recollect_worker(r);
}

static inline void
recollect_stop(struct recollect *r)
{
	tk_service_end(&r->worker);
	bed_stop(&r->b);
}

static inline void
remember(struct recollect *r, const char *user, const char *soul,
    const char *id, const char *text, int64_t ms)
{
	const struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_item item = { .id = str_of(id), .json = { NULL, 0 } };
	char made[WALL_FORMAT_MAX], *json;
	json_t *j;

	wall_format((struct wall){ ms }, 0, made);
	j = json_pack(
	    "{ssssss}", "text", text, "type", "fact", "created_at", made);
	json = json_dumps(j, 0);
	item.json = str_of(json);
	ck_assert_int_eq(
	    memory_put(r->b.db.s, &scope, &item, clock_wall()), RC_OK);
	free(json);
	json_decref(j);
}

/* How many items an answer has, and the text of one. */
static inline size_t
items_n(json_t *j)
{
	return json_array_size(tk_at(j, "items"));
}

static inline const char *
item_text(json_t *j, size_t i)
{
	return tk_text(json_array_get(tk_at(j, "items"), i), "text");
}

#endif /* !RECOLLECT_H */
