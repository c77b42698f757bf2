#include "envelope.h"

#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/trace.h"
#include "wire/slice.h"
#include "wire/tree.h"

static const struct str envelope_type_names[ENVELOPE_TYPES] = {
	[ENVELOPE_MESSAGE] = STR_INIT("message"),
	[ENVELOPE_HEARTBEAT] = STR_INIT("heartbeat"),
	[ENVELOPE_ERROR] = STR_INIT("error"),
	[ENVELOPE_AUTHENTICATE] = STR_INIT("authenticate"),
};

enum rc
envelope_members(struct str json,
    void (*each)(void *arg, const struct wire_slice *s), void *arg)
{
	const struct wire_slice_handler h = { .each = each, .arg = arg };

	return wire_slice_each(json, &h);
}

enum rc
envelope_string(struct str json, struct arena *a, struct str *out)
{
	*out = (struct str){ NULL, 0 };
	if (json.n < 2 || json.p[0] != '"')
		return RC_INVALID;
	if (memchr(json.p, '\\', json.n) != NULL)
		return wire_text(json, a, out);
	*out = (struct str){ json.p + 1, json.n - 2 };
	return RC_OK;
}

static void
errors_add(struct envelope_errors *errors, const char *text)
{
	if (errors->n < ENVELOPE_ERRORS_MAX)
		errors->text[errors->n++] = text;
}

/* ---- a sender or recipient ---- */

/* Texts of its errors. */
struct party_errors {
	const char *missing, *kind, *no_id, *id, *no_type, *type, *env;
};

static const struct party_errors sender_errors = {
	"/sender: is missing",
	"/sender: must be an object",
	"/sender/id: is missing",
	"/sender/id: must be a string that is not empty",
	"/sender/type: is missing",
	"/sender/type: must be agent, environment, human or hub",
	"/sender/env: must be a string",
};
static const struct party_errors recipient_errors = {
	"/recipient: is missing",
	"/recipient: must be an object",
	"/recipient/id: is missing",
	"/recipient/id: must be a string that is not empty",
	"/recipient/type: is missing",
	"/recipient/type: must be agent, environment, human or hub",
	"/recipient/env: must be a string",
};

struct party_reader {
	struct str id, type, env;
};

static void
party_on_member(void *arg, const struct wire_slice *s)
{
	struct party_reader *r = arg;

	if (str_eq(s->key, STR("id")))
		r->id = s->value;
	else if (str_eq(s->key, STR("type")))
		r->type = s->value;
	else if (str_eq(s->key, STR("env")))
		r->env = s->value;
}

static void
party_read_class(struct party *p, struct str type,
    const struct party_errors *texts, struct envelope_errors *errors)
{
	struct str s = { NULL, 0 };

	/* No class has a character that needs an escape. */
	if (type.n >= 2 && type.p[0] == '"')
		s = (struct str){ type.p + 1, type.n - 2 };
	p->class = client_class_parse(s);
	if (p->class != CLASS_N)
		return;
	errors_add(errors, texts->type);
	if (s.p != NULL)
		errors->unknown_class = true;
}

static void
party_read(struct party *p, struct arena *a, const struct party_errors *texts,
    struct envelope_errors *errors)
{
	struct party_reader r = { 0 };

	p->class = CLASS_N;
	if (p->raw.p == NULL) {
		errors_add(errors, texts->missing);
		return;
	}
	if (p->raw.p[0] != '{' ||
	    envelope_members(p->raw, party_on_member, &r) != RC_OK) {
		errors_add(errors, texts->kind);
		return;
	}
	if (r.id.p == NULL)
		errors_add(errors, texts->no_id);
	else if (envelope_string(r.id, a, &p->id) != RC_OK || p->id.n == 0)
		errors_add(errors, texts->id);
	if (r.env.p != NULL && envelope_string(r.env, a, &p->env) != RC_OK)
		errors_add(errors, texts->env);
	if (r.type.p != NULL)
		party_read_class(p, r.type, texts, errors);
	/* A room may be named without. */
	else if (texts == &sender_errors || !str_eq(p->id, STR("*")))
		errors_add(errors, texts->no_type);
}

/* ---- all of it ---- */

struct envelope_reader {
	struct envelope *e;
	struct str type, id, message_id;
};

