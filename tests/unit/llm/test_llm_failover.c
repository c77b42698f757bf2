/*
 * Plans for failed attempts, and circuit breakers.
 */
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

/* Defaults of a row: a first attempt with time left. */
static struct retry_facts
filled(struct retry_facts f)
{
	if (f.retry_after_ms == 0)
		f.retry_after_ms = -1;
	if (f.tries == 0)
		f.tries = 1;
	if (f.tries_max == 0)
		f.tries_max = 3;
	if (f.spent_ms == 0)
		f.spent_ms = 100;
	if (f.left_ms == 0)
		f.left_ms = 60000;
	return f;
}

/* Waits are those without jitter (random 0). */
static const struct {
	struct retry_facts f;
	enum retry_what what;
	int64_t wait_ms;
	enum retry_blame blame;
} rows[] = {
	/* By result code. */
	{ { .rc = RC_DOWN }, RETRY_SAME, 500, RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .status = 503 }, RETRY_SAME, 500, RETRY_BLAME_SOFT },
	{ { .rc = RC_RETRY, .status = 429 }, RETRY_SAME, 500,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_TIMEOUT, .status = 408 }, RETRY_SAME, 500,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_CONFLICT, .status = 409 }, RETRY_SAME, 500,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_DENIED, .status = 401 }, RETRY_END, 0, RETRY_BLAME_HARD },
	{ { .rc = RC_DENIED, .status = 429, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_HARD },
	{ { .rc = RC_NOENT, .status = 404, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_HARD },
	{ { .rc = RC_INVALID, .status = 400, .others = true }, RETRY_END, 0,
	    RETRY_BLAME_NONE },
	{ { .rc = RC_TOOBIG, .status = 400, .others = true }, RETRY_END, 0,
	    RETRY_BLAME_NONE },
	/* An invalid response. */
	{ { .rc = RC_INVALID, .status = 200 }, RETRY_END, 0, RETRY_BLAME_SOFT },
	{ { .rc = RC_INVALID, .status = 200, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_SOFT },
	/* A timeout: the next provider, if there is one. */
	{ { .rc = RC_TIMEOUT, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_TIMEOUT }, RETRY_SAME, 500, RETRY_BLAME_SOFT },
	/* By number of attempts. */
	{ { .rc = RC_DOWN, .tries = 2 }, RETRY_SAME, 1000, RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .tries = 3 }, RETRY_END, 0, RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .tries = 3, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .tries = 4, .tries_max = 9 }, RETRY_SAME, 4000,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .tries = 8, .tries_max = 9 }, RETRY_SAME, 8000,
	    RETRY_BLAME_SOFT },
	/* The provider's hint. */
	{ { .rc = RC_DOWN, .hint = -1 }, RETRY_END, 0, RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .hint = -1, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_INVALID, .status = 400, .hint = 1 }, RETRY_SAME, 500,
	    RETRY_BLAME_NONE },
	{ { .rc = RC_DENIED, .status = 429, .hint = 1 }, RETRY_END, 0,
	    RETRY_BLAME_HARD },
	/* Retry-After. */
	{ { .rc = RC_RETRY, .retry_after_ms = 1500 }, RETRY_SAME, 1500,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_RETRY, .retry_after_ms = 59000 }, RETRY_SAME, 59000,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_RETRY, .retry_after_ms = 60001, .left_ms = 99999 },
	    RETRY_END, 0, RETRY_BLAME_SOFT },
	{ { .rc = RC_RETRY, .retry_after_ms = 60001, .others = true },
	    RETRY_NEXT, 0, RETRY_BLAME_SOFT },
	/* Another provider is preferred to a long wait. */
	{ { .rc = RC_RETRY, .retry_after_ms = 2000, .others = true },
	    RETRY_SAME, 2000, RETRY_BLAME_SOFT },
	{ { .rc = RC_RETRY, .retry_after_ms = 2001, .others = true },
	    RETRY_NEXT, 0, RETRY_BLAME_SOFT },
	/* The caller's deadline. */
	{ { .rc = RC_RETRY, .retry_after_ms = 2000, .left_ms = 2000 },
	    RETRY_END, 0, RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .left_ms = 500, .others = true }, RETRY_NEXT, 0,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_TIMEOUT, .left_ms = -1, .others = true }, RETRY_END, 0,
	    RETRY_BLAME_NONE },
	{ { .rc = RC_TIMEOUT, .left_ms = -1, .spent_ms = 10000 }, RETRY_END, 0,
	    RETRY_BLAME_SOFT },
	/* No retry after delivered text. */
	{ { .rc = RC_DOWN, .gave_text = true, .others = true }, RETRY_END, 0,
	    RETRY_BLAME_SOFT },
	{ { .rc = RC_DOWN, .gave_text = true, .hint = 1 }, RETRY_END, 0,
	    RETRY_BLAME_SOFT },
};

