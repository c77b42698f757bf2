/*
 * A request that repeats a catalog is decoded with a placeholder in its place:
 * the catalog's text was valid there before, so both texts are valid, or none.
 */
#include "catalog/catalog_request.h"

#include <stdint.h>

#include "core/buf.h"
#include "wire/slice.h"
#include "wire/wire.h"

#define PLACEHOLDER "[{\"id\":\"-\"}]"

struct catalog_search {
	struct catalog_source *src;
	struct catalog_finder by; /* cache NULL: only the text is wanted */
	size_t request_n;
};

static enum rc
catalog_search_known(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	struct catalog_search *search = arg;
	struct catalog_source *src = search->src;

	/* It is for the decoder. */
	if (str_eq(s->key, STR("catalog_ref")) && s->value.p[0] == '{')
		return RC_DENIED;
	if (s->escaped || !str_eq(s->key, STR("intent_catalog")) ||
	    s->value.p[0] != '[' || wire_slice_extent(s->value, x) != RC_OK)
		return RC_NOENT;
	src->json = (struct str){ s->value.p, x->n };
	src->containers = x->containers;
	if (search->by.cache == NULL)
		return RC_CONFLICT;
	if (search->request_n - x->n > CATALOG_REST_MAX)
		return RC_TOOBIG;
	src->catalog = search->by.find(search->by.cache,
	    (struct catalog_key){ CATALOG_BY_TEXT, src->json });
	return src->catalog != NULL ? RC_OK : RC_CONFLICT;
}

struct str
catalog_request_find(struct str request)
{
	struct catalog_source src = { .catalog = NULL };
	struct catalog_search search = { .src = &src };
	struct wire_slice_handler h = { .known = catalog_search_known,
		.arg = &search };

	return wire_slice_each(request, &h) == RC_CONFLICT ? src.json : request;
}

static enum rc
catalog_request_decode_rest(struct str request, struct str catalog,
    struct arena *a, struct wire_intent_filter_request *msg)
{
	struct buf b = BUF_INIT(CATALOG_REST_MAX + sizeof(PLACEHOLDER));
	size_t before = (size_t)(catalog.p - request.p);
	enum rc rc;

	buf_put(&b, request.p, before);
	buf_puts(&b, PLACEHOLDER);
	buf_put(&b, catalog.p + catalog.n, request.n - before - catalog.n);
	rc = wire_decode(
	    &wire_intent_filter_request_desc, buf_str(&b), a, msg, NULL);
	buf_free(&b);
	return rc;
}

/* In two passes: a text that is unusual, as keys with escapes are. */
static bool
catalog_request_search_slices(struct catalog_search *search, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    const struct wire_slice_handler *h)
{
	struct catalog_source *src = search->src;
	struct arena_mark mark = arena_mark(a);

	if (wire_slice_each(request, h) == RC_OK && src->catalog != NULL &&
	    catalog_request_decode_rest(request, src->json, a, msg) == RC_OK)
		return true;
	arena_rewind(a, mark);
	return false;
}

static void
catalog_request_put_placeholder(struct wire_intent_filter_request *msg)
{
	static const struct wire_intent placeholder = { .id = STR_INIT("-") };

	/* Constant, as all that is decoded is for its readers. */
	msg->intent_catalog = (struct wire_intent *)(uintptr_t)&placeholder;
	msg->n_intent_catalog = 1;
}

/* src->catalog may be set although it is false. */
static bool
catalog_request_search(struct catalog_search *search, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg)
{
	struct catalog_source *src = search->src;
	struct wire_slice_handler h = { .known = catalog_search_known,
		.arg = search,
		.max = CATALOG_REST_MAX };
	enum rc rc;

	*src = (struct catalog_source){ .catalog = NULL };
	search->request_n = request.n;
	rc = wire_decode_known(
	    &wire_intent_filter_request_desc, request, a, msg, &h);
	if (rc == RC_OK && src->catalog != NULL)
		catalog_request_put_placeholder(msg);
	/* One of the two is there, or it is not decoded. */
	if (rc != RC_NOENT)
		return rc == RC_OK && src->catalog != NULL;
	if (src->catalog != NULL && search->by.give_back != NULL)
		search->by.give_back(search->by.cache, src->catalog);
	*src = (struct catalog_source){ .catalog = NULL };
	return catalog_request_search_slices(search, request, a, msg, &h);
}

bool
catalog_request_decode(struct catalog_cache *c, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    struct catalog_source *src)
{
	struct catalog_search search = { .src = src,
		.by = { .cache = c, .find = catalog_cache_find } };

	if (catalog_request_search(&search, request, a, msg))
		return true;
	src->catalog = NULL;
	return false;
}

bool
catalog_request_borrow(struct catalog_cache *c, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    struct catalog_source *src)
{
	struct catalog_search search = { .src = src,
		.by = { .cache = c,
		    .find = catalog_cache_borrow,
		    .give_back = catalog_cache_return } };

	if (catalog_request_search(&search, request, a, msg))
		return true;
	if (src->catalog != NULL)
		catalog_cache_return(c, src->catalog);
	src->catalog = NULL;
	return false;
}

static enum rc
catalog_source_known(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	const struct catalog_source *src = arg;

	if (s->value.p != src->json.p)
		return RC_NOENT;
	*x = (struct wire_slice_extent){ src->json.n, src->containers };
	return RC_OK;
}

bool
catalog_request_decode_found(struct str request, struct arena *a,
    struct wire_intent_filter_request *msg, const struct catalog_source *src)
{
	struct wire_slice_handler h = { .known = catalog_source_known,
		.arg = (void *)(uintptr_t)src,
		.max = CATALOG_REST_MAX };
	struct arena_mark mark = arena_mark(a);

	if (src->json.p == NULL) {
		if (wire_decode(&wire_intent_filter_request_desc, request, a,
			msg, NULL) == RC_OK)
			return true;
		arena_rewind(a, mark);
		return false;
	}
	if (wire_decode_known(&wire_intent_filter_request_desc, request, a, msg,
		&h) == RC_OK) {
		catalog_request_put_placeholder(msg);
		return true;
	}
	if (catalog_request_decode_rest(request, src->json, a, msg) == RC_OK)
		return true;
	arena_rewind(a, mark);
	return false;
}
