#include "testkit/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "testkit/testkit.h"

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
tk_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
}

double
tk_median(double *v, size_t n)
{
	tk_sort(v, n);
	return v[n / 2];
}

static double
ns_of(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double
tk_now_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

void
tk_print_load(void)
{
	double load;

	if (getloadavg(&load, 1) == 1)
		printf("load average of the machine, this program included: "
		       "%.1f of %ld cores\n",
		    load, sysconf(_SC_NPROCESSORS_ONLN));
}

double
tk_cpu_us(pid_t pid)
{
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	return ns_of(clock) / 1e3;
}

void
tk_cost_begin(struct tk_cost *c)
{
	ck_assert_uint_lt(c->n, TK_ROUNDS_MAX);
	c->began_ns = tk_now_ns();
	c->cpu_began_us = tk_cpu_us(0);
}

void
tk_cost_end(struct tk_cost *c, int n)
{
	c->cpu[c->n] = (tk_cpu_us(0) - c->cpu_began_us) / n;
	c->wall[c->n] = (tk_now_ns() - c->began_ns) / 1e3 / n;
	c->n++;
}

void
tk_cost_head(const char *what, const char *ours, const char *peer)
{
	printf("%s: elapsed, and of our own processor time\n"
	       "%-28s %8s %8s %6s   %8s %8s %6s\n",
	    what, "", ours, peer, "ratio", ours, peer, "ratio");
}

void
tk_cost_compare(const char *name, struct tk_cost *ours, struct tk_cost *peer)
{
	double ow = tk_median(ours->wall, ours->n);
	double pw = tk_median(peer->wall, peer->n);
	double oc = tk_median(ours->cpu, ours->n);
	double pc = tk_median(peer->cpu, peer->n);

	printf("%-28s %8.2f %8.2f %6.2f   %8.2f %8.2f %6.2f\n", name, ow, pw,
	    ow / pw, oc, pc, oc / pc);
	(void)fflush(stdout);
}

void
tk_cost_alone(const char *name, struct tk_cost *ours)
{
	printf("%-28s %8.2f %24.2f\n", name, tk_median(ours->wall, ours->n),
	    tk_median(ours->cpu, ours->n));
	(void)fflush(stdout);
}
