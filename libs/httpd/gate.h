/*
 * gate: how much one client may ask: how often, and how much at a time.
 * Private.  Any thread.
 */
#ifndef HTTPD_GATE_H
#define HTTPD_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "httpd/peer.h"

/* Clients whose rate is known; of more, whoever asked longest ago starts anew.
 */
#define GATE_CLIENTS_MAX 65536

struct gate;

/*
 * gate_new(rate_per_s, rate_burst, at_once):
 * Limits of one client; rate_per_s, at_once: 0 for no limit.
 */
struct gate *gate_new(int64_t rate_per_s, int64_t rate_burst, size_t at_once);

/* gate_free(g): NULL is allowed. */
void gate_free(struct gate *g);

/*
 * gate_rate(g, p, now):
 * 0: p may ask once more, now.  Otherwise after how many milliseconds it may.
 */
int64_t gate_rate(struct gate *g, const struct peer *p, struct mono now);

/*
 * gate_enter(g, p), gate_leave(g, p):
 * One request of p more is served, if it does not have as many as it may; one
 * that has entered has ended.
 */
bool gate_enter(struct gate *g, const struct peer *p);
void gate_leave(struct gate *g, const struct peer *p);

#endif /* !HTTPD_GATE_H */
