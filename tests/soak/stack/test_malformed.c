/*
 * Ten thousand malformed payloads on every interface of the whole stack at
 * once, twenty of them at the size limit.
 */
#include <stdio.h>

#include "testkit/stack/client.h"
#include "testkit/stack/hostile.h"

STACK_SHARED({ 0 })

TEST_T(ten_thousand_malformed_payloads_affect_no_other_client, 600)
{
	static const struct hostile_plan plan = {
		.seed = 1, .n = 10000, .huge = 20
	};
	struct hostile_outcome out;
	size_t i;

	hostile_run(&stack, &plan, &out);
	printf("# %zu MQTT, %zu HTTP payloads; %zu chats beside, the slowest "
	       "%lld ms; statuses:",
	    out.mqtt, out.http, out.chats, (long long)out.slowest_ms);
	for (i = 400; i < 500; i++) {
		if (out.by_status[i] > 0)
			printf(" %zu × %zu", out.by_status[i], i);
	}
	printf("\n");
	ck_assert_uint_eq(out.mqtt + out.http, plan.n);
	ck_assert_uint_gt(out.chats, 0);
	ck_assert_int_lt(out.slowest_ms, 1000);
}
