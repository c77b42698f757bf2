/*
 * page_cursor: position in a list of memories at which the next page starts.
 * Pure.
 *
 * A list orders souls by creation time and each soul's memories by theirs, with
 * ids deciding between equal times.  A cursor identifies its memory by these,
 * not by an offset, so it stays valid when memories are added or removed, its
 * own included.
 */
#ifndef MEMORY_WORKER_PAGE_CURSOR_H
#define MEMORY_WORKER_PAGE_CURSOR_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

struct page_cursor {
	struct wall made; /* the soul's; {0} if the request names the soul */
	struct str soul_id;
	struct wall created; /* the memory's */
	struct str id;
};

/*
 * page_cursor_compare(a, b): < 0, 0, > 0 as a is before, at or after b.
 * page_cursor_compare_soul(a, b): The same for their souls alone.
 */
int page_cursor_compare(
    const struct page_cursor *a, const struct page_cursor *b);
int page_cursor_compare_soul(
    const struct page_cursor *a, const struct page_cursor *b);

/* page_cursor_write(p, a): Its text, in a; absent if a is full. */
struct str page_cursor_write(const struct page_cursor *p, struct arena *a);

/*
 * page_cursor_read(s, a, out):
 * The inverse.  RC_INVALID if s is no such text; RC_TOOBIG if a is full.
 */
enum rc page_cursor_read(
    struct str s, struct arena *a, struct page_cursor *out) RC_CHECK;

#endif /* !MEMORY_WORKER_PAGE_CURSOR_H */
