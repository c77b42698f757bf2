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

	replicas_start(&s);
	s.requesting.to_send = SIZE_MAX;
	for (int i = 0; i < ROUNDS; i++) {
		int at = i % FILTER_REPLICAS;

		for (size_t n = 0; n < CALM; n += CALM / 10)
			replicas_reply(&s, CALM / 10);
		replicas_kill(&s, at);
		running_spawn(&s.r[at], replica_name(at), s.nats.url);
		ck_assert(tk_loop_until(s.requesting.loop, tk_service_ready,
		    &s.r[at].s, REQUESTING_MS));
		ck_assert_msg(s.requesting.bad == 0, "%zu failed, one with %s",
		    s.requesting.bad, rc_name(s.requesting.worst));
	}
	s.requesting.to_send = 0;
	ck_assert(tk_loop_until(
	    s.requesting.loop, requesting_done, &s.requesting, REQUESTING_MS));
	ck_assert_uint_eq(s.requesting.bad, 0);
	printf("%zu questions, %lld asked again\n", s.requesting.good,
	    (long long)requesting_on(&s.requesting));
	replicas_stop(&s);
}
