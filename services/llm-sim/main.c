/*
 * llm-sim: a language model for the local stack and the tests, as OpenAI and as
 * Anthropic have it: deterministic, by visible rules, with faults on demand.
 *
 *	http	POST /v1/chat/completions, /v1/messages, /v1/embeddings,
 *		/sim/script
 */
#include "core/mem.h"
#include "sim.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static const struct conf_opt opts[] = {
	{ "LLM_SIM_FIRST_MS", CONF_INT, CONF_AT(sim_conf, first_ms), "0", 0,
	    600000, "wait before the first byte of every answer, ms" },
	{ "LLM_SIM_TOKEN_MS", CONF_INT, CONF_AT(sim_conf, token_ms), "0", 0,
	    10000, "wait between two pieces of a stream, ms" },
};

#define POST(n, p, req, rep, f, ms)                                            \
	{                                                                      \
		n, NULL, "POST", p, &wire_##req##_desc, &wire_##rep##_desc, f, \
		    ms, NULL, 0                                                \
	}
static const struct svc_route routes[] = {
	POST("chat", "/v1/chat/completions", llm_chat_request,
	    llm_chat_response, on_chat, 600000),
	POST("messages", "/v1/messages", llm_messages_request,
	    llm_chat_response, on_messages, 600000),
	POST("embeddings", "/v1/embeddings", llm_embeddings_request,
	    llm_embeddings_response, on_embeddings, 10000),
	POST("script", "/sim/script", llm_sim_script, ok_response, on_script,
	    1000),
};

static const struct svc_def def = {
	.name = "llm-sim",
	.summary = "simulates a language model",
	.http_addr = "127.0.0.1:9080",
	.admin_addr = "127.0.0.1:9117",
	.opts = opts,
	.nopts = NELEM(opts),
	.conf_size = sizeof(struct sim_conf),
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = sim_start,
	.stop = sim_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&def, argc, argv);
}
