/*
 * handlers: the state of the bridge, and the parts that handle its messages.
 * Everything here runs on the loop thread unless stated otherwise.
 */
#ifndef MQTT_BRIDGE_HANDLERS_H
#define MQTT_BRIDGE_HANDLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "bridge.h"
#include "core/id.h"
#include "core/str.h"
#include "presence/leadership.h"
#include "state/terminal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct commands;
struct flood_limiter;
struct lease_holder;
struct loop;
struct metric;
struct mqtt;
struct mqtt_msg;
struct reports;
struct results;
struct snapshot_queue;
struct soul_copies;
struct state;
struct terminal_events;
struct worker_pool;

struct bridge {
	const struct bridge_conf *conf;
	struct svc *svc;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct mqtt *mqtt;
	struct str prefix;
	struct str broker; /* BROKER_ID */
	char broker_token[ID_TOKEN_MAX];
	int64_t ttl_ms; /* of snapshots */
	struct flood_limiter *flood;
	struct metric *over_limit, *cleared, *pauses;
	unsigned paused; /* a bit for each enum receive_queue */
	struct terminal_events *events;
	struct lease_holder *lease;
	struct reports *reports;
	struct snapshot_queue *snapshots;
	struct results *results;
	struct commands *commands;
};

/* ---- reports/mqtt_receive.c: messages from the broker ---- */

/* receive_init(b): Set b->flood and its metrics. */
void receive_init(struct bridge *b);

/* Queues behind the broker that may be full. */
enum receive_queue { RECEIVE_REPORTS, RECEIVE_RESULTS };

/*
 * receive_pause(b, queue), receive_resume(b, queue):
 * The queue is full, or has room.  While one is full, nothing is read from the
 * broker (mqtt_pause()).
 */
void receive_pause(struct bridge *b, enum receive_queue queue);
void receive_resume(struct bridge *b, enum receive_queue queue);

/*
 * receive_message(b, m):
 * As mqtt_opts.on_message; b is a struct bridge.  The topic alone identifies
 * the terminal.  Messages over the terminal's rate are dropped undecoded;
 * retained messages on topics that must not be retained are cleared by the
 * leader.
 */
void receive_message(void *b, const struct mqtt_msg *m);

/* ---- presence/soul_copies.c: what souls must know of their terminals ---- */

/* soul_copies_new(b), soul_copies_free(c): NULL is allowed. */
struct soul_copies *soul_copies_new(struct bridge *b);
void soul_copies_free(struct soul_copies *c);

/*
 * soul_copies_begin(c): A batch of at most REPORT_PACE_MAX reports; the arena
 *     for the bindings that writing them returns.
 * soul_copies_add(c, t): A report that was written.
 * soul_copies_write(c): Copy what is due, and repair bindings that their souls
 *     do not know of; calls to Redis.
 */
struct arena *soul_copies_begin(struct soul_copies *c);
void soul_copies_add(struct soul_copies *c, const struct terminal_report *t);
void soul_copies_write(struct soul_copies *c);

/*
 * soul_copies_forget(c, terminal): It has timed out.
 * soul_copies_clear(c): Another replica leads.
 */
void soul_copies_forget(struct soul_copies *c, struct str terminal);
void soul_copies_clear(struct soul_copies *c);

/* ---- reports/report_handler.c: what the leader writes ---- */

/*
 * reports_new(b), reports_free(r):
 * b->state must exist.  reports_free() writes what is queued; NULL is allowed.
 */
struct reports *reports_new(struct bridge *b);
void reports_free(struct reports *r);

/* reports_online(r, a, m), reports_heartbeat(r, a, m): A message arrived. */
void reports_online(
    struct reports *r, const struct address *a, const struct mqtt_msg *m);
void reports_heartbeat(
    struct reports *r, const struct address *a, const struct mqtt_msg *m);

/*
 * reports_reject(r, a, outcome, err):
 * A report on the topic a did not count in full: store and publish the error.
 */
void reports_reject(struct reports *r, const struct address *a,
    enum wire_refusal_outcome outcome, const struct wire_err *err);

/*
 * reports_write(r, v, n):
 * Write v after everything queued, and wait until each was written, or will not
 * be because the lease was lost.  v[i].rc is the result of each.  Presence and
 * retries are updated from these results.  Only in a fiber.
 */
void reports_write(struct reports *r, struct terminal_report *v, size_t n);

/*
 * reports_show_present(r, terminal):
 * Whether this replica is the leader and has written a report within the TTL
 * that shows the terminal present at this broker.  False says nothing.
 */
bool reports_show_present(const struct reports *r, struct str terminal);

/* reports_replaying(r): Whether retained messages wait to be written. */
bool reports_replaying(const struct reports *r);

/* reports_retry(r): Schedule what could not be written. */
void reports_retry(struct reports *r);

/* reports_clear(r): Drop everything queued: the lease changed hands. */
void reports_clear(struct reports *r);

/* ---- reports/snapshot_queue.c: skills and intents ---- */

/*
 * snapshot_queue_new(b), snapshot_queue_free(s):
 * A queue with a worker thread of its own, which parses snapshots in order of
 * arrival.  snapshot_queue_free() waits for the worker and drops the rest: the
 * broker retains it.  NULL is allowed.
 */
