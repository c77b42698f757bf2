#include "summary/extraction.h"

#include "core/mem.h"
#include "store/memory_record.h"
#include "summary/summary_prompt.h"
#include "wire/out.h"
#include "wire/tree.h"

/* How deep a profile patch may be nested. */
#define PROFILE_DEPTH 4

/* ---- memories ---- */

static void
extraction_read_replaces(
    const struct wire_tree *v, size_t n_known, struct extraction_memory *m)
{
	size_t i, k;
	double no;

	for (i = 0; i < wire_tree_len(v); i++) {
		no = wire_tree_number(wire_tree_at(v, i));
		if (no < 1 || no > (double)n_known ||
		    m->n_replaces == EXTRACTION_REPLACES_MAX)
			continue;
		for (k = 0; k < m->n_replaces; k++)
			if (m->replaces[k] == (size_t)no - 1)
				break;
		if (k == m->n_replaces)
			m->replaces[m->n_replaces++] = (size_t)no - 1;
	}
}

static enum rc
extraction_read_tags(
    const struct wire_tree *v, struct arena *a, struct extraction_memory *m)
{
	struct str tag;
	size_t i;

	for (i = 0; i < wire_tree_len(v) && m->n_tags < EXTRACTION_TAGS_MAX;
	     i++) {
		tag = str_trim(wire_tree_text(wire_tree_at(v, i)));
		if (tag.n == 0 || str_utf8_count(tag) > EXTRACTION_TAG_MAX)
			continue;
		m->tags[m->n_tags] = arena_str(a, tag);
		if (m->tags[m->n_tags++].p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

/* A memory is an object, or just its text. */
static enum rc
extraction_read_memory(const struct wire_tree *v, const struct memory_policy *g,
    size_t n_known, struct arena *a, struct extraction *out)
{
	struct extraction_memory *m = &out->memory[out->n];
	struct str text = wire_tree_text(v);

	*m = (struct extraction_memory){ 0 };
	if (text.p == NULL)
		text = wire_tree_text(wire_tree_get(v, STR("text")));
	m->text = summary_line(text, a);
	if (m->text.n == 0)
		return RC_OK;
	if (!memory_policy_admits(g, m->text)) {
		out->dropped++;
		return RC_OK;
	}
	m->type =
	    memory_record_type(wire_tree_text(wire_tree_get(v, STR("type"))));
	extraction_read_replaces(wire_tree_get(v, STR("replaces")), n_known, m);
	out->n++;
	return extraction_read_tags(wire_tree_get(v, STR("tags")), a, m);
}

/* ---- the profile ---- */

static bool extraction_put_member(const struct wire_tree_member *m,
    const struct memory_policy *g, int depth, struct wire_out *o);

static bool
extraction_put_object(const struct wire_tree *v, const struct memory_policy *g,
    int depth, struct wire_out *o)
{
	struct wire_tree_member m;
	bool more, any = false;

	wire_out_object(o);
	for (more = wire_tree_first(v, &m); more; more = wire_tree_next(v, &m))
		any |= extraction_put_member(&m, g, depth, o);
	wire_out_object_end(o);
	return any;
}

static void
extraction_put_array(const struct wire_tree *v, const struct memory_policy *g,
    struct wire_out *o)
{
	struct str s;
	size_t i;

	wire_out_array(o);
	for (i = 0; i < wire_tree_len(v); i++) {
		s = wire_tree_text(wire_tree_at(v, i));
		if (memory_policy_stated(g, s))
			wire_out_str(o, str_trim(s));
	}
	wire_out_array_end(o);
}

/* Leave out what the user did not state; false if that is everything. */
static bool
extraction_put_member(const struct wire_tree_member *m,
    const struct memory_policy *g, int depth, struct wire_out *o)
{
	struct str s = wire_tree_text(m->value);

	if (depth == 0 || m->key.n == 0 ||
	    (s.p != NULL && !memory_policy_stated(g, s)))
		return false;
	wire_out_key(o, m->key);
	if (wire_tree_kind(m->value) == WIRE_TREE_OBJECT)
		return extraction_put_object(m->value, g, depth - 1, o);
	if (wire_tree_kind(m->value) == WIRE_TREE_ARRAY)
		extraction_put_array(m->value, g, o);
	else
		wire_tree_put(m->value, o);
	return true;
}

static enum rc
extraction_read_profile(const struct wire_tree *v,
    const struct memory_policy *g, struct arena *a, struct extraction *out)
{
	struct buf b = BUF_INIT(EXTRACTION_PROFILE_MAX);
	struct wire_out o = { .b = &b };
	enum rc rc = RC_OK;
	bool any;

	if (wire_tree_len(v) == 0 || g->stated.n == 0)
		return RC_OK;
	wire_out_object(&o);
	wire_out_key(&o, STR("user_profile"));
	any = extraction_put_object(v, g, PROFILE_DEPTH, &o);
	wire_out_object_end(&o);
	if (any && buf_rc(&b) == RC_OK) {
		out->profile = arena_str(a, buf_str(&b));
		rc = out->profile.p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* ---- the completion ---- */

/* From the first brace to the last: models add text around an object. */
static struct str
extraction_find_object(struct str s)
{
	size_t from = 0, to = s.n;

	while (from < s.n && s.p[from] != '{')
		from++;
	while (to > from && s.p[to - 1] != '}')
		to--;
	return (struct str){ s.p + from, to - from };
}

static enum rc
extraction_read_object(const struct wire_tree *v, const struct memory_policy *g,
    size_t n_known, struct arena *a, struct extraction *out)
{
	const struct wire_tree *list = wire_tree_get(v, STR("memories"));
	struct str line = wire_tree_text(wire_tree_get(v, STR("summary")));
	enum rc rc = RC_OK;
	size_t i;

	out->line = STR("");
	if (line.n > 0)
		out->line = summary_line(line, a);
	if (out->line.p == NULL)
		out->line = STR("");
	for (i = 0; i < wire_tree_len(list) && out->n < EXTRACTION_MAX; i++)
		if (rc == RC_OK)
			rc = extraction_read_memory(
			    wire_tree_at(list, i), g, n_known, a, out);
	if (rc == RC_OK)
		rc = extraction_read_profile(
		    wire_tree_get(v, STR("profile")), g, a, out);
	return rc;
}

/* A plain text becomes the line and an episode. */
static enum rc
extraction_read_line(struct str answer, const struct memory_policy *g,
    struct arena *a, struct extraction *out)
{
	out->line = summary_line(answer, a);
	if (out->line.p == NULL)
		return RC_NOENT;
	if (out->line.n == 0)
		return RC_OK;
	if (memory_policy_admits(g, out->line))
		out->memory[out->n++] =
		    (struct extraction_memory){ .text = out->line,
			    .type = WIRE_MEMORY_TYPE_EPISODE };
	else
		out->dropped++;
	return RC_OK;
}

/* Malformed JSON must not be stored as text. */
static bool
extraction_is_broken(struct str answer)
{
	answer = str_trim(answer);
	return str_starts(answer, STR("{")) || str_starts(answer, STR("```"));
}

enum rc
extraction_read(struct str answer, const struct memory_policy *g,
    size_t n_known, struct arena *a, struct extraction *out)
{
	struct wire_tree *v = NULL;
	bool is;
	enum rc rc;

	*out = (struct extraction){ 0 };
	is = wire_tree_parse(extraction_find_object(answer), &v) == RC_OK &&
	    (wire_tree_get(v, STR("summary")) != NULL ||
		wire_tree_get(v, STR("memories")) != NULL);
	if (is)
		rc = extraction_read_object(v, g, n_known, a, out);
	else if (extraction_is_broken(answer))
		rc = RC_INVALID;
	else
		rc = extraction_read_line(answer, g, a, out);
	wire_tree_free(v);
	return rc;
}
