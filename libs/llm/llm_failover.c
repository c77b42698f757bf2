/*
 * llm_failover: whether a failed attempt is retried, the circuit breaker of
 * each provider, and the choice of the provider that a call uses.
 */
#include "core/log.h"
#include "llm/llm_internal.h"

/* ---- retry policy ---- */

/* The request is invalid. */
static bool
retry_is_callers(const struct retry_facts *f)
{
	return f->rc == RC_TOOBIG || f->rc == RC_BUG ||
	    (f->rc == RC_INVALID && f->status >= 400);
}

static enum retry_blame
retry_blame_of(const struct retry_facts *f)
{
	if (retry_is_callers(f))
		return RETRY_BLAME_NONE;
	if (f->rc == RC_DENIED || f->rc == RC_NOENT)
		return RETRY_BLAME_HARD;
	if (f->rc == RC_TIMEOUT && f->status != 408 && f->left_ms <= 0 &&
	    f->spent_ms < RETRY_SLOW_MS)
		return RETRY_BLAME_NONE;
	return RETRY_BLAME_SOFT;
}

bool
retry_would(const struct retry_facts *f)
{
	if (f->gave_text || f->rc == RC_DENIED || f->rc == RC_TOOBIG)
		return false;
	if (f->hint != 0)
		return f->hint > 0;
	return f->rc == RC_DOWN || f->rc == RC_RETRY || f->status == 408 ||
	    f->status == 409;
}

/* Whether to retry at the same provider. */
static bool
retry_same_provider(const struct retry_facts *f)
{
	if (f->tries >= f->tries_max)
		return false;
	/* A timeout: another provider may be faster, if there is one. */
	if (f->rc == RC_TIMEOUT && f->status != 408 && f->hint == 0)
		return !f->others;
	return retry_would(f);
}

/* Doubling, minus up to a quarter. */
static int64_t
retry_backoff_ms(const struct retry_facts *f)
{
	int64_t ms = RETRY_MIN_MS;

	for (unsigned i = 1; i < f->tries && ms < RETRY_MAX_MS; i++)
		ms *= 2;
	if (ms > RETRY_MAX_MS)
		ms = RETRY_MAX_MS;
	return ms - (int64_t)(f->random % (uint64_t)(ms / 4 + 1));
}

struct retry_plan
retry_plan(const struct retry_facts *f)
{
	struct retry_plan p = { RETRY_END, 0, retry_blame_of(f) };

	if (f->gave_text || f->left_ms <= 0)
		return p;
	if (retry_same_provider(f)) {
		bool given = f->retry_after_ms > 0;
		p.wait_ms = given ? f->retry_after_ms : retry_backoff_ms(f);
		if (p.wait_ms < f->left_ms && p.wait_ms <= RETRY_AFTER_MAX_MS &&
		    !(f->others && p.wait_ms > RETRY_WAIT_MAX_MS)) {
			p.what = RETRY_SAME;
			return p;
		}
		p.wait_ms = 0;
	}
	if (p.blame != RETRY_BLAME_NONE && f->others)
		p.what = RETRY_NEXT;
	return p;
}

/* ---- circuit breaker ---- */

enum breaker_verdict
breaker_admit(struct breaker *b, struct mono now)
{
	if (b->wait_ms == 0)
		return BREAKER_CLOSED;
	if (b->probing || now.ns < b->until.ns)
		return BREAKER_OPEN;
	b->probing = true;
	return BREAKER_PROBE;
}

bool
breaker_is_open(const struct breaker *b)
{
	return b->wait_ms > 0;
}

void
breaker_success(struct breaker *b)
{
	*b = (struct breaker){ 0 };
}

static void
breaker_open_for(struct breaker *b, struct mono now, int64_t ms)
{
	b->wait_ms = ms < BREAKER_MAX_MS ? ms : BREAKER_MAX_MS;
	b->until = mono_add_ms(now, b->wait_ms);
}

