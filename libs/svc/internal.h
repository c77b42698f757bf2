/*
 * What the parts of svc share; nobody else includes it.
 */
#ifndef SVC_INTERNAL_H
#define SVC_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bus/bus.h"
#include "bus/discovery.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/worker.h"
#include "httpd/httpd.h"
#include "svc/svc.h"

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

/* A route at run time: its numbers, and where its calls come from. */
struct svc_lane {
	struct svc *svc;
	const struct svc_route *route;
	struct bus_endpoint *endpoint; /* NULL: not on NATS */
	struct metric *seconds;
	struct metric *by_rc[RC_N];
	unsigned roles; /* who may ask over HTTP, as wire_route.roles */
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
	struct bus *bulk;   /* NULL: nobody wanted it yet */
	struct httpd *http; /* NULL: no route is on HTTP */
	struct httpd *admin;
	struct httpd_route admin_routes[3];
	struct httpd_route *http_routes;
	int64_t http_timeout_ms;
	struct metric_set *metrics;
	struct svc_lane *lanes;
	struct bus_service service;
	struct svc_need needs[SVC_REQUIRE_MAX];
	size_t nneeds;
	void (*note)(const void *arg, struct buf *out); /* NULL: none */
	const void *note_arg;
	struct worker_pool *decoders; /* of large requests */
	struct svc_calls open;
	struct svc_calls spare; /* ended calls whose memory is used again */
	size_t nopen, nspare;
	struct svc_events *events; /* NULL: there was none yet */
	struct svc_guard *guard;   /* NULL: anybody may ask */
	struct svc_places *places; /* NULL: no route is on HTTP */
	atomic_bool started;
	atomic_bool draining;
	bool drained;
	int exit_code;
	struct mono drain_by;
	struct loop_timer poll; /* while draining */
	struct loop_fd signals;
};

/* svc_def_has_http(def): Whether one of its routes is on HTTP. */
bool svc_def_has_http(const struct svc_def *def);

/*
 * svc_conf_opts(def, dst):
 * The options every service has, with def's default addresses; how many they
 * are: those of NATS are left out where there is none, those of access control
 * where no route is on HTTP.
 */
size_t svc_conf_opts(
    const struct svc_def *def, struct conf_opt dst[SVC_OPTS_N]);

/*
 * svc_args(def, argc, argv, conf, app_conf):
 * Read the configuration, answer --help and its like, do a command.  -1: go on
 * and run; otherwise the exit code.
 */
int svc_args(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf);

/*
 * svc_conf_load(def, conf, app_conf):
 * Read both from the environment; -1, or the exit code after telling on stderr
 * what is wrong.
 */
int svc_conf_load(
    const struct svc_def *def, struct svc_conf *conf, void *app_conf);

/*
 * svc_command(def, argc, argv, conf, app_conf):
 * Do the command argv[0]; the exit code.
 */
int svc_command(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf);

/*
 * "token", of every service that has HTTP routes: changes a token file.  It
 * needs no configuration and is given none.
 */
extern const struct svc_command svc_token_command;

/*
 * svc_commands_help(def, out): For --help: how each is used, what each does.
 */
void svc_commands_help(const struct svc_def *def, struct buf *out);

/*
 * svc_bus_opts(def, conf):
 * Where NATS is; neither loop nor callbacks are set.
 */
struct bus_opts svc_bus_opts(
    const struct svc_def *def, const struct svc_conf *conf);

/* Longest wait for the answer of a service that is asked whether it is ready.
 */
#define SVC_HEALTH_MS 2000

/*
 * svc_health(admin_addr, why):
 * Ask the service whose ADMIN_ADDR that is for /readyz, and wait SVC_HEALTH_MS
 * at most.  RC_OK: it is ready.  RC_DOWN: it is not; RC_INVALID: the address is
 * none; why then has one line, without its end.
 */
enum rc svc_health(const char *admin_addr, struct buf *why) RC_CHECK;

/*
 * svc_admin_start(s): Open the admin port: /livez, /readyz, /metrics.
 * svc_ready(s):       Whether the service can do its work.  Any thread.
 */
enum rc svc_admin_start(struct svc *s) RC_CHECK;
bool svc_ready(struct svc *s);

/*
 * svc_lanes_start(s): Make the routes' metrics and open the HTTP port.
 * svc_lanes_serve(s): Subscribe the routes and announce the service.
 * svc_lanes_free(s):  Free what both made, and the spare calls.
 */
enum rc svc_lanes_start(struct svc *s) RC_CHECK;
enum rc svc_lanes_serve(struct svc *s) RC_CHECK;
void svc_lanes_free(struct svc *s);

/*
 * svc_call_http(c):    The HTTP request that c is; NULL over NATS.
 * svc_call_streams(c): It has begun to be answered by a stream.
 */
struct httpd_req *svc_call_http(struct svc_call *c);
void svc_call_streams(struct svc_call *c);

/*
 * svc_events_wish(s): See to the stream of events now, not with the first.
 * svc_events_hold(s): Whether a drain still waits for events on their way.
 * svc_events_stop(s): Nothing is repeated any more.  Before bus_free().
 * svc_events_free(s): After it.
 */
void svc_events_wish(struct svc *s);
bool svc_events_hold(struct svc *s);
void svc_events_stop(struct svc *s);
void svc_events_free(struct svc *s);

/* svc_drain_step(s): End the program if draining and nothing is left to do. */
void svc_drain_step(struct svc *s);

#endif /* !SVC_INTERNAL_H */
