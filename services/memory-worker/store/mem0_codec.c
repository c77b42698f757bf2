/*
 * Members that Mem0 writes itself (user_id, created_at, …) are not set: ours
 * are in the metadata under other names.
 */
#include "store/store_internal.h"

#include "core/mem.h"
#include "store/memory_record.h"
#include "wire/out.h"
#include "wire/tree.h"

enum rc
mem0_scope_init(const struct memory_scope *scope, struct mem0_scope *out)
{
	enum rc rc = id_token(scope->user_id, out->user);

	return rc == RC_OK ? id_token(scope->soul_id, out->agent) : rc;
}

/* ---- writing ---- */

static void
mem0_put_scope(struct wire_out *o, const struct mem0_scope *s)
{
	memory_json_put_text(o, "user_id", str_of(s->user));
	memory_json_put_text(o, "agent_id", str_of(s->agent));
}

static void
mem0_put_tags(struct wire_out *o, const struct wire_memory_job *job)
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
	memory_json_put_text(&o, "role", STR("user"));
	memory_json_put_text(&o, "content", job->text);
	wire_out_object_end(&o);
	wire_out_array_end(&o);
	mem0_put_scope(&o, s);
	wire_out_key(&o, STR("metadata"));
	wire_out_object(&o);
	memory_json_put_text(&o, "job_id", job->job_id);
	memory_json_put_text(
	    &o, "memory_type", wire_memory_type_names[job->type]);
	memory_json_put_text(&o, "made_at", job->created_at);
	memory_json_put_text(&o, "session_id", job->session_id);
	memory_json_put_text(&o, "terminal_id", job->terminal_id);
	memory_json_put_text(&o, "trigger_source", job->trigger_source);
	mem0_put_tags(&o, job);
	wire_out_object_end(&o);
	/* The text is a summary already. */
	wire_out_key(&o, STR("infer"));
	wire_out_bool(&o, false);
	wire_out_object_end(&o);
}

/*
 * Current servers expect user and agent in filters, those of 2025 outside; the
 * count has had two names; without a threshold of 0 a server omits poor
 * matches.
 */
void
mem0_write_search(
    const struct mem0_scope *s, struct str query, size_t k, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	memory_json_put_text(&o, "query", query);
	wire_out_key(&o, STR("filters"));
	wire_out_object(&o);
	mem0_put_scope(&o, s);
	wire_out_object_end(&o);
	mem0_put_scope(&o, s);
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

	/* Mem0's ids are UUIDs, which are their own tokens. */
	if (id_token(id, token) != RC_OK || token[0] == '~')
		return RC_INVALID;
	buf_printf(out, "/memories/%s", token);
	return RC_OK;
}

/* ---- reading ---- */

/* Whether a member has the wanted value; an absent one does unless strict. */
static bool
mem0_member_is(
    const struct wire_tree *v, const char *key, const char *want, bool strict)
{
	struct str s = memory_json_text(v, key);

	if (s.p == NULL)
		s = memory_json_text(wire_tree_get(v, STR("metadata")), key);
	return s.p == NULL ? !strict : str_eq(s, str_of(want));
}

static struct str
mem0_item_text(const struct wire_tree *v)
{
	struct str s = memory_json_text(v, "memory");

	if (s.p == NULL)
		s = memory_json_text(wire_tree_get(v, STR("data")), "memory");
	if (s.p == NULL)
		s = memory_json_text(v, "text");
	return s;
}

/* RC_NOENT: it is of another scope, or no memory. */
static enum rc
mem0_read_item(const struct wire_tree *v, const struct mem0_scope *s,
    bool strict, struct arena *a, struct mem0_item *out)
{
	const struct wire_tree *meta = wire_tree_get(v, STR("metadata"));
	const struct wire_tree *score = wire_tree_get(v, STR("score"));
	struct str text = mem0_item_text(v), id = memory_json_text(v, "id");
	struct rank_memory *m = &out->memory;

	*out = (struct mem0_item){ 0 };
	if (!id_valid(id) || text.n == 0 ||
	    !mem0_member_is(v, "user_id", s->user, strict) ||
	    !mem0_member_is(v, "agent_id", s->agent, strict))
		return RC_NOENT;
	m->id = arena_str(a, id);
	m->text = arena_str(a, text);
	m->type = memory_record_type(memory_json_text(meta, "memory_type"));
	if (wall_parse(memory_json_text(meta, "made_at"), &m->created) !=
		RC_OK &&
	    wall_parse(memory_json_text(v, "created_at"), &m->created) != RC_OK)
		m->created.ms = 0;
	if (m->created.ms < 0)
		m->created.ms = 0;
	if (id_valid(memory_json_text(meta, "job_id")))
		out->job_id = arena_str(a, memory_json_text(meta, "job_id"));
	if (wire_tree_kind(score) == WIRE_TREE_NUMBER)
		out->score = wire_tree_number(score);
	if (m->id.p == NULL || m->text.p == NULL)
		return RC_TOOBIG;
	return memory_record_detail(
	    meta, wire_tree_get(meta, STR("tags")), a, &m->detail);
}

/* The list in a response, or NULL. */
static const struct wire_tree *
mem0_result_list(const struct wire_tree *v)
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
	list = mem0_result_list(v);
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
		rc = mem0_read_item(
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
		rc = mem0_read_item(v, s, true, a, out);
	wire_tree_free(v);
	return rc;
}

bool
mem0_response_stored(struct str body)
{
	struct wire_tree *v = NULL;
	bool stored = false;

	if (wire_tree_parse(body, &v) == RC_OK)
		stored = wire_tree_len(mem0_result_list(v)) > 0 ||
		    str_eq(memory_json_text(v, "status"), STR("PENDING"));
	wire_tree_free(v);
	return stored;
}

bool
mem0_response_rejected(struct str body)
{
	struct wire_tree *v = NULL;
	bool bad = false;

	if (wire_tree_parse(body, &v) == RC_OK)
		bad = str_eq(
		    memory_json_text(v, "code"), STR("provider_bad_request"));
	wire_tree_free(v);
	return bad;
}
