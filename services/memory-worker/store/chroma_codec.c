/*
 * Responses have columns instead of rows, one level deeper in a query than in a
 * get.
 */
#include "store/store_internal.h"

#include <stdio.h>

#include "core/mem.h"
#include "store/memory_record.h"
#include "wire/out.h"
#include "wire/tree.h"

#define CHROMA_MODEL_KEY "soul_embedding"

enum rc
chroma_row_id(const struct memory_scope *scope, struct str job_id,
    char dst[CHROMA_ROW_MAX])
{
	char user[ID_TOKEN_MAX], soul[ID_TOKEN_MAX], job[ID_TOKEN_MAX];

	if (id_token(scope->user_id, user) != RC_OK ||
	    id_token(scope->soul_id, soul) != RC_OK ||
	    id_token(job_id, job) != RC_OK)
		return RC_INVALID;
	snprintf(dst, CHROMA_ROW_MAX, "%s/%s/%s", user, soul, job);
	return RC_OK;
}

/* ---- writing ---- */

static void
chroma_put_vector(struct wire_out *o, const double *v, size_t n)
{
	size_t i;

	wire_out_array(o);
	for (i = 0; i < n; i++)
		wire_out_f64(o, v[i]);
	wire_out_array_end(o);
}

static void
chroma_put_equals(struct wire_out *o, const char *key, struct str s)
{
	wire_out_object(o);
	wire_out_key(o, str_of(key));
	wire_out_object(o);
	memory_json_put_text(o, "$eq", s);
	wire_out_object_end(o);
	wire_out_object_end(o);
}

static void
chroma_put_where(struct wire_out *o, const struct memory_scope *scope)
{
	wire_out_key(o, STR("where"));
	wire_out_object(o);
	wire_out_key(o, STR("$and"));
	wire_out_array(o);
	chroma_put_equals(o, "user_id", scope->user_id);
	chroma_put_equals(o, "soul_id", scope->soul_id);
	wire_out_array_end(o);
	wire_out_object_end(o);
}

static void
chroma_put_ids(struct wire_out *o, const char *row)
{
	if (row == NULL)
		return;
	wire_out_key(o, STR("ids"));
	wire_out_array(o);
	wire_out_str(o, str_of(row));
	wire_out_array_end(o);
}

void
chroma_write_collection(const char *name, struct str model, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	memory_json_put_text(&o, "name", str_of(name));
	wire_out_key(&o, STR("get_or_create"));
	wire_out_bool(&o, true);
	wire_out_key(&o, STR("metadata"));
	wire_out_object(&o);
	memory_json_put_text(&o, CHROMA_MODEL_KEY, model);
	wire_out_object_end(&o);
	wire_out_key(&o, STR("configuration"));
	wire_out_raw(&o, STR("{\"hnsw\":{\"space\":\"cosine\"}}"));
	wire_out_object_end(&o);
}

/*
 * A tag as part of a key.  Keys must not start with '#' or '$'; the prefix
 * ensures that.
 */
static void
chroma_put_tag_flag(struct wire_out *o, struct str tag)
{
	struct buf key = BUF_INIT(512);
	size_t i;
	char c;

	buf_puts(&key, "tag_");
	for (i = 0; i < tag.n; i++) {
		c = tag.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		else if ((unsigned char)c < 0x80 && !(c >= 'a' && c <= 'z') &&
		    !(c >= '0' && c <= '9'))
			c = '_';
		buf_putc(&key, c);
	}
	wire_out_key(o, buf_str(&key));
	wire_out_bool(o, true);
	buf_free(&key);
}

/*
 * Servers before 1.5 do not take lists: each tag is a member, which can be
 * filtered by, and all of them are stored again as JSON.
 */
static void
chroma_put_tags(
    struct wire_out *o, const struct wire_memory_job *job, bool lists)
{
	struct buf json = BUF_INIT(16384);
	struct wire_out list = { .b = &json };
	size_t i;

