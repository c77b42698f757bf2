/*
 * report_queue: reports that wait until they are written, in order of arrival.
 * Pure.
 */
#ifndef MQTT_BRIDGE_REPORT_QUEUE_H
#define MQTT_BRIDGE_REPORT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/str.h"
#include "reports/report_error.h"
#include "state/terminal.h"

/* Reports in the queue. */
#define REPORT_QUEUE_MAX 8192
/*
 * Reading from the broker pauses from the first on, until the second.  The rest
 * is for what arrives nevertheless, and for the snapshots being parsed.
 */
#define REPORT_QUEUE_PAUSE  7168
#define REPORT_QUEUE_RESUME 6144

struct report_group;

/* Why a report was rejected; what its terminal_report points to. */
struct report_details {
	struct buf json;
	struct report_error error;
};

struct report_entry {
	STAILQ_ENTRY(report_entry) link; /* private */
	struct terminal_report t;        /* its id is the entry's */
	uint64_t seq;                    /* set by the queue's owner */
	struct report_details *details;  /* of a rejection; owned */
	/* Who waits for the result, and where to put it; NULL: nobody. */
	struct report_group *group;
	struct terminal_report *result;
	char id[];
};

struct report_queue;

/*
 * report_entry_new(kind, id), report_entry_free(e):
 * The texts of a snapshot must live as long as the entry.
 */
struct report_entry *report_entry_new(
    enum terminal_report_kind kind, struct str id);
void report_entry_free(struct report_entry *e);

/* report_entry_weight(e): As of report_weight(). */
size_t report_entry_weight(const struct report_entry *e);

/* report_queue_new(), report_queue_free(q): NULL is allowed. */
struct report_queue *report_queue_new(void);
void report_queue_free(struct report_queue *q);

/* report_queue_push(q, e): False if the queue is full: e is the caller's. */
bool report_queue_push(struct report_queue *q, struct report_entry *e);

/*
 * report_queue_take(q, room):
 * The first, if it weighs at most room; it is the caller's then.  NULL: it
 * weighs more, or there is none.
 */
struct report_entry *report_queue_take(struct report_queue *q, size_t room);

/*
 * report_queue_len(q), report_queue_replays(q):
 * How many there are, and how many of them were retained by the broker.
 */
size_t report_queue_len(const struct report_queue *q);
size_t report_queue_replays(const struct report_queue *q);

#endif /* !MQTT_BRIDGE_REPORT_QUEUE_H */
