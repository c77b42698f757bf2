/*
 * What a chat request must have beside what its schema says.
 */
#include "on_chat.h"

#include "binding.h"
#include "gateway.h"
#include "svc/svc.h"
#include "text.h"
#include "turn.h"
#include "wire/msgs.h"

#define NO_TEXT                                                               \
	"currently only input.type=keyboard_text|speech_text with non-empty " \
	"text is supported"

static bool
has_text(const struct wire_chat_request *req)
{
	size_t i;

	for (i = 0; i < req->n_inputs; i++) {
		if ((req->inputs[i].type ==
			    WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT ||
			req->inputs[i].type ==
			    WIRE_CHAT_REQUEST_INPUTS_TYPE_SPEECH_TEXT) &&
		    text_trim(req->inputs[i].text).n > 0)
			return true;
	}
	return false;
}

void
on_chat(void *app, struct svc_call *c)
{
	struct gateway *g = app;

	const struct wire_chat_request *req = svc_call_request(c);
	bool stream =
	    req->stream || turn_wants_stream(svc_call_header(c, "Accept"));
	struct str user;

	if (!has_text(req))
		svc_fail(c, RC_INVALID, NO_TEXT);
	else if (binding_check(g, c, &user))
		turn_start(g, c, user, stream);
}
