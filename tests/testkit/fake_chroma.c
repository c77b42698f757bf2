#include "testkit/fake_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define CHROMA_PATH \
	"/api/v2/tenants/default_tenant/databases/default_database/collections"

static void
fake_chroma_error(
    struct fake_store_call *q, int status, const char *kind, const char *why)
{
	q->status = status;
	q->reply = json_pack("{ssss}", "error", kind, "message", why);
}

void
fake_chroma_reset(struct fake_store *f)
{
	pthread_mutex_lock(&f->lock);
	json_array_clear(f->rows);
	f->collection[0] = '\0';
	f->dimension = 0;
	pthread_mutex_unlock(&f->lock);
}

static void
fake_chroma_make(struct fake_store *f, struct fake_store_call *q)
{
	json_t *meta = json_object_get(q->body, "metadata");

	if (fake_store_text(q->body, "name")[0] == '\0' ||
	    (meta != NULL && json_object_size(meta) == 0)) {
		fake_chroma_error(q, 422, "ChromaError", "bad collection");
		return;
	}
	/* An existing collection is not changed. */
	if (f->collection[0] == '\0') {
		char *text = json_dumps(meta, JSON_ENCODE_ANY);

		fake_store_uuid(f, f->collection);
		snprintf(f->embedding, sizeof(f->embedding), "%s",
		    text != NULL ? text : "null");
		free(text);
	}
	q->reply = json_pack("{ssssso}", "id", f->collection, "name",
	    fake_store_text(q->body, "name"), "metadata",
	    json_loads(f->embedding, JSON_DECODE_ANY, NULL));
}

static bool
fake_chroma_where(const json_t *meta, const json_t *where)
{
	const char *key;
	json_t *v, *part;
	size_t i;

	json_object_foreach ((json_t *)(uintptr_t)where, key, v) {
		if (strcmp(key, "$and") == 0) {
			json_array_foreach (v, i, part)
				if (!fake_chroma_where(meta, part))
					return false;
			continue;
		}
		if (json_is_object(v))
			v = json_object_get(v, "$eq");
		if (!json_equal(json_object_get(meta, key), v))
			return false;
	}
	return true;
}

static bool
fake_chroma_matches(const json_t *row, const json_t *body)
{
	json_t *ids = json_object_get(body, "ids"), *id;
	bool is = ids == NULL;
	size_t i;

	json_array_foreach (ids, i, id)
		is |= json_equal(id, json_object_get(row, "id"));
	return is &&
	    fake_chroma_where(json_object_get(row, "metadata"),
		json_object_get(body, "where"));
}

/* Before 1.5.0 metadata has plain values only. */
static bool
fake_chroma_plain(const struct fake_store *f, const json_t *meta)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)meta, key, v)
		if ((json_is_array(v) && !f->lists) || json_is_object(v) ||
		    json_is_null(v) || key[0] == '#' || key[0] == '$' ||
		    key[0] == '\0')
			return false;
	return true;
}

static void
fake_chroma_add(struct fake_store *f, struct fake_store_call *q)
{
	json_t *ids = json_object_get(q->body, "ids"), *id, *row, *meta, *v;
	size_t i, k;

	json_array_foreach (ids, i, id) {
		v = json_array_get(json_object_get(q->body, "embeddings"), i);
		meta = json_array_get(json_object_get(q->body, "metadatas"), i);
		if (!fake_chroma_plain(f, meta)) {
			fake_chroma_error(
			    q, 422, "ChromaError", "MetadataValue");
			return;
		}
		if (f->dimension == 0)
			f->dimension = json_array_size(v);
		if (json_array_size(v) != f->dimension) {
			fake_chroma_error(q, 400, "InvalidArgumentError",
			    "Collection expecting embedding with dimension of "
			    "another number");
			return;
		}
		json_array_foreach (f->rows, k, row)
			if (json_equal(json_object_get(row, "id"), id))
				break;
		if (k < json_array_size(f->rows))
			continue;
		json_array_append_new(f->rows,
		    json_pack("{sOsOsOsO}", "id", id, "vector", v, "document",
			json_array_get(
			    json_object_get(q->body, "documents"), i),
			"metadata", meta));
	}
	q->status = 201;
	q->reply = json_object();
}

static double
fake_chroma_distance(const json_t *a, const json_t *b)
{
	double x, y, xy = 0, xx = 0, yy = 0;
	size_t i;

	for (i = 0; i < json_array_size(a); i++) {
		x = json_number_value(json_array_get(a, i));
		y = json_number_value(json_array_get(b, i));
		xy += x * y;
		xx += x * x;
		yy += y * y;
	}
	return xx > 0 && yy > 0 ? 1 - xy / sqrt(xx * yy) : 1;
}

static bool
fake_chroma_includes(const struct fake_store_call *q, const char *what)
{
	json_t *list = json_object_get(q->body, "include"), *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (strcmp(json_string_value(v), what) == 0)
			return true;
	return list == NULL;
}

