/*
 * handlers: entry points of this service, for its tables.
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct bus_msg;
struct runner;
struct svc_call;
struct svc_run;

/* ---- commands ---- */

/*
 * replay_command(r): Print the events of a spool; alone.
 * shim_command(r): What procsup starts; alone.
 */
int replay_command(const struct svc_run *r);
int shim_command(const struct svc_run *r);

extern const char replay_usage[], replay_help[];

/* ---- on_run.c ---- */

/* on_run_start(r, c), on_run_reply(r, c), on_run_cancel(r, c): svc_route.fn. */
void on_run_start(void *app, struct svc_call *c);
void on_run_reply(void *app, struct svc_call *c);
void on_run_cancel(void *app, struct svc_call *c);

/* ---- on_logs.c ---- */

/* logs_subscribe(r): Requests about this runner's disk. */
enum rc logs_subscribe(struct runner *r) RC_CHECK;

/* ---- on_claim.c: the runs of this runner ---- */

struct claim;

/*
 * claim_new(r): Subscribe to wake hints; NULL: it cannot.
 * claim_begin(c): The engines are known: find what is on the disk, and begin.
 * claim_request(r, run): A run of this runner may have changed; absent: any.
 * claim_free(c): After state_stop(); NULL is allowed.
 *
 * run_wake(r, runner, run): A hint for a runner, this one or another.
 * run_enqueue(r, runner, run): Add it to the runner's list, and wake that; a
 *     call.  A run that could not be added is found later.
 */
struct claim *claim_new(struct runner *r);
void claim_begin(struct claim *c);
void claim_request(struct runner *r, struct str run);
void claim_free(struct claim *c);
void run_wake(struct runner *r, struct str runner, struct str run);
enum rc run_enqueue(
    struct runner *r, struct str runner, struct str run) RC_CHECK;

/* ---- on_tool.c: tools of souls ---- */

/* on_tool_list(r, c), on_tool_call(r, c): svc_route.fn. */
void on_tool_list(void *app, struct svc_call *c);
void on_tool_call(void *app, struct svc_call *c);

struct tool_provider;

/*
 * tool_provider_new(r): NULL: it cannot.
 * tool_provider_begin(p): The engines are known: announce the tools, every 5 s
 *     while an engine works.
 * tool_provider_free(p): After state_stop(); NULL is allowed.
 */
struct tool_provider *tool_provider_new(struct runner *r);
void tool_provider_begin(struct tool_provider *p);
void tool_provider_free(struct tool_provider *p);

/* ---- on_due.c: timers of the runs of all runners ---- */

struct due;

/*
 * due_new(r), due_free(d): After state_stop(); NULL is allowed.
 * due_leave(d): Leave the timers to the other runners; a call.
 */
struct due *due_new(struct runner *r);
void due_free(struct due *d);
void due_leave(struct due *d);

/* ---- engine_probe.c ---- */

/*
 * engine_probe_all(r): In a fiber: test the sandbox, and find the version of
 * each engine that does not work yet; false: the sandbox has a hole, or the
 * process stops.
 */
bool engine_probe_all(struct runner *r);

#endif /* !HANDLERS_H */
