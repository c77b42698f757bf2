/*
 * llm-sim as a process; a client on a loop of its own thread.
 */
#include "testkit/llm_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/http.h"
#include "testkit/testkit.h"

struct llm_sim_fixture sim_fx;

void
llm_fixture_begin(void)
{
	struct tk_env e = { .n = 0 };

	tk_server_start(&sim_fx.nats, TK_NATS);
	tk_env_put(&e, "NATS_URL=%s", sim_fx.nats.url);
	tk_service_start(&sim_fx.sim, "llm-sim", "llm-sim", &e);
	snprintf(sim_fx.root, sizeof(sim_fx.root), "http://127.0.0.1:%d",
	    sim_fx.sim.http);
	snprintf(sim_fx.url, sizeof(sim_fx.url), "%s/v1", sim_fx.root);
}

const char *
llm_fixture_end(void)
{
	/* No test runs, so nothing may be asserted. */
	tk_signal(&sim_fx.sim.proc, SIGTERM);
	return tk_wait(&sim_fx.sim.proc, LLM_WAIT_MS) == 0 ? NULL
							   : "llm-sim broke";
}

void
llm_fixture_script(const char *list)
{
	struct tk_response a = { 0 };

	int status = tk_http_call(sim_fx.sim.http, &a,
	    "POST /sim/script HTTP/1.1\r\nHost: localhost\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n"
	    "{\"faults\":[%s]}",
	    strlen(list) + strlen("{\"faults\":[]}"), list);
	ck_assert_msg(status == 200, "%s: %d %s", list, status, a.body.p);
	tk_response_free(&a);
}

long long
llm_fixture_requests(void)
{
	return tk_service_metric(
	    &sim_fx.sim, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

struct llm_chat_fixture chat_fx;
const struct llm_message llm_hello = { .role = LLM_USER,
	.text = STR_INIT("hello") };

static void
llm_chat_on_text(void *arg, struct str text)
{
	struct llm_chat_fixture *me = arg;

	if (me->chunks++ == 0)
		me->first = clock_mono();
	buf_put_str(&me->shown, text);
	if (me->cancel) {
		llm_cancel(me->call);
		me->done = true;
	}
}

static void
llm_chat_on_done(void *arg, const struct llm_result *r)
{
	struct llm_chat_fixture *me = arg;

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

void
llm_chat_open(const struct llm_provider *list, size_t n)
{
	memset(&chat_fx, 0, sizeof(chat_fx));
	buf_init(&chat_fx.text, 1024 * 1024);
	buf_init(&chat_fx.shown, 1024 * 1024);
	buf_init(&chat_fx.reasoning, 1024 * 1024);
	buf_init(&chat_fx.calls, 1024 * 1024);
	buf_init(&chat_fx.extra, 1024 * 1024);
	tk_loop_new(&chat_fx.k, 1024);
	chat_fx.metrics = metric_set_new();
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = chat_fx.k.l,
				     .providers = list,
				     .nproviders = n,
				     .metrics = chat_fx.metrics,
				     .first_byte_ms = 5000,
				     .idle_ms = 1000 },
			     &chat_fx.llm),
	    RC_OK);
	chat_fx.chat = (struct llm_chat){ .messages = &llm_hello,
		.nmessages = 1,
		.temperature = -1,
		.turn = STR_INIT("t1"),
		.stream = true,
		.on_text = llm_chat_on_text,
		.on_done = llm_chat_on_done,
		.arg = &chat_fx };
	tk_loop_start(&chat_fx.k);
}

static void
llm_chat_do_free(void *arg)
{
	(void)arg;
	llm_free(chat_fx.llm);
}

void
llm_chat_close(void)
{
	tk_loop_call(&chat_fx.k, llm_chat_do_free, NULL);
	tk_loop_stop(&chat_fx.k);
	loop_free(chat_fx.k.l);
	metric_set_free(chat_fx.metrics);
	buf_free(&chat_fx.text);
	buf_free(&chat_fx.shown);
	buf_free(&chat_fx.reasoning);
	buf_free(&chat_fx.calls);
	buf_free(&chat_fx.extra);
}

static void
llm_chat_do_start(void *arg)
{
	(void)arg;
	chat_fx.start = clock_mono();
	chat_fx.started = llm_chat(chat_fx.llm, &chat_fx.chat, &chat_fx.call);
}

void
llm_chat_do_cancel(void *arg)
{
	(void)arg;
	llm_cancel(chat_fx.call);
}

bool
llm_chat_is_done(void *arg)
{
	(void)arg;
	return chat_fx.done;
}

void
llm_chat_start(void)
{
	chat_fx.done = false;
	chat_fx.times = 0;
	chat_fx.chunks = 0;
	buf_reset(&chat_fx.text);
	buf_reset(&chat_fx.shown);
	buf_reset(&chat_fx.reasoning);
	buf_reset(&chat_fx.calls);
	buf_reset(&chat_fx.extra);
	tk_loop_call(&chat_fx.k, llm_chat_do_start, NULL);
	ck_assert_int_eq(chat_fx.started, RC_OK);
}

void
llm_chat_run_for(int64_t ms)
{
	chat_fx.chat.deadline.ms = clock_wall().ms + ms;
	llm_chat_start();
	ck_assert(tk_until(llm_chat_is_done, NULL, LLM_WAIT_MS));
	/* A second callback would have arrived by now. */
	tk_loop_call(&chat_fx.k, NULL, NULL);
}

void
llm_chat_run(void)
{
	llm_chat_run_for(10000);
}

int64_t
llm_chat_ms(void)
{
	return mono_diff_ms(chat_fx.end, chat_fx.start);
}

int64_t
llm_chat_metric(const char *name, const char *provider)
{
	char labels[96];

	snprintf(labels, sizeof(labels), "provider=\"%s\"", provider);
	if (strcmp(name, "soul_llm_breaker_open") == 0)
		return metric_value(
		    metric_gauge(chat_fx.metrics, name, "", labels));
	return metric_value(metric_counter(chat_fx.metrics, name, "", labels));
}
