/*
 * rejection: requests that access control rejects: response, metric, log,
 * audit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "svc/audit.h"
#include "svc/svc_internal.h"
#include "wire/msgs.h"

/* Log lines and events of one address, and of all. */
#define EACH_PER_S 1
#define EACH_BURST 5
#define ALL_PER_S  10
#define ALL_BURST  20
#define ADDRESSES  1024

struct svc_rejections {
	struct metric *by_reason[REJECTION_N];
	struct rate *each, *all;
	int64_t missed;
};

static const char *const rejection_reasons[REJECTION_N] = {
	[REJECTION_NO_TOKEN] = "no_token",
	[REJECTION_HEADER] = "bad_header",
	[REJECTION_TOKEN] = "bad_token",
	[REJECTION_RATE] = "rate",
	[REJECTION_ROLE] = "role",
	[REJECTION_USER] = "user",
	[REJECTION_TERMINAL] = "terminal",
};

struct svc_rejections *
svc_rejections_new(struct metric_set *m)
{
	struct svc_rejections *r = mem_zalloc(sizeof(*r));
	char labels[64];
	size_t i;

	for (i = 0; i < REJECTION_N; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"",
		    rejection_reasons[i]);
		r->by_reason[i] = metric_counter(m, "soul_auth_refused_total",
		    "Requests that were rejected before their handler.",
		    labels);
	}
	r->each = rate_new(EACH_PER_S, EACH_BURST, ADDRESSES);
	r->all = rate_new(ALL_PER_S, ALL_BURST, 1);
	return r;
}

void
svc_rejections_free(struct svc_rejections *r)
{
	if (r == NULL)
		return;
	rate_free(r->each);
	rate_free(r->all);
	free(r);
}

void
svc_rejection_note(struct svc *s, const struct rejection_context *at,
    const struct rejection *why)
{
	struct svc_rejections *r = s->access->rejections;
	struct wire_audit e = { .action = at->who == NULL
		    ? WIRE_AUDIT_ACTION_LOGIN_REFUSED
		    : WIRE_AUDIT_ACTION_ACCESS_DENIED,
		.route = str_of(at->route),
		.address = at->address,
		.reason = str_of(rejection_reasons[why->reason]),
		.has_count = true,
		.count = 1 + r->missed };
	struct mono now = clock_mono();

	metric_add(r->by_reason[why->reason], 1);
	if (rate_take(r->each, at->address, now) > 0 ||
	    rate_take(r->all, STR(""), now) > 0) {
		r->missed++;
		return;
	}
	log_warn("auth.rejected",
	    LOG_S("reason", rejection_reasons[why->reason]),
	    LOG_V("address", at->address), LOG_S("route", at->route),
	    LOG_S("why", why->text), LOG_I("left_out", r->missed));
	r->missed = 0;
	svc_audit_set_caller(&e, at->who);
	svc_audit(s, &e, at->trace);
}

void
svc_rejection_send(struct svc_call *c, const struct rejection *why)
{
	svc_rejection_note(c->endpoint->svc,
	    &(struct rejection_context){ .route = c->endpoint->route->name,
		.address = svc_call_address(c),
		.who = svc_call_caller(c),
		.trace = svc_call_trace(c) },
	    why);
	if (why->challenge != NULL)
		httpd_challenge(c->http, why->challenge);
	svc_fail_as(
	    c, &(struct svc_error){ why->status, why->code, why->text });
}

void
svc_fail_as(struct svc_call *c, const struct svc_error *e)
{
	svc_fail_because(c, e, NULL);
}