void
breaker_failure(struct breaker *b, struct mono now, unsigned flags)
{
	bool probe = (flags & BREAKER_OF_PROBE) != 0;
	bool alone = (flags & BREAKER_ALONE) != 0;

	if (probe)
		b->probing = false;
	if (b->failures < BREAKER_FAILURES)
		b->failures++;
	if (alone &&
	    (probe ? b->wait_ms > 0
		   : b->wait_ms == 0 && b->failures == BREAKER_FAILURES))
		breaker_open_for(b, now, BREAKER_ALONE_MS);
	else if (alone)
		return;
	else if ((flags & BREAKER_HARD) != 0)
		breaker_open_for(b, now, BREAKER_MAX_MS);
	else if (probe && b->wait_ms > 0)
		breaker_open_for(b, now, 2 * b->wait_ms);
	else if (b->wait_ms == 0 && b->failures == BREAKER_FAILURES)
		breaker_open_for(b, now, BREAKER_MIN_MS);
}

void
breaker_no_verdict(struct breaker *b, unsigned flags)
{
	if ((flags & BREAKER_OF_PROBE) != 0)
		b->probing = false;
}

/* ---- the provider of a call ---- */

struct provider *
llm_call_provider(const struct llm_call *call)
{
	return &call->llm->providers[call->at];
}

static const char *const reason_names[] = {
	[LLM_REASON_NONE] = NULL,
	[LLM_REASON_UNAUTHORIZED] = "unauthorized",
	[LLM_REASON_NOT_FOUND] = "not_found",
	[LLM_REASON_UNREACHABLE] = "unreachable",
	[LLM_REASON_OVERLOADED] = "overloaded",
};

const char *
llm_reason_name(enum llm_reason r)
{
	return reason_names[r];
}

void
llm_state(const struct llm *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct provider *p = &l->providers[i];
		int state = atomic_load(&p->state);
		const char *word = "failed";
		if (state == PROVIDER_UNTRIED)
			word = "not called yet";
		else if (state == LLM_REASON_NONE)
			word = "ok";
		else if (state > LLM_REASON_NONE)
			word = reason_names[state];
		buf_printf(out, "language model %s: %s\n", p->o.name, word);
	}
}

static void
failover_update_metric(struct provider *p)
{
	metric_set(p->open, breaker_is_open(&p->breaker) ? 1 : 0);
}

/* The result of calls while the provider is suspended. */
static enum rc
failover_error(enum rc rc)
{
	return rc == RC_RETRY || rc == RC_DENIED || rc == RC_NOENT ? rc
								   : RC_DOWN;
}

void
llm_call_report_failure(
    struct llm_call *call, enum rc rc, enum retry_blame blame)
{
	struct provider *p = llm_call_provider(call);
	bool was = breaker_is_open(&p->breaker);
	unsigned flags = call->probe ? BREAKER_OF_PROBE : 0;

	if (call->reported)
		return;
	call->reported = true;
	if (blame == RETRY_BLAME_NONE) {
		breaker_no_verdict(&p->breaker, flags);
	} else {
		/* Suspending the only provider for long is no use. */
		if (blame == RETRY_BLAME_HARD && call->llm->n > 1)
			flags |= BREAKER_HARD;
		if (call->llm->n == 1)
			flags |= BREAKER_ALONE;
		p->last_rc = failover_error(rc);
		breaker_failure(&p->breaker, clock_mono(), flags);
	}
	failover_update_metric(p);
	if (!was && breaker_is_open(&p->breaker))
		log_warn("llm.provider_suspended", LOG_S("provider", p->o.name),
		    LOG_RC(rc), LOG_I("for_ms", p->breaker.wait_ms));
}

void
llm_call_report_success(struct llm_call *call)
{
	struct provider *p = llm_call_provider(call);

	if (breaker_is_open(&p->breaker))
		log_info("llm.provider_resumed", LOG_S("provider", p->o.name));
	call->reported = true;
	breaker_success(&p->breaker);
	failover_update_metric(p);
}

bool
llm_call_has_others(const struct llm_call *call)
{
	const struct llm *l = call->llm;
	int64_t now = clock_mono().ns;

	for (size_t i = call->at + 1; i < l->n; i++) {
		const struct breaker *b = &l->providers[i].breaker;
		if (!breaker_is_open(b) || (!b->probing && b->until.ns <= now))
			return true;
	}
	return false;
}

bool
llm_call_choose(struct llm_call *call, size_t i)
{
	struct llm *l = call->llm;
	struct mono now = clock_mono();

	for (; i < l->n; i++) {
		enum breaker_verdict w =
		    breaker_admit(&l->providers[i].breaker, now);
		if (w == BREAKER_OPEN)
			continue;
		call->at = i;
		call->probe = w == BREAKER_PROBE;
		call->reported = false;
		call->tries = 0;
		return true;
	}
	return false;
}
