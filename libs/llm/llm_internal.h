/*
 * llm_internal: the parts of a call: the accumulator of a response, providers
 * and their dialects, retries and circuit breakers, the call itself.
 *
 * Private to libs/llm.  Pure unless a function takes a struct llm_call.
 */
#ifndef LLM_INTERNAL_H
#define LLM_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "httpc/httpc.h"
#include "httpc/sse_reader.h"
#include "llm/embed.h"
#include "llm/llm.h"
#include "wire/tree.h"

/* ---- accumulator.c ---- */

/*
 * Separates reasoning that a model puts before its text, between <think> and
 * </think>, from the text; chunks may end anywhere.  Zero-initialised.
 */
struct reasoning_filter {
	enum {
		REASONING_START,
		REASONING_INSIDE,
		REASONING_AFTER,
		REASONING_TEXT
	} state;
	char partial[16]; /* what may be the beginning of a tag */
	size_t n_partial;
};

/*
 * reasoning_filter_feed(t, chunk, text, reasoning): Append chunk to the two.
 * reasoning_filter_end(t, text, reasoning): No more follows: flush.
 */
void reasoning_filter_feed(struct reasoning_filter *t, struct str chunk,
    struct buf *text, struct buf *reasoning);
void reasoning_filter_end(
    struct reasoning_filter *t, struct buf *text, struct buf *reasoning);

/* Longest llm_tool_call.extra in bytes. */
#define CALL_EXTRA_MAX ((size_t)64 * 1024)

/*
 * What a provider wants back with the calls it made (signatures, reasoning), as
 * one JSON text that is stored with a call; valid for the provider and model
 * that produced it.
 */
struct call_extra {
	struct str by;      /* the producer; absent: nothing is stored */
	struct str members; /* of the call, JSON without its braces */
	struct str name;    /* the message's member with the reasoning */
	struct str reasoning;
	struct str blocks; /* signed reasoning, JSON without its brackets */
};

/*
 * call_extra_write(x, a):
 * {"by", "call": {members}, "name", "reasoning", "blocks": []}, from a; without
 * the reasoning if that is too long; absent if there is nothing to store, or
 * the members are too long.
 */
struct str call_extra_write(const struct call_extra *x, struct arena *a);

/*
 * call_extra_open(json, by):
 * The same as a tree, freed with wire_tree_free(); NULL if by did not produce
 * it.
 */
struct wire_tree *call_extra_open(struct str json, struct str by);

struct accum_slot {
	int64_t index; /* -1: none was sent */
	struct buf id, name, arguments;
	struct buf members; /* provider-specific, JSON without its braces */
};

/* A response assembled from its chunks. */
struct accum {
	bool cumulative, strip_think; /* as in struct llm_provider */
	bool no_echo; /* the provider does not want its reasoning back */
	struct reasoning_filter filter;
	struct buf raw; /* cumulative text with its reasoning */
	struct buf text, reasoning;
	const char *reasoning_name; /* the member it came in; NULL: none */
	struct buf blocks;          /* signed reasoning, JSON, separated */
	/* The open block of reasoning: its beginning and signature. */
	bool in_reasoning;
	size_t reasoning_from;
	struct buf signature;
	struct accum_slot *slots;
	size_t nslots;
	bool done; /* the end marker was received */
	char finish[32];
	int64_t prompt_tokens, completion_tokens;
};

/* A part of a call; what was not sent is absent, or -1. */
struct accum_chunk {
	int64_t index;
	struct str id, name;
	const struct wire_tree *arguments; /* part of the text, or an object */
	const struct wire_tree *members;   /* object with unknown members */
};

/* accum_init(m, p), accum_free(m): p has the provider's quirks; NULL: none. */
void accum_init(struct accum *m, const struct llm_provider *p);
void accum_free(struct accum *m);

/*
 * accum_text(m, s, delta): More text; *delta is the part to publish (may be
 *                          empty, valid until m changes).
 * accum_reasoning(m, name, s): More reasoning, from the member name.
 * accum_call(m, p):        A part of a call.  RC_INVALID for arguments that are
 *                          neither text nor object.
 * RC_TOOBIG beyond a limit.
 */
