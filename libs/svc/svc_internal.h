/*
 * svc_internal: what the files of libs/svc share.
 */
#ifndef SVC_SVC_INTERNAL_H
#define SVC_SVC_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "auth/auth.h"
#include "bus/bus.h"
#include "bus/discovery.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/worker.h"
#include "httpd/httpd.h"
#include "svc/svc.h"

struct wire_audit;

/* The options every service has. */
struct svc_conf {
	const char *nats_url;
	const char *nats_user;
	const char *nats_password;
	const char *nats_ca_file;
	const char *nats_cert_file;
	const char *nats_key_file;
	int64_t nats_replicas; /* 1, 3 or 5 */
	const char *http_addr;
	const char *admin_addr;
	const char *log_level;
	int64_t http_workers;
	int64_t inbox_max;
	int64_t drain_timeout_ms;
	/* Of services that have HTTP routes. */
	const char *auth;
	const char *auth_tokens;
	const char *auth_jwks;
	const char *auth_issuer;
	const char *auth_audience;
	int64_t rate_token_per_s;
	int64_t rate_token_burst;
	int64_t rate_cost_bytes, rate_cost_us;
	int64_t rate_address_per_s;
	int64_t rate_address_burst;
	int64_t http_per_address;
	int64_t streams_per_token, streams_per_address;
	const char *trusted_proxies;
	const char *cors_origins;
};

#define SVC_OPTS_N 29

enum svc_exit {
	SVC_EXIT_USAGE = 64,
	SVC_EXIT_TAKEN = 69,
	SVC_EXIT_FAILED = 70,
	SVC_EXIT_CONFIG = 78
};

/* A route at run time. */
struct svc_endpoint {
	struct svc *svc;
	const struct svc_route *route;
	struct bus_endpoint *nats; /* NULL: not on NATS */
	struct metric *seconds;
	struct metric *by_rc[RC_N];
	unsigned roles; /* allowed over HTTP, as wire_route.roles */
};

struct svc_need {
	const char *name;
	bool (*up)(void *arg);
	void *arg;
};

TAILQ_HEAD(svc_calls, svc_call);

struct svc {
	const struct svc_def *def;
	struct svc_conf conf;
	void *app_conf;
	void *app;
	struct loop *loop;
	struct bus *bus;    /* NULL: def->no_bus */
	struct httpd *http; /* NULL: no route is on HTTP */
	struct httpd *admin;
	struct httpd_route admin_routes[3];
	struct httpd_route *http_routes;
	int64_t http_timeout_ms;
	struct metric_set *metrics;
	struct svc_endpoint *endpoints;
	struct bus_service service;
	struct svc_need needs[SVC_REQUIRE_MAX];
	size_t nneeds;
	void (*note)(const void *arg, struct buf *out); /* NULL: none */
	const void *note_arg;
	struct worker_pool *decoders; /* of large requests */
	struct svc_calls open;
	struct svc_calls spare;   /* ended calls whose memory is reused */
	struct svc_calls waiting; /* they came over NATS, and have no fiber */
	struct svc_worker_calls *worker_calls;
	size_t nwaiting, nfibers;
	struct loop_deferred serve_next;
	size_t nopen, nspare;
	struct svc_events *events;                 /* NULL: none was sent yet */
	struct svc_access *access;                 /* NULL: no authentication */
	struct svc_ws_listener *ws;                /* NULL: def->ws is */
	struct svc_stream_limiter *stream_limiter; /* NULL: no HTTP routes */
	atomic_bool started;
	atomic_bool draining;
	bool bus_draining, drained; /* the bus */
	int exit_code;
	struct mono drain_by;
	struct loop_timer poll; /* while draining */
	struct loop_fd signals;
};

/* svc_drain_step(s): End the program if draining and nothing is left to do. */
void svc_drain_step(struct svc *s);

/* svc_bus_opts(def, conf): Where NATS is; loop and callbacks are not set. */
struct bus_opts svc_bus_opts(
    const struct svc_def *def, const struct svc_conf *conf);

/* ---- config.c ---- */

/* svc_def_has_http(def): Whether it serves anything at HTTP_ADDR. */
bool svc_def_has_http(const struct svc_def *def);

