/*
 * Three replicas under load for two minutes; one after the other is killed and
 * restarted.  Every request gets a reply.
 */
#include "testkit/intent_filter_load.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define ROUNDS  30
#define REPLIES 40000 /* between two kills */

TEST_T(replicas_are_killed_repeatedly, 1800)
{
	struct filter_replicas s;

	filter_replicas_start(&s);
	s.load.to_send = SIZE_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		int at = i % FILTER_REPLICAS;

		for (size_t n = 0; n < REPLIES; n += REPLIES / 10)
			filter_replicas_run(&s, REPLIES / 10);
		filter_replicas_kill(&s, at);
		ck_assert_msg(s.load.bad == 0, "%zu failed, one with %s",
		    s.load.bad, rc_name(s.load.worst));
	}
	s.load.to_send = 0;
	ck_assert(tk_loop_until(
	    s.load.loop, filter_load_is_done, &s.load, FILTER_LOAD_MS));
	ck_assert_uint_eq(s.load.bad, 0);
	printf("%zu requests, %lld sent a second time\n", s.load.good,
	    (long long)filter_load_retries(&s.load));
	filter_replicas_stop(&s);
}
