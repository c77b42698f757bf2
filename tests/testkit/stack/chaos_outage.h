/*
 * chaos_outage: breaks parts of a stack, one after the other, at random, while
 * a load runs, and verifies each time that the stack recovers.
 */
#ifndef TESTKIT_STACK_CHAOS_OUTAGE_H
#define TESTKIT_STACK_CHAOS_OUTAGE_H

#include <stdint.h>

#include "testkit/stack/chaos_load.h"
#include "testkit/stack/stack.h"

/* Within this time after a fault everything works again. */
#define CHAOS_RECOVERY_MS 45000

/* Further processes of a topology. */
#define CHAOS_MORE 8

struct chaos_outages {
	struct stack *st;
	struct chaos *h;
	struct chaos_load *load;
	uint64_t random; /* the seed */
	/* Replicas of services, and servers that the stack does not have. */
	struct {
		const char *name; /* of its log */
		enum stack_service service;
		struct stack_proc *proc;
		struct stack *of; /* its servers */
	} replica[CHAOS_MORE];
	struct tk_server *server[CHAOS_MORE];
	int n_replicas, n_servers;
	int done;   /* faults so far */
	bool begun; /* the present one */
	bool held;  /* by the present one, commands may come late */
};

/*
 * chaos_outages_run(f, seconds):
 * The test fails, with the history on stderr, unless everything is ready and
 * each client makes progress within CHAOS_RECOVERY_MS after each fault.  By the
 * thread that started the stack.
 */
void chaos_outages_run(struct chaos_outages *f, int seconds);

#endif /* !TESTKIT_STACK_CHAOS_OUTAGE_H */
