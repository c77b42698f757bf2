/*
 * routes: what chat-gateway serves.
 */
#ifndef CHAT_GATEWAY_ROUTES_H
#define CHAT_GATEWAY_ROUTES_H

#include "svc/svc.h"

#define ROUTES_N 25

extern const struct svc_route routes[ROUTES_N];

#endif /* !CHAT_GATEWAY_ROUTES_H */
