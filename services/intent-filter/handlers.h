/*
 * handlers: the configuration of the service and its one route.
 */
#ifndef INTENT_FILTER_HANDLERS_H
#define INTENT_FILTER_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/state_conf.h"

struct buf;
struct svc;
struct svc_call;

struct filter_conf {
	const char *locale;
	const char *timezone;
	int64_t cache_mib;
	const char *redis_url; /* "": none */
	struct state_conf redis;
	int64_t redis_timeout_ms;
};

/* filter_check(conf, errors, known): As svc_def.check. */
void filter_check(const void *conf, struct buf *errors, struct buf *known);

/* filter_start(s, conf): The service's state; conf is a struct filter_conf. */
void *filter_start(struct svc *s, const void *conf);

/* filter_stop(app): Free it. */
void filter_stop(void *app);

/*
 * filter_decode(app, c, msg): As svc_def.decode(): decode a request whose
 * catalog is cached.
 */
bool filter_decode(void *app, struct svc_call *c, void *msg);

/*
 * filter_reply_early(app, c): As svc_def.reply_early(): reply to a command that
 * has been matched before.
 */
bool filter_reply_early(void *app, struct svc_call *c);

/* on_filter(app, c): Reply to one intent_filter_request. */
void on_filter(void *app, struct svc_call *c);

#endif /* !INTENT_FILTER_HANDLERS_H */
