/*
 * memory_record: conversion between memory jobs, stored records and memories.
 * Pure.
 */
#ifndef MEMORY_WORKER_MEMORY_RECORD_H
#define MEMORY_WORKER_MEMORY_RECORD_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "store/ranking.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct wire_out;
struct wire_tree;

/* A job that stores a memory, and the subject it is published on. */
#define MEMORY_JOB_KIND    "memory_store"
#define MEMORY_JOB_SUBJECT "soul.job." MEMORY_JOB_KIND
/* A job that patches a profile; it is never published. */
#define PROFILE_JOB_KIND "profile_merge"

/*
 * memory_job_read(json, a, job, made, err):
 * A job that stores a memory, and its time.  RC_INVALID with err if it is none.
 * Texts live in a.
 */
enum rc memory_job_read(struct str json, struct arena *a,
    struct wire_memory_job *job, struct wall *made,
    struct wire_err *err) RC_CHECK;

/*
 * memory_record_write(job, out):
 * Append the record of a job's memory.  RC_INVALID if the job violates its
 * schema, RC_TOOBIG if out is full.
 */
enum rc memory_record_write(
    const struct wire_memory_job *job, struct buf *out) RC_CHECK;

/*
 * memory_record_write_superseded(job, i, out):
 * Append the record of the i-th memory that the job supersedes.  Results as
 * above.
 */
enum rc memory_record_write_superseded(
    const struct wire_memory_job *job, size_t i, struct buf *out) RC_CHECK;

/*
 * memory_record_read(id, json, a, out):
 * A stored memory.  RC_INVALID if json is none.  All but id lives in a.
 */
enum rc memory_record_read(struct str id, struct str json, struct arena *a,
    struct rank_memory *out) RC_CHECK;

/*
 * memory_record_detail(meta, tags, a, out):
 * The origin of a memory in an external store, from the members session_id,
 * terminal_id and trigger_source of meta and the list tags; values that no job
 * could have are left out.  RC_TOOBIG if a is full.
 */
enum rc memory_record_detail(const struct wire_tree *meta,
    const struct wire_tree *tags, struct arena *a,
    const struct rank_detail **out) RC_CHECK;

/* memory_record_type(s): The type of that name; fact if there is none. */
enum wire_memory_type memory_record_type(struct str s);

/*
 * memory_json_text(v, key): The text of a member; absent if it is no text.
 * memory_json_put_text(o, key, s): Append a member unless s is absent.
 */
struct str memory_json_text(const struct wire_tree *v, const char *key);
void memory_json_put_text(struct wire_out *o, const char *key, struct str s);

#endif /* !MEMORY_WORKER_MEMORY_RECORD_H */
