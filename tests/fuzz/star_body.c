/*
 * Payloads of environments and of those who talk to souls: whatever they are,
 * what is made of them is valid JSON within its limits.
 */
#include "body/body_message.h"
#include "core/mem.h"
#include "must.h"
#include "wire/slice.h"

static bool
is_json(struct str s)
{
	struct buf b = BUF_INIT(s.n + 8);
	enum rc rc;

	buf_putc(&b, '[');
	buf_put_str(&b, s);
	buf_putc(&b, ']');
	rc = wire_slice_each(buf_str(&b), NULL);
	buf_free(&b);
	return rc == RC_OK;
}

static void
check_outcome(struct str in, struct arena *a)
{
	struct body_outcome o;

	body_outcome_read(in, a, &o);
	must(o.ok || o.error.n > 0);
	must(!o.ok || o.error.p == NULL);
	must(o.error.n <= BODY_ERROR_MAX + 64);
	must(o.output.n <= BODY_OUTPUT_MAX);
	must(str_utf8_count(o.error) >= 0);
	if (o.ok && o.output.p != NULL)
		must(is_json(o.output));
}

static void
check_intent(struct str in, struct arena *a)
{
	static const struct identity env = { .class = CLASS_ENVIRONMENT,
		.id = STR_INIT("env") };
	struct body_action act = { .id = STR("r1") };
	struct buf b = BUF_INIT(in.n * 6 + 1024);

	if (body_intent_read(in, a, &act) == RC_OK) {
		must(is_json(act.parameters));
		body_action_write(STR("{}"), &env, &act, &b);
		must(buf_rc(&b) == RC_OK && is_json(buf_str(&b)));
	}
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str in = { (const char *)bytes, n };
	struct arena *a = arena_new(4UL * 1024 * 1024);
	struct body_payload p;

	if (body_payload_read(in, a, &p) == RC_OK) {
		must(p.user_text.n <= n);
		must(str_utf8_count(p.user_text) >= 0);
		check_outcome(p.outcome, a);
	}
	check_intent(in, a);
	arena_free(a);
	return 0;
}
