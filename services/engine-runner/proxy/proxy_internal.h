/*
 * What the files of the proxy share.  Loop thread.
 */
#ifndef ENGINE_RUNNER_PROXY_INTERNAL_H
#define ENGINE_RUNNER_PROXY_INTERNAL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "core/loop.h"
#include "core/tcp_listener.h"
#include "http/head_reader.h"
#include "httpc/httpc.h"
#include "proxy/key_filter.h"
#include "proxy/proxy.h"
#include "proxy/proxy_engine.h"
#include "proxy/proxy_path.h"
#include "proxy/run_budget.h"
#include "proxy/token_count.h"

/* Connections of engines at a time; more are closed. */
#define PROXY_CLIENTS_MAX 256
/* Request bodies of all of them. */
#define PROXY_BODIES_MAX (256L * 1024 * 1024)
/* Of one, waiting to be sent to an engine that does not read. */
#define PROXY_QUEUE_MAX (8L * 1024 * 1024)
/* Of one read of a connection. */
#define PROXY_READ_BYTES (64UL * 1024)
/* Runs whose tokens are counted. */
#define PROXY_RUNS_MAX 4096

TAILQ_HEAD(proxy_client_list, proxy_client);

struct proxy {
	struct svc *svc;
	struct loop *loop;
	const struct proxy_conf *conf;
	struct httpc *httpc;
	struct proxy_engines engines;
	struct run_budgets *budgets;
	unsigned char secret[PROXY_SECRET_BYTES];
	struct tcp_listener listener;
	struct proxy_client_list clients;
	size_t nclients;
	size_t bodies; /* bytes of request bodies that are reserved */
	struct metric *nclients_gauge;
	struct metric *by_status[600]; /* made when they occur */
	char part[PROXY_READ_BYTES];   /* what is being read */
};

enum proxy_phase {
	CLIENT_HEAD, /* its request's head is read */
	CLIENT_BODY,
	CLIENT_CALL,   /* the model is called */
	CLIENT_END,    /* the rest of the response is sent */
	CLIENT_LINGER, /* until the engine has closed, too */
};

/* A connection; it serves one request. */
struct proxy_client {
	TAILQ_ENTRY(proxy_client) link;
	struct proxy *p;
	struct loop_fd watch;
	struct loop_timer timer;
	enum proxy_phase phase;
	struct buf in;
	size_t head_n, body_n; /* bytes of the request */
	struct buf out;
	bool chunked, head_sent, truncated;
	/* of an admitted request */
	const struct proxy_engine *engine;
	struct run_budget *run;
	struct buf target; /* behind the provider's base URL */
	struct httpc_call *call;
	struct token_count count;
	struct key_filter filter;
	int status; /* the provider's; 0: none yet */
};

/*
 * proxy_client_new(p, fd): Serve an accepted connection, which it owns.
 * proxy_client_free(c): Close it at once; a call of a model is cancelled.
 */
void proxy_client_new(struct proxy *p, int fd);
void proxy_client_free(struct proxy_client *c);

/*
 * proxy_client_fail(c, status, text):
 * Respond with an error in the format of the engine's API, and end.
 *
 * proxy_client_end(c): The response is complete, or truncated.
 */
void proxy_client_fail(struct proxy_client *c, int status, const char *text);
void proxy_client_end(struct proxy_client *c);

/* proxy_client_flush(c): Send what can be sent.  False: c was freed. */
bool proxy_client_flush(struct proxy_client *c);

/*
 * proxy_admit(c, h):
 * Whether the request with this head may be made; its body is read next.
 * Otherwise c has its error.
 */
bool proxy_admit(struct proxy_client *c, const struct http_head *h);

/* proxy_call_start(c): Call the model with the request in c->in. */
void proxy_call_start(struct proxy_client *c);

/* proxy_call_stop(c): Cancel it, and count what it has taken. */
void proxy_call_stop(struct proxy_client *c);

/* proxy_count_status(p, status): In the metrics. */
void proxy_count_status(struct proxy *p, int status);

#endif /* !ENGINE_RUNNER_PROXY_INTERNAL_H */
