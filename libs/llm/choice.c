/*
 * Whom a call asks: the breakers of its client's providers, asked and told.
 */
#include "core/log.h"
#include "llm/call.h"

struct provider *
call_provider(const struct llm_call *call)
{
	return &call->llm->providers[call->at];
}

static const char *const reasons[] = {
	[LLM_REASON_NONE] = NULL,
	[LLM_REASON_UNAUTHORIZED] = "unauthorized",
	[LLM_REASON_NOT_FOUND] = "not_found",
	[LLM_REASON_UNREACHABLE] = "unreachable",
	[LLM_REASON_OVERLOADED] = "overloaded",
};

const char *
llm_reason_name(enum llm_reason r)
{
	return reasons[r];
}

void
llm_state(const struct llm *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct provider *p = &l->providers[i];
		int state = atomic_load(&p->state);
		const char *word = "failed";
		if (state == PROVIDER_UNTRIED)
			word = "not asked yet";
		else if (state == LLM_REASON_NONE)
			word = "ok";
		else if (state > LLM_REASON_NONE)
			word = reasons[state];
		buf_printf(out, "language model %s: %s\n", p->o.name, word);
	}
}

static void
show_breaker(struct provider *p)
{
	metric_set(p->open, breaker_is_open(&p->breaker) ? 1 : 0);
}

/* What a provider that is left alone is said to be. */
static enum rc
as_cause(enum rc rc)
{
	return rc == RC_RETRY || rc == RC_DENIED || rc == RC_NOENT ? rc
								   : RC_DOWN;
}

void
call_judge(struct llm_call *call, enum rc rc, enum retry_blame blame)
{
	struct provider *p = call_provider(call);
	bool was = breaker_is_open(&p->breaker);
	unsigned flags = call->probe ? BREAKER_OF_PROBE : 0;

	if (call->judged)
		return;
	call->judged = true;
	if (blame == RETRY_BLAME_NONE) {
		breaker_leave(&p->breaker, flags);
	} else {
		/* To leave the only one for long would help nobody. */
		if (blame == RETRY_BLAME_HARD && call->llm->n > 1)
			flags |= BREAKER_HARD;
		if (call->llm->n == 1)
			flags |= BREAKER_ALONE;
		p->last_rc = as_cause(rc);
		breaker_bad(&p->breaker, clock_mono(), flags);
	}
	show_breaker(p);
	if (!was && breaker_is_open(&p->breaker))
		log_warn("llm.provider_left", LOG_S("provider", p->o.name),
		    LOG_RC(rc), LOG_I("for_ms", p->breaker.wait_ms));
}

void
call_praise(struct llm_call *call)
{
	struct provider *p = call_provider(call);

	if (breaker_is_open(&p->breaker))
		log_info("llm.provider_back", LOG_S("provider", p->o.name));
	call->judged = true;
	breaker_good(&p->breaker);
	show_breaker(p);
}

bool
call_has_others(const struct llm_call *call)
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
call_choose(struct llm_call *call, size_t i)
{
	struct llm *l = call->llm;
	struct mono now = clock_mono();

	for (; i < l->n; i++) {
		enum breaker_word w =
		    breaker_ask(&l->providers[i].breaker, now);
		if (w == BREAKER_OPEN)
			continue;
		call->at = i;
		call->probe = w == BREAKER_PROBE;
		call->judged = false;
		call->tries = 0;
		return true;
	}
	return false;
}
