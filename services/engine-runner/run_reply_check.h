/*
 * run_reply_check: whether a reply suits its question.  Pure.
 */
#ifndef ENGINE_RUNNER_RUN_REPLY_CHECK_H
#define ENGINE_RUNNER_RUN_REPLY_CHECK_H

#include "core/str.h"
#include "wire/msgs.h"

/*
 * run_reply_check(q, content): NULL, or what is wrong with it: of a choice it
 * must be one of the values, of several a JSON array of them, of a form a JSON
 * object with its fields.
 */
const char *run_reply_check(
    const struct wire_run_question *q, struct str content);

#endif /* !ENGINE_RUNNER_RUN_REPLY_CHECK_H */
