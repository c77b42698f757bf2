/*
 * Events of FCMP/1.0 with arbitrary texts: what is written can be read, keeps
 * to its limit, and numbering changes nothing else.
 */
#include <string.h>

#include "core/mem.h"
#include "fcmp/fcmp_read.h"
#include "must.h"
#include "wire/wire.h"

static const struct fcmp_head head = {
	.run_id = STR_INIT("20260221T091252-codex-17e67f51"),
	.engine = STR_INIT("codex"),
	.session_id = STR_INIT("thread"),
	.ts = STR_INIT("2026-02-21T12:34:56.789Z"),
	.seq = FCMP_UNNUMBERED,
	.confidence = 0.6,
	.attempt = 3,
	.raw = { 0, 9007199254740991, 1, 2 },
};

static void
event_write(unsigned kind, struct str text, struct buf *b)
{
	const struct fcmp_error e = {
		WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_PARSER, STR("X"), text,
		kind & 8
	};
	const struct fcmp_warning w = {
		.code = STR("Y"), .message = text, .count = kind
	};
	const struct fcmp_question q = { .interaction_id = STR("ix_1"),
		.kind = kind & 8 ? WIRE_QUESTION_KIND_FORM
				 : WIRE_QUESTION_KIND_FREE_TEXT,
		.prompt = text };

	switch (kind % 7) {
	case 0:
		fcmp_started(&head, text, WIRE_CHAT_EVENT_DATA_MODE_AUTO, b);
		break;
	case 1:
		fcmp_delta(
		    &head, STR("m_1"), fcmp_truncate(text, FCMP_DELTA_MAX), b);
		break;
	case 2:
		fcmp_final(&head, STR("m_1"),
		    fcmp_truncate(text, FCMP_TEXT_MAX), STR("{\"a\":1}"), b);
		break;
	case 3:
		fcmp_input_required(&head, &q, b);
		break;
	case 4:
		fcmp_input_replied(&head, STR("ix_1"), text, b);
		break;
	case 5:
		fcmp_failed(&head, &e, b);
		break;
	default:
		fcmp_warning(&head, &w, b);
		break;
	}
}

/* The longest one that fits, which ends between characters. */
static void
check_truncate(struct str text, size_t max)
{
	struct str cut = fcmp_truncate(text, max), more;
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	must(cut.n <= text.n && cut.p == text.p);
	more = fcmp_truncate(text, max + 6);
	must(more.n >= cut.n);
	must(cut.n == text.n || more.n > cut.n);
	if (str_utf8_count(text) >= 0)
		must(str_utf8_count(cut) >= 0);
	fcmp_delta(&head, STR("m"), cut, &b);
	must(buf_rc(&b) == RC_OK);
	size_t with = b.n;
	buf_reset(&b);
	fcmp_delta(&head, STR("m"), STR(""), &b);
	must(with - b.n <= max);
	buf_free(&b);
}

static void
check_decode(struct str json)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf text = BUF_INIT(WIRE_MESSAGE_MAX);
	struct fcmp_event e;

	if (fcmp_event_decode(json, a, &e) == RC_OK)
		must(str_eq(e.json, json));
	if (fcmp_event_decode_unnumbered(7, json, &text, a, &e) == RC_OK)
		must(e.seq == 7);
	buf_free(&text);
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str text = { (const char *)bytes + 1, n > 0 ? n - 1 : 0 };
	struct buf b = BUF_INIT(FCMP_EVENT_MAX);
	struct buf read = BUF_INIT(WIRE_MESSAGE_MAX);
	struct arena *a;
	struct fcmp_event e;

	if (n == 0)
		return 0;
	a = arena_new(WIRE_ARENA_MAX);
	event_write(bytes[0], text, &b);
	must(buf_rc(&b) == RC_OK);
	must(fcmp_event_decode_unnumbered(41, buf_str(&b), &read, a, &e) ==
	    RC_OK);
	must(e.seq == 41 && str_eq(e.run_id, head.run_id));
	arena_free(a);
	buf_free(&read);
	buf_free(&b);
	check_truncate(text, bytes[0]);
	check_decode(text);
	return 0;
}
