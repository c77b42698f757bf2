/*
 * dead_work: what was put aside is read, tried anew, deleted.
 */
#ifndef MEMORY_WORKER_DEAD_WORK_H
#define MEMORY_WORKER_DEAD_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus_opts;

enum dead_exit {
	DEAD_DONE = 0,
	DEAD_FAILED = 1, /* something was not done */
	DEAD_USAGE = 64,
	DEAD_NO_NATS = 69
};

enum dead_verb { DEAD_LIST, DEAD_SHOW, DEAD_REPLAY, DEAD_DROP };

struct dead_ask {
	enum dead_verb verb;
	bool json, raw; /* how to print it: letter.h, or its bytes */
	bool walk;      /* all that are there now, oldest first; else seqs */
	int64_t *seqs;
	size_t nseqs;
};

/*
 * dead_work(bus, ask, done):
 * Do it, in a loop of its own; bus says where NATS is.  What was done is on
 * stdout, what was not and why on stderr, each as it comes; *done is how many
 * it was done with.  Blocks until the end; 5 s for a connection, 5 s for each
 * answer.
 */
enum dead_exit dead_work(
    const struct bus_opts *bus, const struct dead_ask *ask, size_t *done);

#endif /* !MEMORY_WORKER_DEAD_WORK_H */