	if (job->n_tags == 0)
		return;
	wire_out_array(&list);
	for (i = 0; i < job->n_tags; i++) {
		chroma_put_tag_flag(o, job->tags[i]);
		wire_out_str(&list, job->tags[i]);
	}
	wire_out_array_end(&list);
	memory_json_put_text(o, "tags_json", buf_str(&json));
	if (lists) {
		wire_out_key(o, STR("tags"));
		wire_out_raw(o, buf_str(&json));
	}
	buf_free(&json);
}

static void
chroma_put_metadata(struct wire_out *o, const struct chroma_put *p)
{
	wire_out_object(o);
	memory_json_put_text(o, "user_id", p->scope->user_id);
	memory_json_put_text(o, "soul_id", p->scope->soul_id);
	memory_json_put_text(o, "job_id", p->job->job_id);
	memory_json_put_text(o, "type", wire_memory_type_names[p->job->type]);
	wire_out_key(o, STR("timestamp"));
	wire_out_i64(o, p->made.ms / 1000);
	memory_json_put_text(o, "session_id", p->job->session_id);
	memory_json_put_text(o, "terminal_id", p->job->terminal_id);
	memory_json_put_text(o, "trigger_source", p->job->trigger_source);
	chroma_put_tags(o, p->job, p->lists);
	wire_out_object_end(o);
}

void
chroma_write_add(const struct chroma_put *p, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	chroma_put_ids(&o, p->row);
	wire_out_key(&o, STR("embeddings"));
	wire_out_array(&o);
	chroma_put_vector(&o, p->vector, p->n);
	wire_out_array_end(&o);
	wire_out_key(&o, STR("documents"));
	wire_out_array(&o);
	wire_out_str(&o, p->job->text);
	wire_out_array_end(&o);
	wire_out_key(&o, STR("metadatas"));
	wire_out_array(&o);
	chroma_put_metadata(&o, p);
	wire_out_array_end(&o);
	wire_out_object_end(&o);
}

void
chroma_write_query(const struct memory_scope *scope, const double *vector,
    size_t n, size_t k, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_key(&o, STR("query_embeddings"));
	wire_out_array(&o);
	chroma_put_vector(&o, vector, n);
	wire_out_array_end(&o);
	wire_out_key(&o, STR("n_results"));
	wire_out_i64(&o, (int64_t)k);
	chroma_put_where(&o, scope);
	wire_out_key(&o, STR("include"));
	wire_out_raw(&o, STR("[\"documents\",\"metadatas\",\"distances\"]"));
	wire_out_object_end(&o);
}

void
chroma_write_get(const struct memory_scope *scope, const char *row, bool texts,
    size_t limit, size_t offset, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	chroma_put_ids(&o, row);
	chroma_put_where(&o, scope);
	wire_out_key(&o, STR("include"));
	wire_out_raw(&o,
	    texts ? STR("[\"documents\",\"metadatas\"]")
		  : STR("[\"metadatas\"]"));
	if (limit > 0) {
		wire_out_key(&o, STR("limit"));
		wire_out_i64(&o, (int64_t)limit);
		wire_out_key(&o, STR("offset"));
		wire_out_i64(&o, (int64_t)offset);
	}
	wire_out_object_end(&o);
}

void
chroma_write_delete(
    const struct memory_scope *scope, const char *row, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	chroma_put_ids(&o, row);
	chroma_put_where(&o, scope);
	wire_out_object_end(&o);
}

/* ---- reading ---- */

/* The id becomes part of a URL. */
static bool
chroma_is_uuid(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') ||
			(s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '-'))
			return false;
	return s.n > 0 && s.n < CHROMA_COLLECTION_MAX;
}

enum rc
chroma_read_collection(
    struct str body, struct str model, char id[CHROMA_COLLECTION_MAX])
{
	struct wire_tree *v = NULL;
	enum rc rc = wire_tree_parse(body, &v);

