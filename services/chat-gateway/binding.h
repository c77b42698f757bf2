/*
 * binding: which soul a terminal has.
 */
#ifndef CHAT_GATEWAY_BINDING_H
#define CHAT_GATEWAY_BINDING_H

#include <stdbool.h>

#include "core/str.h"

struct gateway;
struct svc_call;

struct binding {
	struct str terminal_id, user_id, soul_id;
};

/*
 * binding_make(g, c, b):
 * Bind the terminal.  False: it could not be, and c has been answered why.
 */
bool binding_make(
    struct gateway *g, struct svc_call *c, const struct binding *b);

/*
 * binding_check(g, c, user):
 * Whether the chat request c may begin: its terminal is bound by its user
 * (*user, in the memory of c), and to the soul it names if it names one.  A
 * terminal that nobody has bound is bound to the soul that the request's
 * soul_hint, or else its last report's, names; with SOUL_AUTO_CREATE to a new
 * one if that is none.  False: c has been answered why not.
 */
bool binding_check(struct gateway *g, struct svc_call *c, struct str *user);

/*
 * binding_audit(c, how, b):
 * Tell (audit) that by c a terminal's binding has become b; of one that has
 * none now, soul_id is absent, and user_id is who had it.
 */
void binding_audit(
    struct svc_call *c, const char *how, const struct binding *b);

#endif /* !CHAT_GATEWAY_BINDING_H */
