/*
 * lock: a stack as it is deployed, with access control everywhere.
 *
 * The broker has the shipped configuration (deploy/mosquitto-secure.conf and
 * the files it needs), with only ports and paths replaced, and the password
 * file that "mqtt-bridge passwords" maintains; services have their own users in
 * NATS and Redis; every HTTP port except that of the simulated model requires
 * tokens.
 *
 * Tests observe it as the user TK_WITNESS of NATS and Redis, and through a
 * listener of the broker without restrictions.
 */
#ifndef TESTKIT_STACK_LOCK_H
#define TESTKIT_STACK_LOCK_H

#include <stddef.h>

#include "core/arena.h"
#include "testkit/stack/stack.h"

/* The holders of the access tokens in the file. */
enum lock_who {
	LOCK_OPERATOR,
	LOCK_WATCHER, /* a read-only operator, polled often */
	LOCK_PROVISIONER,
	LOCK_DEMO, /* STACK_USER, used by the load generator */
	LOCK_ADA,
	LOCK_MALLORY,
	LOCK_MALLORY_TOO, /* the same user with another token */
	LOCK_LAMP,        /* the terminal "lamp-1" */
	LOCK_ACME_OPERATOR,
	LOCK_ACME_PROVISIONER,
	LOCK_ACME_ADA,
	LOCK_GLOBEX_OPERATOR,
	LOCK_GLOBEX_PROVISIONER,
	LOCK_GLOBEX_ADA,
	LOCK_EXPIRED, /* ada's, expired yesterday */
	LOCK_WHO
};

/* lock_token(who): The token. */
const char *lock_token(enum lock_who who);

/* Terminals of every locked stack, beside STACK_BODY, and their users. */
#define LOCK_VICTIM "victim-1"  /* owned by ada */
#define LOCK_EVIL   "hostile-1" /* owned by mallory, as the next one */
#define LOCK_OTHER  "hostile-2"
#define LOCK_ACME   "acme-1" /* of the tenant acme */

/*
 * lock_servers(st): Start NATS, Redis and the broker, and write the files.
 * lock_bodies(st): Create the identities over HTTP and wait until the broker
 * has them.
 */
void lock_servers(struct stack *st);
void lock_bodies(struct stack *st);

/*
 * lock_env(st, i, a, env, n): Append the variables of service i; returns the
 * number of variables.
 */
size_t lock_env(struct stack *st, enum stack_service i, struct arena *a,
    const char **env, size_t n);

/*
 * lock_mint(st, terminal, user): Create an identity, without waiting for the
 * broker.
 * lock_rotate(st, terminal): Replace its secrets.
 * lock_password(terminal), lock_body_token(terminal): The latest ones.
 */
void lock_mint(struct stack *st, const char *terminal, const char *user);
void lock_rotate(struct stack *st, const char *terminal);
const char *lock_password(const char *terminal);
const char *lock_body_token(const char *terminal);

/*
 * lock_lets_in(st, user, password): Whether the broker accepts the credentials
 * at the terminals' listener.
 */
bool lock_lets_in(struct stack *st, const char *user, const char *password);

/*
 * lock_end(st): Stop the password process that lock_servers() started; returns
 * its exit status.
 */
int lock_end(struct stack *st);

#endif /* !TESTKIT_STACK_LOCK_H */
