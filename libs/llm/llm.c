/*
 * A call goes from provider to provider and from attempt to attempt; at any
 * moment either a request is under way, or a timer runs.
 */
#include "llm/llm.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "llm/call.h"
#include "llm/request.h"
#include "llm/retry.h"
#include "llm/says.h"
#include "wire/wire.h"

#define FIRST_BYTE_MS 120000
#define IDLE_MS       60000
#define TRIES         3

static void attempt(struct llm_call *call);
static void go_on(void *arg);

/* ---- the client --------------------------------------------------------- */

static bool
names_differ(const struct llm *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(l->providers[i].o.name,
				l->providers[k].o.name) == 0)
				return false;
	return true;
}

static enum rc
add_providers(struct llm *l, const struct llm_opts *o)
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
	return names_differ(l) ? RC_OK : RC_INVALID;
}

static void
client_free(struct llm *l)
{
	for (size_t i = 0; i < l->n; i++)
		provider_free(&l->providers[i]);
	free(l);
}

enum rc
llm_new(const struct llm_opts *o, struct llm **out)
{
	struct llm *l = mem_zalloc(sizeof(*l));
	enum rc rc = add_providers(l, o);

	if (rc != RC_OK) {
		client_free(l);
		return rc;
	}
	TAILQ_INIT(&l->calls);
	l->loop = o->loop;
	l->tries = o->tries > 0 ? o->tries : TRIES;
	l->first_byte_ms =
	    o->first_byte_ms > 0 ? o->first_byte_ms : FIRST_BYTE_MS;
	l->idle_ms = o->idle_ms > 0 ? o->idle_ms : IDLE_MS;
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

/* ---- the end ------------------------------------------------------------ */

/* Give everything back; what is under way is not told anything. */
static void
call_free(struct llm_call *call)
{
	struct llm *l = call->llm;

	call_judge(call, RC_OK, RETRY_BLAME_NONE);
	TAILQ_REMOVE(&l->calls, call, link);
	loop_timer_cancel(l->loop, &call->timer);
	answer_free(&call->in);
	arena_free(call->arena);
	arena_free(call->kept);
	free(call);
}

static void
tell(struct llm_call *call, struct llm_result *r)
{
	r->provider = call_provider(call)->o.name;
	r->attempts = call->attempts;
	call->chat.on_done(call->chat.arg, r);
	call_free(call);
}

/* An end without an answer. */
static void
tell_failure(struct llm_call *call, enum rc rc, struct str why)
{
	struct llm_result r = { .rc = rc,
		.error = why,
		.reason = call_provider(call)->last_reason,
		.retry = rc == RC_DOWN || rc == RC_RETRY,
		.retry_after_ms = call->refused_ms,
		.text = STR_INIT(""),
		.reasoning = STR_INIT(""),
		.prompt_tokens = -1,
		.completion_tokens = -1 };

	tell(call, &r);
}

static void
set_timer(struct llm_call *call, int64_t ms)
{
	loop_timer_set(call->llm->loop, &call->timer,
	    mono_add_ms(clock_mono(), ms), go_on, call);
}

/* Nobody may be asked: say so, but not from inside llm_chat(). */
static void
refuse(struct llm_call *call)
{
	const struct llm *l = call->llm;
	struct mono now = clock_mono();

	call->judged = true;
	call->refused = l->providers[0].last_rc;
	for (size_t i = 0; i < l->n; i++) {
		int64_t ms = mono_diff_ms(l->providers[i].breaker.until, now);
		if (ms < 0)
			ms = 0;
		if (i == 0 || ms < call->refused_ms)
			call->refused_ms = ms;
	}
	set_timer(call, 0);
}

static int64_t
left_ms(const struct llm_call *call)
{
	return call->chat.deadline.ms - clock_wall().ms;
}

static int
retry_word(const struct httpc_call *http)
{
	struct str word = httpc_header(http, "x-should-retry");

	if (str_eq(word, STR("true")))
		return 1;
	return str_eq(word, STR("false")) ? -1 : 0;
}

static struct retry_plan
plan_for(
    struct llm_call *call, const struct httpc_call *http, struct llm_result *r)
{
	struct retry_facts f = { .rc = r->rc,
		.status = r->status,
		.word = retry_word(http),
		.gave_text = call->gave_text,
		.retry_after_ms = r->retry_after_ms,
		.tries = call->tries,
		.tries_max = call->probe ? 1 : call->llm->tries,
		.spent_ms = mono_diff_ms(clock_mono(), call->start),
		.left_ms = left_ms(call),
		.others = call_has_others(call),
		.random = (uint32_t)id_random_below(UINT32_MAX) };

	r->retry = retry_would(&f);
	return call->llm->closing ? (struct retry_plan){ RETRY_END, 0, 0 }
				  : retry_plan(&f);
}

static enum llm_reason
reason_of(enum rc rc, int status)
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

/* Why an attempt failed: for the log, for /readyz and for who asked. */
static void
fail_tell(struct llm_call *call, struct llm_result *r)
{
	struct provider *p = call_provider(call);
	struct str key = str_of(p->key_header != NULL ? p->key_header : "");
	struct buf says = BUF_INIT(2 * SAYS_MAX);
	const char *reason;

	r->reason = reason_of(r->rc, r->status);
	reason = llm_reason_name(r->reason);
	if (key.n > 0) {
		(void)str_split(&key, ':');
		key = str_trim(key);
		if (str_starts(key, STR("Bearer ")))
			(void)str_split(&key, ' ');
	}
	says_line(r->error, key, &call->chat, &says);
	log_warn("llm.failed", LOG_S("provider", p->o.name),
	    LOG_S("url", p->shown), LOG_S("model", p->o.model),
	    LOG_I("status", r->status), LOG_RC(r->rc),
	    LOG_S("reason", reason != NULL ? reason : ""),
	    LOG_V("says", buf_str(&says)));
	buf_free(&says);
	p->last_reason = r->reason;
	atomic_store(&p->state,
	    r->reason != LLM_REASON_NONE ? (int)r->reason : PROVIDER_FAILED);
}

/* True if the call goes on: with a wait, or with the next provider. */
static bool
goes_on(
    struct llm_call *call, const struct httpc_call *http, struct llm_result *r)
{
	struct provider *p = call_provider(call);
	struct retry_plan plan = plan_for(call, http, r);

	metric_add(p->failures, 1);
	fail_tell(call, r);
	if (plan.what == RETRY_AGAIN) {
		log_info("llm.retry", LOG_S("provider", p->o.name),
		    LOG_RC(r->rc), LOG_I("status", r->status),
		    LOG_I("wait_ms", plan.wait_ms));
		metric_add(p->retries, 1);
		set_timer(call, plan.wait_ms);
		return true;
	}
	/* That a request was read and refused shows a provider that works. */
	if (plan.blame == RETRY_BLAME_NONE && r->status >= 400)
		call_praise(call);
	call_judge(call, r->rc, plan.blame);
	if (plan.what != RETRY_NEXT || !call_choose(call, call->at + 1))
		return false;
	log_info("llm.fallback", LOG_S("provider", p->o.name), LOG_RC(r->rc),
	    LOG_I("status", r->status),
	    LOG_S("to", call_provider(call)->o.name));
	metric_add(p->fallbacks, 1);
	set_timer(call, 0);
	return true;
}

static void
on_done(void *arg, struct httpc_call *http, enum rc rc,
    const struct httpc_response *answer)
{
	struct llm_call *call = arg;
	struct llm_result r = { .rc = RC_OK,
		.error = STR_INIT(""),
		.status = answer->status,
		.retry_after_ms = answer->retry_after_ms };

	call->http = NULL;
	call->busy = true;
	answer_end(call, rc, answer, &r);
	call->busy = false;
	if (call->cancelled) {
		call_free(call);
		return;
	}
	if (r.rc == RC_OK) {
		call_praise(call);
		atomic_store(&call_provider(call)->state, (int)LLM_REASON_NONE);
	} else if (goes_on(call, http, &r)) {
		return;
	}
	tell(call, &r);
}

static enum rc
on_chunk(void *arg, struct httpc_call *http, struct str chunk)
{
	struct llm_call *call = arg;

	call->busy = true;
	enum rc rc = answer_chunk(call, http, chunk);
	call->busy = false;
	if (call->cancelled) {
		call_free(call);
		return RC_OK;
	}
	return rc;
}

/* ---- asking ------------------------------------------------------------- */

/* ms, but a provider that is silent shall leave time for the next. */
static int64_t
silence_ms(const struct llm_call *call, int64_t ms)
{
	int64_t half = left_ms(call) / 2;

	if (call_has_others(call) && half > 0 && half < ms)
		return half;
	return ms;
}

static enum rc
post(struct llm_call *call)
{
	struct provider *p = call_provider(call);
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
			.first_byte_ms = silence_ms(call, first_ms),
			.idle_ms = silence_ms(call, call->llm->idle_ms),
			.body_max = LLM_BODY_MAX,
			.on_chunk = on_chunk,
			.on_done = on_done,
			.arg = call },
		    &call->http);
	buf_free(&body);
	return rc;
}