struct snapshot_queue *snapshot_queue_new(struct bridge *b);
void snapshot_queue_free(struct snapshot_queue *s);

/*
 * snapshot_queue_add(s, a, m):
 * Queue a snapshot.  A full queue drops it and requests a replay.
 */
void snapshot_queue_add(struct snapshot_queue *s, const struct address *a,
    const struct mqtt_msg *m);

/*
 * snapshot_queue_offline(s, terminal):
 * The terminal went offline: snapshots of it that are queued now no longer
 * mark it as present.
 */
void snapshot_queue_offline(struct snapshot_queue *s, struct str terminal);

/* snapshot_queue_busy(s): Whether any are queued, parsed or being written. */
bool snapshot_queue_busy(const struct snapshot_queue *s);

/* snapshot_queue_clear(s): Drop all: the lease changed hands. */
void snapshot_queue_clear(struct snapshot_queue *s);

/* ---- reports/result_handler.c: results of invokes ---- */

/*
 * results_new(b), results_free(r):
 * Subscribe to results.  results_free() stores what is queued; NULL is allowed.
 *
 * Every replica receives every result.  The replica that sent the invoke
 * publishes the result at once; for any other result Redis is consulted, and
 * the replica that stores the first result of a known invoke publishes it (so
 * it may be published twice).  All others are dropped.
 */
struct results *results_new(struct bridge *b);
void results_free(struct results *r);

/* results_subscribe(r): Subscribe again, so that retained results arrive. */
void results_subscribe(struct results *r);

/* results_expect(r, a): This replica sends a's request to a's terminal. */
void results_expect(struct results *r, const struct address *a);

/*
 * results_claim(r, a):
 * Whether this replica sent a's request; true once for each.
 */
bool results_claim(struct results *r, const struct address *a);

/*
 * results_receive(r, a, m, ours):
 * A result arrived.  ours: results_claim() returned true; otherwise
 * flood_limiter_take() has counted it, which is refunded for the first result
 * of each request once it is stored.
 */
void results_receive(struct results *r, const struct address *a,
    const struct mqtt_msg *m, bool ours);

/*
 * results_defer(r, a, m):
 * Keep a result over the limit until it is known whether others of its terminal
 * were expected, which returns what they have taken of the limit; then pass it
 * to receive_result().  False: there are no others, or too many are kept.
 */
bool results_defer(
    struct results *r, const struct address *a, const struct mqtt_msg *m);

/* receive_result(b, a, m): A result arrived; only m's payload is used. */
void receive_result(
    struct bridge *b, const struct address *a, const struct mqtt_msg *m);

/* ---- commands/command_dispatch.c: from the bus to the broker ---- */

/*
 * commands_new(b), commands_free(c):
 * Subscribe to the commands for b's broker.  A request (invoke, intent_action)
 * is replied to after the broker's acknowledgement.  A command waits here, not
 * in the broker, and its deadline is checked again when it is sent.
 * commands_free() is called after mqtt_free(); NULL is allowed.
 */
struct commands *commands_new(struct bridge *b);
void commands_free(struct commands *c);

/* commands_broker_down(c): Fail everything that is queued. */
void commands_broker_down(struct commands *c);

/* ---- presence/lease_holder.c: the lease and its subscriptions ---- */

/* lease_holder_broker_valid(id): Whether a lease can be named after id. */
bool lease_holder_broker_valid(struct str id);

/*
 * lease_holder_new(b), lease_holder_free(l):
 * Try to acquire the lease of b's broker, and subscribe to reports while it is
 * held.  lease_holder_free() releases it at once; NULL is allowed.
 */
struct lease_holder *lease_holder_new(struct bridge *b);
void lease_holder_free(struct lease_holder *l);

/*
 * lease_holder_served(l):
 * Whether reports are read: by another replica, or by this one after all
 * retained messages have arrived.  Any thread.
 */
bool lease_holder_served(const struct lease_holder *l);

/* lease_holder_epoch(l): The epoch of the lease; 0 unless this replica leads.
 */
int64_t lease_holder_epoch(const struct lease_holder *l);

/* lease_holder_broker_state(l, up): The broker connected or disconnected. */
void lease_holder_broker_state(struct lease_holder *l, bool up);

/* lease_holder_replayed(l): A retained message arrived or is being parsed. */
void lease_holder_replayed(struct lease_holder *l);

/*
 * lease_holder_resubscribe(l, filter):
 * A report was lost: have the broker send the retained ones of filter again.
 */
void lease_holder_resubscribe(
    struct lease_holder *l, enum report_filter filter);

/*
 * lease_holder_catching_up(l):
 * Whether the lease is held and retained messages are still arriving.
 */
bool lease_holder_catching_up(const struct lease_holder *l);

/*
 * lease_holder_retry_clear(l):
 * A retained message could not be cleared: look for such messages again in a
 * few seconds.
 */
void lease_holder_retry_clear(struct lease_holder *l);

/* lease_holder_fenced(l): A write was rejected: another replica leads. */
void lease_holder_fenced(struct lease_holder *l);

#endif /* !MQTT_BRIDGE_HANDLERS_H */
