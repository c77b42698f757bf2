/*
 * lock: a stack as it is deployed: nobody comes in without a name.
 *
 * The broker has the shipped configuration (deploy/mosquitto-secure.conf and
 * what belongs to it), of which only ports and places are replaced, and
 * passwords that "mqtt-bridge passwords" keeps; services have their own users
 * in NATS and Redis; every HTTP port but the simulated model's wants tokens.
 *
 * What the tests see themselves by: TK_WITNESS in NATS and Redis, and a
 * listener of the broker on which everything is allowed.
 */
#ifndef TESTKIT_STACK_LOCK_H
#define TESTKIT_STACK_LOCK_H

#include <stddef.h>

#include "core/arena.h"
#include "testkit/stack/stack.h"

/* Who has an access token of the file. */
enum lock_who {
	LOCK_OPERATOR,
	LOCK_WATCHER, /* an operator who only looks, often */
	LOCK_PROVISIONER,
	LOCK_DEMO, /* STACK_USER, the neighbour */
	LOCK_ADA,
	LOCK_MALLORY,
	LOCK_MALLORY_TOO, /* the same user with another token */
	LOCK_LAMP,        /* a body, "lamp-1" */
	LOCK_ACME_OPERATOR,
	LOCK_ACME_PROVISIONER,
	LOCK_ACME_ADA,
	LOCK_GLOBEX_OPERATOR,
	LOCK_GLOBEX_PROVISIONER,
	LOCK_GLOBEX_ADA,
	LOCK_EXPIRED, /* ada's, of yesterday */
	LOCK_WHO
};

/* lock_token(who): His token. */
const char *lock_token(enum lock_who who);

/* Bodies that every locked stack has, beside STACK_BODY, and whose they are. */
#define LOCK_VICTIM "victim-1"  /* ada's */
#define LOCK_EVIL   "hostile-1" /* mallory's, as the next */
#define LOCK_OTHER  "hostile-2"
#define LOCK_ACME   "acme-1" /* of the tenant acme */

/*
 * lock_servers(st): Start NATS, Redis and the broker, and write the files.
 * lock_bodies(st):  Mint the bodies over HTTP; the broker knows them then.
 */
void lock_servers(struct stack *st);
void lock_bodies(struct stack *st);

/* lock_env(st, i, a, env, n): Add service i's variables; how many there are. */
size_t lock_env(struct stack *st, enum stack_service i, struct arena *a,
    const char **env, size_t n);

/*
 * lock_mint(st, terminal, user):
 * Give a body an identity, of which the broker need not know yet.
 * lock_rotate(st, terminal): Give it another secret.
 * lock_password(terminal), lock_body_token(terminal): The last of it.
 */
void lock_mint(struct stack *st, const char *terminal, const char *user);
void lock_rotate(struct stack *st, const char *terminal);
const char *lock_password(const char *terminal);
const char *lock_body_token(const char *terminal);

/*
 * lock_lets_in(st, user, password):
 * Whether the broker takes that at the listener for bodies now.
 */
bool lock_lets_in(struct stack *st, const char *user, const char *password);

/*
 * lock_end(st):
 * Tell what lock_servers() started beside the servers to stop; its exit status.
 */
int lock_end(struct stack *st);

#endif /* !TESTKIT_STACK_LOCK_H */