enum rc accum_text(struct accum *m, struct str s, struct str *delta) RC_CHECK;
enum rc accum_reasoning(
    struct accum *m, const char *name, struct str s) RC_CHECK;
enum rc accum_call(struct accum *m, const struct accum_chunk *p) RC_CHECK;

/* accum_finish(m, s): The finish reason, in OpenAI's terms; empty: none. */
void accum_finish(struct accum *m, struct str s);

/* accum_flush(m, delta): No more text follows; *delta was held back. */
void accum_flush(struct accum *m, struct str *delta);

/*
 * accum_end(m, turn, by, a, out):
 * No more follows: fill in the response's part of *out.  Strings point into m,
 * the calls and their extra are from a.  by names provider and model.
 * RC_TOOBIG if a is full.
 */
enum rc accum_end(struct accum *m, struct str turn, struct str by,
    struct arena *a, struct llm_result *out) RC_CHECK;

/* ---- provider_error.c ---- */

/* Longest text of an error in bytes. */
#define PROVIDER_ERROR_TEXT_MAX 512
/* Longest line for the log in bytes, with the marks for what was removed. */
#define PROVIDER_ERROR_LINE_MAX 200

struct provider_error {
	struct str text; /* never empty */
	struct str type; /* absent: none */
	struct str code;
};

/*
 * provider_error_read(body, status, a, out):
 * The error in the body of a response or in an event of a stream, in any of the
 * formats in use; strings point into a or body.
 */
void provider_error_read(
    struct str body, int status, struct arena *a, struct provider_error *out);

/*
 * provider_error_rc(status, f): The result code, as in struct llm_result.
 * Status 0: an error in a stream.
 */
enum rc provider_error_rc(int status, const struct provider_error *f);

/*
 * provider_error_line(text, key, chat, out):
 * Append the first line of text for the log, without control characters,
 * truncated to PROVIDER_ERROR_LINE_MAX.  "***" replaces words that contain four
 * consecutive bytes of the key (absent: none) or look like a key; "…" replaces
 * what it shares with any text of chat (six consecutive bytes, ignoring case),
 * and what follows an escape (\), which could hide such text.
 */
void provider_error_line(struct str text, struct str key,
    const struct llm_chat *chat, struct buf *out);

/* ---- circuit breaker (llm_failover.c) ---- */

/* Consecutive failed calls that open it, and for how long at first. */
#define BREAKER_FAILURES 3
#define BREAKER_MIN_MS   10000
/* The wait doubles up to this; a hard failure has it at once. */
#define BREAKER_MAX_MS 300000
/* The wait for the only provider. */
#define BREAKER_ALONE_MS 1000

/* Zero-initialised: closed. */
struct breaker {
	unsigned failures; /* consecutive */
	int64_t wait_ms;   /* 0: closed */
	struct mono until; /* when a probe is due */
	bool probing;      /* a probe is pending */
};

enum breaker_verdict {
	BREAKER_CLOSED, /* call */
	BREAKER_PROBE,  /* call once, and report the result */
	BREAKER_OPEN    /* do not call */
};

/* breaker_admit(b, now): Whether a call may go; BREAKER_PROBE starts a probe.
 */
enum breaker_verdict breaker_admit(struct breaker *b, struct mono now);

/* breaker_is_open(b): Whether calls other than a probe should go elsewhere. */
bool breaker_is_open(const struct breaker *b);

/*
 * Flags of a call: it was admitted as a probe; the failure will last; there is
 * no other provider, so the breaker opens for BREAKER_ALONE_MS at most.
 */
#define BREAKER_OF_PROBE 1U
#define BREAKER_HARD     2U
#define BREAKER_ALONE    4U

/*
 * The result of a call:
 * breaker_success(b):             The provider works.
 * breaker_failure(b, now, flags): It failed.  A call that began before the
 *                                 breaker opened changes nothing, unless the
 *                                 failure is hard.
 * breaker_no_verdict(b, flags):   The call says nothing about the provider.
 */
void breaker_success(struct breaker *b);
void breaker_failure(struct breaker *b, struct mono now, unsigned flags);
void breaker_no_verdict(struct breaker *b, unsigned flags);

