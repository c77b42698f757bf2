/*
 * Each text with its length before it, so that none can pose as two.
 */
#include "retry.h"

#include "history.h"

static void
put(struct buf *b, struct str s)
{
	buf_printf(b, "%zu:", s.n);
	buf_put_str(b, s);
}

static bool
is_named(const struct wire_chat_request *chat)
{
	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		if (history_is_said(in) && (in->input_id.n > 0 || in->ts.n > 0))
			return true;
	}
	return false;
}

bool
retry_write(const struct wire_chat_request *chat, struct buf *b)
{
	if (!is_named(chat))
		return false;
	put(b, chat->terminal_id);
	for (size_t i = 0; i < chat->n_inputs; i++) {
		const struct wire_chat_request_inputs *in = &chat->inputs[i];
		put(b, wire_chat_request_inputs_type_names[in->type]);
		put(b, in->input_id);
		put(b, in->ts);
		put(b, in->text);
	}
	return true;
}
