/* Question blocks of messages: what is accepted is within its bounds. */
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "interaction.h"
#include "must.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define QUESTION_ARENA (1024UL * 1024)

static void
interaction_check(struct fcmp_question *q)
{
	const struct fcmp_head h = { .run_id = STR("r"),
		.engine = STR("codex"),
		.ts = STR("2026-02-21T12:34:56.789Z"),
		.seq = 1,
		.confidence = 1,
		.attempt = 1 };
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_chat_event w;

	q->interaction_id = STR("ix_1");
	fcmp_input_required(&h, q, &b);
	must(wire_decode(&wire_chat_event_desc, buf_str(&b), a, &w, NULL) ==
	    RC_OK);
	buf_free(&b);
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new(QUESTION_ARENA);
	struct buf block = BUF_INIT(2UL * 1024 * 1024);
	struct str text = { (const char *)data, n };
	struct fcmp_question q;

	if (interaction_of_text(text, a, &q) == RC_OK)
		interaction_check(&q);
	buf_puts(&block, "```ask_user\n");
	buf_put_str(&block, text);
	buf_puts(&block, "\n```");
	if (interaction_of_text(buf_str(&block), a, &q) == RC_OK)
		interaction_check(&q);
	if (interaction_of_codex(text, a, &q) == RC_OK)
		interaction_check(&q);
	buf_free(&block);
	arena_free(a);
	return 0;
}
