/*
 * server: what the parts of httpd share about one listening server.  Private.
 */
#ifndef HTTPD_SERVER_H
#define HTTPD_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/loop.h"
#include "core/metric.h"
#include "httpd/cors.h"
#include "httpd/gate.h"
#include "httpd/httpd.h"
#include "httpd/peer.h"
#include "httpd/req.h"

/* A body must have arrived after this time, or after timeout_ms if shorter. */
#define SERVER_BODY_MS 10000
/* A body nobody wants is read for so long, and until watch looks again. */
#define SERVER_REST_MS 500
/* An answer must have been taken by the client after this time. */
#define SERVER_SEND_MS 30000
/* Idle connections are closed after this time; a header must arrive in it. */
#define SERVER_KEEP_MS   1000
#define SERVER_HEADER_MS 2000
/* An event stream says something at least this often. */
#define SERVER_COMMENT_MS 15000

struct mg_connection;
struct mg_context;

struct crowd;

/* Why a request was refused, or a connection cut, without its handler. */
enum server_refusal {
	SERVER_BUSY,     /* too few free workers */
	SERVER_INBOX,    /* the loop's inbox is full */
	SERVER_STOPPING, /* httpd_stop() */
	SERVER_RATE,     /* the client's rate */
	SERVER_CROWD,    /* its requests or connections at a time */
	SERVER_SLOW,     /* it says too little while workers are scarce */
	SERVER_REFUSALS
};

/* Metrics of one route; the last row is for requests without a route. */
struct server_row {
	struct metric *by_class[6]; /* by status / 100; [0] unused */
	struct metric *seconds;
};

struct httpd {
	struct loop *loop;
	const struct httpd_route *routes;
	size_t nroutes;
	unsigned workers;
	int64_t timeout_ms;
	int64_t comment_ms;
	struct peer_nets trusted;
	struct cors cors;
	struct gate *gate; /* NULL: no limits */
	size_t per_address;
	struct crowd *crowd; /* NULL: per_address is 0 */
	struct mg_context *ctx;
	uint32_t addr; /* IPv4, network order */
	_Atomic int port;

	_Atomic bool stopping;
	_Atomic size_t connections; /* that hold a worker */
	_Atomic size_t busy;        /* requests that have not ended */
	_Atomic size_t reading;     /* of these, whose body is being read */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t none;  /* active has become empty */
	TAILQ_HEAD(, httpd_req) active;
	bool closing;

	struct loop_timer watch; /* of the loop: see watch.h */

	struct server_row *rows; /* nroutes + 1 */
	struct metric *refused[SERVER_REFUSALS];
	struct metric *busy_gauge;
	struct metric *connections_gauge;
};

/* server_metrics(h, set): Make the metrics. */
void server_metrics(struct httpd *h, struct metric_set *set);

/* server_enter(h, r), server_leave(h, r): Worker: r begins, r has ended. */
void server_enter(struct httpd *h, struct httpd_req *r);
void server_leave(struct httpd *h, struct httpd_req *r);

/*
 * server_count(h, route, status, start):
 * Count a request that has ended; route is NULL if none was found.
 */
void server_count(struct httpd *h, const struct httpd_route *route, int status,
    struct mono start);

#endif /* !HTTPD_SERVER_H */
