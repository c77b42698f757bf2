/*
 * instance_internal: what the files of instance.h share.  Private.
 */
#ifndef INSTANCE_INTERNAL_H
#define INSTANCE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/rate.h"
#include "instance.h"

struct bus_sub;

#define CRASHES_MAX 5

enum instance_phase {
	PHASE_DOWN, /* retry is set, or nobody wants it */
	PHASE_LEASING,
	PHASE_OPENING, /* until its tools are known */
	PHASE_READY,
	PHASE_CLOSING,
	PHASE_ELSEWHERE /* another replica has its lease */
};

struct instance {
	struct host *host;
	struct tool_server *server;
	char id[INSTANCE_ID_MAX];
	char user[ID_MAX + 1]; /* "": of all, or of nobody */
	enum instance_phase phase;
	struct mcp_connection *connection;
	struct host_waits waits;
	size_t holds;
	bool legacy;         /* it does not survive a probe */
	bool wanted;         /* although it is closing */
	bool crowded;        /* there is no room for its process */
	bool leased, fiber;  /* a fiber is about its lease */
	struct bus_sub *sub; /* while leased */
	struct mono renewed; /* its lease */
	struct mono used;    /* last; 1: it is not needed any more */
	struct mono ready_since, elsewhere, notified;
	struct mono crashes[CRASHES_MAX]; /* a ring */
	size_t n_crashes;
	struct backoff backoff;
	struct loop_timer tick, retry;
	char why[256];
};

/* instance_free(i): It has no connection, and nobody waits for it. */
void instance_free(struct instance *i);
void instance_close(struct instance *i);
void instance_retry_in(struct instance *i, int64_t ms);
void instance_on_leased(struct instance *i);

/* ---- instance_lease.c ---- */

/*
 * instance_lease_begin(i): Acquire it; then instance_on_leased(), or
 *     PHASE_ELSEWHERE, or a retry.
 * instance_lease_renew(i): One that could not be renewed is closed.
 * instance_lease_end(i): Release it.
 */
void instance_lease_begin(struct instance *i);
void instance_lease_renew(struct instance *i);
void instance_lease_end(struct instance *i);

#endif /* !INSTANCE_INTERNAL_H */
