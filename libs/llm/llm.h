/*
 * llm: chats with language models, OpenAI-compatible or Anthropic, for the
 * loop.
 *
 * A call gives messages and tools and gets text and tool calls, in one piece or
 * as they come.  Providers differ from the letter of the interface in many
 * small ways; what they send is read as liberally as its meaning allows.
 *
 * A client has a list of providers.  A call goes to the first that works; it is
 * asked again where that may help, and then the next one is, as long as no text
 * was given and the deadline allows.  A provider that failed three calls in a
 * row is left alone for 10 s, then for twice as long up to 5 min, while one
 * call at a time tries it; one of several that refuses the key, the model or
 * the account for 5 min at once.  A request that is at fault itself is not
 * repeated.  Each failure is logged with its cause: provider, address, model,
 * status, and the first line of what the provider said, without keys and
 * without what was said to it.  All functions run on the loop thread, and none
 * blocks.
 */
#ifndef LLM_LLM_H
#define LLM_LLM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/*
 * Ceilings of one answer: bytes of its body, of its text and of its thoughts,
 * tool calls, the arguments of one in bytes.
 */
#define LLM_BODY_MAX  (32 * 1024 * 1024)
#define LLM_TEXT_MAX  (1024 * 1024)
#define LLM_CALLS_MAX 64
#define LLM_ARGS_MAX  (128 * 1024)
/* A line of a streamed answer in bytes, and a request. */
#define LLM_LINE_MAX    (1024 * 1024)
#define LLM_REQUEST_MAX (16 * 1024 * 1024)

/* Providers of one client. */
#define LLM_PROVIDERS_MAX 8

struct llm;
struct llm_call;

enum llm_kind { LLM_OPENAI, LLM_ANTHROPIC };

/*
 * Which thoughts an OpenAI-compatible provider is sent back, with the messages
 * they led to: those it gave with calls; the same, and an empty text with calls
 * that have none (DeepSeek); that with every message of the assistant; none.
 */
enum llm_echo {
	LLM_ECHO_OWN,
	LLM_ECHO_WITH_TOOL_CALLS,
	LLM_ECHO_ALWAYS,
	LLM_ECHO_NEVER
};

struct llm_provider {
	const char *name; /* [A-Za-z0-9_-]{1,64}; NULL: "llm" */
	enum llm_kind kind;
	/* Up to, without, "/chat/completions" or "/v1/messages". */
	const char *base_url;
	const char *api_key; /* NULL or "": none */
	/* The variable that has it, for people; NULL or "": not said. */
	const char *api_key_env;
	const char *model;
	/* It repeats the whole text in each piece of a stream. */
	bool cumulative;
	/* Its text begins with thoughts between <think> and </think>. */
	bool strip_think;
	enum llm_echo echo;
	int64_t max_tokens; /* of an answer, if the call names none; 0: its own,
			     * of LLM_ANTHROPIC 1024 */
	const char *max_tokens_member; /* NULL or "": "max_tokens" */
	/*
	 * Further members of its requests, a JSON object; absent: none.  They
	 * stand in place of ours; null only leaves ours out.
	 */
	struct str body;
	int64_t first_byte_ms; /* 0: the client's */
};

struct llm_opts {
	struct loop *loop;
	/* One OpenAI-compatible provider, as in struct llm_provider; or … */
	const char *base_url;
	const char *api_key;
	const char *model;
	bool cumulative;
	/* … several, in order; nproviders 0: the one above. */
	const struct llm_provider *providers;
	size_t nproviders;
	unsigned tries;        /* of one provider in a call; 0: 3 */
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
	/*
	 * What its provider wants to see again, opaque JSON; absent: nothing.
	 * It counts only for that provider and model.
	 */
	struct str extra;
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

/*
 * Why a provider gave no answer, as far as it can be said in a word: it refused
 * the key or the account (401, 402, 403, a spent quota); it knows no such
 * address or model (404); it could not be reached, was cut short, or was silent
 * for too long; it answered that it cannot now (429, 5xx).
 */
enum llm_reason {
	LLM_REASON_NONE,
	LLM_REASON_UNAUTHORIZED,
	LLM_REASON_NOT_FOUND,
	LLM_REASON_UNREACHABLE,
	LLM_REASON_OVERLOADED
};

/* llm_reason_name(r): "unauthorized" and so on; NULL of LLM_REASON_NONE. */
const char *llm_reason_name(enum llm_reason r);

/* What became of a call; valid until on_done returns. */
struct llm_result {
	/*
	 * RC_OK; RC_TIMEOUT; RC_DOWN (not reached, cut, 5xx, an error in the
	 * stream, left alone for such); RC_RETRY (too many requests, overload);
	 * RC_DENIED (key, balance, quota); RC_INVALID (refused, or an answer
	 * that cannot be read); RC_TOOBIG (the conversation or the answer is
	 * too long); RC_NOENT (no such model or address).
	 */
	enum rc rc;
	/* The provider's words, or ours; empty of RC_OK.  Never for the log:
	 * they may have a key, or what was said. */
	struct str error;
	enum llm_reason reason; /* LLM_REASON_NONE of RC_OK, and of the rest */
	bool retry; /* the same call may succeed, and gave no text yet */
	int64_t retry_after_ms; /* -1: not said */
	int status;             /* HTTP; 0: no answer */
	/* Who answered or failed last, and the attempts made at all of them. */
	const char *provider;
	unsigned attempts;

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

/* All of it is copied. */
struct llm_chat {
	const struct llm_message *messages;
	size_t nmessages;
	const struct llm_tool *tools;
	size_t ntools;
	enum llm_choice choice;
	double temperature; /* < 0: the provider's own */
	int64_t max_tokens; /* 0: as the provider's options say */
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
 * A client.  RC_INVALID if a base_url is not http(s), a model is empty, two
 * names are the same, or a body is no object or has a member that is ours alone
 * (model, messages, tools, stream, system).
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
 * LLM_REQUEST_MAX, RC_RETRY if too many calls wait.  *out (out may be NULL) is
 * valid until on_done.
 */
enum rc llm_chat(
    struct llm *l, const struct llm_chat *chat, struct llm_call **out) RC_CHECK;

/*
 * llm_state(l, out):
 * A line for each provider: what became of the last call that it decided.  Any
 * thread, while l is.
 */
void llm_state(const struct llm *l, struct buf *out);

/* llm_cancel(call): End the call; on_done is not called.  Not in on_done. */
void llm_cancel(struct llm_call *call);

#endif /* !LLM_LLM_H */
