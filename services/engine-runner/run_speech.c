#include "run_speech.h"

#include <inttypes.h>

#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/trace.h"
#include "fcmp/fcmp_write.h"
#include "state/run.h"
#include "svc/svc.h"
#include "wire/subjects.h"

#define ARENA_MAX (64UL * 1024)
/* Bytes of the engine's text that is spoken about. */
#define TEXT_MAX 600
/* An end is news for so long. */
#define EXPIRES_MS INT64_C(3600000)

enum rc
run_speech_make(const struct run_record *rec, struct str text, struct arena *a,
    struct wire_speak_request *out)
{
	char at[WALL_FORMAT_MAX];
	struct str more = str_trim(fcmp_truncate(text, TEXT_MAX));
	bool ended =
	    rec->status == RUN_IS_SUCCEEDED || rec->status == RUN_IS_FAILED;

	if (!ended || rec->session_id.n == 0)
		return RC_NOENT;
	wire_init(&wire_speak_request_desc, out);
	wall_format((struct wall){ clock_wall().ms + EXPIRES_MS }, 0, at);
	out->user_id = rec->user_id;
	out->session_id = rec->session_id;
	out->reason = WIRE_SPEAK_REQUEST_REASON_RUN;
	out->verbatim = false;
	out->title = rec->title;
	out->expires_at = arena_str(a, str_of(at));
	out->request_id = arena_printf(
	    a, "run_%.*s_%" PRId64, STR_ARG(rec->run_id), rec->attempt);
	out->text = arena_printf(a, "之前交给%.*s的任务“%.*s”%s%s%.*s",
	    STR_ARG(rec->engine), STR_ARG(rec->title),
	    rec->status == RUN_IS_SUCCEEDED ? "已经完成" : "没有完成",
	    more.n > 0 ? "：" : "。", STR_ARG(more));
	return out->expires_at.p != NULL && out->request_id.p != NULL &&
		out->text.p != NULL
	    ? RC_OK
	    : RC_TOOBIG;
}

static void
run_speech_on_reply(void *arg, enum rc rc, struct str data)
{
	(void)arg;
	(void)data;
	if (rc != RC_OK)
		log_debug("run.not_spoken", LOG_RC(rc));
}

void
run_speech_send(struct runner *r, const struct run_record *rec, struct str text)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct buf b = BUF_INIT(ARENA_MAX);
	struct trace trace;
	struct bus_meta meta = {
		.deadline = { clock_wall().ms + WIRE_DEADLINE_MS_SPEAK },
		.trace = &trace,
	};
	struct wire_speak_request m;

	trace_new(&trace);
	enum rc rc = run_speech_make(rec, text, a, &m);
	if (rc == RC_OK)
		rc = wire_encode(&wire_speak_request_desc, &m, &b, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(r->svc), WIRE_SUBJECT_SPEAK,
		    buf_str(&b), &meta,
		    (struct bus_reply_handler){ .fn = run_speech_on_reply },
		    NULL);
	if (rc != RC_OK && rc != RC_NOENT)
		log_debug(
		    "run.not_spoken", LOG_V("run", rec->run_id), LOG_RC(rc));
	buf_free(&b);
	arena_free(a);
}
