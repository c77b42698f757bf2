/*
 * soul_chat: a chat with a soul that is named, through one of its bodies, for
 * clients that know no bodies.
 */
#ifndef CHAT_GATEWAY_CHAT_SOUL_CHAT_H
#define CHAT_GATEWAY_CHAT_SOUL_CHAT_H

#include <stdbool.h>

#include "core/str.h"
#include "state/terminal.h"
#include "wire/msgs.h"

struct gateway;
struct svc_call;

/* In the memory of its call, as all strings. */
struct soul_chat {
	struct gateway *g;
	struct svc_call *c;
	struct str user;
	struct wire_chat_request_inputs input;
	struct wire_chat_request chat; /* its input is that above */
	struct terminal terminal;
};

/*
 * soul_chat_find(s, field, soul, terminal):
 * Find the user's soul by id or name, and the body: terminal, or if that is
 * absent one that the soul is bound to, if possible one that is online.  g, c
 * and user are given; field is how the client names the soul.  False: c has
 * been ended.
 */
bool soul_chat_find(struct soul_chat *s, const char *field, struct str soul,
    struct str terminal);

/*
 * soul_chat_set(s, text, session, key):
 * The input, in that session; a key, if there is one, names a retry.  False: c
 * has been ended.
 */
bool soul_chat_set(
    struct soul_chat *s, struct str text, struct str session, struct str key);

#endif /* !CHAT_GATEWAY_CHAT_SOUL_CHAT_H */
