/*
 * POST /v1/intents/filter, /v1/emotion/analyze, /v1/emotion/convert and
 * GET /v1/emotion/pad-table: what would be recognised in a text.  Nothing is
 * stored, and nothing is executed.
 */
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "service_call.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "terminals/terminals_api.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

#define NO_FILTER  "no intent-filter is running: start one, then try again"
#define NO_EMOTION "no emotion-engine is running: start one, then try again"

static const struct service_call_peer recognition_intents = {
	WIRE_SUBJECT_INTENT_FILTER, &wire_intent_filter_request_desc,
	&wire_intent_filter_response_desc, WIRE_DEADLINE_MS_INTENT_FILTER,
	NO_FILTER
};
static const struct service_call_peer recognition_analyze = {
	WIRE_SUBJECT_EMOTION_ANALYZE, &wire_emotion_analyze_request_desc,
	&wire_emotion_analyze_response_desc, WIRE_DEADLINE_MS_EMOTION_ANALYZE,
	NO_EMOTION
};
static const struct service_call_peer recognition_convert = {
	WIRE_SUBJECT_EMOTION_CONVERT, &wire_emotion_convert_request_desc,
	&wire_emotion_convert_response_desc, WIRE_DEADLINE_MS_EMOTION_CONVERT,
	NO_EMOTION
};
static const struct service_call_peer recognition_pad_table = {
	WIRE_SUBJECT_EMOTION_PAD_TABLE, &wire_emotion_pad_table_request_desc,
	&wire_emotion_pad_table_desc, WIRE_DEADLINE_MS_EMOTION_PAD_TABLE,
	NO_EMOTION
};

/*
 * Name the newest catalog of the body that the request names, unless it names
 * one; the caller must be allowed to see the body.  False: c has been ended.
 */
static bool
recognition_find_catalog(
    struct gateway *g, struct svc_call *c, struct wire_intent_filter_request *q)
{
	struct arena *a = arena_new(GATEWAY_RECORD_MAX);
	struct terminal t = { 0 };
	bool ok =
	    terminal_read_visible(g, c, q->catalog_ref.terminal_id, a, &t);

	if (ok && q->catalog_ref.hash.p == NULL)
		q->catalog_ref.hash =
		    arena_str(svc_call_arena(c), t.catalog_hash);
	arena_free(a);
	if (ok && q->catalog_ref.hash.p == NULL) {
		svc_fail(
		    c, RC_NOENT, "/catalog_ref/terminal_id: has no catalog");
		return false;
	}
	return ok;
}

void
on_intents_filter(void *app, struct svc_call *c)
{
	struct wire_intent_filter_request *q =
	    arena_alloc(svc_call_arena(c), sizeof(*q));

	if (q == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	*q = *(const struct wire_intent_filter_request *)svc_call_request(c);
	if (!q->has_catalog_ref || recognition_find_catalog(app, c, q))
		service_call_send(app, c, &recognition_intents, q, NULL);
}

void
on_emotion_analyze(void *app, struct svc_call *c)
{
	service_call_send(
	    app, c, &recognition_analyze, svc_call_request(c), NULL);
}

void
on_emotion_convert(void *app, struct svc_call *c)
{
	service_call_send(
	    app, c, &recognition_convert, svc_call_request(c), NULL);
}

void
on_emotion_pad_table(void *app, struct svc_call *c)
{
	static const struct wire_emotion_pad_table_request none;

	service_call_send(app, c, &recognition_pad_table, &none, NULL);
}
