/*
 * grave: putting a job aside, for an operator.
 */
#ifndef MEMORY_WORKER_GRAVE_H
#define MEMORY_WORKER_GRAVE_H

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/rc.h"
#include "record.h"

/* Streams: where jobs are, where those are that were put aside. */
#define JOBS         "SOUL_JOBS"
#define DEAD         "SOUL_DEAD"
#define DEAD_SUBJECT "soul.dead." RECORD_JOB_KIND

/*
 * grave_keep(b, ready): See to it that the stream of those put aside exists,
 * as bus_stream_ensure(); ready gets NULL.
 */
enum rc grave_keep(struct bus *b, bus_ready_fn ready) RC_CHECK;

/*
 * grave_lay(b, msg, why, waiter):
 * Put a job aside and beside it why (letter.h); it is also logged.  msg stays;
 * doing it twice has one effect.  One that is too big to be put aside stays
 * where it is, and what is put aside says where.  Fails as
 * bus_stream_publish().
 */
enum rc grave_lay(struct bus *b, const struct bus_msg *msg, const char *why,
    struct bus_pub_ack_handler waiter) RC_CHECK;

#endif /* !MEMORY_WORKER_GRAVE_H */
