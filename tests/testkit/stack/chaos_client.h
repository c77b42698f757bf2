/* chaos_client: one client of the load, private to it. */
#ifndef TESTKIT_STACK_CHAOS_CLIENT_H
#define TESTKIT_STACK_CHAOS_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/arena.h"
#include "core/buf.h"
#include "testkit/chaos.h"
#include "testkit/stack/chaos_body.h"
#include "testkit/stack/chaos_http.h"
#include "testkit/stack/stack.h"

/* Longest wait for a response. */
#define CHAOS_CALL_MS 60000
#define CHAOS_SOULS   4

struct chaos_made {
	char name[48], id[80];
};

struct chaos_ended {
	char session[32], last[80];
};

struct chaos_client {
	int number;
	struct chaos *h;
	int port; /* of chat-gateway */
	char user[32], terminal[32];
	struct chaos_body *body; /* NULL: of body-sim */
	/* Whether it alone writes the user's binding and souls. */
	bool first;
	char bound[2][80]; /* the souls that its body is bound to in turn */
	struct chaos_made souls[CHAOS_SOULS];
	uint64_t random;
	int words; /* names and values that it has used */
	pthread_t thread;
	atomic_bool *stop;
	atomic_int done; /* acknowledged turns */

	char session[32];
	char last[80];       /* the turn that was acknowledged last */
	int sessions, turns; /* sessions so far; turns in the present one */
	bool unknown;        /* the outcome of one of them is not known */
	/* To be read back: sessions with their last turns; records. */
	struct chaos_ended *ended;
	size_t n_ended;
	char **records;
	size_t n_records;

	struct buf out;
	struct arena *arena;
};

/* client_random(c, n): In [0, n). */
unsigned client_random(struct chaos_client *c, unsigned n);

/* client_pause(c, ms): Wait, unless the load ends. */
void client_pause(struct chaos_client *c, int ms);

/*
 * client_request(c, method, path, body, json): A request other than a chat; the
 * status, 0: none.  *json (may be NULL) is the response, or NULL; freed by the
 * caller.  Takes body.
 */
int client_request(struct chaos_client *c, const char *method, const char *path,
    json_t *body, json_t **json);

/* client_verify(c, r, status): Record a response that violates its schema. */
void client_verify(
    struct chaos_client *c, const struct chaos_http *r, int status);

/* The ways of a turn. */
enum client_way {
	CLIENT_PLAIN,
	CLIENT_STREAM,
	CLIENT_CANCEL,  /* canceled by another request */
	CLIENT_GIVE_UP, /* disconnects early */
	CLIENT_LEAVE /* the same, and asks for the turn to be canceled then */
};

/*
 * client_turn(c, session, text, way): A turn, with retries; whether it was
 * acknowledged.
 */
bool client_turn(struct chaos_client *c, const char *session, const char *text,
    enum client_way way);

/*
 * client_write(c): Write something other than a turn.
 * client_end_session(c): After its last turn; it is read back later, or
 * deleted.
 * client_read_back(c): All that it wrote.
 */
void client_write(struct chaos_client *c);
void client_end_session(struct chaos_client *c);
void client_read_back(struct chaos_client *c);

#endif /* !TESTKIT_STACK_CHAOS_CLIENT_H */
