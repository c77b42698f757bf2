/*
 * llm_fixture: the simulated language model as a process, and a client whose
 * calls are recorded.  One of each per test program.
 *
 * Failures fail the test.
 */
#ifndef TESTKIT_LLM_FIXTURE_H
#define TESTKIT_LLM_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/metric.h"
#include "llm/llm.h"
#include "testkit/loop_thread.h"
#include "testkit/service.h"
#include "testkit/testkit.h"

#define LLM_WAIT_MS 20000

/* ---- the simulated model ---- */

extern struct llm_sim_fixture {
	struct tk_server nats;
	struct tk_service sim;
	char url[64], root[48];
} sim_fx;

/*
 * llm_fixture_begin(): Start it; once per program.
 * llm_fixture_end():   Stop it; NULL, or what went wrong.
 */
void llm_fixture_begin(void);
const char *llm_fixture_end(void);

/*
 * llm_fixture_script(list): Its next faults, JSON without the brackets.
 * llm_fixture_requests():   Chat completions it has sent.
 */
void llm_fixture_script(const char *list);
long long llm_fixture_requests(void);

/* ---- a client, one call at a time ---- */

extern struct llm_chat_fixture {
	struct tk_loop k;
	struct llm *llm;
	struct metric_set *metrics;
	struct llm_opts opts;
	struct llm_chat chat;
	struct llm_call *call;
	enum rc started, rc;
	int times, chunks;
	struct buf text, shown, reasoning, calls, extra;
	char error[600], provider[65];
	enum llm_finish finish;
	bool incomplete, retry, cancel;
	unsigned attempts;
	int64_t retry_after_ms, prompt_tokens, completion_tokens;
	struct mono start, first, end;
	_Atomic bool done;
} chat_fx;

/* The user says hello. */
extern const struct llm_message llm_hello;

/*
 * llm_chat_open(list, n): Create a client of these providers.
 * llm_chat_close():       Free it.
 */
void llm_chat_open(const struct llm_provider *list, size_t n);
void llm_chat_close(void);

/*
 * llm_chat_start():     Start chat_fx.chat, whose deadline must be set.
 * llm_chat_run_for(ms): Run it with that deadline until its end.
 * llm_chat_run():       The same with a deadline of 10 s.
 * llm_chat_ms():        How long it took.
 */
void llm_chat_start(void);
void llm_chat_run_for(int64_t ms);
void llm_chat_run(void);
int64_t llm_chat_ms(void);

/*
 * llm_chat_do_cancel(arg), llm_chat_is_done(arg): For tk_loop_call(),
 * tk_until().
 */
void llm_chat_do_cancel(void *arg);
bool llm_chat_is_done(void *arg);

/* llm_chat_metric(name, provider): A metric of the client. */
int64_t llm_chat_metric(const char *name, const char *provider);

#endif /* !TESTKIT_LLM_FIXTURE_H */
