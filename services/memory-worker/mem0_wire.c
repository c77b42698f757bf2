/*
 * Members that Mem0 itself writes (user_id, created_at, …) are left alone: what
 * is ours lies in the metadata under names that are not its.
 */
#include "mem0_wire.h"

#include "core/mem.h"
#include "record.h"
#include "wire/out.h"
#include "wire/tree.h"

enum rc
mem0_scope_of(const struct memory_scope *scope, struct mem0_scope *out)
{
	enum rc rc = id_token(scope->user_id, out->user);

	return rc == RC_OK ? id_token(scope->soul_id, out->agent) : rc;
}

/* ---- writing ---------------------------------------------------------------
 */

static void
put_text(struct wire_out *o, const char *key, struct str s)
{
	if (s.p == NULL)
		return;
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

static void
put_scope(struct wire_out *o, const struct mem0_scope *s)
{
	put_text(o, "user_id", str_of(s->user));
	put_text(o, "agent_id", str_of(s->agent));
}

static void
put_tags(struct wire_out *o, const struct wire_memory_job *job)
{
	size_t i;

	if (job->n_tags == 0)
		return;
	wire_out_key(o, STR("tags"));
	wire_out_array(o);
	for (i = 0; i < job->n_tags; i++)
		wire_out_str(o, job->tags[i]);
	wire_out_array_end(o);
}

void
mem0_write_put(const struct mem0_scope *s, const struct wire_memory_job *job,
    struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_key(&o, STR("messages"));
	wire_out_array(&o);
	wire_out_object(&o);
	put_text(&o, "role", STR("user"));
	put_text(&o, "content", job->text);
	wire_out_object_end(&o);
	wire_out_array_end(&o);
	put_scope(&o, s);
	wire_out_key(&o, STR("metadata"));
	wire_out_object(&o);
	put_text(&o, "job_id", job->job_id);
	put_text(&o, "memory_type", wire_memory_type_names[job->type]);
	put_text(&o, "made_at", job->created_at);
	put_text(&o, "session_id", job->session_id);
	put_text(&o, "terminal_id", job->terminal_id);
	put_text(&o, "trigger_source", job->trigger_source);
	put_tags(&o, job);
	wire_out_object_end(&o);
	/* It is a summary already. */
	wire_out_key(&o, STR("infer"));
	wire_out_bool(&o, false);
	wire_out_object_end(&o);
}

/*
 * Who it is about stands in filters for the servers of today and beside them
 * for those of 2025; the number has had two names; without a threshold of 0 a
 * server leaves out what fits badly.
 */
void
mem0_write_search(
    const struct mem0_scope *s, struct str query, size_t k, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	put_text(&o, "query", query);
	wire_out_key(&o, STR("filters"));
	wire_out_object(&o);
	put_scope(&o, s);
	wire_out_object_end(&o);
	put_scope(&o, s);
	wire_out_key(&o, STR("top_k"));
	wire_out_i64(&o, (int64_t)k);
	wire_out_key(&o, STR("limit"));
	wire_out_i64(&o, (int64_t)k);
	wire_out_key(&o, STR("threshold"));
	wire_out_i64(&o, 0);
	wire_out_object_end(&o);
}

void
mem0_write_list(const struct mem0_scope *s, size_t k, struct buf *out)
{
	buf_printf(out, "/memories?user_id=%s&agent_id=%s&top_k=%zu&limit=%zu",
	    s->user, s->agent, k, k);
}

void
mem0_write_clear(const struct mem0_scope *s, struct buf *out)
{
	buf_printf(out, "/memories?user_id=%s&agent_id=%s", s->user, s->agent);
}

enum rc
mem0_write_one(struct str id, struct buf *out)
{
	char token[ID_TOKEN_MAX];

	/* Mem0's ids are UUIDs: their tokens are themselves. */
	if (id_token(id, token) != RC_OK || token[0] == '~')
		return RC_INVALID;
	buf_printf(out, "/memories/%s", token);
	return RC_OK;
}

/* ---- reading ---------------------------------------------------------------
 */

static struct str
text_of(const struct wire_tree *v, const char *key)
{
	return wire_tree_text(wire_tree_get(v, str_of(key)));
}

/* Whether a member says the same; what is not said is as said elsewhere. */
static bool
is_of(const struct wire_tree *v, const char *key, const char *want, bool strict)
{
	struct str s = text_of(v, key);

	if (s.p == NULL)
		s = text_of(wire_tree_get(v, STR("metadata")), key);
	return s.p == NULL ? !strict : str_eq(s, str_of(want));
}

static struct str
memory_text(const struct wire_tree *v)
{
	struct str s = text_of(v, "memory");

	if (s.p == NULL)
		s = text_of(wire_tree_get(v, STR("data")), "memory");
	if (s.p == NULL)
		s = text_of(v, "text");
	return s;
}

/* RC_NOENT: it is not of this scope, or no memory. */
static enum rc
read_item(const struct wire_tree *v, const struct mem0_scope *s, bool strict,
    struct arena *a, struct mem0_item *out)
{
	const struct wire_tree *meta = wire_tree_get(v, STR("metadata"));
	const struct wire_tree *score = wire_tree_get(v, STR("score"));
	struct str text = memory_text(v), id = text_of(v, "id");
	struct rank_memory *m = &out->memory;

	*out = (struct mem0_item){ 0 };
	if (!id_valid(id) || text.n == 0 ||
	    !is_of(v, "user_id", s->user, strict) ||
	    !is_of(v, "agent_id", s->agent, strict))
		return RC_NOENT;
	m->id = arena_str(a, id);
	m->text = arena_str(a, text);
	m->type = record_type(text_of(meta, "memory_type"));
	if (wall_parse(text_of(meta, "made_at"), &m->created) != RC_OK &&
	    wall_parse(text_of(v, "created_at"), &m->created) != RC_OK)
		m->created.ms = 0;
	if (m->created.ms < 0)
		m->created.ms = 0;
	if (id_valid(text_of(meta, "job_id")))
		out->job_id = arena_str(a, text_of(meta, "job_id"));
	if (wire_tree_kind(score) == WIRE_TREE_NUMBER)
		out->score = wire_tree_number(score);
	if (m->id.p == NULL || m->text.p == NULL)
		return RC_TOOBIG;
	return record_detail(
	    meta, wire_tree_get(meta, STR("tags")), a, &m->detail);
}

/* The list in an answer, or NULL. */
static const struct wire_tree *
list_of(const struct wire_tree *v)
{
	static const char *const names[] = { "results", "memories", "data" };
	const struct wire_tree *list;
	size_t i;

	if (wire_tree_kind(v) == WIRE_TREE_ARRAY)
		return v;
	for (i = 0; i < NELEM(names); i++) {
		list = wire_tree_get(v, str_of(names[i]));
		if (wire_tree_kind(list) == WIRE_TREE_ARRAY)
			return list;
	}
	return NULL;
}

enum rc
mem0_read(struct str body, const struct mem0_scope *s, struct arena *a,
    struct mem0_items *out)
{
	const struct wire_tree *list;
	struct wire_tree *v = NULL;
	size_t i, n;
	enum rc rc;

	*out = (struct mem0_items){ 0 };
	rc = wire_tree_parse(body, &v);
	list = list_of(v);
	if (rc == RC_OK && list == NULL)
		rc = RC_INVALID;
	n = wire_tree_len(list);
	if (n > MEM0_ITEMS_MAX)
		n = MEM0_ITEMS_MAX;
	if (rc == RC_OK) {
		out->item = arena_alloc(a, (n + 1) * sizeof(*out->item));
		rc = out->item != NULL ? RC_OK : RC_TOOBIG;
	}
	for (i = 0; i < n && rc == RC_OK; i++) {
		rc = read_item(
		    wire_tree_at(list, i), s, false, a, &out->item[out->n]);
		if (rc == RC_OK)
			out->n++;
		else if (rc == RC_NOENT)
			rc = RC_OK;
	}
	wire_tree_free(v);
	return rc;
}

enum rc
mem0_read_one(struct str body, const struct mem0_scope *s, struct arena *a,
    struct mem0_item *out)
{
	struct wire_tree *v = NULL;
	enum rc rc = wire_tree_parse(body, &v);

	if (rc == RC_OK)
		rc = read_item(v, s, true, a, out);
	wire_tree_free(v);
	return rc;
}

bool
mem0_stored(struct str body)
{
	struct wire_tree *v = NULL;
	bool stored = false;

	if (wire_tree_parse(body, &v) == RC_OK)
		stored = wire_tree_len(list_of(v)) > 0 ||
		    str_eq(text_of(v, "status"), STR("PENDING"));
	wire_tree_free(v);
	return stored;
}

bool
mem0_is_bad(struct str body)
{
	struct wire_tree *v = NULL;
	bool bad = false;

	if (wire_tree_parse(body, &v) == RC_OK)
		bad = str_eq(text_of(v, "code"), STR("provider_bad_request"));
	wire_tree_free(v);
	return bad;
}
