/*
 * bus_jobs: a stream of numbered jobs and consumers that record their
 * deliveries, for tests of libs/bus.
 */
#ifndef TESTKIT_BUS_JOBS_H
#define TESTKIT_BUS_JOBS_H

#include "bus/jetstream.h"
#include "testkit/bus_fixture.h"

/* Jobs are numbered below this. */
#define BUS_JOBS_MAX 5000

/* How often a stream or consumer was confirmed, and not. */
struct bus_jobs_ready {
	int ok, failed;
	enum rc last;
};

/* The callback, and conditions: confirmed, not confirmed at least once. */
void bus_jobs_on_ready(void *arg, enum rc rc);
bool bus_jobs_is_ready(void *arg);
bool bus_jobs_is_rejected(void *arg);

/*
 * bus_jobs_stream(w): The stream JOBS of job.>.
 * bus_jobs_create(e): Create it and wait until it is confirmed.
 */
struct bus_stream bus_jobs_stream(struct bus_jobs_ready *w);
void bus_jobs_create(struct bus_fixture *e);

/* The end of one publish. */
struct bus_jobs_ack {
	int calls;
	enum rc rc;
	struct bus_pub_ack stored;
};

void bus_jobs_on_ack(void *arg, enum rc rc, const struct bus_pub_ack *s);
bool bus_jobs_is_acked(void *arg);

/*
 * bus_jobs_publish(e, subject, id, p): Publish id, with itself as message id,
 * and wait for the acknowledgement.
 * bus_jobs_publish_many(e, n): Publish jobs 0 to n-1.
 */
enum rc bus_jobs_publish(struct bus_fixture *e, const char *subject,
    const char *id, struct bus_jobs_ack *p);
void bus_jobs_publish_many(struct bus_fixture *e, int n);

/* How a member ends its deliveries. */
enum bus_jobs_outcome {
	BUS_JOBS_ACK,
	BUS_JOBS_NAK,
	BUS_JOBS_FREE, /* neither */
	BUS_JOBS_HOLD  /* not at all; stored in held */
};

/* A member of the consumer, and its deliveries. */
struct bus_jobs_member {
	enum bus_jobs_outcome outcome;
	int64_t delay_ms;          /* of a nak */
	int n;                     /* deliveries */
	int distinct;              /* jobs delivered at least once */
	int times[BUS_JOBS_MAX];   /* per job */
	int64_t seq[BUS_JOBS_MAX]; /* its number in the stream */
	struct mono at[8];         /* of the first deliveries */
	int64_t delivered[8];      /* the same member of their metadata */
	struct bus_delivery last;
	struct bus_msg *held[64];
	int n_held;
	struct bus_jobs_ready ready;
};

/* The message callback of a member. */
void bus_jobs_on_msg(void *arg, struct bus_msg *m);

/*
 * bus_jobs_consumer(s): The durable consumer "worker" with the member s.
 * bus_jobs_consume(e, b, c): Join it and wait until it is confirmed.
 */
struct bus_consumer bus_jobs_consumer(struct bus_jobs_member *s);
void bus_jobs_consume(
    struct bus_fixture *e, struct bus *b, const struct bus_consumer *c);

/*
 * Wait until s has had n deliveries of that many distinct jobs; for ms, or the
 * longest wait.
 */
bool bus_jobs_until_ms(struct bus_fixture *e, struct bus_jobs_member *s,
    int distinct, int n, int ms);
bool bus_jobs_until(
    struct bus_fixture *e, struct bus_jobs_member *s, int distinct, int n);

/*
 * bus_jobs_consumer_number(e, key): A number of the server's CONSUMER.INFO.
 * bus_jobs_consumer_until(e, key, want): Wait until it is want.
 */
long long bus_jobs_consumer_number(struct bus_fixture *e, const char *key);
bool bus_jobs_consumer_until(
    struct bus_fixture *e, const char *key, long long want);

#endif /* !TESTKIT_BUS_JOBS_H */
