/*
 * Malformed payloads on every interface at once. No process dies, every sender
 * gets an error, and the load generator is not affected. make soak sends 10,000
 * of them.
 */
#include "testkit/stack/client.h"
#include "testkit/stack/hostile.h"

STACK_SHARED({ 0 })

TEST_T(malformed_payloads_affect_no_other_client, 120)
{
	static const struct hostile_plan plan = {
		.seed = 20261120, .n = 2000, .huge = 4
	};
	struct hostile_outcome out;
	json_t *j;

	hostile_run(&stack, &plan, &out);
	ck_assert_uint_eq(out.mqtt + out.http, plan.n);
	ck_assert_uint_gt(out.chats, 0);
	ck_assert_int_lt(out.slowest_ms, 1000);
	/* The terminal's owner can see what was wrong. */
	j = client_ok(&stack, "GET", "/v1/terminals/hostile-1", NULL);
	ck_assert_str_ne(tk_text(j, "last_refused.reason"), "");
	json_decref(j);
}
