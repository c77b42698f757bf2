#include "terminal/terminal_command.h"

#include <stdio.h>

#include "core/buf.h"
#include "wire/iface.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

static enum rc
command_fail(struct wire_err *err, const char *path, const char *why)
{
	(void)snprintf(err->path, sizeof(err->path), "%s", path);
	(void)snprintf(err->why, sizeof(err->why), "%s", why);
	return RC_INVALID;
}

static enum rc
command_add_ts(struct wire_invoke *m, struct wall now, struct arena *a,
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
command_read_invoke(const struct command_input *in, struct arena *a,
    struct command *out, struct wire_err *err)
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
		rc = command_add_ts(&m, in->now, a, &out->payload, err);
	return rc;
}

static enum rc
command_read_action(const struct command_input *in, struct arena *a,
    struct command *out, struct str *terminal, struct wire_err *err)
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
command_read_emotion(const struct command_input *in, struct arena *a,
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
command_read(const struct command_input *in, struct arena *a,
    struct command *out, struct wire_err *err)
{
	struct str terminal = in->terminal;
	struct wire_status status;
	enum rc rc;

	*out = (struct command){ .payload = in->text };
	switch (in->row) {
	case WIRE_TOPIC_INVOKE:
		rc = command_read_invoke(in, a, out, err);
		break;
	case WIRE_TOPIC_INTENT_ACTION:
		rc = command_read_action(in, a, out, &terminal, err);
		break;
	case WIRE_TOPIC_EMOTION_UPDATE:
		rc = command_read_emotion(in, a, &terminal, err);
		break;
	default:
		rc = wire_decode(&wire_status_desc, in->text, a, &status, err);
		break;
	}
	if (rc == RC_OK && !str_eq(terminal, in->terminal))
		rc = command_fail(
		    err, "/terminal_id", "differs from the subject's");
	return rc;
}

/* ---- delivery ---- */

bool
delivery_expired(struct wall now, const struct wall deadlines[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (deadlines[i].ms != 0 && now.ms > deadlines[i].ms)
			return true;
	return false;
}

bool
delivery_before(const struct delivery_facts *f, struct delivery *d)
{
	*d = (struct delivery){ RC_OK, WIRE_DELIVERY_STATE_LATE };
	if (delivery_expired(f->now, f->deadlines))
		return false;
	if (!f->up) {
		d->rc = RC_DOWN;
		return false;
	}
	if (f->known != RC_OK) {
		/*
		 * Nothing was sent, so the caller may retry whatever the error
		 * was.
		 */
		d->rc = f->known == RC_TIMEOUT ? RC_DOWN : f->known;
		return false;
	}
	d->state = WIRE_DELIVERY_STATE_OFFLINE;
	return f->present;
}

struct delivery
delivery_after(enum rc rc)
{
	switch (rc) {
	case RC_OK:
		return (
		    struct delivery){ RC_OK, WIRE_DELIVERY_STATE_DELIVERED };
	case RC_NOENT:
		return (struct delivery){ RC_OK,
			WIRE_DELIVERY_STATE_NO_SUBSCRIBER };
	default:
		return (struct delivery){ rc, WIRE_DELIVERY_STATE_OFFLINE };
	}
}