/*
 * svc_conf_opts(def, dst):
 * The options every service has, with def's default addresses, and their
 * number: those of NATS are left out without NATS, those of access control if
 * nothing is at HTTP_ADDR, those of requests without HTTP routes.
 */
size_t svc_conf_opts(
    const struct svc_def *def, struct conf_opt dst[SVC_OPTS_N]);

/*
 * svc_args(def, argc, argv, conf, app_conf):
 * Read the configuration, handle --help and its like, run a command.  -1: go on
 * and run; otherwise the exit code.
 */
int svc_args(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf);

/*
 * svc_conf_load(def, conf, app_conf):
 * Read both from the environment; -1, or the exit code after printing to stderr
 * what is wrong.
 */
int svc_conf_load(
    const struct svc_def *def, struct svc_conf *conf, void *app_conf);

/*
 * svc_access_conf_warn(conf): Log what is allowed but open.
 *
 * svc_http_opts(s, o):
 * The network's part of o: proxies, CORS, and limits of addresses where callers
 * are authenticated; elsewhere all requests come from this machine.
 */
void svc_access_conf_warn(const struct svc_conf *conf);
void svc_http_opts(const struct svc *s, struct httpd_opts *o);

/* ---- commands.c, token_command.c ---- */

/* svc_command(def, argc, argv, conf, app_conf): Run command argv[0]. */
int svc_command(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf);

/* svc_commands_help(def, out): For --help: usage and summary of each. */
void svc_commands_help(const struct svc_def *def, struct buf *out);

/*
 * "token", of every service that has HTTP routes: edits a token file.  It gets
 * no configuration.
 */
extern const struct svc_command svc_token_command;

/* ---- admin.c ---- */

/*
 * svc_admin_start(s): Open the admin port: /livez, /readyz, /metrics.
 * svc_ready(s):       Whether the service can do its work.  Any thread.
 * svc_ready_lines(s, out): The same for a struct svc, with the lines of
 *                     /readyz.
 */
enum rc svc_admin_start(struct svc *s) RC_CHECK;
bool svc_ready(struct svc *s);
bool svc_ready_lines(void *s, struct buf *out);

/* Longest wait of svc_probe(). */
#define SVC_PROBE_MS 2000

/*
 * svc_probe(admin_addr, why):
 * GET /readyz from the service with that ADMIN_ADDR.  RC_OK: it is ready.
 * RC_DOWN: it is not; RC_INVALID: the address is not valid; why then has one
 * line, without its end.
 */
enum rc svc_probe(const char *admin_addr, struct buf *why) RC_CHECK;

/* ---- endpoint.c ---- */

/*
 * svc_endpoints_start(s): Make the routes' metrics and open the HTTP port.
 * svc_endpoints_serve(s): Subscribe the routes and announce the service.
 * svc_endpoints_free(s):  Free what both made, and the spare calls.
 */
enum rc svc_endpoints_start(struct svc *s) RC_CHECK;
enum rc svc_endpoints_serve(struct svc *s) RC_CHECK;
void svc_endpoints_free(struct svc *s);

/* ---- call.c ---- */

struct call_decoded;
struct stream_check;

/* One request from its arrival to its reply. */
struct svc_call {
	TAILQ_ENTRY(svc_call) link; /* in open, spare or waiting */
	struct svc_endpoint *endpoint;
	struct bus_msg *msg; /* one of these two is NULL */
	struct httpd_req *http;
	struct arena *arena;
	void *request;
	void *data;                   /* svc_call_set_data() */
	struct call_decoded *decoded; /* by another thread; NULL: not */
	struct trace trace;
	struct wall deadline;
	struct mono start;
	bool on_worker;     /* an HTTP worker's, never in open */
	bool to_loop;       /* svc_call_to_loop() */
	bool streaming;     /* the response has begun, over HTTP */
	bool authenticated; /* caller is set */
	struct auth_caller caller;
	const struct svc_form *form; /* NULL: that of its route */
	struct stream_check *check; /* NULL: no check of its token is pending */
};

/*
 * svc_call_serve(c):
 * Decode the request, a large one on another thread unless the service
 * decodes it, and hand c to its handler, which runs in a fiber.
 */
void svc_call_serve(struct svc_call *c);

