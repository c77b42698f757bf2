/*
 * gateway: state of the process and functions that all routes use.  Everything
 * runs on the loop thread.
 */
#ifndef CHAT_GATEWAY_GATEWAY_H
#define CHAT_GATEWAY_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/state_conf.h"
#include "wire/wire.h"

struct arena;
struct buf;
struct event_log;
struct event_stream;
struct followers;
struct httpd_file;
struct httpd_tunnel;
struct live;
struct metric;
struct state;
struct svc;
struct speech_limits;
struct svc_call;
struct webhooks;
struct worker_pool;

struct gateway_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *user_id; /* default user of unauthenticated requests */
	int64_t snapshot_ttl_s;
	bool soul_auto_create;
	const char *default_mbti; /* of automatically created souls */
	const char *model;        /* of new souls */
	bool console;
	const char *body_broker;  /* of GET /mqtt; "": there is none */
	const char *secrets_key;  /* of webhooks' secrets; "": none */
	bool webhook_private;     /* they may have private addresses */
	int64_t webhook_retry_ms; /* after their first failure */
	int64_t webhook_tries;    /* of an event, then it is given up */
};

/* One for each of its settings. */
#define GATEWAY_OPTS_N (13 + STATE_CONF_N)
extern const struct conf_opt gateway_opts[GATEWAY_OPTS_N];

struct gateway {
	const struct gateway_conf *conf;
	struct svc *svc;
	struct state *state;
	struct worker_pool *workers;
	struct arena *credentials; /* of the last credential lookup */
	struct followers *followers;
	struct event_log *log;
	struct live *live;
	struct speech_limits *speech_limits;
	struct webhooks *webhooks;   /* NULL: off */
	char instance[ID_HEX32_MAX]; /* of this process, in a session's queue */
	TAILQ_HEAD(, event_stream) event_streams; /* open ones */
	struct metric *open_streams;
	bool draining;
};

/* gateway_check(), gateway_start(), gateway_stop(): See struct svc_def. */
void gateway_check(const void *conf, struct buf *errors, struct buf *known);
void *gateway_start(struct svc *s, const void *conf);
void gateway_stop(void *app);

/* gateway_files(): See svc_def.files: the console, unless CONSOLE=off. */
const struct httpd_file *gateway_files(const void *conf, size_t *n);

/* gateway_tunnel(): See svc_def.tunnel: MQTT in a WebSocket, for browsers. */
void gateway_tunnel(const void *conf, struct httpd_tunnel *out);

/* Memory limit of a stored record that is being read, decoded and copied. */
#define GATEWAY_RECORD_MAX \
	(2 * (size_t)WIRE_ARENA_MAX + 4 * (size_t)WIRE_MESSAGE_MAX)

/* gateway_ttl_ms(g): How long a terminal's snapshots are valid. */
int64_t gateway_ttl_ms(const struct gateway *g);

/*
 * gateway_trim_text(s):
 * UTF-8 without leading and trailing Unicode white space; n is 0 if nothing
 * else is in s.
 */
struct str gateway_trim_text(struct str s);

/*
 * gateway_query_number(c, name, min, max, v):
 * A number of the query; *v stays if there is none.  False: c was rejected.
 */
bool gateway_query_number(
    struct svc_call *c, const char *name, int64_t min, int64_t max, int64_t *v);

/*
 * gateway_id(c, id, name):
 * Whether id is a valid id.  False: c has been ended with 400, naming it.
 */
bool gateway_id(struct svc_call *c, struct str id, const char *name);

/*
 * gateway_fail(c, rc):               End c with the error of a state access.
 * gateway_fail_missing(c, rc, text): The same, but RC_NOENT is 404 with text.
 * gateway_fail_bus(c, rc):           End c with the error of a request to
 *                                    another service that was not sent.
 * gateway_reject(c, rc, fmt, ...):   svc_fail() with a formatted text.
 *
 * gateway_alloc(c, n): n zeroed bytes of c's memory; NULL: c has been ended.
 */
void *gateway_alloc(struct svc_call *c, size_t n);
void gateway_fail(struct svc_call *c, enum rc rc);
void gateway_fail_missing(struct svc_call *c, enum rc rc, const char *text);
void gateway_fail_bus(struct svc_call *c, enum rc rc);
void gateway_reject(struct svc_call *c, enum rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct binding {
	struct str terminal_id, user_id, soul_id;
};

/*
 * gateway_audit_binding(c, reason, b):
 * Publish the audit event of a binding that c changed to b.  soul_id absent:
 * unbound; user_id is then the previous owner.
 */
void gateway_audit_binding(
    struct svc_call *c, const char *reason, const struct binding *b);

struct fcmp_event;

/*
 * gateway_stream_begin(g, c):    svc_stream_admit(c); 503 while draining.
 * gateway_stream_send(c, e):     As svc_sse_send(); the event's id is its
 *                                seq.
 * gateway_stream_has_room(c):    Whether less than half of the output limit is
 *                                used, so that another event fits.
 */
bool gateway_stream_begin(struct gateway *g, struct svc_call *c);
enum rc gateway_stream_send(
    struct svc_call *c, const struct fcmp_event *e) RC_CHECK;
bool gateway_stream_has_room(struct svc_call *c);

#endif /* !CHAT_GATEWAY_GATEWAY_H */
