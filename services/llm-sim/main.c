/*
 * llm-sim: a simulated language model for the local stack and the tests, with
 * the APIs of OpenAI and Anthropic; deterministic, with faults on demand.
 *
 *	http	POST /v1/chat/completions, /v1/messages, /v1/embeddings,
 *		/sim/script
 */
#include "core/mem.h"
#include "sim.h"
#include "svc/svc.h"
#include "wire/msgs.h"

static const struct conf_opt sim_opts[] = {
	{ "LLM_SIM_FIRST_MS", CONF_INT, CONF_AT(sim_conf, first_ms), "0", 0,
	    600000, "delay before the first byte of a response, ms" },
	{ "LLM_SIM_TOKEN_MS", CONF_INT, CONF_AT(sim_conf, token_ms), "0", 0,
	    10000, "delay between two chunks of a stream, ms" },
};

#define POST(n, p, req, rep, f, ms)                                            \
	{                                                                      \
		n, NULL, "POST", p, &wire_##req##_desc, &wire_##rep##_desc, f, \
		    ms, NULL, 0                                                \
	}
static const struct svc_route sim_routes[] = {
	POST("chat", "/v1/chat/completions", llm_chat_request,
	    llm_chat_response, sim_chat, 600000),
	POST("messages", "/v1/messages", llm_messages_request,
	    llm_chat_response, sim_messages, 600000),
	POST("embeddings", "/v1/embeddings", llm_embeddings_request,
	    llm_embeddings_response, sim_embeddings, 10000),
	POST("script", "/sim/script", llm_sim_script, ok_response, sim_script,
	    1000),
};

static const struct svc_def sim_def = {
	.name = "llm-sim",
	.summary = "simulates a language model",
	.http_addr = "127.0.0.1:9080",
	.admin_addr = "127.0.0.1:9117",
	.http_workers = "256",
	.opts = sim_opts,
	.nopts = NELEM(sim_opts),
	.conf_size = sizeof(struct sim_conf),
	.routes = sim_routes,
	.nroutes = NELEM(sim_routes),
	.start = sim_start,
	.stop = sim_stop,
};

int
main(int argc, char *argv[])
{
	return svc_main(&sim_def, argc, argv);
}
