/*
 * client: an HTTP client of the gateway; every response is checked against the
 * schema of its route.
 */
#ifndef TESTKIT_STACK_CLIENT_H
#define TESTKIT_STACK_CLIENT_H

#include <jansson.h>
#include <stdbool.h>

#include "testkit/stack/stack.h"

/*
 * client_set_identity(token, from):
 * The access token and source address ("127.0.0.2") of this thread's requests
 * from now on; NULL: none, any.  Both must stay valid.
 */
void client_set_identity(const char *token, const char *from);

/*
 * client_get_identity(token, from): The values of client_set_identity() in this
 * thread.
 */
void client_get_identity(const char **token, const char **from);

/*
 * client_call(port, method, path, body, status):
 * Send a request; takes body (NULL: none).  Returns the response, which the
 * caller frees, or NULL if none came; *status is 0 then.  Fails the test if the
 * response violates its schema.
 */
json_t *client_call(
    int port, const char *method, const char *path, json_t *body, int *status);

/* client_ok(st, method, path, body): A request to the gateway; must get 200. */
json_t *client_ok(
    struct stack *st, const char *method, const char *path, json_t *body);

/*
 * client_rejected(st, method, path, body, status): A request that the gateway
 * must reject with that status; returns the error text.
 */
const char *client_rejected(struct stack *st, const char *method,
    const char *path, json_t *body, int status);

/* client_create_soul(st, user, name, mbti): Create a soul; its id. */
const char *client_create_soul(
    struct stack *st, const char *user, const char *name, const char *mbti);

/* client_select_soul(st, user, terminal, soul): Bind it. */
void client_select_soul(
    struct stack *st, const char *user, const char *terminal, const char *soul);

/* A user, the session and the terminal of their chats. */
struct client {
	struct stack *st;
	const char *user, *session, *terminal;
};

/*
 * client_bound(st, user, terminal): Wait until the terminal has intents, and
 * bind it to a new soul of the user; session s1.
 */
struct client client_bound(
    struct stack *st, const char *user, const char *terminal);

/*
 * client_chat_request(o, text):
 * A chat request without an input_id, so that it is never taken for a retry.
 */
json_t *client_chat_request(const struct client *o, const char *text);

/* client_chat(o, text): Chat; returns the response, which is 200. */
json_t *client_chat(const struct client *o, const char *text);

/*
 * client_ck_reply(o, text, part): Chat; the reply must have that part.
 * client_await_reply(o, text, part): Chat until it does.
 */
void client_ck_reply(
    const struct client *o, const char *text, const char *part);
void client_await_reply(
    const struct client *o, const char *text, const char *part);

/* client_sim_state(st, terminal): The state of a terminal of body-sim. */
json_t *client_sim_state(struct stack *st, const char *terminal);

/*
 * client_wait_sim_state(st, terminal, member, text): Wait until the state has
 * that value.
 */
void client_wait_sim_state(struct stack *st, const char *terminal,
    const char *member, const char *text);

/*
 * Terminals as seen by a user; bound to the user or unbound.
 * client_terminal(st, user, terminal): The response; NULL if it is not found.
 * client_wait_terminal(st, user, terminal, what): Wait until it shows that.
 */
json_t *client_terminal(
    struct stack *st, const char *user, const char *terminal);
enum client_sees {
	CLIENT_SEES_OFFLINE, /* offline */
	CLIENT_SEES_SKILLS,  /* online, with skills */
	CLIENT_SEES_INTENTS  /* online, with skills and intents */
};
void client_wait_terminal(struct stack *st, const char *user,
    const char *terminal, enum client_sees what);

/*
 * client_wait_report_outcome(st, user, terminal, outcome): Wait until the last
 * report that was not accepted in full has that outcome.
 */
void client_wait_report_outcome(struct stack *st, const char *user,
    const char *terminal, const char *outcome);

/* client_wait_intents(st, user, terminal, n): Wait until it has n intents. */
void client_wait_intents(
    struct stack *st, const char *user, const char *terminal, size_t n);

#endif /* !TESTKIT_STACK_CLIENT_H */
