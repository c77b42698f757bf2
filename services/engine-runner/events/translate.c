/*
 * One row per type of RASP.
 */
#include "events/translate.h"

#include "core/mem.h"
#include "wire/msgs.h"

static enum wire_chat_event_data_mode
translate_mode(struct str name)
{
	for (unsigned i = 0; i <= WIRE_CHAT_EVENT_DATA_MODE_FILE_WRITE; i++) {
		if (str_eq(name, wire_chat_event_data_mode_names[i]))
			return (enum wire_chat_event_data_mode)i;
	}
	return WIRE_CHAT_EVENT_DATA_MODE_INTERACTIVE;
}

static bool
translate_started(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_started(h, e->started.title, translate_mode(e->started.mode), b);
	return true;
}

static bool
translate_completed(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_completed(h, e->reason, b);
	return true;
}

static bool
translate_failed(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_failed(h, &e->error, b);
	return true;
}

static bool
translate_delta(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_delta(h, e->message.id, e->message.text, b);
	return true;
}

static bool
translate_final(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_final(h, e->message.id, e->message.text, e->message.payload, b);
	return true;
}

static bool
translate_requested(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_input_required(h, e->question, b);
	return true;
}

static bool
translate_replied(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	fcmp_input_replied(h, e->interaction_id, e->content, b);
	return true;
}

static bool
translate_warning(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b)
{
	/* An error of the engine is reported as the end that it leads to. */
	if (e->type == RASP_ENGINE_ERROR && e->level == RASP_ERROR)
		return false;
	fcmp_warning(h, &e->warning, b);
	return true;
}

typedef bool (*translate_fn)(
    const struct fcmp_head *h, const struct rasp_event *e, struct buf *b);

/* What is not here is of the run, not of its conversation. */
static const translate_fn translate_rows[RASP_TYPES_N] = {
	[RASP_RUN_STARTED] = translate_started,
	[RASP_MESSAGE_DELTA] = translate_delta,
	[RASP_MESSAGE_FINAL] = translate_final,
	[RASP_INPUT_REQUESTED] = translate_requested,
	[RASP_INPUT_REPLIED] = translate_replied,
	[RASP_PARSER_WARNING] = translate_warning,
	[RASP_PARSER_ERROR] = translate_warning,
	[RASP_ENGINE_ERROR] = translate_warning,
	[RASP_RUN_COMPLETED] = translate_completed,
	[RASP_RUN_FAILED] = translate_failed,
	[RASP_RUN_CANCELED] = translate_failed,
};

bool
translate_event(struct translate *t, const struct rasp_event *e, struct buf *b)
{
	struct fcmp_head h;

	if (translate_rows[e->type] == NULL)
		return false;
	h = (struct fcmp_head){ .run_id = t->run_id,
		.engine = t->engine,
		.session_id = e->session_id,
		.ts = e->ts,
		.seq = t->seq + 1,
		.confidence = e->confidence,
		.attempt = e->attempt,
		.raw = e->raw };
	if (!translate_rows[e->type](&h, e, b))
		return false;
	t->seq++;
	return true;
}
