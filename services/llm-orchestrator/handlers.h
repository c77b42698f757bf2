/*
 * handlers: entry points that tables call: main.c's service definition, and the
 * action table in turn/turn_actions.c.
 *
 * An action handler executes one action of a turn, now or by starting something
 * that feeds the turn later.  RC_DOWN, RC_TIMEOUT, RC_RETRY, RC_UNREPLICATED:
 * Redis is not available, or too few replicas follow; the runner retries the
 * action.  RC_CONFLICT: the turn was evicted.
 */
#ifndef LLM_ORCHESTRATOR_HANDLERS_H
#define LLM_ORCHESTRATOR_HANDLERS_H

#include "core/rc.h"

struct buf;
struct svc;
struct svc_call;
struct svc_command;
struct turn_action;
struct turn_error;
struct turn_run;

/* ---- the process ---- */

/*
 * orch_check(conf, errors, known): As svc_def.check.
 * orch_start(s, conf):             As svc_def.start; a struct orch.
 * orch_stop(o):                    As svc_def.stop.
 */
void orch_check(const void *conf, struct buf *errors, struct buf *known);
void *orch_start(struct svc *s, const void *conf);
void orch_stop(void *o);

/* "llm-orchestrator check-llm": tries the configured providers. */
extern const struct svc_command check_llm_command;

/*
 * turn_start(o, c):
 * Run a turn for a turn_start_request: accepted if it has to wait or its
 * records have to be read, running every two seconds, then completed, failed,
 * canceled or repeated.
 */
void turn_start(void *o, struct svc_call *c);

/* ---- actions of a turn ---- */

/* turn_load(r, a): Read terminal and session, store the input. */
enum rc turn_load(struct turn_run *r, const struct turn_action *a) RC_CHECK;

/*
 * perception_observe_emotion(r, a): Request emotion and gate.
 * perception_count_unsaved(r):      The turn is stored: log and count it if the
 *                                   soul's state is not.
 * perception_filter_intents(r, a):  Request the intents of the user's text.
 * perception_filter_early(r):       The same before the turn begins; the reply
 *                                   waits for perception_filter_intents().
 * perception_check_memory(r, a):    Request whether memories can be searched.
 */
void perception_count_unsaved(struct turn_run *r);
enum rc perception_observe_emotion(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc perception_filter_intents(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
void perception_filter_early(struct turn_run *r);
enum rc perception_check_memory(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;

/*
 * dispatch_intents(r, a):  Send the direct calls, in one intent_action.
 * dispatch_none(r):        Before the first call of the model: unless a body
 * may have acted, the record says so no more. dispatch_skill(r, a):    Invoke
 * the skill of one call. dispatch_cancel_all(r):  Stop waiting for results.
 */
enum rc dispatch_intents(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
void dispatch_none(struct turn_run *r);
enum rc dispatch_skill(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
void dispatch_cancel_all(struct turn_run *r);

/* alarm_call_send(r, a): Send one call to alarm-clock. */
enum rc alarm_call_send(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;

/*
 * unasked_check_gate(r, a): Request the gate.
 * unasked_speak(r, a):      Invoke the body's skill speak with the text.
 */
enum rc unasked_check_gate(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc unasked_speak(struct turn_run *r, const struct turn_action *a) RC_CHECK;

/*
 * completion_start(r, a):        Call the model with the tools that a offers.
 * completion_error_reason(r, e): The reason (error.schema.json) of an error
 * that completion_start() fed; NULL: none, or e is from elsewhere.
 * completion_cancel(r):          Cancel the call under way.
 */
enum rc completion_start(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
const char *completion_error_reason(
    const struct turn_run *r, const struct turn_error *e);
void completion_cancel(struct turn_run *r);

/*
 * memory_tool_recall(r, a): Search memories for one call.
 * memory_tool_forget(r, a): Forget the memory that one call describes, of this
 *                           user and soul; never without a query and a soul.
 * memory_tool_report(r, a): Publish the progress of the search to the body.
 */
enum rc memory_tool_recall(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc memory_tool_forget(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc memory_tool_report(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;

/*
 * tool_providers_list(r, a): The providers' tools, from the cache or by
 *                            requests; feeds TURN_TOOLS_REPLY.
 * tool_providers_find(r, a): Search more of them for one call.
 * provided_call(r, a):       Send one call to its provider; one that was
 *                            approved only if the session still has it.
 * provided_call_cancel_all(r): Stop waiting for results.
 */
enum rc tool_providers_list(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc tool_providers_find(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc provided_call(struct turn_run *r, const struct turn_action *a) RC_CHECK;
void provided_call_cancel_all(struct turn_run *r);

/*
 * turn_commit(r, a):       Store the results and the reply.
 * turn_end_reply(r, a):    End the turn with its reply.
 * turn_end_fail(r, a):     End it with a's error.
 * turn_end_canceled(r, a): End it as canceled.
 * The last three cancel what is pending, release the queue slot and end the
 * caller's request.
 */
enum rc turn_commit(struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc turn_end_reply(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc turn_end_fail(struct turn_run *r, const struct turn_action *a) RC_CHECK;
enum rc turn_end_canceled(
    struct turn_run *r, const struct turn_action *a) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_HANDLERS_H */
