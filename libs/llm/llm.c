/*
 * llm: a call moves from provider to provider and from attempt to attempt; at
 * any time either a request is pending or a timer is set.
 */
#include "llm/llm.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "llm/llm_internal.h"
#include "wire/wire.h"

#define LLM_FIRST_BYTE_MS 120000
#define LLM_IDLE_MS       60000
#define LLM_TRIES         3

static void llm_call_attempt(struct llm_call *call);
static void llm_call_on_timer(void *arg);

/* ---- the client ---- */

static bool
llm_names_differ(const struct llm *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(l->providers[i].o.name,
				l->providers[k].o.name) == 0)
				return false;
	return true;
}

static enum rc
llm_add_providers(struct llm *l, const struct llm_opts *o)
{
	const struct llm_provider one = { .base_url = o->base_url,
		.api_key = o->api_key,
		.model = o->model,
		.cumulative = o->cumulative };
	const struct llm_provider *list =
	    o->nproviders > 0 ? o->providers : &one;
	size_t n = o->nproviders > 0 ? o->nproviders : 1;

	if (n > LLM_PROVIDERS_MAX)
		return RC_INVALID;
	for (size_t i = 0; i < n; i++) {
		l->n++;
		enum rc rc =
		    provider_init(&l->providers[i], &list[i], o->metrics);
		if (rc != RC_OK)
			return rc;
	}
	return llm_names_differ(l) ? RC_OK : RC_INVALID;
}

static void
llm_client_free(struct llm *l)
{
	for (size_t i = 0; i < l->n; i++)
		provider_free(&l->providers[i]);
	free(l);
}

enum rc
llm_new(const struct llm_opts *o, struct llm **out)
{
	struct llm *l = mem_zalloc(sizeof(*l));
	enum rc rc = llm_add_providers(l, o);

	if (rc != RC_OK) {
		llm_client_free(l);
		return rc;
	}
	TAILQ_INIT(&l->calls);
	l->loop = o->loop;
	l->tries = o->tries > 0 ? o->tries : LLM_TRIES;
	l->first_byte_ms =
	    o->first_byte_ms > 0 ? o->first_byte_ms : LLM_FIRST_BYTE_MS;
	l->idle_ms = o->idle_ms > 0 ? o->idle_ms : LLM_IDLE_MS;
	l->http = httpc_new(&(struct httpc_opts){ .loop = o->loop,
	    .peer = "llm",
	    .active_max = o->active_max,
	    .queue_max = o->queue_max,
	    .proxy = o->proxy,
	    .ca_file = o->ca_file,
	    .metrics = o->metrics });
	*out = l;
	return RC_OK;
}

/* ---- the end of a call ---- */

/* Free it without a callback. */
static void
llm_call_free(struct llm_call *call)
{
	struct llm *l = call->llm;

	llm_call_report_failure(call, RC_OK, RETRY_BLAME_NONE);
	TAILQ_REMOVE(&l->calls, call, link);
	loop_timer_cancel(l->loop, &call->timer);
	llm_response_free(&call->in);
	arena_free(call->arena);
	arena_free(call->chat_arena);
	free(call);
}

static void
llm_call_finish(struct llm_call *call, struct llm_result *r)
{
	r->provider = llm_call_provider(call)->o.name;
	r->attempts = call->attempts;
	call->chat.on_done(call->chat.arg, r);
	llm_call_free(call);
}

/* An end without a response. */
static void
llm_call_fail(struct llm_call *call, enum rc rc, struct str why)
{
	struct llm_result r = { .rc = rc,
		.error = why,
		.reason = llm_call_provider(call)->last_reason,
		.retry = rc == RC_DOWN || rc == RC_RETRY,
		.retry_after_ms = call->rejected_ms,
		.text = STR_INIT(""),
		.reasoning = STR_INIT(""),
		.prompt_tokens = -1,
		.completion_tokens = -1 };

	llm_call_finish(call, &r);
}

static void
llm_call_set_timer(struct llm_call *call, int64_t ms)
{
	loop_timer_set(call->llm->loop, &call->timer,
	    mono_add_ms(clock_mono(), ms), llm_call_on_timer, call);
}

/* No provider is available: fail, but not from within llm_chat(). */
static void
llm_call_reject(struct llm_call *call)
{
	const struct llm *l = call->llm;
	struct mono now = clock_mono();

	call->reported = true;
	call->rejected = l->providers[0].last_rc;
	for (size_t i = 0; i < l->n; i++) {
		int64_t ms = mono_diff_ms(l->providers[i].breaker.until, now);
		if (ms < 0)
			ms = 0;
		if (i == 0 || ms < call->rejected_ms)
			call->rejected_ms = ms;
	}
	llm_call_set_timer(call, 0);
}

static int64_t
llm_call_left_ms(const struct llm_call *call)
{
	return call->chat.deadline.ms - clock_wall().ms;
}

static int
llm_call_retry_hint(const struct httpc_call *http)
{
	struct str word = httpc_header(http, "x-should-retry");

	if (str_eq(word, STR("true")))
		return 1;
	return str_eq(word, STR("false")) ? -1 : 0;
}

