/*
 * A request that costs more than others takes more of who asked.
 *
 * It is known only afterwards, so it is the next request that waits.
 */
#include <stdio.h>
#include <time.h>

#include "core/mem.h"
#include "core/rate.h"
#include "svc/call.h"
#include "svc/guard.h"
#include "svc/guard_own.h"
#include "wire/wire.h"

#define US_NS     1000
#define SECOND_NS INT64_C(1000000000)

int64_t
guard_thread_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0)
		return 0;
	return t.tv_sec * SECOND_NS + t.tv_nsec;
}

struct str
guard_body(
    const struct svc_call *c, struct str terminal, char dst[GUARD_BODY_MAX])
{
	(void)snprintf(dst, GUARD_BODY_MAX, "%.*s/%.*s/%.*s",
	    STR_ARG(c->caller.tenant), STR_ARG(c->caller.user),
	    STR_ARG(terminal));
	return str_of(dst);
}

void
guard_bill_begin(
    struct guard_bill *b, const struct svc_call *c, int64_t other_ns)
{
	struct svc_guard *g = c->lane->svc->guard;

	*b = (struct guard_bill){ .g = c->known ? g : NULL };
	if (b->g == NULL)
		return;
	b->token = c->caller.key;
	b->bytes = svc_call_body(c).n;
	b->began_ns = guard_thread_ns();
	b->other_ns = other_ns;
}

void
guard_bill_body(struct guard_bill *b, struct svc_call *c)
{
	struct str *id;

	if (b->g == NULL)
		return;
	id = wire_text_of(
	    c->lane->route->request, c->request, STR("terminal_id"));
	if (id == NULL || id->n == 0)
		return;
	b->body = guard_body(c, *id, b->text);
}

void
guard_bill_end(struct guard_bill *b)
{
	const struct svc_conf *conf;
	struct mono now;
	int64_t n;

	if (b->g == NULL)
		return;
	conf = &b->g->svc->conf;
	n = (int64_t)b->bytes / conf->rate_cost_bytes +
	    (b->other_ns + guard_thread_ns() - b->began_ns) /
		(conf->rate_cost_us * US_NS);
	if (n == 0)
		return;
	now = clock_mono();
	rate_charge(b->g->rate,
	    (struct str){ (const char *)&b->token, sizeof(b->token) }, n, now);
	if (b->body.n > 0)
		rate_charge(b->g->bodies, b->body, n, now);
}
