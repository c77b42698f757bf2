/*
 * turn: a chat in the hands of an orchestrator.
 */
#ifndef CHAT_GATEWAY_TURN_H
#define CHAT_GATEWAY_TURN_H

#include <stdbool.h>

#include "core/str.h"

struct gateway;
struct svc_call;

/*
 * turn_start(g, c, user, stream):
 * Hand the user's chat request c over and, whenever the turn ends, end c with
 * what came of it: one answer, or a stream of the turn's events that begins
 * with the first of them and ends with the last.  A turn that was begun is
 * never begun again: if nothing is heard of it for six seconds, and it has no
 * end, it is lost.
 */
void turn_start(
    struct gateway *g, struct svc_call *c, struct str user, bool stream);

/* turn_wants_stream(accept): Whether a client's Accept names event streams. */
bool turn_wants_stream(struct str accept);

#endif /* !CHAT_GATEWAY_TURN_H */
