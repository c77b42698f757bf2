/*
 * Three replicas under load, one of which is killed: each question is answered,
 * those that died with it too.
 */
#include "replicas.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUESTIONS 12000
#else
#define QUESTIONS 60000
#endif

TEST_T(a_killed_replica_loses_nothing, 120)
{
	struct replicas s;

	replicas_start(&s);
	s.asking.to_send = QUESTIONS;
	replicas_answer(&s, QUESTIONS / 4);
	replicas_kill(&s, 1);
	ck_assert(tk_loop_until(
	    s.asking.loop, asking_done, &s.asking, 4 * ASKING_MS));
	ck_assert_msg(s.asking.bad == 0, "%zu failed, one of them with %s",
	    s.asking.bad, rc_name(s.asking.worst));
	ck_assert_uint_eq(s.asking.good, QUESTIONS);
	printf("%d questions, %lld asked again\n", QUESTIONS,
	    (long long)asking_again(&s.asking));
	replicas_stop(&s);
}
