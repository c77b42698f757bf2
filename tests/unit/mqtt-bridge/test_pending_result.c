/* Pending invokes and their encoded context. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "reports/pending_result.h"
#include "testkit/testkit.h"

#define T1 STR("t1")
#define T2 STR("t2")

static struct mono
time_at(int64_t ms)
{
	return (struct mono){ (1000000 + ms) * 1000000 };
}

TEST(a_pending_result_is_taken_one_time)
{
	struct pending_results *e = pending_results_new();
	char id[16];
	int i;

	ck_assert(!pending_results_take(e, T1, STR("r"), time_at(0)));
	(void)pending_results_add(e, T1, STR("r"), time_at(0));
	(void)pending_results_add(e, T1, STR("r"), time_at(1));
	ck_assert(!pending_results_take(e, T2, STR("r"), time_at(1)));
	ck_assert(!pending_results_take(e, STR("t"), STR("1r"), time_at(1)));
	ck_assert(pending_results_take(
	    e, T1, STR("r"), time_at(PENDING_RESULTS_MS - 1)));
	ck_assert(!pending_results_take(e, T1, STR("r"), time_at(2)));
	(void)pending_results_add(e, T1, STR("r"), time_at(0));
	ck_assert(!pending_results_take(
	    e, T1, STR("r"), time_at(PENDING_RESULTS_MS)));
	/* Beyond the limit, the oldest is dropped. */
	for (i = 0; i <= PENDING_RESULTS_MAX; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		(void)pending_results_add(e, T1, str_of(id), time_at(0));
	}
	ck_assert(!pending_results_take(e, T1, STR("r0"), time_at(1)));
	ck_assert(pending_results_take(e, T1, STR("r1"), time_at(1)));
	ck_assert(pending_results_take(e, T1, str_of(id), time_at(1)));
	pending_results_free(e);
}

TEST(an_invoke_context_is_decoded_back)
{
	struct invoke_context a = { .skill = STR("control light 灯"),
		.at = { 12345 } };
	struct invoke_context got;
	char note[INVOKE_CONTEXT_MAX], skill[129];
	struct str s;

	trace_new(&a.trace);
	s = invoke_context_encode(&a, note);
	ck_assert(invoke_context_decode(s, &got));
	ck_assert(str_eq(got.skill, a.skill));
	ck_assert_int_eq(got.at.ms, 12345);
	ck_assert_str_eq(got.trace.trace_id, a.trace.trace_id);
	memset(skill, 'x', sizeof(skill));
	a.skill = (struct str){ skill, 128 };
	a.at.ms = INT64_MAX;
	ck_assert(invoke_context_decode(invoke_context_encode(&a, note), &got));
	ck_assert(str_eq(got.skill, a.skill));
	ck_assert(!invoke_context_decode(STR(""), &got));
	ck_assert(!invoke_context_decode((struct str){ NULL, 0 }, &got));
	ck_assert(!invoke_context_decode(STR("a b c"), &got));
	s.n = strlen("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	ck_assert(!invoke_context_decode((struct str){ note, s.n }, &got));
}
