/*
 * on_job: memory jobs off the stream, each done once, whoever dies.
 *
 * A job whose memory cannot be stored because the store (or Redis) is away is
 * kept in hand until it is back; that is no fault of the job's.  One that fails
 * by itself is tried again ever later, and put aside after
 * MEMORY_JOB_MAX_DELIVERIES: it goes to the stream SOUL_DEAD, for an operator.
 * So does a job that was delivered so often without an end: it may be what
 * kills the workers.  Why is beside it (letter.h).
 */
#ifndef MEMORY_WORKER_ON_JOB_H
#define MEMORY_WORKER_ON_JOB_H

#include "record.h"

#define JOBS_SUBJECT "soul.job." RECORD_JOB_KIND

struct jobs;
struct keeper;

/* jobs_new(k): Make the streams and take part; NULL if that cannot be. */
struct jobs *jobs_new(struct keeper *k);

/*
 * jobs_free(o):
 * Give back what is in hand.  Before k's bus and store.  NULL allowed.
 */
void jobs_free(struct jobs *o);

#endif /* !MEMORY_WORKER_ON_JOB_H */