static void
envelope_on_member(void *arg, const struct wire_slice *s)
{
	struct envelope_reader *r = arg;

	switch (s->key.n) {
	case 2:
		if (str_eq(s->key, STR("id")))
			r->id = s->value;
		break;
	case 4:
		if (str_eq(s->key, STR("type")))
			r->type = s->value;
		break;
	case 6:
		if (str_eq(s->key, STR("sender")))
			r->e->sender.raw = s->value;
		break;
	case 7:
		if (str_eq(s->key, STR("payload")))
			r->e->payload = s->value;
		break;
	case 9:
		if (str_eq(s->key, STR("recipient")))
			r->e->recipient.raw = s->value;
		else if (str_eq(s->key, STR("timestamp")))
			r->e->has_timestamp = true;
		break;
	case 10:
		if (str_eq(s->key, STR("message_id")))
			r->message_id = s->value;
		break;
	case 11:
		if (str_eq(s->key, STR("traceparent")))
			r->e->traceparent = s->value;
		break;
	default:
		break;
	}
}

static void
envelope_read_type(
    struct envelope *e, struct str type, struct envelope_errors *errors)
{
	struct str s = { NULL, 0 };
	int t;

	e->type = ENVELOPE_TYPES;
	if (type.p == NULL) {
		errors_add(errors, "/type: is missing");
		return;
	}
	if (type.n >= 2 && type.p[0] == '"')
		s = (struct str){ type.p + 1, type.n - 2 };
	for (t = 0; t < ENVELOPE_TYPES; t++)
		if (str_eq(s, envelope_type_names[t]))
			break;
	e->type = (enum envelope_type)t;
	if (t == ENVELOPE_TYPES)
		errors_add(errors,
		    "/type: must be message, heartbeat, error or "
		    "authenticate");
}

enum rc
envelope_read(struct str text, size_t max, struct arena *a, struct envelope *e,
    struct envelope_errors *errors)
{
	struct envelope_reader r = { .e = e };
	const struct wire_slice_handler h = {
		.each = envelope_on_member, .arg = &r, .max = max
	};
	enum rc rc;

	*e =
	    (struct envelope){ .text = str_trim(text), .type = ENVELOPE_TYPES };
	errors->n = 0;
	errors->unknown_class = false;
	rc = wire_slice_each(e->text, &h);
	if (rc != RC_OK) {
		/* Nothing that was read of it counts. */
		*e = (struct envelope){ .type = ENVELOPE_TYPES };
		errors_add(errors,
		    rc == RC_TOOBIG
			? "/: has too many values, or is nested over 64 deep"
			: "/: is not valid JSON");
		return RC_INVALID;
	}
	if (e->text.p[0] != '{') {
		errors_add(errors, "/: must be an object");
		return RC_INVALID;
	}
	if (r.message_id.p == NULL)
		r.message_id = r.id;
	if (r.message_id.n <= ENVELOPE_MESSAGE_ID_MAX)
		e->message_id = r.message_id;
	envelope_read_type(e, r.type, errors);
	party_read(&e->sender, a, &sender_errors, errors);
	party_read(&e->recipient, a, &recipient_errors, errors);
	if (e->payload.p == NULL && e->type != ENVELOPE_HEARTBEAT)
		errors_add(errors, "/payload: is missing");
	return errors->n == 0 ? RC_OK : RC_INVALID;
}

bool
envelope_trace(const struct envelope *e, struct trace *t)
{
	struct str s = e->traceparent;

	/* No such text has a character that needs an escape. */
	if (s.n < 2 || s.p[0] != '"')
		return false;
	return trace_parse((struct str){ s.p + 1, s.n - 2 }, t) == RC_OK;
}

bool
envelope_is_from(const struct envelope *e, const struct identity *me)
{
	return e->sender.class == me->class && str_eq(e->sender.id, me->id) &&
	    (e->sender.env.p == NULL || str_eq(e->sender.env, me->env));
}

/* A text without anything to be escaped. */
static void
envelope_put_text(struct buf *out, const char *key, struct str text)
{
	if (text.p == NULL)
		return;
	buf_puts(out, key);
	buf_put_str(out, text);
	buf_putc(out, '"');
}

void
envelope_write(const struct envelope *e, struct str sender,
    struct str timestamp, struct str cursor, struct buf *out)
{
	const char *end = e->text.p + e->text.n - 1;
	const char *rest = e->text.p;

	if (sender.p != NULL) {
		buf_put(out, rest, (size_t)(e->sender.raw.p - rest));
		buf_put_str(out, sender);
		rest = e->sender.raw.p + e->sender.raw.n;
	}
	buf_put(out, rest, (size_t)(end - rest));
	if (!e->has_timestamp)
		envelope_put_text(out, ",\"timestamp\":\"", timestamp);
	envelope_put_text(out, ",\"cursor\":\"", cursor);
	buf_putc(out, '}');
}
