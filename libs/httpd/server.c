/*
 * The requests of a server, and what is counted about them.
 */
#include "httpd/server.h"

#include <stdio.h>

#include "core/mem.h"

#define LABELS_MAX 256

static void
row_metrics(struct server_row *row, struct metric_set *set, const char *method,
    const char *path)
{
	static const char *const classes[] = { NULL, "1xx", "2xx", "3xx", "4xx",
		"5xx" };
	char labels[LABELS_MAX];

	for (size_t i = 2; i < NELEM(classes); i++) {
		snprintf(labels, sizeof(labels),
		    "method=\"%s\",route=\"%s\",class=\"%s\"", method, path,
		    classes[i]);
		row->by_class[i] =
		    metric_counter(set, "soul_http_requests_total",
			"HTTP requests that have ended, by class of status.",
			labels);
	}
	snprintf(
	    labels, sizeof(labels), "method=\"%s\",route=\"%s\"", method, path);
	row->seconds = metric_histogram(set,
	    "soul_http_request_duration_seconds",
	    "From a request's head to the last byte of its answer.", labels);
}

void
server_metrics(struct httpd *h, struct metric_set *set)
{
	static const char *const reasons[SERVER_REFUSALS] = {
		[SERVER_BUSY] = "workers",
		[SERVER_INBOX] = "inbox",
		[SERVER_STOPPING] = "stopping",
		[SERVER_RATE] = "rate",
		[SERVER_CROWD] = "connections",
		[SERVER_SLOW] = "slow",
	};
	char labels[LABELS_MAX];

	h->rows = mem_calloc(h->nroutes + 1, sizeof(*h->rows));
	for (size_t i = 0; i < h->nroutes; i++)
		row_metrics(
		    &h->rows[i], set, h->routes[i].method, h->routes[i].path);
	row_metrics(&h->rows[h->nroutes], set, "", "none");
	for (size_t i = 0; i < SERVER_REFUSALS; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"", reasons[i]);
		h->refused[i] = metric_counter(set, "soul_http_refused_total",
		    "HTTP requests refused before their handler ran (503, "
		    "429), and connections cut.",
		    labels);
	}
	h->busy_gauge = metric_gauge(set, "soul_http_busy",
	    "HTTP requests and streams that have not ended.", NULL);
	h->connections_gauge = metric_gauge(set, "soul_http_connections",
	    "Connections that hold a worker, idle ones too.", NULL);
}

void
server_enter(struct httpd *h, struct httpd_req *r)
{
	atomic_fetch_add(&h->busy, 1);
	metric_change(h->busy_gauge, 1);
	pthread_mutex_lock(&h->lock);
	TAILQ_INSERT_TAIL(&h->active, r, link);
	if (h->closing)
		req_close(r);
	pthread_mutex_unlock(&h->lock);
}

void
server_leave(struct httpd *h, struct httpd_req *r)
{
	pthread_mutex_lock(&h->lock);
	TAILQ_REMOVE(&h->active, r, link);
	if (TAILQ_EMPTY(&h->active))
		pthread_cond_signal(&h->none);
	pthread_mutex_unlock(&h->lock);
	metric_change(h->busy_gauge, -1);
	atomic_fetch_sub(&h->busy, 1);
}

void
server_count(struct httpd *h, const struct httpd_route *route, int status,
    struct mono start)
{
	size_t i = route != NULL ? (size_t)(route - h->routes) : h->nroutes;
	struct server_row *row = &h->rows[i];
	int class = status / 100;

	if (class >= 2 && class < (int)NELEM(row->by_class))
		metric_add(row->by_class[class], 1);
	metric_observe(
	    row->seconds, (double)mono_diff_ns(clock_mono(), start) / 1e9);
}
