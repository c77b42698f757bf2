#include "body/body_message.h"

#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"
#include "envelope.h"
#include "terminal/snapshot_parse.h"
#include "wire/out.h"
#include "wire/slice.h"

#define TERMINAL_PREFIX "star-"
#define TERMINAL_BYTES  16
#define DIGEST_BYTES    32
#define NAME_MAX_BYTES  (64 + 2 * STAR_ID_BYTES + 32)

static const struct str message_none = { NULL, 0 };

/* ---- ids ---- */

static unsigned char
body_nibble(char c)
{
	return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void
body_digest(struct str s, unsigned char dst[DIGEST_BYTES])
{
	char hex[SNAPSHOT_DIGEST_MAX];
	size_t i;

	snapshot_digest(s, hex);
	for (i = 0; i < DIGEST_BYTES; i++)
		dst[i] = (unsigned char)(body_nibble(hex[2 * i]) << 4 |
		    body_nibble(hex[2 * i + 1]));
}

struct str
body_terminal_id(const struct identity *agent, char dst[BODY_TERMINAL_MAX])
{
	unsigned char sum[DIGEST_BYTES];
	char text[NAME_MAX_BYTES];

	(void)snprintf(text, sizeof(text), "%.*s/%.*s/%.*s",
	    STR_ARG(agent->tenant), STR_ARG(agent->env), STR_ARG(agent->id));
	body_digest(str_of(text), sum);
	memcpy(dst, TERMINAL_PREFIX, sizeof(TERMINAL_PREFIX));
	base64url_encode(
	    sum, TERMINAL_BYTES, dst + sizeof(TERMINAL_PREFIX) - 1);
	return str_of(dst);
}

/* "~~" and the digest of s, which no other id has. */
static struct str
body_digest_id(struct str s, char dst[ID_MAX + 1])
{
	unsigned char sum[DIGEST_BYTES];

	body_digest(s, sum);
	dst[0] = dst[1] = '~';
	base64url_encode(sum, sizeof(sum), dst + 2);
	return str_of(dst);
}

struct str
body_key_id(struct str id, char dst[ID_MAX + 1])
{
	if (id.p == NULL)
		return STR("-");
	if (id.n > ID_MAX)
		return body_digest_id(id, dst);
	str_copy(id, dst, ID_MAX + 1);
	return str_of(dst);
}

struct str
body_guest(const struct identity *from, char dst[ID_MAX + 1])
{
	char name[NAME_MAX_BYTES], digest[ID_MAX + 1];
	struct str tenant = from->tenant;
	const char *slash = tenant.p != NULL ? "/" : "";
	struct str class = client_class_names[from->class];
	bool agent = from->class == CLASS_AGENT;
	int n;

	(void)snprintf(name, sizeof(name), "%.*s%s%.*s",
	    (int)(agent ? from->env.n : 0), from->env.p, agent ? "#" : "",
	    STR_ARG(from->id));
	n = snprintf(dst, ID_MAX + 1, "%.*s%sstar:%.*s:%s", STR_ARG(tenant),
	    slash, STR_ARG(class), name);
	if (n > ID_MAX)
		(void)snprintf(dst, ID_MAX + 1, "%.*s%sstar:%.*s:%s",
		    STR_ARG(tenant), slash, STR_ARG(class),
		    body_digest_id(str_of(name), digest).p);
	return str_of(dst);
}

/* ---- from the agent ---- */

static void
message_put(struct wire_out *o, const char *key, struct str value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value);
}

/* Up to the payload's object, which is begun. */
static void
message_begin(struct wire_out *o, struct str sender, const struct identity *to,
    struct str id)
{
	wire_out_object(o);
	message_put(o, "type", STR("message"));
	message_put(o, "message_id", id);
	wire_out_key(o, STR("sender"));
	wire_out_raw(o, sender);
	wire_out_key(o, STR("recipient"));
	wire_out_object(o);
	message_put(o, "id", to->id);
	message_put(o, "type", client_class_names[to->class]);
	wire_out_object_end(o);
	wire_out_key(o, STR("payload"));
	wire_out_object(o);
}

void
body_action_write(struct str sender, const struct identity *to,
    const struct body_action *a, struct buf *out)
{
	struct wire_out o = { .b = out };

	message_begin(&o, sender, to, a->id);
	message_put(&o, "type", STR("action"));
	message_put(&o, "id", a->id);
	message_put(&o, "action", a->action);
	wire_out_key(&o, STR("parameters"));
	wire_out_raw(&o, a->parameters.p != NULL ? a->parameters : STR("{}"));
	wire_out_object_end(&o);
	wire_out_object_end(&o);
}

void
body_event_begin(const struct body_event *e, struct buf *out)
{
	struct wire_out o = { .b = out };

	message_begin(&o, e->sender, e->to, e->id);
	message_put(&o, "type", STR("event"));
	message_put(&o, "id", e->id);
	message_put(&o, "event", e->event);
	wire_out_key(&o, STR("data"));
}

void
body_event_end(struct buf *out)
{
	buf_puts(out, "}}");
}

struct intent_reader {
	struct wire_out o;
	struct str skill;
};

static void
intent_on_member(void *arg, const struct wire_slice *s)
{
	struct intent_reader *r = arg;

	if (str_eq(s->key, STR("skill"))) {
		r->skill = s->value;
		return;
	}
	/* The key is as it was written. */
	if (r->o.comma)
		buf_putc(r->o.b, ',');
	r->o.comma = true;
	buf_putc(r->o.b, '"');
	buf_put_str(r->o.b, s->key);
	buf_puts(r->o.b, "\":");
	buf_put_str(r->o.b, s->value);
}