static enum rc
begin(struct llm_call *call)
{
	struct provider *p = call_provider(call);

	answer_free(&call->in);
	answer_init(&call->in, p);
	call->start = clock_mono();
	enum rc rc = post(call);
	if (rc == RC_OK) {
		call->tries++;
		call->attempts++;
		metric_add(p->attempts, 1);
	}
	return rc;
}

static void
attempt(struct llm_call *call)
{
	enum rc rc = begin(call);

	if (rc != RC_OK)
		tell_failure(call, rc, STR("the request could not be made"));
}

/* The timer: the wait is over, or there was nobody to ask. */
static void
go_on(void *arg)
{
	struct llm_call *call = arg;

	if (call->refused != RC_OK)
		tell_failure(call, call->refused,
		    STR("the providers are left alone for a while"));
	/* While it waited, others may have found the provider broken. */
	else if (call->tries > 0 && !call->probe &&
	    breaker_is_open(&call_provider(call)->breaker) &&
	    !call_choose(call, call->at + 1))
		tell_failure(call, call_provider(call)->last_rc,
		    STR("the provider is left alone for a while"));
	else
		attempt(call);
}

static struct llm_call *
call_new(struct llm *l)
{
	struct llm_call *call = mem_zalloc(sizeof(*call));

	call->llm = l;
	call->judged = true; /* nobody is asked yet */
	call->refused_ms = -1;
	call->arena = arena_new(WIRE_ARENA_MAX);
	call->kept = arena_new(LLM_REQUEST_MAX);
	answer_init(&call->in, &l->providers[0]);
	TAILQ_INSERT_TAIL(&l->calls, call, link);
	return call;
}

enum rc
llm_chat(struct llm *l, const struct llm_chat *chat, struct llm_call **out)
{
	const char *why;
	enum rc rc = request_check(chat, &why);

	if (l->closing)
		return RC_DOWN;
	if (rc != RC_OK) {
		log_error("llm.request_invalid", LOG_S("what", why));
		return rc;
	}
	struct llm_call *call = call_new(l);
	rc = request_copy(chat, call->kept, &call->chat);
	if (rc == RC_OK && chat->trace != NULL) {
		call->trace = *chat->trace;
		call->chat.trace = &call->trace;
	}
	if (rc == RC_OK && !call_choose(call, 0))
		refuse(call);
	else if (rc == RC_OK)
		rc = begin(call);
	if (rc != RC_OK)
		call_free(call);
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
	/* The callback goes on with it when it is the one that called us. */
	if (call->busy)
		call->cancelled = true;
	else
		call_free(call);
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
		tell_failure(call, RC_DOWN, STR("the client stops"));
	client_free(l);
}