/* ---- retry policy (llm_failover.c) ----
 *
 * That of the providers' own clients, with two additions: a provider that wants
 * a longer pause than a conversation tolerates is left for the next one, and no
 * wait exceeds the caller's deadline.
 */

/* Waits double from the first of these to the second. */
#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 8000
/* Longest pause that a provider may request. */
#define RETRY_AFTER_MAX_MS 60000
/* Longest wait while another provider is available. */
#define RETRY_WAIT_MAX_MS 2000
/* A timeout of the caller sooner than this does not blame the provider. */
#define RETRY_SLOW_MS 10000

/* A failed attempt. */
struct retry_facts {
	enum rc rc; /* not RC_OK */
	int status; /* HTTP; 0: no response */
	/* x-should-retry: 1 true, -1 false, 0 absent. */
	int hint;
	bool gave_text;         /* the caller got text of it */
	int64_t retry_after_ms; /* -1: absent */
	unsigned tries;         /* at this provider, including this one */
	unsigned tries_max;
	int64_t spent_ms; /* on this attempt */
	int64_t left_ms;  /* until the caller's deadline */
	bool others;      /* another provider is available */
	uint32_t random;  /* any number */
};

enum retry_what { RETRY_END, RETRY_SAME, RETRY_NEXT };

/* Whom it blames: the caller; the provider; the provider, for long. */
enum retry_blame { RETRY_BLAME_NONE, RETRY_BLAME_SOFT, RETRY_BLAME_HARD };

struct retry_plan {
	enum retry_what what;
	int64_t wait_ms; /* of RETRY_SAME */
	enum retry_blame blame;
};

/*
 * retry_plan(f):  What to do next.
 * retry_would(f): Whether the same call may succeed later.
 */
struct retry_plan retry_plan(const struct retry_facts *f);
bool retry_would(const struct retry_facts *f);

/* ---- providers.c ---- */

/* Header lines of a request. */
#define PROVIDER_HEADERS_MAX 4

/* provider.state beside enum llm_reason: no call yet; failed without reason. */
#define PROVIDER_UNTRIED (-1)
#define PROVIDER_FAILED  (-2)

struct provider {
	struct llm_provider o; /* its strings are those below */
	char *name, *model, *member;
	struct wire_tree *body;
	char *url;
	char *by; /* "<name>/<model>", for struct call_extra */
	const char *headers[PROVIDER_HEADERS_MAX]; /* the first: Accept */
	size_t nheaders;
	char *key_header; /* a header line, or NULL */
	struct breaker breaker;
	enum rc last_rc; /* why the breaker opened */
	enum llm_reason last_reason;
	char *shown; /* the URL for people: no user, no query */
	/* Result of the last call: enum llm_reason or PROVIDER_x. */
	atomic_int state;
	struct metric *attempts, *failures, *retries, *fallbacks, *open;
};

/*
 * A dialect encodes requests and decodes responses.
 *   write     the body of the request; RC_TOOBIG if out is full
 *   event     one event of a stream into m; *delta is new text to publish
 *   response  a response in one piece
 * The last two are RC_INVALID with *why set for what is not of this dialect,
 * RC_TOOBIG beyond a limit.
 */
typedef enum rc (*dialect_write_fn)(
    const struct provider *p, const struct llm_chat *chat, struct buf *out);
typedef enum rc (*dialect_event_fn)(struct accum *m, const struct wire_tree *v,
    struct str *delta, const char **why);
typedef enum rc (*dialect_response_fn)(
    struct accum *m, const struct wire_tree *v, const char **why);

struct dialect {
	const char *path; /* appended to base_url */
	dialect_write_fn write;
	dialect_event_fn event;
	dialect_response_fn response;
};
extern const struct dialect openai_dialect, anthropic_dialect;

/* provider_dialect(p): That of its kind. */
const struct dialect *provider_dialect(const struct provider *p);

/*
 * provider_init(p, o, metrics): RC_INVALID as llm_new(); provider_free() is
 * needed in any case.
 */
enum rc provider_init(struct provider *p, const struct llm_provider *o,
    struct metric_set *metrics) RC_CHECK;
void provider_free(struct provider *p);

/*
 * provider_has(p, key):    Whether its options set the request's member key.
 * provider_put_body(p, o): Write the members that its options add.
 */
