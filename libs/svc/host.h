/*
 * host: whether a request was meant for this machine.  Pure.  Private to svc.
 *
 * A service that knows no callers listens on loopback, and so every program of
 * this machine may ask it.  A page in a browser may not, but a page whose name
 * is made to point to 127.0.0.1 would count as the service's own (DNS
 * rebinding): its requests have that name as their Host.
 */
#ifndef SVC_HOST_H
#define SVC_HOST_H

#include <stdbool.h>

#include "core/str.h"

/*
 * host_is_local(host):
 * Of a Host header: localhost, a name that ends in .localhost, or an address,
 * with or without a port.  Absent or empty, as of HTTP/1.0: yes.
 */
bool host_is_local(struct str host);

#endif /* !SVC_HOST_H */
