/*
 * Requests decoded without their catalog, beside the decoder: both accept the
 * same requests, and make the same of them.  What has the key of a valid
 * request is valid.
 *
 * The first byte chooses what is cached: fixed catalogs, or the request's own.
 */
#include "catalog/catalog_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "must.h"
#include "result/result_key.h"
#include "wire/wire.h"

static const struct str request_catalogs[] = {
	STR_INIT("[{\"id\":\"a\"}]"),
	STR_INIT("[{\"id\":\"\\\"]\\\\\"} , {\"id\":\"b\",\"slots\":[]}]"),
	STR_INIT("[ {\"id\":\"灯\",\"match\":{\"keywords_any\":[\"开\"]}} ]"),
};

static void
request_put(struct catalog_cache *c, struct str text)
{
	struct catalog *made;
	struct wire_err err;

	must(catalog_new(STR("[{\"id\":\"x\"}]"), &made, &err) == RC_OK);
	catalog_cache_put(
	    c, (struct catalog_key){ CATALOG_BY_TEXT, text }, made);
}

static void
request_encode(const struct wire_intent_filter_request *msg, struct buf *out)
{
	struct wire_err err;
	enum rc rc;

	buf_init(out, WIRE_MESSAGE_MAX);
	rc = wire_encode(&wire_intent_filter_request_desc, msg, out, &err);
	/* Defaults can make a message larger than the limit. */
	must(rc == RC_OK || rc == RC_TOOBIG);
}

static void
request_check_same(const struct wire_intent_filter_request *all,
    struct wire_intent_filter_request *msg)
{
	struct buf a, b;

	must(msg->n_intent_catalog == 1);
	msg->intent_catalog = all->intent_catalog;
	msg->n_intent_catalog = all->n_intent_catalog;
	request_encode(all, &a);
	request_encode(msg, &b);
	must(str_eq(buf_str(&a), buf_str(&b)));
	buf_free(&a);
	buf_free(&b);
}

/* The request of a key, with another request_id and now. */
static struct str
request_of_key(const struct result_key *key, struct str catalog, struct buf *b)
{
	const char *gap;
	struct str rest = { key->text.p + sizeof(uint64_t),
		key->text.n - sizeof(uint64_t) };

	buf_init(b, WIRE_MESSAGE_MAX);
	while ((gap = memchr(rest.p, '\0', rest.n)) != NULL) {
		struct str before = { rest.p, (size_t)(gap - rest.p) };
		struct str name = str_trim(before);

		buf_put_str(b, before);
		name = str_trim((struct str){ name.p, name.n - 1 });
		if (str_ends(name, STR("\"intent_catalog\"")))
			buf_put_str(b, catalog);
		else if (str_ends(name, STR("\"request_id\"")))
			buf_puts(b, "\"~ /\"");
		else
			buf_puts(b, "\"2031-01-01T00:00:00Z\"");
		rest.n -= before.n + 1;
		rest.p = gap + 1;
	}
	buf_put_str(b, rest);
	return buf_str(b);
}

static void
request_check_key(
    const struct catalog_finder *finder, struct str request, bool valid)
{
	struct wire_intent_filter_request all, msg = { 0 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct catalog_source src;
	struct result_key key;
	struct wire_err err;
	struct buf b;
	enum rc rc;

	rc = result_key_read(request, finder, a, &src, &key);
	must((rc == RC_OK) == (src.catalog != NULL));
	/* With a NUL it is not valid, and its gaps are not found. */
	if (rc == RC_OK && memchr(request.p, '\0', request.n) != NULL) {
		must(!valid);
	} else if (rc == RC_OK) {
		rc = wire_decode(&wire_intent_filter_request_desc,
		    request_of_key(&key, src.json, &b), a, &all, &err);
		must((rc == RC_OK) == valid);
		must(catalog_request_decode_found(request, a, &msg, &src) ==
		    valid);
		if (valid)
			must(str_eq(msg.request_id, key.request_id));
		buf_free(&b);
	}
	arena_free(a);
}

static void
request_check(struct catalog_cache *c, struct str request, bool own)
{
	struct wire_intent_filter_request all, msg = { 0 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct arena *b = arena_new(WIRE_ARENA_MAX);
	struct catalog_source src;
	struct wire_err err;
	bool valid, is;

	valid = wire_decode(&wire_intent_filter_request_desc, request, a, &all,
		    &err) == RC_OK &&
	    !all.has_catalog_ref;
	if (own && valid)
		request_put(c, catalog_request_find(request));
	is = catalog_request_decode(c, request, b, &msg, &src);
	must(valid || !is);
	if (is)
		request_check_same(&all, &msg);
	else
		must(arena_used(b) == 0 && src.catalog == NULL);
	/* Only a large request or a hidden name is left to the decoder. */
	if (own && valid && request.n <= CATALOG_REST_MAX)
		must(is || catalog_request_find(request).n == request.n);
	if (valid && src.json.p != NULL)
		must(str_eq(src.json, catalog_request_find(request)));
	for (int i = 0; i < 2; i++)
		request_check_key(
		    &(struct catalog_finder){ .cache = c,
			.find = catalog_cache_find,
			.find_start =
			    i == 0 ? NULL : catalog_cache_find_start },
		    request, valid);
	arena_free(a);
	arena_free(b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct catalog_cache *c;
	char *copy;

	if (n == 0)
		return 0;
	c = catalog_cache_new((size_t)1 << 24, NULL);
	/* A separate copy, so that a sanitizer sees a read past its end. */
	copy = mem_alloc(n);
	memcpy(copy, data + 1, n - 1);
	copy = mem_realloc(copy, n > 1 ? n - 1 : 1);
	for (size_t i = 0; i < NELEM(request_catalogs); i++)
		request_put(c, request_catalogs[i]);
	request_check(c, (struct str){ copy, n - 1 }, data[0] % 2 != 0);
	free(copy);
	catalog_cache_free(c);
	return 0;
}