TEST(failures_have_a_plan)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct retry_facts f = filled(rows[i].f);
		struct retry_plan p = retry_plan(&f);
		ck_assert_msg(p.what == rows[i].what &&
			p.wait_ms == rows[i].wait_ms &&
			p.blame == rows[i].blame,
		    "row %zu: %d in %d ms, blame %d", i, (int)p.what,
		    (int)p.wait_ms, (int)p.blame);
	}
}

TEST(jitter_takes_up_to_a_quarter)
{
	struct retry_facts f =
	    filled((struct retry_facts){ .rc = RC_DOWN, .tries = 2 });
	int64_t least = INT64_MAX;

	for (uint32_t r = 0; r < 10000; r++) {
		f.random = r;
		int64_t ms = retry_plan(&f).wait_ms;
		ck_assert_int_ge(ms, 750);
		ck_assert_int_le(ms, 1000);
		if (ms < least)
			least = ms;
	}
	ck_assert_int_eq(least, 750);
}

/*
 * A script for a breaker, one letter per step: g success, b failure, h hard
 * failure, l no verdict, s admit (the verdict is written out: c closed, p
 * probe, o open), + 1 s later, * 1 min later; capitals are results of the
 * probe.
 */
static const struct {
	const char *steps, *want;
} scripts[] = {
	{ "s", "c" },
	{ "bbs", "c" },
	{ "bbbs", "o" },
	{ "bbgbbs", "c" },
	{ "bbb+++++++++s+s", "op" },
	/* One probe at a time. */
	{ "bbb*ss", "po" },
	{ "bbb*sGs", "pc" },
	{ "bbb*sLss", "ppo" },
	/* The wait doubles: 20 s, 40 s. */
	{ "bbb*sB++++++++++++++++++s++s", "pop" },
	{ "bbb*sB*sB+++++++++++++++++++++++++++++++++++++++s+s", "ppop" },
	/* Up to five minutes. */
	{ "bbb*sB*sB*sB**sB***sB****s*s",
	    "ppppp"
	    "op" },
	/* The failure of an earlier call does not count. */
	{ "bbbbbb++++++++++s", "p" },
	/* But its success does. */
	{ "bbbgs", "c" },
	{ "h****s*s", "op" },
	{ "hh*****sGs", "pc" },
	{ "bbb*sH****s*s", "pop" },
};

static char
admitted(struct breaker *b, struct mono now)
{
	switch (breaker_admit(b, now)) {
	case BREAKER_CLOSED:
		return 'c';
	case BREAKER_PROBE:
		return 'p';
	default:
		return 'o';
	}
}

TEST(breakers_open_and_close)
{
	for (size_t i = 0; i < NELEM(scripts); i++) {
		struct breaker b = { 0 };
		struct mono now = { 1000000 };
		char want[16] = "";
		size_t n = 0;
		for (const char *s = scripts[i].steps; *s != '\0'; s++) {
			bool probe = *s >= 'A' && *s <= 'Z';
			unsigned flags = probe ? BREAKER_OF_PROBE : 0;
			switch (*s | (probe ? 0x20 : 0)) {
			case 'g':
				breaker_success(&b);
				break;
			case 'b':
				breaker_failure(&b, now, flags);
				break;
			case 'h':
				breaker_failure(&b, now, flags | BREAKER_HARD);
				break;
			case 'l':
				breaker_no_verdict(&b, flags);
				break;
			case 's':
				want[n++] = admitted(&b, now);
				break;
			case '+':
				now = mono_add_ms(now, 1000);
				break;
			default:
				now = mono_add_ms(now, 60000);
			}
		}
		ck_assert_msg(strcmp(want, scripts[i].want) == 0,
		    "script %zu: %s, not %s", i, want, scripts[i].want);
	}
}

/* The only provider is probed within a second. */
TEST(breaker_of_the_only_provider)
{
	struct mono now = { 1000000 };
	struct breaker b = { 0 };

	for (int i = 0; i < BREAKER_FAILURES; i++) {
		ck_assert_int_eq(breaker_admit(&b, now), BREAKER_CLOSED);
		breaker_failure(&b, now, BREAKER_ALONE);
	}
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(breaker_admit(&b, now), BREAKER_OPEN);
		now = mono_add_ms(now, 1000);
		ck_assert_int_eq(breaker_admit(&b, now), BREAKER_PROBE);
		ck_assert_int_eq(breaker_admit(&b, now), BREAKER_OPEN);
		breaker_failure(&b, now, BREAKER_ALONE | BREAKER_OF_PROBE);
	}
	now = mono_add_ms(now, 1000);
	ck_assert_int_eq(breaker_admit(&b, now), BREAKER_PROBE);
	breaker_success(&b);
	ck_assert_int_eq(breaker_admit(&b, now), BREAKER_CLOSED);
}
