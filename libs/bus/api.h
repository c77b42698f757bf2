/*
 * api: what the JetStream API answers: JSON in plain messages, because the
 * library's own calls for it block.
 */
#ifndef BUS_API_H
#define BUS_API_H

#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Room that api_read() needs at most. */
#define API_ARENA_MAX (64 * 1024)

/* Numbers of nats-server's errors. */
enum api_error {
	API_NO_MESSAGE = 10037,
	API_NO_SEQUENCE = 10043,
	API_STORE = 10057,   /* so it says of a seq behind the last */
	API_DIFFERS = 10058, /* what exists is configured otherwise */
	API_NO_STREAM = 10059,
	API_NO_CLUSTER = 10074, /* replicas, of a server that stands alone */
};

/*
 * api_read(data, a, in):
 * An answer; its texts live in a.  What it refuses is RC_NOENT, RC_CONFLICT,
 * RC_RETRY or RC_INVALID, and in->error is set; RC_INVALID without it: it is no
 * such answer.
 */
enum rc api_read(struct str data, struct arena *a,
    struct wire_jetstream_answer *in) RC_CHECK;

#endif /* !BUS_API_H */
