/*
 * From one message to the other.
 */
#include "record.h"

#include <stdio.h>

#include "core/mem.h"

enum rc
record_job_read(struct str json, struct arena *a, struct wire_memory_job *job,
    struct wall *made, struct wire_err *err)
{
	enum rc rc;

	rc = wire_decode(&wire_memory_job_desc, json, a, job, err);
	if (rc != RC_OK)
		return rc;
	if (!str_eq(job->kind, STR(RECORD_JOB_KIND))) {
		*err = (struct wire_err){ "/kind", "is not " RECORD_JOB_KIND };
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
record_write(const struct wire_memory_job *job, struct buf *out)
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
record_write_old(const struct wire_memory_job *job, size_t i, struct buf *out)
{
	const struct wire_memory_job_supersedes *old = &job->supersedes[i];
	const struct wire_memory_record r = {
		.text = old->text,
		.type = old->type,
		/* Of what came from elsewhere it may not be known. */
		.created_at = old->created_at.p != NULL ? old->created_at
							: job->created_at,
		.valid_until = job->created_at,
		.superseded_by = job->job_id,
	};

	return wire_encode(&wire_memory_record_desc, &r, out, NULL);
}

enum rc
record_read(
    struct str id, struct str json, struct arena *a, struct rank_memory *out)
{
	struct wire_memory_record r;
	enum rc rc;

	rc = wire_decode(&wire_memory_record_desc, json, a, &r, NULL);
	if (rc != RC_OK)
		return rc;
	*out = (struct rank_memory){ .id = id, .text = r.text, .type = r.type };
	return wall_parse(r.created_at, &out->created);
}

enum wire_memory_type
record_type(struct str s)
{
	size_t i;

	for (i = 0; i < NELEM(wire_memory_type_names); i++)
		if (str_eq(s, wire_memory_type_names[i]))
			return (enum wire_memory_type)i;
	return WIRE_MEMORY_TYPE_FACT;
}
