/*
 * Ten thousand bodies in one process: they announce themselves, execute
 * invokes, and come back after the broker was killed.
 */
#include <stdio.h>

#include "core/clock.h"
#include "testkit/sim_fixture.h"

#define BODIES 10000

TEST_T(ten_thousand_bodies, 1200)
{
	static struct sim_fleet c;
	struct mono start;
	char id[16];
	int i;

	ck_assert_msg(sim_fleet_raise_limit(BODIES), "needs 11,000 open files");
	start = clock_mono();
	sim_fleet_start(&c, BODIES);
	printf("%d bodies: all announced after %lld ms, %ld KiB\n", BODIES,
	    (long long)mono_diff_ms(clock_mono(), start),
	    tk_proc_status(c.b.sim.proc.pid, "VmRSS"));
	for (i = 0; i < 3; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		start = clock_mono();
		sim_fleet_invoke_all(&c, id);
		printf("all results after %lld ms\n",
		    (long long)mono_diff_ms(clock_mono(), start));
		start = clock_mono();
		sim_fleet_lose_broker(&c);
		printf("all back after %lld ms, %ld KiB at most\n",
		    (long long)mono_diff_ms(clock_mono(), start),
		    tk_proc_status(c.b.sim.proc.pid, "VmHWM"));
	}
	sim_fleet_stop(&c);
}
