/*
 * Envelopes and paths of clients of the hub: what was read of a message is in
 * it, and what is forwarded is the same message with another sender.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/trace.h"
#include "envelope.h"
#include "must.h"
#include "payload.h"
#include "recipient.h"

#define MAX (1024UL * 1024)

static bool
str_is_within(struct str s, struct str in)
{
	return s.n == 0 || (s.p >= in.p && s.p + s.n <= in.p + in.n);
}

static void
check_target(struct str in)
{
	char *target = mem_alloc(in.n + 1), key[IDENTITY_KEY_MAX];
	const char *why = NULL;
	struct identity i;
	int status;

	memcpy(target, in.n > 0 ? in.p : "", in.n);
	status = identity_of_target(target, in.n, &i, &why);
	must(status == 0 || status == 400 || status == 404);
	must((status == 0) == (why == NULL) || status != 0);
	if (status == 0) {
		must(identity_id_error(i.id) == NULL);
		must(
		    i.class != CLASS_AGENT || identity_id_error(i.env) == NULL);
		must(identity_key(&i, key).p != NULL);
	}
	free(target);
}

static void
check_recipient(const struct envelope *e)
{
	static const struct identity agent = { .class = CLASS_AGENT,
		.env = STR_INIT("env"),
		.id = STR_INIT("abc") };
	const struct recipient_context c = { .from = &agent, .global = true };
	char key[IDENTITY_KEY_MAX];
	struct recipient r;

	if (recipient_of(&e->recipient, &c, &r) != NULL ||
	    r.kind != RECIPIENT_CLIENT)
		return;
	must(r.to.class < CLASS_HUB);
	(void)identity_key(&r.to, key);
}

static void
check_forwarded(struct arena *a, const struct envelope *e)
{
	struct buf out = BUF_INIT(2 * MAX);
	struct envelope_errors errors;
	struct envelope same;

	envelope_write(e, STR("{\"id\":\"me\",\"type\":\"agent\"}"),
	    STR("2025-08-19T10:30:00.000Z"), STR("1-2"), &out);
	must(envelope_read(buf_str(&out), MAX, a, &same, &errors) == RC_OK ||
	    out.n > MAX);
	if (out.n <= MAX) {
		must(str_eq(same.sender.id, STR("me")));
		must(str_eq(same.payload, e->payload));
		must(str_eq(same.recipient.raw, e->recipient.raw));
		must(str_eq(same.message_id, e->message_id));
		must(same.type == e->type && same.has_timestamp);
	}
	buf_reset(&out);
	envelope_write(e, (struct str){ NULL, 0 }, (struct str){ NULL, 0 },
	    (struct str){ NULL, 0 }, &out);
	must(str_eq(buf_str(&out), e->text));
	buf_free(&out);
}

/* What the hub reads of a payload is in it. */
static void
check_payload(struct arena *a, struct str json)
{
	struct payload p;
	struct str text;

	if (payload_read(json, &p) != RC_OK)
		return;
	must(json.p[0] == '{');
	must(str_is_within(p.type, json) && str_is_within(p.token, json));
	must(str_is_within(payload_member(p.data, STR("env_id")), p.data));
	text = payload_text(p.token, a);
	must(text.p == NULL || (p.token.p[0] == '"' && text.n < p.token.n));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str in = { (const char *)bytes, n };
	struct arena *a = arena_new(65536);
	struct envelope_errors errors;
	struct envelope e;
	struct trace trace;
	enum rc rc = envelope_read(in, MAX, a, &e, &errors);

	must(errors.n <= ENVELOPE_ERRORS_MAX);
	must((rc == RC_OK) == (errors.n == 0));
	must(e.message_id.n <= ENVELOPE_MESSAGE_ID_MAX);
	must(str_is_within(e.message_id, in));
	if (rc == RC_OK) {
		must(str_is_within(e.payload, in));
		must(str_is_within(e.sender.raw, in));
		check_recipient(&e);
		check_forwarded(a, &e);
		check_payload(a, e.payload);
		must(str_is_within(e.traceparent, in));
		must(!envelope_trace(&e, &trace) ||
		    strlen(trace.trace_id) == 32);
	}
	check_target(in);
	arena_free(a);
	return 0;
}