static struct retry_plan
llm_call_plan(
    struct llm_call *call, const struct httpc_call *http, struct llm_result *r)
{
	struct retry_facts f = { .rc = r->rc,
		.status = r->status,
		.hint = llm_call_retry_hint(http),
		.gave_text = call->gave_text,
		.retry_after_ms = r->retry_after_ms,
		.tries = call->tries,
		.tries_max = call->probe ? 1 : call->llm->tries,
		.spent_ms = mono_diff_ms(clock_mono(), call->start),
		.left_ms = llm_call_left_ms(call),
		.others = llm_call_has_others(call),
		.random = (uint32_t)id_random_below(UINT32_MAX) };

	r->retry = retry_would(&f);
	return call->llm->closing ? (struct retry_plan){ RETRY_END, 0, 0 }
				  : retry_plan(&f);
}

static enum llm_reason
llm_reason_of(enum rc rc, int status)
{
	if (rc == RC_DENIED)
		return LLM_REASON_UNAUTHORIZED;
	if (rc == RC_NOENT)
		return LLM_REASON_NOT_FOUND;
	if (rc == RC_RETRY || status >= 500)
		return LLM_REASON_OVERLOADED;
	if (rc == RC_DOWN || rc == RC_TIMEOUT)
		return LLM_REASON_UNREACHABLE;
	return LLM_REASON_NONE;
}

/* The cause of a failure, for the log, /readyz and the caller. */
static void
llm_call_log_failure(struct llm_call *call, struct llm_result *r)
{
	struct provider *p = llm_call_provider(call);
	struct str key = str_of(p->key_header != NULL ? p->key_header : "");
	struct buf line = BUF_INIT(2 * PROVIDER_ERROR_LINE_MAX);
	const char *reason;

	r->reason = llm_reason_of(r->rc, r->status);
	reason = llm_reason_name(r->reason);
	if (key.n > 0) {
		(void)str_split(&key, ':');
		key = str_trim(key);
		if (str_starts(key, STR("Bearer ")))
			(void)str_split(&key, ' ');
	}
	provider_error_line(r->error, key, &call->chat, &line);
	log_warn("llm.failed", LOG_S("provider", p->o.name),
	    LOG_S("url", p->shown), LOG_S("model", p->o.model),
	    LOG_I("status", r->status), LOG_RC(r->rc),
	    LOG_S("reason", reason != NULL ? reason : ""),
	    LOG_V("message", buf_str(&line)));
	buf_free(&line);
	p->last_reason = r->reason;
	atomic_store(&p->state,
	    r->reason != LLM_REASON_NONE ? (int)r->reason : PROVIDER_FAILED);
}

/* True: the call goes on, after a wait or at the next provider. */
static bool
llm_call_goes_on(
    struct llm_call *call, const struct httpc_call *http, struct llm_result *r)
{
	struct provider *p = llm_call_provider(call);
	struct retry_plan plan = llm_call_plan(call, http, r);

	metric_add(p->failures, 1);
	llm_call_log_failure(call, r);
	if (plan.what == RETRY_SAME) {
		log_info("llm.retry", LOG_S("provider", p->o.name),
		    LOG_RC(r->rc), LOG_I("status", r->status),
		    LOG_I("wait_ms", plan.wait_ms));
		metric_add(p->retries, 1);
		llm_call_set_timer(call, plan.wait_ms);
		return true;
	}
	/* A provider that rejects a request works. */
	if (plan.blame == RETRY_BLAME_NONE && r->status >= 400)
		llm_call_report_success(call);
	llm_call_report_failure(call, r->rc, plan.blame);
	if (plan.what != RETRY_NEXT || !llm_call_choose(call, call->at + 1))
		return false;
	log_info("llm.fallback", LOG_S("provider", p->o.name), LOG_RC(r->rc),
	    LOG_I("status", r->status),
	    LOG_S("to", llm_call_provider(call)->o.name));
	metric_add(p->fallbacks, 1);
	llm_call_set_timer(call, 0);
	return true;
}

static void
llm_call_on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *res)
{
	struct llm_call *call = arg;
	struct llm_result r = { .rc = RC_OK,
		.error = STR_INIT(""),
		.status = res->status,
		.retry_after_ms = res->retry_after_ms };

	call->http = NULL;
	call->busy = true;
	llm_response_end(call, rc, res, &r);
	call->busy = false;
	if (call->cancelled) {
		llm_call_free(call);
		return;
	}
	if (r.rc == RC_OK) {
		llm_call_report_success(call);
		atomic_store(
		    &llm_call_provider(call)->state, (int)LLM_REASON_NONE);
	} else if (llm_call_goes_on(call, http, &r)) {
		return;
	}
	llm_call_finish(call, &r);
}

static enum rc
llm_call_on_chunk(void *arg, struct httpc_call *http, struct str chunk)
{
	struct llm_call *call = arg;

	call->busy = true;
	enum rc rc = llm_response_chunk(call, http, chunk);
	call->busy = false;
	if (call->cancelled) {
		llm_call_free(call);
		return RC_OK;
	}
	return rc;
}

