/*
 * emotion-engine: the emotions of texts, and the emotional states of souls.
 * 	nats	soul.rpc.emotion.*, soul.rpc.psyche.apply
 * 	http	POST /v1/emotion/analyze, /convert; GET /v1/emotion/pad-table
 * 	out	soul.body.<broker>.<terminal>.emotion_update, in turns and ticks
 */
#include "core/mem.h"
#include "engine.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static const struct svc_text route_texts[] = {
	{ "", "invalid json" },
	{ "/text", "text is required" },
	{ "/emotion", "emotion is required" },
	{ "/confidence", "confidence must be a finite number" },
};
#define RPC(x, X)                                               \
	WIRE_SUBJECT_##X, NULL, NULL, &wire_##x##_request_desc, \
	    &wire_##x##_reply_desc, on_##x, WIRE_DEADLINE_MS_##X, NULL, 0
#define POST(x, X)                                               \
	WIRE_SUBJECT_EMOTION_##X, "POST", WIRE_HTTP_EMOTION_##X, \
	    &wire_emotion_##x##_request_desc,                    \
	    &wire_emotion_##x##_response_desc, on_##x,           \
	    WIRE_DEADLINE_MS_EMOTION_##X, route_texts, NELEM(route_texts)
static const struct svc_route engine_routes[] = {
	{ "observe", RPC(emotion_observe, EMOTION_OBSERVE) },
	{ "state", RPC(emotion_state, EMOTION_STATE) },
	{ "gate", RPC(emotion_gate, EMOTION_GATE) },
	{ "history", RPC(emotion_history, EMOTION_HISTORY) },
	{ "psyche-apply", RPC(psyche_apply, PSYCHE_APPLY) },
	{ "analyze", POST(analyze, ANALYZE) },
	{ "convert", POST(convert, CONVERT) },
	{ "pad-table", WIRE_SUBJECT_EMOTION_PAD_TABLE, "GET",
	    WIRE_HTTP_EMOTION_PAD_TABLE, NULL, &wire_emotion_pad_table_desc,
	    on_pad_table, WIRE_DEADLINE_MS_EMOTION_PAD_TABLE, NULL, 0 },
};

static const struct svc_def engine_def = {
	.name = "emotion-engine",
	.summary = "recognises emotions and evolves the state of souls",
	.http_addr = "127.0.0.1:9012",
	.admin_addr = "127.0.0.1:9112",
	.opts = engine_opts,
	.nopts = ENGINE_OPTS_N,
	.conf_size = sizeof(struct engine_conf),
	.routes = engine_routes,
	.nroutes = NELEM(engine_routes),
	.check = engine_check,
	.start = engine_start,
	.drain = engine_drain,
	.stop = engine_stop,
};
int
main(int argc, char *argv[])
{
	return svc_main(&engine_def, argc, argv);
}