/* The columns of rows, each nested in a list if they are of a query. */
static void
fake_chroma_columns(struct fake_store_call *q, json_t *rows, bool deep)
{
	static const char *const names[][2] = { { "ids", "id" },
		{ "documents", "document" }, { "metadatas", "metadata" },
		{ "distances", "distance" } };
	json_t *column, *row;
	size_t i, k;

	q->reply = json_object();
	for (i = 0; i < (deep ? 4 : 3); i++) {
		column = json_array();
		json_array_foreach (rows, k, row)
			json_array_append(
			    column, json_object_get(row, names[i][1]));
		if (i > 0 && !fake_chroma_includes(q, names[i][0])) {
			json_decref(column);
			column = json_null();
		} else if (deep) {
			column = json_pack("[o]", column);
		}
		json_object_set_new(q->reply, names[i][0], column);
	}
}

static void
fake_chroma_query(struct fake_store *f, struct fake_store_call *q)
{
	json_t *v =
	    json_array_get(json_object_get(q->body, "query_embeddings"), 0);
	json_t *k = json_object_get(q->body, "n_results");
	json_t *found = json_array(), *row, *copy;
	size_t i, at;
	double d;

	if (f->dimension != 0 && json_array_size(v) != f->dimension) {
		fake_chroma_error(q, 400, "InvalidArgumentError",
		    "Collection expecting embedding with dimension of another "
		    "number");
		json_decref(found);
		return;
	}
	json_array_foreach (f->rows, i, row) {
		if (!fake_chroma_matches(row, q->body))
			continue;
		d = fake_chroma_distance(v, json_object_get(row, "vector"));
		copy = json_copy(row);
		json_object_set_new(copy, "distance", json_real(d));
		for (at = 0; at < json_array_size(found); at++)
			if (json_real_value(json_object_get(
				json_array_get(found, at), "distance")) > d)
				break;
		json_array_insert_new(found, at, copy);
	}
	while (json_array_size(found) >
	    (k != NULL ? (size_t)json_integer_value(k) : 10))
		json_array_remove(found, json_array_size(found) - 1);
	fake_chroma_columns(q, found, true);
	json_decref(found);
}

static void
fake_chroma_get(struct fake_store *f, struct fake_store_call *q)
{
	json_t *limit = json_object_get(q->body, "limit"), *row;
	json_t *offset = json_object_get(q->body, "offset");
	size_t i, from = (size_t)json_integer_value(offset);
	size_t most =
	    limit != NULL ? (size_t)json_integer_value(limit) : SIZE_MAX;
	json_t *found = json_array();

	json_array_foreach (f->rows, i, row) {
		if (!fake_chroma_matches(row, q->body))
			continue;
		if (from > 0)
			from--;
		else if (json_array_size(found) < most)
			json_array_append(found, row);
	}
	fake_chroma_columns(q, found, false);
	json_decref(found);
}

static void
fake_chroma_delete(struct fake_store *f, struct fake_store_call *q)
{
	size_t i = 0;

	while (i < json_array_size(f->rows))
		if (fake_chroma_matches(json_array_get(f->rows, i), q->body))
			json_array_remove(f->rows, i);
		else
			i++;
	q->reply = json_object();
}

static void
fake_chroma_rows_of(
    struct fake_store *f, struct fake_store_call *q, const char *rest)
{
	static const struct {
		const char *verb;
		fake_store_fn fn;
	} verbs[] = { { "add", fake_chroma_add },
		{ "query", fake_chroma_query }, { "get", fake_chroma_get },
		{ "delete", fake_chroma_delete } };
	size_t i, n = strlen(f->collection);

	if (n == 0 || strncmp(rest, f->collection, n) != 0 || rest[n] != '/') {
		fake_chroma_error(
		    q, 404, "NotFoundError", "Collection does not exist.");
		return;
	}
	for (i = 0; i < NELEM(verbs); i++)
		if (strcmp(rest + n + 1, verbs[i].verb) == 0) {
			verbs[i].fn(f, q);
			return;
		}
	fake_chroma_error(q, 404, "NotFoundError", "no such route");
}

static void
fake_chroma_handle(struct fake_store *f, struct fake_store_call *q)
{
	size_t n = sizeof(CHROMA_PATH) - 1;

	if (strncmp(q->path, CHROMA_PATH, n) != 0 ||
	    strcmp(q->method, "POST") != 0)
		fake_chroma_error(q, 404, "NotFoundError", "no such route");
	else if (q->path[n] == '\0')
		fake_chroma_make(f, q);
	else
		fake_chroma_rows_of(f, q, q->path + n + 1);
}

void
fake_chroma_serve(struct raw_server *p, int fd)
{
	fake_store_serve(p, fd, fake_chroma_handle);
}
