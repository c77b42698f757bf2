/*
 * gateway: what all of chat-gateway's routes share.
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

struct arena;
struct buf;
struct follows;
struct state;
struct svc;
struct svc_call;
struct worker_pool;

struct gateway_conf {
	const char *redis_url;
	int64_t redis_timeout_ms;
	const char *user_id; /* of a request that names none */
	int64_t snapshot_ttl_s;
	bool soul_auto_create;
	const char *default_mbti; /* of souls that are made that way */
	const char *model;        /* of souls that are made */
};

struct gateway {
	const struct gateway_conf *conf;
	struct svc *svc;
	struct state *state;
	struct worker_pool *workers;
	/* For what is stored and not answered as it is; reset before use. */
	struct arena *scratch;
	struct arena *bodies; /* of lookups of bodies' identities */
	struct follows *follows;
	char instance[ID_HEX32_MAX]; /* of this process, in a session's queue */
	TAILQ_HEAD(, watcher) watchers; /* see on_events.h */
	struct metric *watching;
	bool draining;
};

struct metric;
struct watcher;

/*
 * gateway_check(), gateway_start(), gateway_drain(), gateway_stop(): See struct
 * svc_def.
 */
void gateway_check(const void *conf, struct buf *errors, struct buf *known);
void *gateway_start(struct svc *s, const void *conf);
void gateway_drain(void *app);
void gateway_stop(void *app);

/* gateway_ttl_ms(g): How long a terminal's snapshots count. */
int64_t gateway_ttl_ms(const struct gateway *g);

/*
 * gateway_id(c, id, name):
 * Whether id may be an id; otherwise c is answered 400, naming it, and ended.
 */
bool gateway_id(struct svc_call *c, struct str id, const char *name);

/*
 * gateway_stream_begin(g, c):
 * svc_stream_admit(c), but none begins while the service stops.
 */
bool gateway_stream_begin(struct gateway *g, struct svc_call *c);

/*
 * gateway_fail(c, rc):
 * Answer a state that could not be read or written, and end c.
 */
void gateway_fail(struct svc_call *c, enum rc rc);

/*
 * gateway_fail_bus(c, rc):
 * Answer a request to another service that could not be sent, and end c.
 */
void gateway_fail_bus(struct svc_call *c, enum rc rc);

/* gateway_refuse(c, rc, fmt, ...): svc_fail() with a formatted text. */
void gateway_refuse(struct svc_call *c, enum rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* !CHAT_GATEWAY_GATEWAY_H */
