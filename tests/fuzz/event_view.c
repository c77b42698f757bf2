/*
 * Envelopes of events, which other services publish: ids are part of the
 * envelope, and whatever a filter says of one, it says again.
 */
#include "live/event_view.h"
#include "must.h"

#define ARENA_MAX (4UL * 1024 * 1024)

static void
check(const struct event_view *e)
{
	struct event_filter f = { .scope = EVENT_SCOPE_USER,
		.user_id = e->user_id };
	struct str bad;

	must(e->type < EVENT_TYPES_MAX);
	must(e->user_id.p == NULL || e->user_id.n <= e->json.n);
	must(event_filter_types(&f, (struct str){ NULL, 0 }, &bad) == RC_OK);
	if (e->user_id.p != NULL)
		must(event_filter_allows(&f, e, NULL));
	else
		must(!event_filter_allows(&f, e, NULL));
	f.scope = EVENT_SCOPE_TENANT;
	f.tenant = e->tenant;
	if (e->tenant.p != NULL)
		must(event_filter_allows(&f, e, NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str text = { (const char *)data, size };
	struct event_filter f = { .scope = EVENT_SCOPE_ALL };
	struct arena *a = arena_new(ARENA_MAX);
	struct event_view e;
	struct str bad;

	if (event_view_read(text, a, &e) == RC_OK)
		check(&e);
	/* A list of types. */
	if (event_filter_types(&f, text, &bad) != RC_OK)
		must(bad.n <= size);
	arena_free(a);
	return 0;
}
