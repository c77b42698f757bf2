/*
 * record: a memory on its way from a job to the store and back.  Pure.
 */
#ifndef MEMORY_WORKER_RECORD_H
#define MEMORY_WORKER_RECORD_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "rank.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* The kind of job that stores a memory. */
#define RECORD_JOB_KIND "memory_store"
/* That of one that fills a profile, which never leaves a session's record. */
#define PROFILE_JOB_KIND "profile_merge"

/*
 * record_job_read(json, a, job, made, err):
 * A job that stores a memory, and when it was made.  RC_INVALID if it is none;
 * err says why.  Texts live in a.
 */
enum rc record_job_read(struct str json, struct arena *a,
    struct wire_memory_job *job, struct wall *made,
    struct wire_err *err) RC_CHECK;

/*
 * record_write(job, out):
 * Append the memory that a job makes, as it is stored.  RC_INVALID if the job
 * breaks its schema, RC_TOOBIG if out is full.
 */
enum rc record_write(
    const struct wire_memory_job *job, struct buf *out) RC_CHECK;

/*
 * record_write_old(job, i, out):
 * Append the i-th memory that the job supersedes, as one of the past.  Results
 * as above.
 */
enum rc record_write_old(
    const struct wire_memory_job *job, size_t i, struct buf *out) RC_CHECK;

/*
 * record_read(id, json, a, out):
 * A stored memory.  RC_INVALID if it is none.  All but id lives in a.
 */
enum rc record_read(struct str id, struct str json, struct arena *a,
    struct rank_memory *out) RC_CHECK;

struct wire_tree;

/*
 * record_detail(meta, tags, a, out):
 * Where a memory of another's server comes from, by the members session_id,
 * terminal_id and trigger_source of meta and the list tags; what is not as a
 * job has it is left out.  RC_TOOBIG if a is full.
 */
enum rc record_detail(const struct wire_tree *meta,
    const struct wire_tree *tags, struct arena *a,
    const struct rank_detail **out) RC_CHECK;

/* record_type(s): The type of a memory by its name; a fact if it is none. */
enum wire_memory_type record_type(struct str s);

#endif /* !MEMORY_WORKER_RECORD_H */
