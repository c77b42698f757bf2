/*
 * What a handler may know of its call.
 */
#include "svc/call.h"
#include "svc/internal.h"

const void *
svc_call_request(const struct svc_call *c)
{
	return c->request;
}

struct str
svc_call_body(const struct svc_call *c)
{
	return c->http != NULL ? httpd_req_body(c->http) : bus_msg_data(c->msg);
}

struct str
svc_call_header(const struct svc_call *c, const char *name)
{
	return c->http != NULL ? httpd_req_header(c->http, name)
			       : (struct str){ 0 };
}

enum rc
svc_call_on_gone(struct svc_call *c, void (*fn)(void *arg), void *arg)
{
	return c->http != NULL ? httpd_on_abort(c->http, fn, arg) : RC_OK;
}

struct arena *
svc_call_arena(struct svc_call *c)
{
	return c->arena;
}

struct wall
svc_call_deadline(const struct svc_call *c)
{
	return c->deadline;
}

const struct trace *
svc_call_trace(const struct svc_call *c)
{
	return &c->trace;
}
