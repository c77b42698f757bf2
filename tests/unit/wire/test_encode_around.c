/* Events: a payload is encoded into its envelope. */
#include "codec.h"
#include "testkit/cases.h"
#include "wire/iface.h"
#include "wire/msgs.h"

static void
around_check(const struct wire_desc *d, const struct wire_inner *inner,
    struct wire_event_envelope *env)
{
	struct buf twice = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;

	env->payload = (struct str){ NULL, 0 };
	buf_puts(&out, "before");
	ck_assert_int_eq(wire_encode_around(
			     &wire_event_envelope_desc, env, inner, &out, &err),
	    RC_OK);
	ck_assert_int_eq(wire_encode(d, inner->msg, &text, &err), RC_OK);
	env->payload = buf_str(&text);
	ck_assert_int_eq(
	    wire_encode(&wire_event_envelope_desc, env, &twice, &err), RC_OK);
	ck_assert_str_eq(out.p + strlen("before"), twice.p);
	buf_free(&twice);
	buf_free(&text);
	buf_free(&out);
}

TEST(every_event_is_encoded_around_its_payload)
{
	struct wire_event_envelope env = {
		.trace_id = STR_INIT("11111111-1111-4111-8111-111111111111"),
		.type = STR_INIT("t"),
		.source = STR_INIT("s"),
		.meta = { .timestamp = 1,
		    .psyche_state = STR_INIT("{\"p\":[1,2]}") },
	};
	size_t n = 0;

	for (size_t i = 0; i < wire_events_n; i++) {
		const struct wire_desc *d = wire_events[i].payload;
		struct tk_cases cases;

		tk_cases_load(&cases, wire_desc_name(d));
		for (size_t k = 0; k < cases.n; k++) {
			struct codec c;

			codec_read(&c, d, cases.v[k].bytes);
			const struct wire_inner inner = { STR("payload"), d,
				c.msg };
			if (c.rc == RC_OK) {
				around_check(d, &inner, &env);
				n++;
			}
			codec_free(&c);
		}
		tk_cases_free(&cases);
	}
	ck_assert_uint_ge(n, wire_events_n);
}
