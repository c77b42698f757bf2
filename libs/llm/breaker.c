/*
 * Closed, open until a moment, or open with a probe under way.
 */
#include "llm/breaker.h"

enum breaker_word
breaker_ask(struct breaker *b, struct mono now)
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
breaker_good(struct breaker *b)
{
	*b = (struct breaker){ 0 };
}

static void
open_for(struct breaker *b, struct mono now, int64_t ms)
{
	b->wait_ms = ms < BREAKER_MAX_MS ? ms : BREAKER_MAX_MS;
	b->until = mono_add_ms(now, b->wait_ms);
}

void
breaker_bad(struct breaker *b, struct mono now, unsigned flags)
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
		open_for(b, now, BREAKER_ALONE_MS);
	else if (alone)
		return;
	else if ((flags & BREAKER_HARD) != 0)
		open_for(b, now, BREAKER_MAX_MS);
	else if (probe && b->wait_ms > 0)
		open_for(b, now, 2 * b->wait_ms);
	else if (b->wait_ms == 0 && b->failures == BREAKER_FAILURES)
		open_for(b, now, BREAKER_MIN_MS);
}

void
breaker_leave(struct breaker *b, unsigned flags)
{
	if ((flags & BREAKER_OF_PROBE) != 0)
		b->probing = false;
}
