/*
 * kit_figures: how benchmarks measure rounds and sum them up.
 */
#ifndef KIT_KIT_FIGURES_H
#define KIT_KIT_FIGURES_H

#include <stddef.h>
#include <sys/types.h>

/*
 * kit_sort(v, n):
 * Ascending: v[n / 2] is the median then, v[n * 99 / 100] the 99th percentile.
 * kit_median(v, n): The median of n ≥ 1 figures, which are sorted.
 */
void kit_sort(double *v, size_t n);
double kit_median(double *v, size_t n);

/*
 * kit_now_ns(): Monotonic time.
 * kit_cpu_us(pid): Processor time that a process of ours has used with all its
 * threads; 0: this one.
 */
double kit_now_ns(void);
double kit_cpu_us(pid_t pid);

/* Rounds of one measurement. */
#define KIT_ROUNDS_MAX 64

/* What an operation costs, in us, round by round; zero it first. */
struct kit_cost {
	size_t n; /* rounds so far */
	double wall[KIT_ROUNDS_MAX];
	double cpu[KIT_ROUNDS_MAX]; /* of this process, all its threads */
	double began_ns, cpu_began_us;
};

/*
 * kit_cost_begin(c): A round begins.
 * kit_cost_end(c, n): It is over, after n operations.
 */
void kit_cost_begin(struct kit_cost *c);
void kit_cost_end(struct kit_cost *c, int n);

/*
 * kit_cost_head(what, ours, peer): Print the head of a table; what says what
 * the figures are, ours and peer who is compared.
 * kit_cost_compare(name, ours, peer): Print a line of it, the medians.
 * kit_cost_alone(name, ours): The same without a peer.
 */
void kit_cost_head(const char *what, const char *ours, const char *peer);
void kit_cost_compare(
    const char *name, struct kit_cost *ours, struct kit_cost *peer);
void kit_cost_alone(const char *name, struct kit_cost *ours);

#endif /* !KIT_KIT_FIGURES_H */
