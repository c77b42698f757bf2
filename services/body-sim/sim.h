/*
 * sim: the simulated devices of a process.
 */
#ifndef BODY_SIM_SIM_H
#define BODY_SIM_SIM_H

#include "core/buf.h"

struct svc;
struct svc_call;

/* sim_check(), sim_start(s, conf), sim_stop(app): See struct svc_def. */
void sim_check(const void *conf, struct buf *errors, struct buf *known);
void *sim_start(struct svc *s, const void *conf);
void sim_stop(void *app);

/*
 * sim_state(app, c):
 * GET /state: the state of the device ?terminal_id=, by default of the first.
 */
void sim_state(void *app, struct svc_call *c);

#endif /* !BODY_SIM_SIM_H */
