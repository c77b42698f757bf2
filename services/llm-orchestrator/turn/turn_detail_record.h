/*
 * turn_detail_record: what went into the phases of a turn and what came out,
 * collected while it runs and stored after its end (state/turn_detail.h).
 * Nothing is collected where TURN_DETAIL_HOURS is 0.
 */
#ifndef LLM_ORCHESTRATOR_TURN_DETAIL_RECORD_H
#define LLM_ORCHESTRATOR_TURN_DETAIL_RECORD_H

#include "wire/msgs.h"

struct llm_chat;
struct llm_result;
struct turn_run;

/* Longest input and output of a phase that is stored, in bytes. */
#define TURN_DETAIL_TEXT_MAX 8192
/*
 * turn_detail_prompt(r, chat): A call of the model begins.
 * turn_detail_completion(r, res, text): It has ended, with that to be said.
 * Of the inner voice neither has anything.
 */
void turn_detail_prompt(struct turn_run *r, const struct llm_chat *chat);
void turn_detail_completion(
    struct turn_run *r, const struct llm_result *res, struct str text);

struct turn_detail_record;

/*
 * turn_detail_take(r, rep): The details of r, which ends with rep; NULL: there
 *                           is nothing to store.
 * turn_detail_store(d):     Store them in the background, and free d.  NULL is
 *                           allowed.
 */
struct turn_detail_record *turn_detail_take(
    const struct turn_run *r, const struct wire_turn_reply *rep);
void turn_detail_store(struct turn_detail_record *d);

#endif /* !LLM_ORCHESTRATOR_TURN_DETAIL_RECORD_H */
