/*
 * orch_peers: emotion-engine, intent-filter, memory-worker, mqtt-bridge and a
 * body as plain NATS clients, with a log of the requests they got.
 */
#ifndef TESTKIT_ORCH_PEERS_H
#define TESTKIT_ORCH_PEERS_H

#include <jansson.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define ORCH_PEERS_LINE 1024
#define ORCH_PEERS_LOG  256

/* What the body does with an invoke. */
enum orch_body_mode {
	BODY_OK,
	BODY_ERROR,
	BODY_MUTE,     /* no result */
	BODY_WRONG_ID, /* a result of another request, on the right subject */
	BODY_BAD,      /* a result that is not JSON */
	BODY_TWICE     /* ok, then an error */
};

struct orch_peers {
	natsConnection *nc;
	natsSubscription *subs[8];
	size_t n_subs;
	pthread_mutex_t lock; /* protects all below */
	/* Behaviour: */
	const char *exec_mode; /* NULL: emotion-engine does not reply */
	bool save_later;       /* it says that the soul is not saved yet */
	char save_inbox[128];  /* where orch_peers_save() replies to */
	const char *filter;    /* intent-filter's reply; NULL: an error */
	const char *names;     /* its error to a catalog_ref; NULL: none */
	size_t filter_mute;    /* requests it leaves without a reply */
	bool ready;            /* memories can be searched */
	bool memory_hangs;     /* memory-worker does not reply */
	const char *recall;    /* memory-worker's reply; NULL: an error */
	const char *forget;    /* the same */
	bool forget_mute;      /* no reply to forget */
	const char *delivery;  /* a state; NULL: no reply */
	enum orch_body_mode body;
	const char *mute_skill; /* a skill without a result */
	/* Requests: */
	char log[ORCH_PEERS_LOG][ORCH_PEERS_LINE];
	size_t n_log;
	/* Subscriptions made, and those that have ended. */
	size_t n_made, n_ended;
	json_t *last_action, *last_invoke, *last_filter, *last_observe;
	json_t *last_forget;
	size_t n_invokes;
	json_int_t top_k; /* of the last search */
};

/* orch_peers_start(p, url), orch_peers_stop(p). */
void orch_peers_start(struct orch_peers *p, const char *url);
void orch_peers_stop(struct orch_peers *p);

/* orch_peers_set(p, member, value): Change the behaviour. */
#define orch_peers_set(p, member, value)          \
	do {                                      \
		pthread_mutex_lock(&(p)->lock);   \
		(p)->member = (value);            \
		pthread_mutex_unlock(&(p)->lock); \
	} while (0)

/*
 * orch_peers_last(p, what): The last request of a kind (action, invoke, filter,
 *                           observe, forget); valid until the next one.
 */
json_t *orch_peers_last_of(struct orch_peers *p, json_t *const *which);
#define orch_peers_last(p, what) orch_peers_last_of((p), &(p)->last_##what)

/*
 * orch_peers_log(p, dst, size): All requests in order, "observe filter …".
 * orch_peers_count(p, line):    Those that begin with line.
 * orch_peers_invokes(p):        Invokes.
 * orch_peers_clear(p):          Clear the log.
 */
const char *orch_peers_log(struct orch_peers *p, char *dst, size_t size);
size_t orch_peers_count(struct orch_peers *p, const char *line);
size_t orch_peers_invokes(struct orch_peers *p);
void orch_peers_clear(struct orch_peers *p);

/*
 * orch_peers_save(p, error):
 * With save_later: the last soul observed is saved, or the code of an error.
 */
void orch_peers_save(struct orch_peers *p, const char *error);

/*
 * orch_peers_on_observe, orch_peers_on_intents: emotion-engine and
 * intent-filter as subscriptions.
 */
void orch_peers_on_observe(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *p);
void orch_peers_on_intents(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *p);

/* orch_peers_serve(p, subject, fn): Another subscription; arg of fn is p. */
natsSubscription *orch_peers_serve(
    struct orch_peers *p, const char *subject, natsMsgHandler fn);

/* orch_body_result(p, terminal, id, json): The body publishes a result. */
void orch_body_result(struct orch_peers *p, const char *terminal,
    const char *id, const char *json);

#endif /* !TESTKIT_ORCH_PEERS_H */
