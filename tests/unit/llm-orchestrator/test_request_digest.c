/*
 * Which requests are repetitions.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "turn/turn_steps.h"

#define TEXT_INPUT(id_, ts_, text_)                                  \
	{                                                            \
		.type = WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT, \
		.input_id = STR_INIT(id_), .ts = STR_INIT(ts_),      \
		.text = STR_INIT(text_)                              \
	}
#define NOTE(id_, text_)                                           \
	{                                                          \
		.type = WIRE_CHAT_REQUEST_INPUTS_TYPE_EVENT_NOTE,  \
		.input_id = STR_INIT(id_), .text = STR_INIT(text_) \
	}

static struct wire_chat_request_inputs rows[][2] = {
	{ TEXT_INPUT("i1", "", "开灯"), NOTE("", "door") },
	{ TEXT_INPUT("i2", "", "开灯"), NOTE("", "door") },
	{ TEXT_INPUT("i1", "", "关灯"), NOTE("", "door") },
	{ TEXT_INPUT("i1", "2026-02-22T17:40:00Z", "开灯"), NOTE("", "door") },
	{ TEXT_INPUT("", "i1", "开灯"), NOTE("", "door") },
	{ TEXT_INPUT("i1", "", "开灯"), NOTE("", "window") },
	{ TEXT_INPUT("i1", "", "开灯"), NOTE("d", "oor") },
	{ NOTE("", "door"), TEXT_INPUT("i1", "", "开灯") },
	{ TEXT_INPUT("i1", "", "开灯"), TEXT_INPUT("", "", "door") },
	{ TEXT_INPUT("i1", "", "开灯2:i"), NOTE("", "door") },
};

static bool
write_of(struct wire_chat_request_inputs *in, size_t n, const char *terminal,
    struct buf *b)
{
	struct wire_chat_request chat = { .session_id = STR("s1"),
		.terminal_id = str_of(terminal),
		.inputs = in,
		.n_inputs = n };

	return request_digest(&chat, b);
}

/* Equal exactly if one repeats the other. */
TEST(equal_requests_only_have_equal_digests)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		for (size_t k = 0; k < NELEM(rows); k++) {
			struct buf a = BUF_INIT(4096), b = BUF_INIT(4096);
			ck_assert(write_of(rows[i], 2, "t1", &a));
			ck_assert(write_of(rows[k], 2, "t1", &b));
			ck_assert_msg(
			    str_eq(buf_str(&a), buf_str(&b)) == (i == k),
			    "%zu and %zu", i, k);
			buf_free(&a);
			buf_free(&b);
		}
	}
}

TEST(another_body_has_another_digest)
{
	struct buf a = BUF_INIT(4096), b = BUF_INIT(4096);

	ck_assert(write_of(rows[0], 2, "t1", &a));
	ck_assert(write_of(rows[0], 2, "t2", &b));
	ck_assert(!str_eq(buf_str(&a), buf_str(&b)));
	buf_free(&a);
	buf_free(&b);
}

/* Without id or time an identical text is not a repetition. */
TEST(without_id_or_time_no_digest_is_made)
{
	struct wire_chat_request_inputs in[] = { TEXT_INPUT("", "", "开灯"),
		NOTE("n1", "door") };
	struct buf b = BUF_INIT(4096);

	ck_assert(!write_of(in, 2, "t1", &b));
	ck_assert_uint_eq(b.n, 0);
	buf_free(&b);
}
