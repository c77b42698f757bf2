/*
 * lab: the simulated language model as a process, and a client whose calls are
 * watched, for the tests beside this file.
 */
#ifndef TESTS_LLM_LAB_H
#define TESTS_LLM_LAB_H

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "llm/llm.h"
#include "testkit/http.h"
#include "testkit/loop_thread.h"
#include "testkit/service.h"
#include "testkit/testkit.h"

#define LAB_MS 20000

/* Shared by all tests of a program. */
static struct {
	struct tk_server nats;
	struct tk_service sim;
	char url[64], root[48];
} lab;

static inline void
lab_begin(void)
{
	struct tk_env e = { .n = 0 };

	tk_server_start(&lab.nats, TK_NATS);
	tk_env_put(&e, "NATS_URL=%s", lab.nats.url);
	tk_service_start(&lab.sim, "llm-sim", "llm-sim", &e);
	snprintf(
	    lab.root, sizeof(lab.root), "http://127.0.0.1:%d", lab.sim.http);
	snprintf(lab.url, sizeof(lab.url), "%s/v1", lab.root);
}

static inline const char *
lab_end(void)
{
	/* No test runs, so nothing may be asserted. */
	tk_signal(&lab.sim.proc, SIGTERM);
	return tk_wait(&lab.sim.proc, LAB_MS) == 0 ? NULL : "llm-sim broke";
}

/* lab_script(list): What the model does next; JSON without its brackets. */
static inline void
lab_script(const char *list)
{
	struct tk_response a = { 0 };

	int status = tk_http_call(lab.sim.http, &a,
	    "POST /sim/script HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n"
	    "{\"faults\":[%s]}",
	    strlen(list) + strlen("{\"faults\":[]}"), list);
	ck_assert_msg(status == 200, "%s: %d %s", list, status, a.body.p);
	tk_response_free(&a);
}

/* lab_requests(): How many chat completions were answered. */
static inline long long
lab_requests(void)
{
	return tk_service_metric(
	    &lab.sim, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

/* A client, one call at a time, and what became of it. */
struct talk {
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
};

static struct talk talk;
static const struct llm_message hello = { .role = LLM_USER,
	.text = STR_INIT("hello") };

static inline void
talk_text(void *arg, struct str text)
{
	struct talk *me = arg;

	if (me->chunks++ == 0)
		me->first = clock_mono();
	buf_put_str(&me->shown, text);
	if (me->cancel) {
		llm_cancel(me->call);
		me->done = true;
	}
}

static inline void
talk_done(void *arg, const struct llm_result *r)
{
	struct talk *me = arg;

	me->end = clock_mono();
	me->times++;
	me->rc = r->rc;
	buf_put_str(&me->text, r->text);
	buf_put_str(&me->reasoning, r->reasoning);
	for (size_t i = 0; i < r->ncalls; i++) {
		buf_printf(&me->calls, "%s%.*s %.*s;",
		    r->calls[i].valid ? "" : "!", STR_ARG(r->calls[i].name),
		    STR_ARG(r->calls[i].arguments));
		buf_printf(&me->extra, "%.*s;", STR_ARG(r->calls[i].extra));
		ck_assert_uint_gt(r->calls[i].id.n, 0);
		for (size_t k = 0; k < i; k++)
			ck_assert(!str_eq(r->calls[i].id, r->calls[k].id));
	}
	str_copy(r->error, me->error, sizeof(me->error));
	str_copy(str_of(r->provider), me->provider, sizeof(me->provider));
	me->finish = r->finish;
	me->incomplete = r->incomplete;
	me->retry = r->retry;
	me->attempts = r->attempts;
	me->retry_after_ms = r->retry_after_ms;
	me->prompt_tokens = r->prompt_tokens;
	me->completion_tokens = r->completion_tokens;
	me->done = true;
}

/* talk_open(list, n): A client of these providers. */
static inline void
talk_open(const struct llm_provider *list, size_t n)
{
	memset(&talk, 0, sizeof(talk));
	buf_init(&talk.text, 1024 * 1024);
	buf_init(&talk.shown, 1024 * 1024);
	buf_init(&talk.reasoning, 1024 * 1024);
	buf_init(&talk.calls, 1024 * 1024);
	buf_init(&talk.extra, 1024 * 1024);
	tk_loop_new(&talk.k, 1024);
	talk.metrics = metric_set_new();
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = talk.k.l,
				     .providers = list,
				     .nproviders = n,
				     .metrics = talk.metrics,
				     .first_byte_ms = 5000,
				     .idle_ms = 1000 },
			     &talk.llm),
	    RC_OK);
	talk.chat = (struct llm_chat){ .messages = &hello,
		.nmessages = 1,
		.temperature = -1,
		.turn = STR_INIT("t1"),
		.stream = true,
		.on_text = talk_text,
		.on_done = talk_done,
		.arg = &talk };
	tk_loop_start(&talk.k);
}

static inline void
talk_do_free(void *arg)
{
	(void)arg;
	llm_free(talk.llm);
}

static inline void
talk_close(void)
{
	tk_loop_call(&talk.k, talk_do_free, NULL);
	tk_loop_stop(&talk.k);
	loop_free(talk.k.l);
	metric_set_free(talk.metrics);
	buf_free(&talk.text);
	buf_free(&talk.shown);
	buf_free(&talk.reasoning);
	buf_free(&talk.calls);
	buf_free(&talk.extra);
}

static inline void
talk_do_start(void *arg)
{
	(void)arg;
	talk.start = clock_mono();
	talk.started = llm_chat(talk.llm, &talk.chat, &talk.call);
}

static inline void
talk_do_cancel(void *arg)
{
	(void)arg;
	llm_cancel(talk.call);
}

static inline bool
talk_is_done(void *arg)
{
	(void)arg;
	return talk.done;
}

/* talk_start(): Begin a call, with a deadline of 10 s unless one is set. */
static inline void
talk_start(void)
{
	talk.done = false;
	talk.times = 0;
	talk.chunks = 0;
	buf_reset(&talk.text);
	buf_reset(&talk.shown);
	buf_reset(&talk.reasoning);
	buf_reset(&talk.calls);
	buf_reset(&talk.extra);
	tk_loop_call(&talk.k, talk_do_start, NULL);
	ck_assert_int_eq(talk.started, RC_OK);
}

static inline void
talk_run_for(int64_t ms)
{
	talk.chat.deadline.ms = clock_wall().ms + ms;
	talk_start();
	ck_assert(tk_until(talk_is_done, NULL, LAB_MS));
	/* A second end would come by now. */
	tk_loop_call(&talk.k, NULL, NULL);
}

static inline void
talk_run(void)
{
	talk_run_for(10000);
}

static inline int64_t
talk_ms(void)
{
	return mono_diff_ms(talk.end, talk.start);
}

/* talk_metric(name, provider): A number of the client's. */
static inline int64_t
talk_metric(const char *name, const char *provider)
{
	char labels[96];

	snprintf(labels, sizeof(labels), "provider=\"%s\"", provider);
	if (strcmp(name, "soul_llm_breaker_open") == 0)
		return metric_value(
		    metric_gauge(talk.metrics, name, "", labels));
	return metric_value(metric_counter(talk.metrics, name, "", labels));
}

#endif /* !TESTS_LLM_LAB_H */
