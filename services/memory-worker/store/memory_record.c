#include "store/memory_record.h"

#include <stdio.h>

#include "core/id.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

/* Limits of a job's members, from its schema. */
#define SOURCE_MAX 64
#define TAG_MAX    64
#define TAGS_MAX   16

struct str
memory_json_text(const struct wire_tree *v, const char *key)
{
	return wire_tree_text(wire_tree_get(v, str_of(key)));
}

void
memory_json_put_text(struct wire_out *o, const char *key, struct str s)
{
	if (s.p == NULL)
		return;
	wire_out_key(o, str_of(key));
	wire_out_str(o, s);
}

enum rc
memory_job_read(struct str json, struct arena *a, struct wire_memory_job *job,
    struct wall *made, struct wire_err *err)
{
	enum rc rc;

	rc = wire_decode(&wire_memory_job_desc, json, a, job, err);
	if (rc != RC_OK)
		return rc;
	if (!str_eq(job->kind, STR(MEMORY_JOB_KIND))) {
		*err = (struct wire_err){ "/kind", "is not " MEMORY_JOB_KIND };
		return RC_INVALID;
	}
	if (wall_parse(job->created_at, made) != RC_OK || made->ms < 0) {
		*err = (struct wire_err){ "/created_at",
			"is not a date and time" };
		return RC_INVALID;
	}
	return RC_OK;
}

enum rc
memory_record_write(const struct wire_memory_job *job, struct buf *out)
{
	const struct wire_memory_record r = {
		.text = job->text,
		.type = job->type,
		.created_at = job->created_at,
		.session_id = job->session_id,
		.terminal_id = job->terminal_id,
		.trigger_source = job->trigger_source,
		.tags = job->tags,
		.n_tags = job->n_tags,
		.has_tags = job->has_tags,
	};

	return wire_encode(&wire_memory_record_desc, &r, out, NULL);
}

enum rc
memory_record_write_superseded(
    const struct wire_memory_job *job, size_t i, struct buf *out)
{
	const struct wire_memory_job_supersedes *old = &job->supersedes[i];
	const struct wire_memory_record r = {
		.text = old->text,
		.type = old->type,
		/* The age of a memory from elsewhere may be unknown. */
		.created_at = old->created_at.p != NULL ? old->created_at
							: job->created_at,
		.valid_until = job->created_at,
		.superseded_by = job->job_id,
	};

	return wire_encode(&wire_memory_record_desc, &r, out, NULL);
}

enum rc
memory_record_read(
    struct str id, struct str json, struct arena *a, struct rank_memory *out)
{
	struct rank_detail *detail = arena_alloc(a, sizeof(*detail));
	struct wire_memory_record r;
	enum rc rc;

	if (detail == NULL)
		return RC_TOOBIG;
	rc = wire_decode(&wire_memory_record_desc, json, a, &r, NULL);
	if (rc != RC_OK)
		return rc;
	*detail = (struct rank_detail){ .session_id = r.session_id,
		.terminal_id = r.terminal_id,
		.trigger_source = r.trigger_source,
		.tags = r.tags,
		.n_tags = r.n_tags,
		.superseded_by = r.superseded_by };
	if (r.valid_until.p != NULL &&
	    wall_parse(r.valid_until, &detail->valid_until) != RC_OK)
		return RC_INVALID;
	*out = (struct rank_memory){
		.id = id, .text = r.text, .type = r.type, .detail = detail
	};
	return wall_parse(r.created_at, &out->created);
}

/* A member's text if a job could have it. */
static struct str
record_text_if(const struct wire_tree *meta, const char *key,
    bool (*good)(struct str s), struct arena *a)
{
	struct str s = memory_json_text(meta, key);

	return good(s) ? arena_str(a, s) : (struct str){ NULL, 0 };
}

static bool
record_is_source(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_' ||
			(s.p[i] >= '0' && s.p[i] <= '9')))
			return false;
	return s.n > 0 && s.n <= SOURCE_MAX;
}

static bool
record_is_tag(struct str s)
{
	return s.n > 0 && str_utf8_count(s) <= TAG_MAX;
}

enum rc
memory_record_detail(const struct wire_tree *meta, const struct wire_tree *tags,
    struct arena *a, const struct rank_detail **out)
{
	struct rank_detail *o = arena_alloc(a, sizeof(*o));
	size_t i, n = 0;
	struct str tag;

	if (o == NULL)
		return RC_TOOBIG;
	if (wire_tree_kind(tags) == WIRE_TREE_ARRAY)
		n = wire_tree_len(tags);
	o->session_id = record_text_if(meta, "session_id", id_valid, a);
	o->terminal_id =
	    record_text_if(meta, "terminal_id", id_terminal_valid, a);
	o->trigger_source =
	    record_text_if(meta, "trigger_source", record_is_source, a);
	o->tags =
	    arena_alloc(a, (n < TAGS_MAX ? n : TAGS_MAX) * sizeof(*o->tags));
	if (o->tags == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n && o->n_tags < TAGS_MAX; i++) {
		tag = wire_tree_text(wire_tree_at(tags, i));
		if (record_is_tag(tag))
			o->tags[o->n_tags++] = arena_str(a, tag);
		if (o->n_tags > 0 && o->tags[o->n_tags - 1].p == NULL)
			return RC_TOOBIG;
	}
	*out = o;
	return RC_OK;
}

enum wire_memory_type
memory_record_type(struct str s)
{
	size_t i;

	for (i = 0; i < NELEM(wire_memory_type_names); i++)
		if (str_eq(s, wire_memory_type_names[i]))
			return (enum wire_memory_type)i;
	return WIRE_MEMORY_TYPE_FACT;
}
