/*
 * check_llm: "llm-orchestrator check-llm" sends one small request to each
 * configured provider in turn.
 */
#include <stdio.h>

#include "context.h"
#include "core/buf.h"
#include "core/mem.h"
#include "handlers.h"
#include "llm/providers.h"
#include "svc/svc.h"

#define EXIT_CONFIG 78
#define INBOX       16
/* Timeout of one provider, unless LLM_TIMEOUT_MS is shorter. */
#define WAIT_MS  20000
#define TOKENS   16
#define LINE_MAX 4096

struct llm_check {
	struct loop *loop;
	bool ok;
};

/* What the operator should check. */
static const char *
check_llm_advice(const struct llm_result *r)
{
	switch (r->reason) {
	case LLM_REASON_UNAUTHORIZED:
		return "check its key, and the account's balance and "
		       "permissions";
	case LLM_REASON_NOT_FOUND:
		return "check its URL (that of openai usually ends with "
		       "/v1), and the name of its model";
	case LLM_REASON_UNREACHABLE:
		return "check host and port of its URL, whether it runs, and "
		       "whether this machine may connect to it";
	case LLM_REASON_OVERLOADED:
		return "it is overloaded: retry later, or raise its limits";
	case LLM_REASON_NONE:
		break;
	}
	return r->status == 400
	    ? "it rejects the request: check the name of its model, and the "
	      "members that LLM_PROVIDERS adds"
	    : "the server is not such a provider: check its URL and kind";
}

static void
check_llm_on_done(void *arg, const struct llm_result *r)
{
	struct llm_check *c = arg;
	struct buf line = BUF_INIT(LINE_MAX);
	const char *reason = llm_reason_name(r->reason);

	c->ok = r->rc == RC_OK;
	if (c->ok)
		buf_printf(&line, "%s: ok\n", r->provider);
	else
		buf_printf(&line, "%s: %s (status %d); %s\n", r->provider,
		    reason != NULL ? reason : "failed", r->status,
		    check_llm_advice(r));
	/* A failure is reported on stderr. */
	(void)svc_out(buf_str(&line));
	buf_free(&line);
	loop_stop(c->loop);
}

/* Try the i-th; RC_NOENT: there are fewer. */
static enum rc
check_llm_provider(const struct orch_conf *conf, size_t i, bool *ok)
{
	struct llm_check c = { .loop = loop_new(INBOX) };
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
		.on_done = check_llm_on_done,
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
		rc = check_llm_provider(conf, i, &ok);
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
	.summary =
	    "try each language model; print what is wrong and what to do",
	.help =
	    "Sends each provider of the configuration one small request and "
	    "prints a line for\n"
	    "it: ok, or what is wrong (unauthorized, not_found, unreachable, "
	    "overloaded, failed)\n"
	    "and what to check; the log on stderr has address, model and "
	    "response.\n"
	    "Waits 20 s for each at most, or LLM_TIMEOUT_MS.  The requests may "
	    "cost money.\n\n"
	    "Exit codes: 0 all succeeded, 1 one failed, 64 arguments, 78 "
	    "configuration.\n",
	.fn = check_llm,
};
