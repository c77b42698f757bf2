/*
 * owner: somebody who owns a body and talks to its soul over HTTP; every answer
 * is judged by its route's schema.
 */
#ifndef TESTKIT_STACK_OWNER_H
#define TESTKIT_STACK_OWNER_H

#include <jansson.h>
#include <stdbool.h>

#include "testkit/stack/stack.h"

/*
 * owner_is(token, from):
 * Who asks in this thread from now on: with an access token, from an address
 * ("127.0.0.2"); NULL: none, any.  Both must live on.
 */
void owner_is(const char *token, const char *from);

/* owner_who(token, from): What owner_is() was told in this thread. */
void owner_who(const char **token, const char **from);

/*
 * owner_call(port, method, path, body, status):
 * Ask; body (NULL: none) is given away.  The answer, which the caller frees, or
 * NULL if none came, *status then being 0.  Fails the test if the answer breaks
 * its schema.
 */
json_t *owner_call(
    int port, const char *method, const char *path, json_t *body, int *status);

/* owner_ok(st, method, path, body): From the gateway, and it is 200. */
json_t *owner_ok(
    struct stack *st, const char *method, const char *path, json_t *body);

/*
 * owner_refused(st, method, path, body, status):
 * The gateway refuses with that status; the error's text.
 */
const char *owner_refused(struct stack *st, const char *method,
    const char *path, json_t *body, int status);

/* owner_soul(st, user, name, mbti): Create a soul; its id. */
const char *owner_soul(
    struct stack *st, const char *user, const char *name, const char *mbti);

/* owner_select(st, user, terminal, soul): Bind. */
void owner_select(
    struct stack *st, const char *user, const char *terminal, const char *soul);

/* Who talks to which body, and in which session. */
struct owner {
	struct stack *st;
	const char *user, *session, *terminal;
};

/*
 * owner_request(o, text):
 * A chat request without an input_id, so that it is never taken for a retry.
 */
json_t *owner_request(const struct owner *o, const char *text);

/* owner_say(o, text): Say something; the response, which is 200. */
json_t *owner_say(const struct owner *o, const char *text);

/* owner_state(st, terminal): What a body of body-sim shows. */
json_t *owner_state(struct stack *st, const char *terminal);

/* owner_wait_state(st, terminal, member, text): Wait until it shows that. */
void owner_wait_state(struct stack *st, const char *terminal,
    const char *member, const char *text);

/*
 * The gateway tells a user of his bodies, and of those that nobody has bound.
 * owner_terminal(st, user, terminal): What it tells; NULL if nothing.
 * owner_wait_body(st, user, terminal, what): Wait until it tells so much.
 */
json_t *owner_terminal(
    struct stack *st, const char *user, const char *terminal);
enum owner_knows {
	OWNER_KNOWS_GONE,   /* it is not online */
	OWNER_KNOWS_SKILLS, /* it is, with skills */
	OWNER_KNOWS_INTENTS /* and intents */
};
void owner_wait_body(struct stack *st, const char *user, const char *terminal,
    enum owner_knows what);

/*
 * owner_wait_refusal(st, user, terminal, outcome):
 * Wait until the last report that did not count has that outcome.
 */
void owner_wait_refusal(struct stack *st, const char *user,
    const char *terminal, const char *outcome);

/* owner_wait_intents(st, user, terminal, n): Wait until it has n intents. */
void owner_wait_intents(
    struct stack *st, const char *user, const char *terminal, size_t n);

/* ---- JSON ------------------------------------------------------------------
 * at(j, "a.b"): a member, which must be there; texts live as long as j.
 */
json_t *at(json_t *j, const char *path);

#define text_at(j, path)   json_string_value(at((j), (path)))
#define number_at(j, path) json_number_value(at((j), (path)))

/* has_skill(j, path, skill): Whether the array of texts has it. */
bool has_skill(json_t *j, const char *path, const char *skill);

/* is_json(j, text): Whether j is what the JSON text says. */
bool is_json(json_t *j, const char *text);

/* says(j, path, text): Whether the text at path has text in it. */
bool says(json_t *j, const char *path, const char *text);

#endif /* !TESTKIT_STACK_OWNER_H */
