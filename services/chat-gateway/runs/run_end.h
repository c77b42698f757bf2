/*
 * run_end: which event of RASP/1.0 is the last one of its run.  Pure.
 */
#ifndef CHAT_GATEWAY_RUNS_RUN_END_H
#define CHAT_GATEWAY_RUNS_RUN_END_H

#include <stdbool.h>

#include "core/str.h"

/* run_end_of_rasp(json): Whether it is; false if it is no event. */
bool run_end_of_rasp(struct str json);

#endif /* !CHAT_GATEWAY_RUNS_RUN_END_H */