/*
 * svc_call_from_msg(endpoint, m), svc_call_from_http(endpoint, r):
 * A request of a struct svc_endpoint arrived; it is owned from now on.
 */
void svc_call_from_msg(void *endpoint, struct bus_msg *m);
void svc_call_from_http(void *endpoint, struct httpd_req *r);

/*
 * svc_call_init(c, endpoint, start): All of c but link, arena and caller.
 * svc_call_set_http(c, r): It came over HTTP.
 *
 * svc_call_serve_on_worker(c):
 * Decode the request of c and call its handler, on an HTTP worker; false: c is
 * for the loop.
 */
void svc_call_init(
    struct svc_call *c, struct svc_endpoint *endpoint, struct mono start);
void svc_call_set_http(struct svc_call *c, struct httpd_req *r);
bool svc_call_serve_on_worker(struct svc_call *c);

/* ---- worker_call.c ---- */

/*
 * svc_worker_calls_new(), svc_worker_calls_free(w):
 * The memory of calls on HTTP workers; NULL is allowed.
 *
 * svc_worker_call(endpoint, r):
 * A request of a service that is on_worker, as httpd_route.on_worker().
 */
struct svc_worker_calls;
struct svc_worker_calls *svc_worker_calls_new(void);
void svc_worker_calls_free(struct svc_worker_calls *w);
bool svc_worker_call(void *endpoint, struct httpd_req *r);

/* ---- event.c ---- */

/*
 * svc_events_ensure_stream(s): Create the stream now, not with the first event.
 * svc_events_hold(s): Whether a drain still waits for events to be stored.
 * svc_events_stop(s): Nothing is retried any more.  Before bus_free().
 * svc_events_free(s): After it.
 */
void svc_events_ensure_stream(struct svc *s);
bool svc_events_hold(struct svc *s);
void svc_events_stop(struct svc *s);
void svc_events_free(struct svc *s);

/* ---- access.c ---- */

struct svc_access {
	struct svc *svc;
	struct worker_pool *workers;
	struct auth *auth;
	struct rate *tokens;    /* of requests */
	struct rate *terminals; /* that they name, of all tokens together */
	struct svc_rejections *rejections;
	struct loop_timer recheck; /* of the streams' tokens */
};

/*
 * svc_access_start(s): Make s->access, if callers are authenticated.
 * RC_INVALID: a file cannot be used (logged). svc_access_stop(s): Free it.  No
 * call is open any more.
 */
enum rc svc_access_start(struct svc *s) RC_CHECK;
void svc_access_stop(struct svc *s);

/* svc_access_auth_opts(conf): The files and names of auth, without its loop. */
struct auth_opts svc_access_auth_opts(const struct svc_conf *conf);

/* svc_access_bearer(r): The token in the Authorization header; absent: none. */
struct str svc_access_bearer(struct httpd_req *r);

/*
 * svc_access_check_call(c):
 * Serve c, of HTTP, now or later, or reject it: its token (401), the rate of
 * that (429), the holder's role (403), and whether the holder may name the user
 * and the terminal that c names (403).  Handlers then read full ids.
 */
void svc_access_check_call(struct svc_call *c);

/*
 * svc_access_check_request(c):
 * After the request was decoded: the user and the terminal in its members
 * user_id and terminal_id; if left out they become the caller's.  False: c was
 * rejected.
 */
bool svc_access_check_request(struct svc_call *c);

/*
 * svc_host_is_local(host):
 * Of a Host header: localhost, a name that ends in .localhost, or an address,
 * with or without a port.  Absent or empty, as of HTTP/1.0: yes.  Pure.
 */
bool svc_host_is_local(struct str host);

/*
 * svc_caller_user(c, a, named, out, why):
 * The full id of the user that caller c means by named, of a or of c: itself,
 * with or without its tenant, also if named is absent (absent if it is no
 * user); for operators and provisioners any user of their tenant, or any at all
 * if they have none.  RC_DENIED: c may not act for named; RC_INVALID: that is
 * no user id; why says so.  Pure.
 *
 * svc_caller_terminal(c, named, out, why):
 * The same of a terminal: a terminal means itself; other callers what they
 * name, or none.
 */
enum rc svc_caller_user(const struct auth_caller *c, struct arena *a,
    struct str named, struct str *out, const char **why) RC_CHECK;
