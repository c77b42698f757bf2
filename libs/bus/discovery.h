/*
 * discovery: the NATS micro protocol, so that `nats micro ls|info|stats|ping`
 * finds every service.
 */
#ifndef BUS_DISCOVERY_H
#define BUS_DISCOVERY_H

#include <stdint.h>

#include "bus/bus.h"

struct bus_endpoint {
	const char *name; /* [A-Za-z0-9_-]+ */
	const char *subject;
	const char *queue; /* queue group */
	/* Counted by the endpoint's handler, on the loop. */
	int64_t requests;
	int64_t errors;
	int64_t busy_ns; /* summed processing time */
	char last_error[128];
};

struct bus_service {
	const char *name;
	const char *version; /* SemVer */
	const char *description;
	struct bus_endpoint *endpoints; /* borrowed, not copied */
	size_t n;
	/*
	 * Whether the service can do its work, and lines for an operator, which
	 * are the metadata of STATS; on the loop.  NULL: none.
	 */
	bool (*ready)(void *arg, struct buf *lines);
	void *ready_arg;
};

/*
 * bus_announce(b, s):
 * Reply to $SRV.PING, $SRV.INFO and $SRV.STATS, plain, with the name, and with
 * name and instance id.  s must outlive b.
 */
enum rc bus_announce(struct bus *b, const struct bus_service *s) RC_CHECK;

#endif /* !BUS_DISCOVERY_H */