enum rc
body_intent_read(
    struct str normalized, struct arena *a, struct body_action *out)
{
	struct buf b = BUF_INIT(normalized.n + 16);
	struct intent_reader r = { .o = { .b = &b } };
	enum rc rc = RC_INVALID;

	buf_putc(&b, '{');
	if (normalized.n > 0 && normalized.p[0] == '{')
		rc = envelope_members(normalized, intent_on_member, &r);
	buf_putc(&b, '}');
	if (rc == RC_OK)
		rc = envelope_string(r.skill, a, &out->action);
	if (rc == RC_OK) {
		out->parameters = arena_str(a, buf_str(&b));
		if (out->parameters.p == NULL)
			rc = RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* ---- to the agent ---- */

/* Members of an object, as written. */
struct member_row {
	struct str key, value;
};

struct member_reader {
	struct member_row *rows;
	size_t n;
};

static void
reader_on_member(void *arg, const struct wire_slice *s)
{
	const struct member_reader *r = arg;
	size_t i;

	for (i = 0; i < r->n; i++)
		if (str_eq(s->key, r->rows[i].key))
			r->rows[i].value = s->value;
}

/* False: json is no object. */
static bool
message_read(struct str json, struct member_row *rows, size_t n)
{
	struct member_reader r = { rows, n };

	return json.n > 0 && json.p[0] == '{' &&
	    envelope_members(json, reader_on_member, &r) == RC_OK;
}

/* Absent: json is no string. */
static struct str
message_text(struct str json, struct arena *a)
{
	struct str s;

	if (json.p == NULL || envelope_string(json, a, &s) != RC_OK)
		return message_none;
	return s;
}

/* The first of a row that is a text which is not blank. */
static struct str
message_first_text(const struct member_row *rows, size_t n, struct arena *a)
{
	struct str s;
	size_t i;

	for (i = 0; i < n; i++) {
		s = message_text(rows[i].value, a);
		if (str_trim(s).n > 0)
			return str_trim(s);
	}
	return message_none;
}

enum rc
body_payload_read(struct str json, struct arena *a, struct body_payload *out)
{
	struct member_row rows[] = { { STR("type"), message_none },
		{ STR("event"), message_none }, { STR("id"), message_none },
		{ STR("outcome"), message_none }, { STR("data"), message_none },
		{ STR("text"), message_none }, { STR("message"), message_none },
		{ STR("content"), message_none } },
			  data[] = { { STR("text"), message_none },
				  { STR("message"), message_none },
				  { STR("content"), message_none },
				  { STR("attention"), message_none },
				  { STR("in_reply_to"), message_none } };

	*out = (struct body_payload){ 0 };
	if (!message_read(json, rows, NELEM(rows)))
		return RC_INVALID;
	out->type = message_text(rows[0].value, a);
	out->event = message_text(rows[1].value, a);
	out->id = message_text(rows[2].value, a);
	if (out->id.p == NULL)
		out->id = rows[2].value;
	out->outcome = rows[3].value;
	out->data = rows[4].value;
	if (message_read(out->data, data, NELEM(data)))
		out->user_text = message_first_text(data, 3, a);
	else
		out->user_text = message_first_text(&rows[4], 1, a);
	if (out->user_text.p == NULL)
		out->user_text = message_first_text(&rows[5], 3, a);
	out->attention = str_eq(data[3].value, STR("true"));
	out->is_reply = data[4].value.p != NULL;
	return RC_OK;
}

/* The message, with the data if there are any and they fit. */
static struct str
outcome_output(struct str message, struct str data, struct arena *a)
{
	struct buf b = BUF_INIT(BODY_OUTPUT_MAX);
	struct wire_out o = { .b = &b };
	bool has_data = data.p != NULL && !str_eq(data, STR("null"));
	struct str s;

	if (has_data) {
		wire_out_object(&o);
		wire_out_key(&o, STR("message"));
		wire_out_raw(&o, message.p != NULL ? message : STR("null"));
		wire_out_key(&o, STR("data"));
		wire_out_raw(&o, data);
		wire_out_object_end(&o);
	}
	if (!has_data || buf_rc(&b) != RC_OK) {
		buf_reset(&b);
		o = (struct wire_out){ .b = &b };
		wire_out_raw(&o, message.p != NULL ? message : STR("null"));
	}
	s = buf_rc(&b) == RC_OK ? arena_str(a, buf_str(&b)) : message_none;
	buf_free(&b);
	return s;
}

void
body_outcome_read(struct str json, struct arena *a, struct body_outcome *out)
{
	struct member_row rows[] = { { STR("status"), message_none },
		{ STR("message"), message_none },
		{ STR("data"), message_none } };
	struct str status, message;

	*out = (struct body_outcome){ .output = json };
	if (json.n > BODY_OUTPUT_MAX)
		out->output = message_none;
	if (!message_read(json, rows, NELEM(rows))) {
		out->error = STR("the environment's outcome has no status");
		return;
	}
	status = message_text(rows[0].value, a);
	message = str_trim(message_text(rows[1].value, a));
	out->ok = str_eq(status, STR("success"));
	out->output = outcome_output(rows[1].value, rows[2].value, a);
	if (out->ok)
		return;
	if (message.n > 0)
		out->error = str_clip(message, BODY_ERROR_MAX);
	else if (status.n > 0)
		out->error =
		    arena_printf(a, "the environment's outcome is %.*s",
			STR_ARG(str_clip(status, BODY_ERROR_MAX / 2)));
	else
		out->error = STR("the environment's outcome has no status");
}
