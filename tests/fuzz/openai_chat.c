/* Requests of OpenAI's clients: what is read of one is UTF-8, and short. */
#include "chat/message_text.h"
#include "core/arena.h"
#include "must.h"
#include "openai/openai_view.h"
#include "wire/msgs.h"
#include "wire/wire.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new(2 * (size_t)WIRE_ARENA_MAX);
	struct str json = { (const char *)data, n }, text;
	struct wire_openai_chat_request req;

	if (wire_decode(&wire_openai_chat_request_desc, json, a, &req, NULL) ==
		RC_OK &&
	    openai_newest_text(&req, a, &text) == RC_OK) {
		must(text.n > 0 && text.n <= n);
		must(str_utf8_count(text) >= 0);
	}
	must(message_input_text(json, a, &text) == RC_OK);
	must(text.n <= n && str_utf8_count(text) >= 0);
	arena_free(a);
	return 0;
}
