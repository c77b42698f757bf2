/*
 * llm: chat completions of an OpenAI-compatible provider, for the loop.
 *
 * A call gives messages and tools and gets text and tool calls, in one piece or
 * as they come.  Providers differ from the letter of the interface in many
 * small ways; what they send is read as liberally as its meaning allows.
 * All functions run on the loop thread, and none blocks.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Ceilings of one answer: text, tool calls, the arguments of one in bytes. */
#define LLM_TEXT_MAX  (16 * 1024 * 1024)
#define LLM_CALLS_MAX 64
#define LLM_ARGS_MAX  (1024 * 1024)
/* A line of a streamed answer in bytes, and a request. */
#define LLM_LINE_MAX    (1024 * 1024)
#define LLM_REQUEST_MAX (16 * 1024 * 1024)

struct llm;
struct llm_call;

struct llm_opts {
	struct loop *loop;
	const char *base_url; /* up to, without, "/chat/completions" */
	const char *api_key;  /* NULL or "": none */
	const char *model;
	/* The provider repeats the whole text in each piece of a stream. */
	bool cumulative;
	size_t active_max;     /* calls at one time; 0: 256 */
	size_t queue_max;      /* calls that wait for their turn; 0: 1024 */
	int64_t first_byte_ms; /* until an answer begins; 0: 120000 */
	int64_t idle_ms;       /* without a byte of it; 0: 60000 */
	const char *proxy;     /* NULL or "": none */
	const char *ca_file;   /* PEM; NULL or "": the system's */
	struct metric_set *metrics; /* may be NULL */
};

enum llm_role { LLM_SYSTEM, LLM_USER, LLM_ASSISTANT, LLM_TOOL };

/* A function the model wants called. */
struct llm_tool_call {
	struct str id; /* unique within the answer, never empty */
	struct str name;
	struct str arguments; /* JSON text; "{}" for none */
	struct str extra;     /* the provider's own, JSON; absent: none */
	/*
	 * Of an answer: arguments is one whole JSON object.  A call that is not
	 * valid was cut short or garbled and must not be executed.
	 */
	bool valid;
};

struct llm_message {
	enum llm_role role;
	struct str text; /* absent where an assistant only called tools */
	const struct llm_tool_call *calls; /* of an assistant */
	size_t ncalls;
	struct str tool_call_id; /* of LLM_TOOL: the call it answers */
};

struct llm_tool {
	struct str name;        /* [A-Za-z0-9_-]{1,64} */
	struct str description; /* absent: none */
	struct str parameters;  /* a JSON Schema; absent: no arguments */
};

enum llm_choice { LLM_CHOICE_AUTO, LLM_CHOICE_NONE, LLM_CHOICE_REQUIRED };

enum llm_finish {
	LLM_FINISH_NONE, /* the answer was cut */
	LLM_FINISH_STOP,
	LLM_FINISH_LENGTH,
	LLM_FINISH_TOOL_CALLS,
	LLM_FINISH_FILTER,
	LLM_FINISH_OTHER
};

/* What became of a call; valid until on_done returns. */
struct llm_result {
	/*
	 * RC_OK; RC_TIMEOUT; RC_DOWN (not reached, cut, 5xx, an error in the
	 * stream); RC_AGAIN (too many requests); RC_DENIED (key, balance,
	 * quota); RC_INVALID (refused, or an answer that cannot be read);
	 * RC_TOOBIG (the conversation or the answer is too long); RC_NOENT (no
	 * such model or address).
	 */
	enum rc rc;
	struct str error; /* the provider's words, or ours; empty of RC_OK */
	bool retry;       /* the same call may succeed, and gave no text yet */
	int64_t retry_after_ms; /* -1: not said */
	int status;             /* HTTP; 0: no answer */

	/* Of an answer that failed half-way: what had come. */
	struct str text;
	struct str reasoning; /* never part of the text */
	const struct llm_tool_call *calls;
	size_t ncalls;
	enum llm_finish finish;
	/* Ended without saying so: the text is usable, calls only if valid. */
	bool incomplete;
	int64_t prompt_tokens; /* -1: not said */
	int64_t completion_tokens;
};

/*
 * on_text is called with each piece of text as it comes; it may cancel the
 * call. on_done is called exactly once per llm_chat() that returned RC_OK,
 * never from inside it, unless the call is cancelled.
 */
typedef void (*llm_text_fn)(void *arg, struct str text);
typedef void (*llm_done_fn)(void *arg, const struct llm_result *result);

/* All texts are copied. */
struct llm_chat {
	const struct llm_message *messages;
	size_t nmessages;
	const struct llm_tool *tools;
	size_t ntools;
	enum llm_choice choice;
	double temperature; /* < 0: the provider's own */
	int64_t max_tokens; /* 0: the provider's own */
	struct str turn;    /* part of the ids made for calls that have none */
	const struct trace *trace; /* may be NULL */
	struct wall deadline;      /* must be set */
	bool stream;
	llm_text_fn on_text; /* may be NULL; of a streamed answer */
	llm_done_fn on_done;
	void *arg;
};

/*
 * llm_new(o, out):
 * A client.  RC_INVALID if base_url is not http(s) or model is empty.
 */
enum rc llm_new(const struct llm_opts *o, struct llm **out) RC_CHECK;

/*
 * llm_free(l):
 * Calls that are not over end with RC_DOWN (on_done is called here).  NULL is
 * allowed.
 */
void llm_free(struct llm *l);

/*
 * llm_chat(l, chat, out):
 * Ask.  RC_INVALID if a message or tool breaks the interface, RC_TOOBIG over
 * LLM_REQUEST_MAX, RC_AGAIN if too many calls wait.  *out (out may be NULL) is
 * valid until on_done.
 */
enum rc llm_chat(
    struct llm *l, const struct llm_chat *chat, struct llm_call **out) RC_CHECK;

/* llm_cancel(call): End the call; on_done is not called.  Not in on_done. */
void llm_cancel(struct llm_call *call);

#endif /* !LLM_LLM_H */
