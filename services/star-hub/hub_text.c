#include "hub_text.h"

#include <stdio.h>

#include "core/clock.h"
#include "wire/out.h"

struct hub_error_row {
	const char *code, *type, *message, *suggested_action;
};

static const struct hub_error_row hub_error_rows[HUB_ERROR_N] = {
	[HUB_ERROR_VALIDATION] = { "VALIDATION_ERROR", "validation_error",
	    "the message is not valid",
	    "correct the message as validation_errors says, and send it "
	    "again" },
	[HUB_ERROR_CLASS] = { "INVALID_CLIENT_TYPE", "validation_error",
	    "the type of a client is unknown",
	    "use agent, environment, human or hub" },
	[HUB_ERROR_PERMISSION] = { "PERMISSION_DENIED", "permission_denied",
	    "the sender may not do this",
	    "send to a permitted recipient: see the hub's rules, or join the "
	    "environment first" },
	[HUB_ERROR_TARGET] = { "CONNECTION_ERROR", "target_not_found",
	    "no client with this id and type is connected",
	    "check id, type and env of the recipient, and send again when it "
	    "is connected" },
	[HUB_ERROR_ENVIRONMENT] = { "CONNECTION_ERROR", "env_not_found",
	    "the environment is not connected",
	    "wait for its event environment_up, and send again" },
	[HUB_ERROR_SLOW] = { "CONNECTION_ERROR", "recipient_slow",
	    "the recipient does not read fast enough: not delivered",
	    "send less to it, and this again later" },
	[HUB_ERROR_UNREACHABLE] = { "CONNECTION_ERROR", "hub_unreachable",
	    "the hub of the recipient cannot be reached: not delivered",
	    "send this again later" },
	[HUB_ERROR_UNKNOWN] = { "CONNECTION_LOST", "delivery_unknown",
	    "the recipient's hub has not confirmed this: it may have been "
	    "delivered, or not",
	    "find out from the recipient before you send this again" },
	[HUB_ERROR_RATE] = { "RATE_LIMITED", "rate_limited",
	    "too much was sent: not delivered",
	    "wait for retry_after_ms, and send this again" },
};

const char *
hub_error_code(enum hub_error e)
{
	return hub_error_rows[e].code;
}

void
hub_put(struct wire_out *o, const char *key, struct str value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value);
}

static void
text_put_party(
    struct wire_out *o, const char *key, struct str id, enum client_class class)
{
	wire_out_key(o, str_of(key));
	wire_out_object(o);
	hub_put(o, "id", id);
	hub_put(o, "type", client_class_names[class]);
	wire_out_object_end(o);
}

void
hub_message_begin(
    struct wire_out *o, const char *type, const struct identity *to)
{
	wire_out_object(o);
	hub_put(o, "type", str_of(type));
	text_put_party(o, "sender", STR("hub"), CLASS_HUB);
	if (to != NULL)
		text_put_party(o, "recipient", to->id, to->class);
	else
		text_put_party(o, "recipient", STR("*"), CLASS_HUB);
	wire_out_key(o, STR("payload"));
}

void
hub_message_end(struct wire_out *o, struct str timestamp)
{
	hub_put(o, "timestamp", timestamp);
	wire_out_object_end(o);
}

void
hub_event_begin(struct wire_out *o, uint64_t n, const char *event)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "hub-%llu", (unsigned long long)n);
	wire_out_object(o);
	hub_put(o, "type", STR("event"));
	hub_put(o, "id", str_of(id));
	hub_put(o, "event", str_of(event));
	wire_out_key(o, STR("data"));
	wire_out_object(o);
}

void
hub_event_end(struct wire_out *o)
{
	wire_out_object_end(o);
	wire_out_object_end(o);
}

static void
text_put_details(
    struct wire_out *o, const struct hub_failure *f, const char *action)
{
	size_t i;

	wire_out_key(o, STR("details"));
	wire_out_object(o);
	if (f->message_id.p != NULL) {
		wire_out_key(o, STR("original_message_id"));
		wire_out_raw(o, f->message_id);
	}
	if (f->seq > 0) {
		wire_out_key(o, STR("seq"));
		wire_out_i64(o, (int64_t)f->seq);
	}
	if (f->nvalidation_errors > 0 || f->validation_error != NULL) {
		wire_out_key(o, STR("validation_errors"));
		wire_out_array(o);
		if (f->validation_error != NULL)
			wire_out_str(o, str_of(f->validation_error));
		for (i = 0; i < f->nvalidation_errors; i++)
			wire_out_str(o, str_of(f->validation_errors[i]));
		wire_out_array_end(o);
	}
	if (f->error == HUB_ERROR_RATE) {
		wire_out_key(o, STR("retry_after_ms"));
		wire_out_i64(o, f->retry_after_ms);
	}
	hub_put(o, "suggested_action", str_of(action));
	wire_out_object_end(o);
}

void
hub_error_write(const struct hub_failure *f, const struct identity *to,
    struct str timestamp, struct buf *out)
{
	const struct hub_error_row *row = &hub_error_rows[f->error];
	struct wire_out o = { .b = out };

	hub_message_begin(&o, "error", to);
	wire_out_object(&o);
	hub_put(&o, "error_code", str_of(row->code));
	hub_put(&o, "error_type", str_of(row->type));
	hub_put(&o, "message",
	    str_of(f->message != NULL ? f->message : row->message));
	text_put_details(&o, f, row->suggested_action);
	wire_out_object_end(&o);
	hub_message_end(&o, timestamp);
}

void
hub_timestamp(int64_t ms, char dst[HUB_TIMESTAMP_MAX])
{
	char seconds[WALL_FORMAT_MAX];

	/* Of a whole second it has no milliseconds: "…T10:30:00Z". */
	wall_format((struct wall){ ms - ms % 1000 }, 0, seconds);
	(void)snprintf(
	    dst, HUB_TIMESTAMP_MAX, "%.19s.%03dZ", seconds, (int)(ms % 1000));
}