enum rc svc_caller_terminal(const struct auth_caller *c, struct str named,
    struct str *out, const char **why) RC_CHECK;

/* Room for tenant, user and terminal, NUL included. */
#define TERMINAL_KEY_MAX (3 * (ID_MAX + 1))

/* What a request costs, charged to its token and the terminal it names. */
struct request_cost {
	struct svc_access *access; /* NULL: not charged */
	uint64_t token;
	struct str terminal; /* absent: it names none */
	char text[TERMINAL_KEY_MAX];
	size_t bytes;
	int64_t other_ns; /* of another thread's */
};

/*
 * svc_cost_begin(b, c, other_ns):
 * c is about to be decoded, in this fiber; another thread has spent other_ns
 * on it.
 * svc_cost_terminal(b, c): It was, and svc_access_check_request() passed.
 * svc_cost_hand_over(b): Another fiber goes on with c; the ns that this one has
 * spent, which that one is to count.
 * svc_cost_end(b): Its handler has returned; c may be freed.  Its bytes and the
 * processor time of the fiber count as so many more requests.
 */
void svc_cost_begin(
    struct request_cost *b, const struct svc_call *c, int64_t other_ns);
void svc_cost_terminal(struct request_cost *b, struct svc_call *c);
int64_t svc_cost_hand_over(struct request_cost *b);
void svc_cost_end(struct request_cost *b);

/* ---- stream_limiter.c ---- */

/*
 * svc_stream_limiter_new(s), svc_stream_limiter_free(l): After, and before, the
 * HTTP server.
 */
struct svc_stream_limiter *svc_stream_limiter_new(const struct svc *s);
void svc_stream_limiter_free(struct svc_stream_limiter *l);

/*
 * svc_stream_check_start(a), svc_stream_check_stop(a):
 * Check the tokens of open streams every few seconds, and abort those whose
 * token is not valid any more.
 * svc_stream_check_forget(c): c ends.
 */
void svc_stream_check_start(struct svc_access *a);
void svc_stream_check_stop(struct svc_access *a);
void svc_stream_check_forget(struct svc_call *c);

/* ---- rejection.c ---- */

enum rejection_reason {
	REJECTION_NO_TOKEN,
	REJECTION_HEADER,
	REJECTION_TOKEN,
	REJECTION_RATE,
	REJECTION_ROLE,
	REJECTION_USER,
	REJECTION_TERMINAL,
	REJECTION_N
};

struct rejection {
	enum rejection_reason reason;
	int status;
	const char *code;
	const char *text;      /* for the caller; without the token */
	const char *challenge; /* httpd_challenge(); NULL: none */
};

/* svc_rejections_new(m), svc_rejections_free(r): NULL is allowed. */
struct svc_rejections *svc_rejections_new(struct metric_set *m);
void svc_rejections_free(struct svc_rejections *r);

/* Where a client was rejected, and whom. */
struct rejection_context {
	const char *route;
	struct str address;
	const struct auth_caller *who; /* NULL: not known */
	const struct trace *trace;
};

/*
 * svc_rejection_note(s, at, why): All of svc_rejection_send() but the response.
 *
 * svc_rejection_send(c, why):
 * Count it, log it, send an audit event, respond and end c.  Log lines and
 * events are limited to one a second for each address, ten for all; each has
 * the number of those left out since.
 */
void svc_rejection_note(struct svc *s, const struct rejection_context *at,
    const struct rejection *why);
void svc_rejection_send(struct svc_call *c, const struct rejection *why);

/* ---- audit.c ---- */

/* ---- ws_listener.c; no-ops without def->ws ---- */

/*
 * svc_ws_start(s): Listen.
 * svc_ws_drain(s): Accept nothing more, and close all, in portions.
 * svc_ws_is_empty(s): Whether no connection is left.
 * svc_ws_free(s): Close all at once, before the service's state is freed.
 * svc_ws_forget(s): The rest, after svc_access_stop().
 */
enum rc svc_ws_start(struct svc *s) RC_CHECK;
void svc_ws_drain(struct svc *s);
bool svc_ws_is_empty(const struct svc *s);
void svc_ws_free(struct svc *s);
void svc_ws_forget(struct svc *s);

#endif /* !SVC_SVC_INTERNAL_H */
