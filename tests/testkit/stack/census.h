/*
 * census: what the processes of a metered stack have used so far: processor
 * time, voluntary switches, system calls, commands to Redis, its fsyncs,
 * messages to nats-server.
 */
#ifndef TESTKIT_STACK_CENSUS_H
#define TESTKIT_STACK_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "testkit/stack/stack.h"

#define CENSUS_MAX 16

struct census;

/* Of all processes, since they were started; or differences of two. */
struct census_figures {
	double cpu_us[CENSUS_MAX], switches[CENSUS_MAX], syscalls[CENSUS_MAX];
	double redis; /* as the services count them */
	double fsyncs;
	double nats; /* published by clients */
};

/* What a turn costs in all processes but chat-gateway and llm-sim. */
struct census_sum {
	double cpu_us, switches, syscalls;
};

/*
 * census_new(st): The running processes of st.
 * census_add(c, name, p): And another replica.
 */
struct census *census_new(struct stack *st);
void census_add(struct census *c, const char *name, const struct stack_proc *p);
void census_free(struct census *c);

/*
 * census_trace(c): Count their system calls from now on, which slows them (see
 * tk_syscalls); false: the kernel does not let this process.
 * census_trace_end(c): No longer; the counts are gone.
 */
bool census_trace(struct census *c);
void census_trace_end(struct census *c);

/* census_read(c, f): The figures so far. */
void census_read(struct census *c, struct census_figures *f);

/* census_nats(st): Messages published to nats-server by its clients so far. */
long long census_nats(const struct stack *st);

/* census_cost(from, to, n): The differences, divided by n turns. */
struct census_figures census_cost(
    const struct census_figures *from, const struct census_figures *to, int n);

/* census_sum(c, f): The sums over processes. */
struct census_sum census_sum(
    const struct census *c, const struct census_figures *f);

/* census_print(c, f): One line of each process, and the sums. */
void census_print(const struct census *c, const struct census_figures *f);

#endif /* !TESTKIT_STACK_CENSUS_H */
