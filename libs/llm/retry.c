/*
 * Blame first, then whether to try again, then how long to wait.
 */
#include "llm/retry.h"

/* The provider took the request for a bad one. */
static bool
is_callers(const struct retry_facts *f)
{
	return f->rc == RC_TOOBIG || f->rc == RC_BUG ||
	    (f->rc == RC_INVALID && f->status >= 400);
}

static enum retry_blame
blame_of(const struct retry_facts *f)
{
	if (is_callers(f))
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
	if (f->word != 0)
		return f->word > 0;
	return f->rc == RC_DOWN || f->rc == RC_RETRY || f->status == 408 ||
	    f->status == 409;
}

/* Whether the same provider is to be asked again. */
static bool
wants_again(const struct retry_facts *f)
{
	if (f->tries >= f->tries_max)
		return false;
	/* Silence: another may be livelier, if there is one. */
	if (f->rc == RC_TIMEOUT && f->status != 408 && f->word == 0)
		return !f->others;
	return retry_would(f);
}

/* Doubling, minus up to a quarter. */
static int64_t
backoff_ms(const struct retry_facts *f)
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
	struct retry_plan p = { RETRY_END, 0, blame_of(f) };

	if (f->gave_text || f->left_ms <= 0)
		return p;
	if (wants_again(f)) {
		bool asked = f->retry_after_ms > 0;
		p.wait_ms = asked ? f->retry_after_ms : backoff_ms(f);
		if (p.wait_ms < f->left_ms && p.wait_ms <= RETRY_AFTER_MAX_MS &&
		    !(f->others && p.wait_ms > RETRY_PATIENCE_MS)) {
			p.what = RETRY_AGAIN;
			return p;
		}
		p.wait_ms = 0;
	}
	if (p.blame != RETRY_BLAME_NONE && f->others)
		p.what = RETRY_NEXT;
	return p;
}
