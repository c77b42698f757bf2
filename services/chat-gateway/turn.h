/*
 * turn: a chat in the hands of an orchestrator.
 */
#ifndef CHAT_GATEWAY_TURN_H
#define CHAT_GATEWAY_TURN_H

struct gateway;
struct svc_call;

/*
 * turn_start(g, c):
 * Hand the chat request c over and, whenever the turn ends, end c with what
 * came of it.  A turn that was begun is never begun again: if nothing is heard
 * of it for six seconds it is lost.
 */
void turn_start(struct gateway *g, struct svc_call *c);

#endif /* !CHAT_GATEWAY_TURN_H */