bool provider_has(const struct provider *p, const char *key);
void provider_put_body(const struct provider *p, struct wire_out *o);

/* ---- llm_request.c ---- */

/*
 * llm_request_check(chat, why):
 * RC_INVALID if it violates what all providers require; *why then says what.
 */
enum rc llm_request_check(
    const struct llm_chat *chat, const char **why) RC_CHECK;

/*
 * llm_request_copy(chat, a, out):
 * *out is chat with its messages, tools and strings in a, but without its
 * trace. RC_TOOBIG if a is full.
 */
enum rc llm_request_copy(const struct llm_chat *chat, struct arena *a,
    struct llm_chat *out) RC_CHECK;

/* ---- a call (llm.c, llm_failover.c, llm_response.c) ---- */

TAILQ_HEAD(llm_call_list, llm_call);

struct llm {
	struct loop *loop;
	struct httpc *http;
	struct provider providers[LLM_PROVIDERS_MAX];
	size_t n;
	unsigned tries;
	int64_t first_byte_ms, idle_ms;
	struct llm_call_list calls;
	bool closing;
};

/* The response to one attempt. */
struct llm_response {
	enum { FORM_UNKNOWN, FORM_STREAM, FORM_WHOLE } form;
	struct sse_reader sse;
	struct buf body; /* of FORM_WHOLE */
	struct accum accum;
	enum rc error_rc; /* of an error in the stream */
	char error[PROVIDER_ERROR_TEXT_MAX + 1];
};

/* A chat from its start to its result, over any number of attempts. */
struct llm_call {
	TAILQ_ENTRY(llm_call) link;
	struct llm *llm;
	struct llm_chat chat; /* in chat_arena */
	struct trace trace;
	struct arena *chat_arena;
	struct arena *arena; /* of one event, then of the result */

	size_t at;     /* index of the provider */
	bool probe;    /* its breaker admitted only this call */
	bool reported; /* its breaker has got the result */
	unsigned tries, attempts;
	struct mono start;       /* of the attempt */
	struct httpc_call *http; /* NULL: none is pending */
	struct loop_timer timer; /* until the next attempt, or the end */
	struct llm_response in;
	bool gave_text;
	bool busy;      /* in a callback of the caller */
	bool cancelled; /* while busy */

	/* No provider was available. */
	enum rc rejected;
	int64_t rejected_ms;
};

/*
 * llm_response_init(r, p), llm_response_free(r): For an attempt at p.
 * llm_response_chunk(call, http, chunk): As httpc_chunk_fn; calls the chat's
 *     on_text.
 * llm_response_end(call, rc, http, out): The request has ended: *out is the
 *     result, except for its members about retrying.
 */
void llm_response_init(struct llm_response *r, const struct provider *p);
void llm_response_free(struct llm_response *r);
enum rc llm_response_chunk(
    struct llm_call *call, struct httpc_call *http, struct str chunk) RC_CHECK;
void llm_response_end(struct llm_call *call, enum rc rc,
    const struct httpc_response *http, struct llm_result *out);

/* llm_call_provider(call): The provider it uses. */
struct provider *llm_call_provider(const struct llm_call *call);

/*
 * llm_call_choose(call, i):   Choose the first available provider from the i-th
 *                             on; false if there is none.
 * llm_call_has_others(call):  Whether one after the chosen is available.
 */
bool llm_call_choose(struct llm_call *call, size_t i);
bool llm_call_has_others(const struct llm_call *call);

/*
 * llm_call_report_failure(call, rc, blame): Report the result to the provider's
 *                                breaker; only the first report counts.
 * llm_call_report_success(call): The same of a provider that works.
 */
void llm_call_report_failure(
    struct llm_call *call, enum rc rc, enum retry_blame blame);
void llm_call_report_success(struct llm_call *call);

/* ---- embed.c ---- */

/*
 * embed_read_response(rc, http, a, vectors, n, r):
 * The result of a request for n texts.  vectors, n NULLs, gets those of r,
 * whose strings and numbers live in a and in http.
 */
void embed_read_response(enum rc rc, const struct httpc_response *http,
    struct arena *a, const double **vectors, size_t n, struct embed_result *r);

#endif /* !LLM_INTERNAL_H */