	if (rc == RC_OK && !chroma_is_uuid(memory_json_text(v, "id")))
		rc = RC_INVALID;
	if (rc == RC_OK)
		str_copy(memory_json_text(v, "id"), id, CHROMA_COLLECTION_MAX);
	if (rc == RC_OK &&
	    !str_eq(memory_json_text(
			wire_tree_get(v, STR("metadata")), CHROMA_MODEL_KEY),
		model))
		rc = RC_DENIED;
	wire_tree_free(v);
	return rc;
}

/* A column; of a query's response that of the first query. */
static const struct wire_tree *
chroma_column(const struct wire_tree *v, const char *name)
{
	const struct wire_tree *c = wire_tree_get(v, str_of(name));
	const struct wire_tree *first = wire_tree_at(c, 0);

	return wire_tree_kind(first) == WIRE_TREE_ARRAY ? first : c;
}

/* Seconds to a time; 0 if out of range. */
static struct wall
chroma_wall(double s)
{
	return (struct wall){ s > 0 && s < 1e11 ? (int64_t)(s * 1e3) : 0 };
}

/* RC_NOENT: it is of another scope, or no memory. */
static enum rc
chroma_read_row(const struct wire_tree *v, size_t i,
    const struct memory_scope *scope, struct arena *a, struct rank_memory *out)
{
	const struct wire_tree *meta =
	    wire_tree_at(chroma_column(v, "metadatas"), i);
	const struct wire_tree *near =
	    wire_tree_at(chroma_column(v, "distances"), i);
	const struct wire_tree *texts = chroma_column(v, "documents");
	struct str id = memory_json_text(meta, "job_id");
	struct str text = wire_tree_text(wire_tree_at(texts, i));
	struct str list = memory_json_text(meta, "tags_json");
	struct wire_tree *tags = NULL;
	enum rc rc;

	*out = (struct rank_memory){ 0 };
	if (!str_eq(memory_json_text(meta, "user_id"), scope->user_id) ||
	    !str_eq(memory_json_text(meta, "soul_id"), scope->soul_id) ||
	    !id_valid(id))
		return RC_NOENT;
	if (wire_tree_kind(texts) == WIRE_TREE_ARRAY && text.n == 0)
		return RC_NOENT;
	out->id = arena_str(a, id);
	out->text = arena_str(a, text);
	out->type = memory_record_type(memory_json_text(meta, "type"));
	out->created = chroma_wall(
	    wire_tree_number(wire_tree_get(meta, STR("timestamp"))));
	out->has_near = wire_tree_kind(near) == WIRE_TREE_NUMBER;
	out->near = 1 - wire_tree_number(near);
	if (out->id.p == NULL || (text.p != NULL && out->text.p == NULL))
		return RC_TOOBIG;
	if (list.n > 0 && wire_tree_parse(list, &tags) != RC_OK)
		tags = NULL;
	rc = memory_record_detail(meta, tags, a, &out->detail);
	wire_tree_free(tags);
	return rc;
}

enum rc
chroma_read(struct str body, const struct memory_scope *scope, struct arena *a,
    struct chroma_rows *out)
{
	struct wire_tree *v = NULL;
	size_t i;
	enum rc rc;

	*out = (struct chroma_rows){ 0 };
	rc = wire_tree_parse(body, &v);
	if (rc == RC_OK &&
	    wire_tree_kind(wire_tree_get(v, STR("ids"))) != WIRE_TREE_ARRAY)
		rc = RC_INVALID;
	if (rc == RC_OK) {
		out->received = wire_tree_len(chroma_column(v, "ids"));
		out->row =
		    arena_alloc(a, (out->received + 1) * sizeof(*out->row));
		rc = out->row != NULL ? RC_OK : RC_TOOBIG;
	}
	for (i = 0; rc == RC_OK && i < out->received; i++) {
		rc = chroma_read_row(v, i, scope, a, &out->row[out->n]);
		if (rc == RC_OK)
			out->n++;
		else if (rc == RC_NOENT)
			rc = RC_OK;
	}
	wire_tree_free(v);
	return rc;
}
