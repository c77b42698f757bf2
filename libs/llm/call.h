/*
 * call: a chat from its start to its result, over as many attempts as it takes;
 * and the client it belongs to.  Private.
 */
#ifndef LLM_CALL_H
#define LLM_CALL_H

#include <sys/queue.h>

#include "core/buf.h"
#include "core/loop.h"
#include "httpc/httpc.h"
#include "httpc/sse_reader.h"
#include "llm/accum.h"
#include "llm/fault.h"
#include "llm/provider.h"
#include "llm/retry.h"

TAILQ_HEAD(call_list, llm_call);

struct llm {
	struct loop *loop;
	struct httpc *http;
	struct provider providers[LLM_PROVIDERS_MAX];
	size_t n;
	unsigned tries;
	int64_t first_byte_ms, idle_ms;
	struct call_list calls;
	bool closing;
};

/* What has come of the answer to one attempt. */
struct answer {
	enum { FORM_UNKNOWN, FORM_STREAM, FORM_WHOLE } form;
	struct sse_reader sse;
	struct buf body; /* of FORM_WHOLE */
	struct accum accum;
	enum rc fault_rc; /* of an error in the stream */
	char fault[FAULT_TEXT_MAX + 1];
};

struct llm_call {
	TAILQ_ENTRY(llm_call) link;
	struct llm *llm;
	struct llm_chat chat; /* lies in kept */
	struct trace trace;
	struct arena *kept;
	struct arena *arena; /* of one event, then of the result */

	size_t at;   /* the provider that is asked */
	bool probe;  /* its breaker lets only this call through */
	bool judged; /* its breaker has been told */
	unsigned tries, attempts;
	struct mono start;       /* of the attempt */
	struct httpc_call *http; /* NULL: none under way */
	struct loop_timer timer; /* until the next attempt, or the end */
	struct answer in;
	bool gave_text;
	bool busy;      /* our caller is inside one of our callbacks */
	bool cancelled; /* while busy */

	/* Where there was nobody to ask. */
	enum rc refused;
	int64_t refused_ms;
};

/*
 * answer_init(r, p), answer_free(r): For an attempt at p.
 * answer_chunk(call, http, chunk): A piece of the answer, as httpc_chunk_fn;
 *     on_text of the chat is called.
 * answer_end(call, rc, answer, out): The answer is there, or will not be: *out
 *     is what it comes to, but for the parts about retrying.
 */
void answer_init(struct answer *r, const struct provider *p);
void answer_free(struct answer *r);
enum rc answer_chunk(
    struct llm_call *call, struct httpc_call *http, struct str chunk) RC_CHECK;
void answer_end(struct llm_call *call, enum rc rc,
    const struct httpc_response *answer, struct llm_result *out);

/* call_provider(call): Who is asked. */
struct provider *call_provider(const struct llm_call *call);

/*
 * call_choose(call, i):
 * Choose the first provider from the i-th on that may be asked; false if there
 * is none.  call_has_others(call): Whether one after the chosen could be.
 */
bool call_choose(struct llm_call *call, size_t i);
bool call_has_others(const struct llm_call *call);

/*
 * call_judge(call, rc, blame): Tell the provider's breaker what the call came
 *                              to there; only the first time counts.
 * call_praise(call):           The same of one that works.
 */
void call_judge(struct llm_call *call, enum rc rc, enum retry_blame blame);
void call_praise(struct llm_call *call);

#endif /* !LLM_CALL_H */
