/*
 * store: where memories are kept, whichever it is: the built-in one, Mem0 or
 * Chroma.
 *
 * A call says what became of it through its store_fn, exactly once, on the
 * loop, perhaps before the call returns.  What the ask and the other arguments
 * point to must live until then; what the answer points to is valid until the
 * store_fn returns.  A scope is a user and a soul, and every call has one:
 * there is no way to read across.
 *
 * Results: RC_OK; RC_DOWN, RC_TIMEOUT, RC_RETRY and RC_DENIED if the store
 * cannot do it now, which is not the memory's fault; others if it cannot do it.
 */
#ifndef MEMORY_WORKER_STORE_H
#define MEMORY_WORKER_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "rank.h"
#include "state/memory.h"
#include "wire/msgs.h"

/* Ids in the answer to a clear, memories in the answer to a list. */
#define STORE_GONE_MAX 1000
#define STORE_LIST_MAX MEMORY_MAX

struct state;
struct store;

struct store_answer {
	/* Of a search: the best first; of a list; of a forget and a clear only
	 * the ids of what is gone, the first STORE_GONE_MAX. */
	const struct rank_hit *hit;
	size_t n;
	size_t total;  /* of a clear: how many are gone */
	bool degraded; /* a part of it failed: there may be more, or better */
};

typedef void (*store_fn)(void *arg, enum rc rc, const struct store_answer *a);

struct store_ask {
	struct memory_scope scope;
	struct wall deadline;
	const struct trace *trace; /* NULL: none */
	store_fn fn;
	void *arg;
};

struct store_put {
	const struct wire_memory_job *job;
	struct wall made;
	bool again; /* it may have been stored before */
};

/* What a backend is: its functions, called with what was given as self. */
struct store_ops {
	const char *name; /* in answers: "builtin" */
	const char *peer; /* who must answer: "Redis" */
	bool in_redis;    /* it knows itself what was forgotten */
	bool (*up)(void *self);
	void (*put)(void *self, const struct store_ask *ask,
	    const struct store_put *put);
	void (*search)(void *self, const struct store_ask *ask,
	    const struct rank_query *q);
	void (*forget)(void *self, const struct store_ask *ask, struct str id,
	    bool for_ever);
	void (*clear)(void *self, const struct store_ask *ask);
	void (*list)(void *self, const struct store_ask *ask);
	void (*free)(void *self);
};

/* store_new(ops, self, s): A store over a backend, which it takes. */
struct store *store_new(
    const struct store_ops *ops, void *self, struct state *s);

/*
 * store_free(s):
 * What is under way ends first, with RC_DOWN.  Before its state.  NULL is
 * allowed.
 */
void store_free(struct store *s);

/* store_name(s), store_peer(s): As in its ops. */
const char *store_name(const struct store *s);
const char *store_peer(const struct store *s);

/* store_up(s): Whether it is worth asking it. */
bool store_up(const struct store *s);

/*
 * store_put(s, ask, put):
 * Store the memory that a job makes, under the job's id; the scope is the
 * job's.  Again it changes nothing.  RC_CONFLICT: it was forgotten since.
 */
void store_put(
    struct store *s, const struct store_ask *ask, const struct store_put *put);

/* store_search(s, ask, q): The best q->k of the scope. */
void store_search(
    struct store *s, const struct store_ask *ask, const struct rank_query *q);

/* store_forget(s, ask, id): For ever; RC_NOENT if there is none. */
void store_forget(struct store *s, const struct store_ask *ask, struct str id);

/* store_clear(s, ask): Forget all of the scope. */
void store_clear(struct store *s, const struct store_ask *ask);

/*
 * store_retire(s, ask, old):
 * Another has taken its place: it is found no more, and kept among the memories
 * of the past.  RC_NOENT if there is none, RC_CONFLICT if it was forgotten or
 * retired before.
 */
void store_retire(
    struct store *s, const struct store_ask *ask, const struct memory_old *old);

/*
 * store_list(s, ask):
 * All of the scope, STORE_LIST_MAX at most, and those of the past, which have a
 * valid_until.
 */
void store_list(struct store *s, const struct store_ask *ask);

/*
 * store_probe(s, ask, id, now):
 * Store a memory of that id as a user of its own (ask->scope does not matter),
 * search and find it, and delete it.  RC_BUG if it was not found.
 */
void store_probe(struct store *s, const struct store_ask *ask, struct str id,
    struct wall now);

#endif /* !MEMORY_WORKER_STORE_H */
