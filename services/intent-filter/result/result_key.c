/*
 * One scan finds the members to be left out.  It needs not validate the rest:
 * if that has the bytes of a valid request, so has the whole, as what is left
 * out is valid: the catalog has the bytes of a valid one, and the other two are
 * checked.
 */
#include "result/result_key.h"

#include <stdbool.h>
#include <string.h>

#include "wire/slice.h"

/* As in the schema. */
#define REQUEST_ID_MAX 128
#define NOW_MAX        64
#define HASH_MAX       256

/* Catalog, request_id, now. */
#define GAPS_MAX 3

struct key_scan {
	const struct catalog_finder *finder;
	struct catalog_source *src;
	struct result_key *key;
	struct str request;
	struct str ref, hash, now;
	struct str gaps[GAPS_MAX]; /* in the order of the text */
	size_t n_gaps;
	bool unusual;
};

/*
 * The text of a value that is written as it is encoded: with none of its
 * characters escaped, and of ASCII, where bytes are characters.
 */
static bool
key_plain_text(struct str value, size_t max, struct str *out)
{
	if (value.n < 3 || value.n - 2 > max || value.p[0] != '"')
		return false;
	*out = (struct str){ value.p + 1, value.n - 2 };
	for (size_t i = 0; i < out->n; i++) {
		if (out->p[i] < ' ' || out->p[i] > '~' || out->p[i] == '\\')
			return false;
	}
	return true;
}

static void
key_scan_add_gap(struct key_scan *k, struct str value)
{
	if (k->n_gaps < GAPS_MAX)
		k->gaps[k->n_gaps++] = value;
	else
		k->unusual = true;
}

static enum rc
key_scan_catalog(
    struct key_scan *k, struct str rest, struct wire_slice_extent *x)
{
	struct catalog_source *src = k->src;
	const struct catalog_finder *by = k->finder;

	if (src->json.p != NULL)
		return RC_DENIED;
	if (by->find_start != NULL)
		src->catalog = by->find_start(by->cache, rest, x);
	if (src->catalog == NULL && wire_slice_extent(rest, x) != RC_OK)
		return RC_DENIED;
	if (k->request.n - x->n > CATALOG_REST_MAX)
		return RC_TOOBIG;
	src->json = (struct str){ rest.p, x->n };
	src->containers = x->containers;
	if (src->catalog == NULL)
		src->catalog = by->find(by->cache,
		    (struct catalog_key){ CATALOG_BY_TEXT, src->json });
	key_scan_add_gap(k, src->json);
	return src->catalog != NULL ? RC_OK : RC_CONFLICT;
}

/* Objects and arrays are skipped; the catalog must be known. */
static enum rc
key_scan_container(
    void *arg, const struct wire_slice *s, struct wire_slice_extent *x)
{
	if (s->escaped)
		return RC_DENIED;
	if (s->value.p[0] != '{' && s->value.p[0] != '[')
		return RC_NOENT;
	if (str_eq(s->key, STR("intent_catalog")) && s->value.p[0] == '[')
		return key_scan_catalog(arg, s->value, x);
	return wire_slice_extent(s->value, x) == RC_OK ? RC_OK : RC_DENIED;
}

/* A member that is given twice, or not plain, is left to the decoder. */
static void
key_scan_member(void *arg, const struct wire_slice *s)
{
	struct key_scan *k = arg;

	if (str_eq(s->key, STR("request_id")) && s->value.p[0] == '"') {
		k->unusual |= k->key->request_id.p != NULL ||
		    !key_plain_text(
			s->value, REQUEST_ID_MAX, &k->key->request_id);
		key_scan_add_gap(k, s->value);
	} else if (str_eq(s->key, STR("now")) && s->value.p[0] == '"') {
		k->unusual |= k->now.p != NULL ||
		    !key_plain_text(s->value, NOW_MAX, &k->now) ||
		    wall_parse(k->now, &k->key->now) != RC_OK;
		key_scan_add_gap(k, s->value);
	} else if (str_eq(s->key, STR("catalog_ref")) && s->value.p[0] == '{') {
		k->unusual |= k->ref.p != NULL;
		k->ref = s->value;
	}
}

static void
key_scan_ref_member(void *arg, const struct wire_slice *s)
{
	struct key_scan *k = arg;

	if (s->escaped)
		k->unusual = true;
	else if (str_eq(s->key, STR("hash")))
		k->unusual |= k->hash.p != NULL ||
		    !key_plain_text(s->value, HASH_MAX, &k->hash);
}

/* Of a request without a catalog of its own. */
static bool
key_scan_find_ref(struct key_scan *k)
{
	struct wire_slice_handler h = { .each = key_scan_ref_member, .arg = k };

	if (k->ref.p == NULL || wire_slice_each(k->ref, &h) != RC_OK ||
	    k->unusual || k->hash.p == NULL)
		return false;
	k->src->catalog = k->finder->find(
	    k->finder->cache, (struct catalog_key){ CATALOG_BY_HASH, k->hash });
	return k->src->catalog != NULL;
}

/*
 * The number, and the text with a NUL in place of each value that is left out;
 * then another NUL and the request's now.  JSON has no NUL, and the scan ends
 * at one in place of a value, so that no other text has this key.
 */
static bool
key_write(const struct key_scan *k, struct arena *a)
{
	struct str request = k->request;
	uint64_t number = k->src->catalog->number;
	char *text =
	    arena_bytes(a, sizeof(number) + request.n - k->src->json.n + 2);
	const char *from = request.p;
	size_t n = sizeof(number);

	if (text == NULL)
		return false;
	memcpy(text, &number, sizeof(number));
	for (size_t i = 0; i < k->n_gaps; i++) {
		size_t before = (size_t)(k->gaps[i].p - from);

		memcpy(text + n, from, before);
		n += before;
		text[n++] = '\0';
		from = k->gaps[i].p + k->gaps[i].n;
	}
	memcpy(text + n, from, (size_t)(request.p + request.n - from));
	n += (size_t)(request.p + request.n - from);
	k->key->text = (struct str){ text, n };
	if (k->now.p != NULL) {
		text[n++] = '\0';
		memcpy(text + n, k->now.p, k->now.n);
		k->key->text_and_now = (struct str){ text, n + k->now.n };
	}
	return true;
}

enum rc
result_key_read(struct str request, const struct catalog_finder *finder,
    struct arena *a, struct catalog_source *src, struct result_key *key)
{
	struct key_scan k = {
		.finder = finder, .src = src, .key = key, .request = request
	};
	struct wire_slice_handler h = { .each = key_scan_member,
		.known = key_scan_container,
		.arg = &k,
		.max = CATALOG_REST_MAX };
	enum rc rc;

	*src = (struct catalog_source){ .catalog = NULL };
	*key = (struct result_key){ .text = { NULL, 0 } };
	rc = wire_slice_each(request, &h);
	if (rc == RC_CONFLICT)
		return RC_CONFLICT;
	if (rc == RC_OK && !k.unusual &&
	    (src->catalog == NULL ? key_scan_find_ref(&k) : k.ref.p == NULL) &&
	    key_write(&k, a))
		return RC_OK;
	if (src->catalog != NULL && finder->give_back != NULL)
		finder->give_back(finder->cache, src->catalog);
	*src = (struct catalog_source){ .catalog = NULL };
	return RC_NOENT;
}
