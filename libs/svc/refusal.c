/*
 * Refusals.
 */
#include "svc/refusal.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "svc/call.h"

/* Lines of one address, and of all. */
#define EACH_PER_S 1
#define EACH_BURST 5
#define ALL_PER_S  10
#define ALL_BURST  20
#define ADDRESSES  1024

struct svc_refusals {
	struct metric *by_reason[REFUSAL_N];
	struct rate *each, *all;
	int64_t missed;
	svc_refused_fn fn; /* NULL: nobody watches */
	void *arg;
};

static const char *const reasons[REFUSAL_N] = {
	[REFUSAL_NO_TOKEN] = "no_token",
	[REFUSAL_HEADER] = "bad_header",
	[REFUSAL_TOKEN] = "bad_token",
	[REFUSAL_RATE] = "rate",
	[REFUSAL_ROLE] = "role",
	[REFUSAL_USER] = "user",
	[REFUSAL_TERMINAL] = "terminal",
};

struct svc_refusals *
refusals_new(struct metric_set *m)
{
	struct svc_refusals *r = mem_zalloc(sizeof(*r));
	char labels[64];
	size_t i;

	for (i = 0; i < REFUSAL_N; i++) {
		snprintf(labels, sizeof(labels), "reason=\"%s\"", reasons[i]);
		r->by_reason[i] = metric_counter(m, "soul_auth_refused_total",
		    "Requests that were refused before their handler.", labels);
	}
	r->each = rate_new(EACH_PER_S, EACH_BURST, ADDRESSES);
	r->all = rate_new(ALL_PER_S, ALL_BURST, 1);
	return r;
}

void
refusals_free(struct svc_refusals *r)
{
	if (r == NULL)
		return;
	rate_free(r->each);
	rate_free(r->all);
	free(r);
}

void
refusals_watch(struct svc_refusals *r, svc_refused_fn fn, void *arg)
{
	r->fn = fn;
	r->arg = arg;
}

static void
tell(struct svc_refusals *r, struct svc_call *c, const struct refusal *why)
{
	const struct svc_refused told = { .reason = reasons[why->reason],
		.address = svc_call_address(c),
		.route = c->lane->route->name,
		.caller = svc_call_caller(c),
		.trace = &c->trace,
		.left_out = r->missed };
	struct mono now = clock_mono();

	if (rate_take(r->each, told.address, now) > 0 ||
	    rate_take(r->all, STR(""), now) > 0) {
		r->missed++;
		return;
	}
	r->missed = 0;
	log_warn("auth.refused", LOG_S("reason", told.reason),
	    LOG_V("address", told.address), LOG_S("route", told.route),
	    LOG_S("why", why->text), LOG_I("left_out", told.left_out));
	if (r->fn != NULL)
		r->fn(r->arg, &told);
}

void
refuse(struct svc_refusals *r, struct svc_call *c, const struct refusal *why)
{
	metric_add(r->by_reason[why->reason], 1);
	tell(r, c, why);
	if (why->challenge != NULL)
		httpd_challenge(c->http, why->challenge);
	svc_fail_as(
	    c, &(struct svc_error){ why->status, why->code, why->text });
}