/* ---- attempts ---- */

/* ms, but a provider that times out must leave time for the next. */
static int64_t
llm_call_idle_ms(const struct llm_call *call, int64_t ms)
{
	int64_t half = llm_call_left_ms(call) / 2;

	if (llm_call_has_others(call) && half > 0 && half < ms)
		return half;
	return ms;
}

static enum rc
llm_call_post(struct llm_call *call)
{
	struct provider *p = llm_call_provider(call);
	struct buf body = BUF_INIT(LLM_REQUEST_MAX);
	int64_t first_ms = p->o.first_byte_ms > 0 ? p->o.first_byte_ms
						  : call->llm->first_byte_ms;
	enum rc rc = provider_dialect(p)->write(p, &call->chat, &body);

	p->headers[0] = call->chat.stream ? "Accept: text/event-stream"
					  : "Accept: application/json";
	if (rc == RC_OK)
		rc = httpc_start(call->llm->http,
		    &(struct httpc_request){ .method = "POST",
			.url = p->url,
			.headers = p->headers,
			.nheaders = p->nheaders,
			.body = buf_str(&body),
			.trace = call->chat.trace,
			.deadline = call->chat.deadline,
			.first_byte_ms = llm_call_idle_ms(call, first_ms),
			.idle_ms = llm_call_idle_ms(call, call->llm->idle_ms),
			.body_max = LLM_BODY_MAX,
			.on_chunk = llm_call_on_chunk,
			.on_done = llm_call_on_done,
			.arg = call },
		    &call->http);
	buf_free(&body);
	return rc;
}

static enum rc
llm_call_begin(struct llm_call *call)
{
	struct provider *p = llm_call_provider(call);

	llm_response_free(&call->in);
	llm_response_init(&call->in, p);
	call->start = clock_mono();
	enum rc rc = llm_call_post(call);
	if (rc == RC_OK) {
		call->tries++;
		call->attempts++;
		metric_add(p->attempts, 1);
	}
	return rc;
}

static void
llm_call_attempt(struct llm_call *call)
{
	enum rc rc = llm_call_begin(call);

	if (rc != RC_OK)
		llm_call_fail(call, rc, STR("the request could not be made"));
}

/* The wait is over, or no provider was available. */
static void
llm_call_on_timer(void *arg)
{
	struct llm_call *call = arg;

	if (call->rejected != RC_OK)
		llm_call_fail(call, call->rejected,
		    STR("all providers are suspended after failures"));
	/* Other calls may have opened the breaker meanwhile. */
	else if (call->tries > 0 && !call->probe &&
	    breaker_is_open(&llm_call_provider(call)->breaker) &&
	    !llm_call_choose(call, call->at + 1))
		llm_call_fail(call, llm_call_provider(call)->last_rc,
		    STR("the provider is suspended after failures"));
	else
		llm_call_attempt(call);
}

static struct llm_call *
llm_call_new(struct llm *l)
{
	struct llm_call *call = mem_zalloc(sizeof(*call));

	call->llm = l;
	call->reported = true; /* nothing to report yet */
	call->rejected_ms = -1;
	call->arena = arena_new(WIRE_ARENA_MAX);
	call->chat_arena = arena_new(LLM_REQUEST_MAX);
	llm_response_init(&call->in, &l->providers[0]);
	TAILQ_INSERT_TAIL(&l->calls, call, link);
	return call;
}

enum rc
llm_chat(struct llm *l, const struct llm_chat *chat, struct llm_call **out)
{
	const char *why;
	enum rc rc = llm_request_check(chat, &why);

	if (l->closing)
		return RC_DOWN;
	if (rc != RC_OK) {
		log_error("llm.request_invalid", LOG_S("what", why));
		return rc;
	}
	struct llm_call *call = llm_call_new(l);
	rc = llm_request_copy(chat, call->chat_arena, &call->chat);
	if (rc == RC_OK && chat->trace != NULL) {
		call->trace = *chat->trace;
		call->chat.trace = &call->trace;
	}
	if (rc == RC_OK && !llm_call_choose(call, 0))
		llm_call_reject(call);
	else if (rc == RC_OK)
		rc = llm_call_begin(call);
	if (rc != RC_OK)
		llm_call_free(call);
	else if (out != NULL)
		*out = call;
	return rc;
}

void
llm_cancel(struct llm_call *call)
{
	if (call->http != NULL)
		httpc_cancel(call->http);
	call->http = NULL;
	/* From within on_text: the callback frees it. */
	if (call->busy)
		call->cancelled = true;
	else
		llm_call_free(call);
}

void
llm_free(struct llm *l)
{
	struct llm_call *call;

	if (l == NULL)
		return;
	l->closing = true;
	httpc_free(l->http);
	while ((call = TAILQ_FIRST(&l->calls)) != NULL)
		llm_call_fail(call, RC_DOWN, STR("the client stops"));
	llm_client_free(l);
}
