/*
 * Three replicas under load, one of which is killed: each request gets a reply,
 * including those that were pending in it.
 */
#include "testkit/intent_filter_load.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REQUESTS 12000
#else
#define REQUESTS 60000
#endif

TEST_T(a_killed_replica_loses_no_request, 120)
{
	struct filter_replicas s;

	filter_replicas_start(&s);
	/* Enough for one to be sent a second time, however long that takes. */
	s.load.to_send = SIZE_MAX;
	filter_replicas_run(&s, REQUESTS / 4);
	filter_replicas_kill(&s, 1);
	filter_replicas_run(&s, REQUESTS / 4);
	s.load.to_send = 0;
	ck_assert(tk_loop_until(
	    s.load.loop, filter_load_is_done, &s.load, 4 * FILTER_LOAD_MS));
	ck_assert_msg(s.load.bad == 0, "%zu failed, one of them with %s",
	    s.load.bad, rc_name(s.load.worst));
	ck_assert_uint_ge(s.load.good, REQUESTS / 2);
	printf("%zu requests, %lld sent a second time\n", s.load.good,
	    (long long)filter_load_retries(&s.load));
	filter_replicas_stop(&s);
}
