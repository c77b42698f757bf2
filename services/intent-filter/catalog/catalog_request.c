/*
 * A request that repeats a catalog is decoded with a placeholder in its place:
 * the catalog's text was valid there before, so both texts are valid, or none.
 */
#include "catalog/catalog_request.h"

#include "core/buf.h"
#include "wire/slice.h"
#include "wire/wire.h"

#define PLACEHOLDER "[{\"id\":\"-\"}]"

struct catalog_search {
	struct catalog_source *src;
	struct catalog_cache *cache; /* NULL: only the text is wanted */
	size_t request_n;
};

static enum rc
catalog_search_known(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	struct catalog_search *search = arg;
	struct catalog_source *src = search->src;

	if (s->escaped || !str_eq(s->key, STR("intent_catalog")) ||
	    s->value.p[0] != '[' || wire_slice_extent(s->value, x) != RC_OK)
		return RC_NOENT;
	src->json = (struct str){ s->value.p, x->n };
	if (search->cache == NULL)
		return RC_CONFLICT;
	if (search->request_n - x->n > CATALOG_REST_MAX)
		return RC_TOOBIG;
	src->catalog = catalog_cache_find(
	    search->cache, (struct catalog_key){ CATALOG_BY_TEXT, src->json });
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

bool
catalog_request_decode(struct catalog_cache *c, struct str request,
    struct arena *a, struct wire_intent_filter_request *msg,
    struct catalog_source *src)
{
	struct catalog_search search = { src, c, request.n };
	struct wire_slice_handler h = { .known = catalog_search_known,
		.arg = &search,
		.max = CATALOG_REST_MAX };
	struct arena_mark mark = arena_mark(a);

	*src = (struct catalog_source){ .catalog = NULL };
	if (wire_slice_each(request, &h) == RC_OK && src->catalog != NULL &&
	    catalog_request_decode_rest(request, src->json, a, msg) == RC_OK)
		return true;
	arena_rewind(a, mark);
	src->catalog = NULL;
	return false;
}
