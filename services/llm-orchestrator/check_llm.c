/*
 * One small question to each provider, one after the other.
 */
#include "check_llm.h"

#include <stdio.h>

#include "core/buf.h"
#include "core/mem.h"
#include "llm/providers.h"
#include "orch.h"
#include "svc/svc.h"

#define EXIT_CONFIG 78
#define INBOX       16
/* Longest wait for one provider; shorter where LLM_TIMEOUT_MS is. */
#define WAIT_MS  20000
#define TOKENS   16
#define LINE_MAX 4096

struct check {
	struct loop *loop;
	bool ok;
};

/* What whoever reads it does next. */
static const char *
advice(const struct llm_result *r)
{
	switch (r->reason) {
	case LLM_REASON_UNAUTHORIZED:
		return "look at its key, and at the account's balance and "
		       "rights";
	case LLM_REASON_NOT_FOUND:
		return "look at its URL (of openai it ends with /v1 most "
		       "often), and at the name of its model";
	case LLM_REASON_UNREACHABLE:
		return "look at host and port of its URL, whether it runs, and "
		       "whether this machine may reach it";
	case LLM_REASON_OVERLOADED:
		return "it is there, but cannot now: try again later, or raise "
		       "its limits";
	case LLM_REASON_NONE:
		break;
	}
	return r->status == 400
	    ? "it refuses the request: look at the name of its model, and at "
	      "the members that LLM_PROVIDERS adds"
	    : "what answers is no such provider: look at its URL and kind";
}

static void
on_done(void *arg, const struct llm_result *r)
{
	struct check *c = arg;
	struct buf line = BUF_INIT(LINE_MAX);
	const char *reason = llm_reason_name(r->reason);

	c->ok = r->rc == RC_OK;
	if (c->ok)
		buf_printf(&line, "%s: ok\n", r->provider);
	else
		buf_printf(&line, "%s: %s (status %d); %s\n", r->provider,
		    reason != NULL ? reason : "failed", r->status, advice(r));
	/* It is told on stderr if nobody takes it. */
	(void)svc_out(buf_str(&line));
	buf_free(&line);
	loop_stop(c->loop);
}

/* Ask the i-th; RC_NOENT: there are not so many. */
static enum rc
ask(const struct orch_conf *conf, size_t i, bool *ok)
{
	struct check c = { .loop = loop_new(INBOX) };
	const struct llm_opts o = { .loop = c.loop, .tries = 1 };
	const struct llm_message m = { .role = LLM_USER, .text = STR("ping") };
	int64_t ms =
	    conf->llm_timeout_ms < WAIT_MS ? conf->llm_timeout_ms : WAIT_MS;
	struct llm_chat chat = { .messages = &m,
		.nmessages = 1,
		.temperature = -1,
		.max_tokens = TOKENS,
		.turn = STR("check"),
		.deadline = { clock_wall().ms + ms },
		.on_done = on_done,
		.arg = &c };
	struct llm *l = NULL;
	enum rc rc = llm_open_one(&conf->llm, &o, i, &l);

	if (rc == RC_OK)
		rc = llm_chat(l, &chat, NULL);
	if (rc == RC_OK)
		loop_run(c.loop);
	llm_free(l);
	loop_free(c.loop);
	*ok = c.ok;
	return rc;
}

static int
check_llm(const struct svc_run *r)
{
	const struct orch_conf *conf = r->conf;
	struct buf errors = BUF_INIT(LINE_MAX), known = BUF_INIT(LINE_MAX);
	enum rc rc = RC_OK;
	int code = 0;
	bool ok;

	llm_conf_check(&conf->llm, &errors, &known);
	if (errors.n > 0) {
		fprintf(stderr, "%.*s", STR_ARG(buf_str(&errors)));
		code = EXIT_CONFIG;
	}
	for (size_t i = 0; code != EXIT_CONFIG && rc == RC_OK; i++) {
		rc = ask(conf, i, &ok);
		if (rc == RC_OK && !ok)
			code = 1;
	}
	if (code == 0 && rc != RC_NOENT)
		code = 1;
	buf_free(&errors);
	buf_free(&known);
	return code;
}

const struct svc_command check_llm_command = {
	.name = "check-llm",
	.usage = "",
	.summary = "ask each language model a word: what is wrong, what to do",
	.help =
	    "Sends each provider of the configuration one small request and "
	    "prints a line for\n"
	    "it: ok, or what is wrong (unauthorized, not_found, unreachable, "
	    "overloaded, failed)\n"
	    "and what to look at; the log on stderr has address, model and "
	    "what it said.\n"
	    "Waits 20 s for each at most, or LLM_TIMEOUT_MS.  The requests may "
	    "cost money.\n\n"
	    "Exit codes: 0 all answered, 1 one did not, 64 arguments, 78 "
	    "configuration.\n",
	.fn = check_llm,
};
