/* tk_figures: rounds of a benchmark and their statistics. */
#ifndef TESTKIT_FIGURES_H
#define TESTKIT_FIGURES_H

#include <stddef.h>
#include <sys/types.h>

/*
 * tk_sort(v, n): Sort ascending: v[n / 2] is the median then, v[n * 99 / 100]
 * the 99th percentile.
 * tk_median(v, n): The median of n ≥ 1 figures; sorts them.
 */
void tk_sort(double *v, size_t n);
double tk_median(double *v, size_t n);

/*
 * tk_now_ns(): Monotonic time.
 * tk_cpu_us(pid): Processor time used by all threads of a child process; 0:
 * this process.
 */
double tk_now_ns(void);
double tk_cpu_us(pid_t pid);

/* tk_print_load(): Print how busy the machine has been in the last minute. */
void tk_print_load(void);

/* Rounds of one measurement. */
#define TK_ROUNDS_MAX 64

/* The cost of an operation, in us, per round; zero it first. */
struct tk_cost {
	size_t n; /* rounds so far */
	double wall[TK_ROUNDS_MAX];
	double cpu[TK_ROUNDS_MAX]; /* of this process, all its threads */
	double began_ns, cpu_began_us;
};

/*
 * tk_cost_begin(c): Start a round.
 * tk_cost_end(c, n): End it, after n operations.
 */
void tk_cost_begin(struct tk_cost *c);
void tk_cost_end(struct tk_cost *c, int n);

/*
 * tk_cost_head(what, ours, peer): Print the head of a table: what is measured,
 * and the names of the compared sides.
 * tk_cost_compare(name, ours, peer): Print a row with the medians.
 * tk_cost_alone(name, ours): The same without a peer.
 */
void tk_cost_head(const char *what, const char *ours, const char *peer);
void tk_cost_compare(
    const char *name, struct tk_cost *ours, struct tk_cost *peer);
void tk_cost_alone(const char *name, struct tk_cost *ours);

#endif /* !TESTKIT_FIGURES_H */
