/* Rounds, medians, tables. */
#include "kit/kit_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kit/kit.h"

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
kit_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
}

double
kit_median(double *v, size_t n)
{
	kit_sort(v, n);
	return v[n / 2];
}

static double
cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void
kit_cost_begin(struct kit_cost *c)
{
	ck_assert_uint_lt(c->n, KIT_ROUNDS_MAX);
	c->began = clock_mono();
	c->cpu_began = cpu_us();
}

void
kit_cost_end(struct kit_cost *c, int n)
{
	c->cpu[c->n] = (cpu_us() - c->cpu_began) / n;
	c->wall[c->n] = (double)mono_diff_ns(clock_mono(), c->began) / 1e3 / n;
	c->n++;
}

void
kit_cost_head(const char *what, const char *ours, const char *peer)
{
	printf("%s: elapsed, and of our own processor time\n"
	       "%-28s %8s %8s %6s   %8s %8s %6s\n",
	    what, "", ours, peer, "ratio", ours, peer, "ratio");
}

void
kit_cost_compare(const char *name, struct kit_cost *ours, struct kit_cost *peer)
{
	double ow = kit_median(ours->wall, ours->n);
	double pw = kit_median(peer->wall, peer->n);
	double oc = kit_median(ours->cpu, ours->n);
	double pc = kit_median(peer->cpu, peer->n);

	printf("%-28s %8.2f %8.2f %6.2f   %8.2f %8.2f %6.2f\n", name, ow, pw,
	    ow / pw, oc, pc, oc / pc);
	(void)fflush(stdout);
}

void
kit_cost_alone(const char *name, struct kit_cost *ours)
{
	printf("%-28s %8.2f %24.2f\n", name, kit_median(ours->wall, ours->n),
	    kit_median(ours->cpu, ours->n));
	(void)fflush(stdout);
}
