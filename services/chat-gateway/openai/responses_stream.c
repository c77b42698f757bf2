/*
 * Sending.
 */
#include "openai/responses_stream.h"

#include "core/arena.h"
#include "fcmp/fcmp_read.h"
#include "openai/responses_view.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Memory for one event that is being read. */
#define EVENT_ARENA (2 * (size_t)WIRE_ARENA_MAX)

static enum rc
responses_stream_put(void *arg, struct str type, struct str json)
{
	char name[STR_NUM_MAX + 64];

	str_copy(type, name, sizeof(name));
	return svc_sse_send(arg, name, NULL, json);
}

void
responses_stream_set(struct responses *r, struct svc_call *c, int64_t after)
{
	r->lasting = svc_call_arena(c);
	r->send = responses_stream_put;
	r->arg = c;
	r->after = after;
}

enum rc
responses_stream_send(struct responses *r, const struct fcmp_event *e)
{
	struct arena *a = arena_new(EVENT_ARENA);
	struct wire_chat_event m;
	enum rc rc;

	rc = wire_decode(&wire_chat_event_desc, e->json, a, &m, NULL);
	if (rc == RC_OK) {
		m.seq = e->seq;
		rc = responses_convert(r, &m);
	}
	arena_free(a);
	return rc;
}
