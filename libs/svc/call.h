/*
 * call: one request from its arrival to its answer.  Private to svc.
 */
#ifndef SVC_CALL_H
#define SVC_CALL_H

#include "auth/auth.h"
#include "svc/internal.h"

struct guard_watch;
struct call_decoded;

struct svc_call {
	TAILQ_ENTRY(svc_call) link;
	struct svc_lane *lane;
	struct bus_msg *msg; /* one of these two is NULL */
	struct httpd_req *http;
	struct arena *arena;
	void *request;
	struct call_decoded *decoded; /* how it was, elsewhere; NULL: not */
	struct trace trace;
	struct wall deadline;
	struct mono start;
	bool streaming; /* the answer has begun, over HTTP */
	bool known;     /* caller is who asks */
	struct auth_caller caller;
	struct guard_watch *watch; /* NULL: his token is not being checked */
};

/*
 * svc_call_serve(c):
 * Decode the request, a large one on a thread of its own, and hand c to its
 * handler.
 */
void svc_call_serve(struct svc_call *c);

/*
 * svc_call_of_msg(lane, m), svc_call_of_http(lane, r):
 * A request of a struct svc_lane has come; it is owned from now on.
 */
void svc_call_of_msg(void *lane, struct bus_msg *m);
void svc_call_of_http(void *lane, struct httpd_req *r);

#endif /* !SVC_CALL_H */
