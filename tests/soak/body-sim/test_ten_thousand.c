/*
 * Ten thousand bodies in one process: they announce themselves, answer, and
 * come back after brokers that are killed.
 */
#include "integration/body-sim/crowd.h"

#define BODIES 10000

TEST_T(ten_thousand_bodies, 1200)
{
	static struct crowd c;
	struct mono start;
	char id[16];
	int i;

	ck_assert_msg(crowd_room(BODIES), "needs 11,000 open files");
	start = clock_mono();
	crowd_start(&c, BODIES);
	printf("%d bodies: all announced after %lld ms, %ld KiB\n", BODIES,
	    (long long)mono_diff_ms(clock_mono(), start),
	    tk_proc_status(c.b.sim.proc.pid, "VmRSS"));
	for (i = 0; i < 3; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		start = clock_mono();
		crowd_ask_all(&c, id);
		printf("all answered after %lld ms\n",
		    (long long)mono_diff_ms(clock_mono(), start));
		start = clock_mono();
		crowd_lose_broker(&c);
		printf("all back after %lld ms, %ld KiB at most\n",
		    (long long)mono_diff_ms(clock_mono(), start),
		    tk_proc_status(c.b.sim.proc.pid, "VmHWM"));
	}
	crowd_end(&c);
}
