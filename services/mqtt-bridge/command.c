/*
 * Reading commands.
 */
#include "command.h"

#include <stdio.h>

#include "core/buf.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static enum rc
fail(struct wire_err *err, const char *path, const char *why)
{
	(void)snprintf(err->path, sizeof(err->path), "%s", path);
	(void)snprintf(err->why, sizeof(err->why), "%s", why);
	return RC_INVALID;
}

static enum rc
stamp(struct wire_invoke *m, struct wall now, struct arena *a,
    struct str *payload, struct wire_err *err)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	char ts[WALL_FORMAT_MAX];
	enum rc rc;

	wall_format(now, 0, ts);
	m->ts = str_of(ts);
	rc = wire_encode(&wire_invoke_desc, m, &b, err);
	if (rc == RC_OK) {
		*payload = arena_str(a, buf_str(&b));
		rc = payload->p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

static enum rc
invoke(const struct command_in *in, struct arena *a, struct command *out,
    struct wire_err *err)
{
	struct wire_invoke m;
	enum rc rc;

	rc = wire_decode(&wire_invoke_desc, in->text, a, &m, err);
	if (rc != RC_OK)
		return rc;
	out->request_id = m.request_id;
	out->skill = m.skill;
	if (m.has_deadline_ms)
		out->deadline.ms = m.deadline_ms;
	if (m.ts.p == NULL)
		rc = stamp(&m, in->now, a, &out->payload, err);
	return rc;
}

static enum rc
intent_action(const struct command_in *in, struct arena *a, struct command *out,
    struct str *terminal, struct wire_err *err)
{
	struct wire_intent_action m;
	enum rc rc;

	rc = wire_decode(&wire_intent_action_desc, in->text, a, &m, err);
	if (rc == RC_OK) {
		out->request_id = m.request_id;
		*terminal = m.terminal_id;
	}
	return rc;
}

static enum rc
emotion_update(const struct command_in *in, struct arena *a,
    struct str *terminal, struct wire_err *err)
{
	struct wire_emotion_update m;
	enum rc rc;

	rc = wire_decode(&wire_emotion_update_desc, in->text, a, &m, err);
	if (rc == RC_OK)
		*terminal = m.terminal_id;
	return rc;
}

enum rc
command_read(const struct command_in *in, struct arena *a, struct command *out,
    struct wire_err *err)
{
	struct str terminal = in->terminal;
	struct wire_status status;
	enum rc rc;

	*out = (struct command){ .payload = in->text };
	switch (in->row) {
	case WIRE_TOPIC_INVOKE:
		rc = invoke(in, a, out, err);
		break;
	case WIRE_TOPIC_INTENT_ACTION:
		rc = intent_action(in, a, out, &terminal, err);
		break;
	case WIRE_TOPIC_EMOTION_UPDATE:
		rc = emotion_update(in, a, &terminal, err);
		break;
	default:
		rc = wire_decode(&wire_status_desc, in->text, a, &status, err);
		break;
	}
	if (rc == RC_OK && !str_eq(terminal, in->terminal))
		rc = fail(err, "/terminal_id", "is not the subject's");
	return rc;
}
