/*
 * llm: chats with language models, OpenAI-compatible or Anthropic, on the loop.
 *
 * A call has messages and tools; its result is text and tool calls, whole or
 * streamed.  Providers deviate from their APIs in many small ways; responses
 * are decoded as liberally as their meaning allows.
 *
 * A client has a list of providers.  A call goes to the first available one; it
 * is retried where that may help, then goes to the next, as long as no text was
 * delivered and the deadline allows.  A provider that failed three calls in a
 * row is suspended for 10 s, then for twice as long up to 5 min, while one call
 * at a time probes it; one of several that rejects the key, the model or the
 * account is suspended for 5 min at once.  An invalid request is not retried.
 * Each failure is logged with its cause: provider, URL, model, status, and the
 * first line of the provider's error, without keys and without texts of the
 * chat.  All functions run on the loop thread; none blocks.
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
 * Limits of one response: bytes of its body, of its text and of its reasoning,
 * tool calls, bytes of the arguments of one.
 */
#define LLM_BODY_MAX  (32 * 1024 * 1024)
#define LLM_TEXT_MAX  (1024 * 1024)
#define LLM_CALLS_MAX 64
#define LLM_ARGS_MAX  (128 * 1024)
/* Bytes of a line of a stream, and of a request. */
#define LLM_LINE_MAX    (1024 * 1024)
#define LLM_REQUEST_MAX (16 * 1024 * 1024)

/* Providers of one client. */
#define LLM_PROVIDERS_MAX 8

struct llm;
struct llm_call;

enum llm_kind { LLM_OPENAI, LLM_ANTHROPIC };

/*
 * The reasoning that is sent back to an OpenAI-compatible provider, with the
 * messages it belongs to: that of calls; the same, and an empty text with calls
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
	/* The environment variable that has it, for messages; NULL or "": none.
	 */
	const char *api_key_env;
	const char *model;
	/* It repeats the whole text in each chunk of a stream. */
	bool cumulative;
	/* Its text begins with reasoning in <think>…</think>. */
	bool strip_think;
	bool vision; /* it is sent images */
	enum llm_echo echo;
	int64_t max_tokens; /* of a completion, unless the call has one; 0: the
			     * provider's own, of LLM_ANTHROPIC 1024 */
	const char *max_tokens_member; /* NULL or "": "max_tokens" */
	/*
	 * More members of its requests, a JSON object; absent: none.  They
	 * replace ours; null removes ours.
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
	unsigned tries;             /* of one provider in a call; 0: 3 */
	size_t active_max;          /* concurrent calls; 0: 256 */
	size_t queue_max;           /* calls that wait; 0: 1024 */
	int64_t first_byte_ms;      /* timeout of the first byte; 0: 120000 */
	int64_t idle_ms;            /* timeout between bytes; 0: 60000 */
	const char *proxy;          /* NULL or "": none */
	const char *ca_file;        /* PEM; NULL or "": the system's */
	struct metric_set *metrics; /* may be NULL */
};

enum llm_role { LLM_SYSTEM, LLM_USER, LLM_ASSISTANT, LLM_TOOL };

/* A tool call of the model. */
struct llm_tool_call {
	struct str id; /* unique within the response, never empty */
	struct str name;
	struct str arguments; /* JSON text; "{}" for none */
	/*
	 * What its provider wants back, opaque JSON; absent: nothing.  Valid
	 * for that provider and model only.
	 */
	struct str extra;
	/*
	 * Of a response: arguments is one whole JSON object.  An invalid call
	 * was truncated or garbled and must not be executed.
	 */
	bool valid;
};

struct llm_message {
	enum llm_role role;
	struct str text; /* absent if an assistant only called tools */
	const struct llm_tool_call *calls; /* of an assistant */
	size_t ncalls;
	struct str tool_call_id; /* of LLM_TOOL: the call it is a result of */
	/* Of LLM_TOOL: an image of the result, in base64, and its media type,
	 * for providers that have vision; absent: none. */
	struct str image, image_type;
};

struct llm_tool {
	struct str name;        /* [A-Za-z0-9_-]{1,64} */
	struct str description; /* absent: none */
	struct str parameters;  /* a JSON Schema; absent: no arguments */
};

