/*
 * run_call: what the routes of runs share.
 */
#ifndef CHAT_GATEWAY_RUNS_RUN_CALL_H
#define CHAT_GATEWAY_RUNS_RUN_CALL_H

#include <stdbool.h>

#include "core/str.h"
#include "service_call.h"
#include "state/run.h"

struct gateway;
struct svc_call;

#define RUN_NOT_FOUND "run not found"

/*
 * run_call_user(g, c, named, user, run):
 * The run of the path, and the user of a request that names this one (absent:
 * none; with the query's, svc_call_query()).  False: c has been ended.
 * run_call_read(g, c, rec):
 * The same for a request without a body, and its record, in the memory of c;
 * 404 if the user has no such run.
 */
bool run_call_user(struct gateway *g, struct svc_call *c, struct str named,
    struct str *user, struct str *run);
bool run_call_read(
    struct gateway *g, struct svc_call *c, struct run_record *rec);

#endif /* !CHAT_GATEWAY_RUNS_RUN_CALL_H */
