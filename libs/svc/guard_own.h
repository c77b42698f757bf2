/*
 * guard_own: what the parts of the guard share; nobody else includes it.
 */
#ifndef SVC_GUARD_OWN_H
#define SVC_GUARD_OWN_H

#include <stdbool.h>

#include "auth/auth.h"
#include "core/loop.h"
#include "httpd/httpd.h"
#include "svc/internal.h"
#include "svc/refusal.h"

struct rate;
struct worker_pool;

struct svc_guard {
	struct svc *svc;
	struct worker_pool *workers;
	struct auth *auth;
	struct rate *rate;   /* of tokens */
	struct rate *bodies; /* that they name, of them all */
	struct svc_refusals *refusals;
	struct loop_timer look; /* at the streams */
};

/* guard_auth_opts(conf): What auth needs of it, without its surroundings. */
struct auth_opts guard_auth_opts(const struct svc_conf *conf);

/* guard_bearer(r): The token in the Authorization header; absent: none. */
struct str guard_bearer(struct httpd_req *r);

/*
 * guard_streams_start(g), guard_streams_stop(g):
 * Look at the streams that are open every few seconds, and cut those whose
 * token is not good any more.
 */
void guard_streams_start(struct svc_guard *g);
void guard_streams_stop(struct svc_guard *g);

#endif /* !SVC_GUARD_OWN_H */