enum llm_choice { LLM_CHOICE_AUTO, LLM_CHOICE_NONE, LLM_CHOICE_REQUIRED };

enum llm_finish {
	LLM_FINISH_NONE, /* the response was truncated */
	LLM_FINISH_STOP,
	LLM_FINISH_LENGTH,
	LLM_FINISH_TOOL_CALLS,
	LLM_FINISH_FILTER,
	LLM_FINISH_OTHER
};

/*
 * Why a provider failed: it rejected the key or the account (401, 402, 403, no
 * quota left); it does not know the URL or model (404); it could not be
 * reached, closed the connection or timed out; it is overloaded (429, 5xx).
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

/* The result of a call; valid until on_done returns. */
struct llm_result {
	/*
	 * RC_OK; RC_TIMEOUT; RC_DOWN (not reached, disconnected, 5xx, an error
	 * in the stream, suspended for such); RC_RETRY (too many requests,
	 * overload); RC_DENIED (key, balance, quota); RC_INVALID (rejected, or
	 * an invalid response); RC_TOOBIG (the conversation or the response is
	 * too long); RC_NOENT (no such model or URL).
	 */
	enum rc rc;
	/* The provider's text, or ours; empty if RC_OK.  Must not be logged:
	 * it may quote a key or the conversation. */
	struct str error;
	enum llm_reason reason; /* LLM_REASON_NONE if RC_OK, and otherwise */
	bool retry; /* the same call may succeed later, and gave no text */
	int64_t retry_after_ms; /* -1: unknown */
	int status;             /* HTTP; 0: no response */
	/* The last provider, and the attempts at all of them. */
	const char *provider;
	unsigned attempts;

	/* Of a response that failed half-way: what was received. */
	struct str text;
	struct str reasoning; /* never part of the text */
	const struct llm_tool_call *calls;
	size_t ncalls;
	enum llm_finish finish;
	/* Without a finish reason: the text is usable, calls only if valid. */
	bool incomplete;
	int64_t prompt_tokens; /* -1: unknown */
	int64_t completion_tokens;
};

/*
 * on_text is called with each chunk of text; it may cancel the call.  on_done
 * is called exactly once per llm_chat() that returned RC_OK, never from within
 * it, unless the call is cancelled.
 */
typedef void (*llm_text_fn)(void *arg, struct str text);
typedef void (*llm_done_fn)(void *arg, const struct llm_result *result);

/* Everything is copied. */
struct llm_chat {
	const struct llm_message *messages;
	size_t nmessages;
	const struct llm_tool *tools;
	size_t ntools;
	enum llm_choice choice;
	double temperature; /* < 0: the provider's own */
	int64_t max_tokens; /* 0: that of the provider's options */
	struct str turn; /* part of the ids generated for calls without one */
	const struct trace *trace; /* may be NULL */
	struct wall deadline;      /* must be set */
	bool stream;
	llm_text_fn on_text; /* may be NULL; for a streamed response */
	llm_done_fn on_done;
	void *arg;
};

/*
 * llm_new(o, out):
 * A client.  RC_INVALID if a base_url is not http(s), a model is empty, two
 * names are equal, or a body is not an object or has a reserved member (model,
 * messages, tools, stream, system).
 */
enum rc llm_new(const struct llm_opts *o, struct llm **out) RC_CHECK;

/*
 * llm_free(l):
 * Pending calls end with RC_DOWN (on_done is called here).  NULL is allowed.
 */
void llm_free(struct llm *l);

/*
 * llm_chat(l, chat, out):
 * Start a call.  RC_INVALID if a message or tool violates the API, RC_TOOBIG
 * beyond LLM_REQUEST_MAX, RC_RETRY if too many calls wait.  *out (out may be
 * NULL) is valid until on_done.
 */
enum rc llm_chat(
    struct llm *l, const struct llm_chat *chat, struct llm_call **out) RC_CHECK;

/*
 * llm_state(l, out):
 * A line for each provider with the result of its last call.  Any thread, while
 * l exists.
 */
void llm_state(const struct llm *l, struct buf *out);

/* llm_cancel(call): End the call; on_done is not called.  Not in on_done. */
void llm_cancel(struct llm_call *call);

#endif /* !LLM_LLM_H */
