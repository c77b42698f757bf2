#include "environment.h"

#include <stdio.h>

#include "cluster/handlers.h"
#include "records.h"

enum rc
environment_members(struct hub *h, struct str key, struct arena *a,
    struct environment_members *out)
{
	struct remote_location at;
	struct record_room room;
	struct star_member *m;
	size_t i, n = 0;
	enum rc rc;

	*out = (struct environment_members){ 0 };
	rc = record_room_of(key, &room);
	if (rc == RC_OK)
		rc = star_room_read(h->state, &room.star, a, &out->list, &n);
	if (rc != RC_OK)
		return rc;
	rc = remote_locate(h->peers, key, a, &at);
	if (rc != RC_OK && rc != RC_NOENT)
		return rc;
	out->up = rc == RC_OK;
	for (i = 0; i < n; i++) {
		m = &out->list[i];
		if (str_eq(m->holder.hub, str_of(h->name)) ||
		    peers_find(h->peers, m->holder.hub) != NULL)
			out->list[out->n++] = *m;
	}
	return RC_OK;
}

enum rc
environment_history(
    struct hub *h, struct str key, struct arena *a, struct star_page *p)
{
	struct record_room room;
	enum rc rc = record_room_of(key, &room);

	if (rc == RC_OK)
		rc = star_events_read(h->state, &room.star, a, p);
	if (rc == RC_OK)
		metric_add(h->metrics.gaps, p->gap);
	return rc;
}

struct str
environment_cursor(const struct star_page *p, char dst[HUB_CURSOR_MAX])
{
	const struct star_event *e = &p->event[p->n - 1];

	(void)snprintf(dst, HUB_CURSOR_MAX, "%lld-%lld", (long long)e->gen,
	    (long long)e->seq);
	return str_of(dst);
}

bool
environment_read_cursor(struct str s, int64_t *seq)
{
	int64_t gen;

	return str_to_i64(str_split(&s, '-'), 0, INT64_MAX, &gen) == RC_OK &&
	    s.p != NULL && str_to_i64(s, 0, INT64_MAX, seq) == RC_OK;
}
