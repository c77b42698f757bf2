/*
 * Finding soul and body.
 */
#include "chat/soul_chat.h"

#include "gateway.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "terminals/binding.h"

#define NO_BODY "the soul has no body: bind one with POST /v1/souls/select"

static bool
soul_chat_find_soul(struct soul_chat *s, const char *field, struct str soul)
{
	const struct soul *found = NULL;
	struct soul *list;
	size_t n, matches;
	enum rc rc;

	rc = soul_list(s->g->state, s->user, svc_call_arena(s->c), &list, &n);
	if (rc != RC_OK) {
		gateway_fail(s->c, rc);
		return false;
	}
	matches = binding_match_hint(list, n, soul, &found);
	if (matches == 1) {
		s->chat.soul_id = found->id;
		return true;
	}
	gateway_reject(s->c, matches == 0 ? RC_NOENT : RC_CONFLICT,
	    matches == 0 ? "%s: no soul is named %.*s"
			 : "%s: several souls are named %.*s; use the id",
	    field, STR_ARG(soul));
	return false;
}

static enum rc
soul_chat_read_body(struct soul_chat *s, struct str id, struct terminal *out)
{
	enum rc rc = terminal_read_brief(
	    s->g->state, id, gateway_ttl_ms(s->g), svc_call_arena(s->c), out);

	if (rc != RC_OK)
		return rc;
	return str_eq(out->user_id, s->user) &&
		str_eq(out->soul_id, s->chat.soul_id)
	    ? RC_OK
	    : RC_NOENT;
}

static enum rc
soul_chat_choose_body(struct soul_chat *s)
{
	struct terminal_listed *list;
	struct terminal t;
	size_t n;
	enum rc rc;

	rc = terminal_list(
	    s->g->state, s->user, svc_call_arena(s->c), &list, &n);
	for (size_t i = 0; rc == RC_OK && i < n && !s->terminal.present; i++) {
		rc = soul_chat_read_body(s, list[i].id, &t);
		if (rc == RC_OK && (t.present || s->chat.terminal_id.n == 0)) {
			s->chat.terminal_id = list[i].id;
			s->terminal = t;
		}
		if (rc == RC_NOENT)
			rc = RC_OK;
	}
	return rc == RC_OK && s->chat.terminal_id.n == 0 ? RC_NOENT : rc;
}

bool
soul_chat_find(struct soul_chat *s, const char *field, struct str soul,
    struct str terminal)
{
	enum rc rc;

	if (!soul_chat_find_soul(s, field, soul))
		return false;
	s->chat.terminal_id = terminal;
	rc = terminal.n > 0 ? soul_chat_read_body(s, terminal, &s->terminal)
			    : soul_chat_choose_body(s);
	if (rc == RC_NOENT)
		svc_fail(s->c, RC_CONFLICT, NO_BODY);
	else if (rc != RC_OK)
		gateway_fail(s->c, rc);
	return rc == RC_OK;
}

bool
soul_chat_set(
    struct soul_chat *s, struct str text, struct str session, struct str key)
{
	if (!gateway_id(s->c, session, "session_id") ||
	    (key.n > 0 && !gateway_id(s->c, key, "the key of a retry")))
		return false;
	s->input = (struct wire_chat_request_inputs){
		.type = WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT,
		.text = text,
	};
	if (key.n > 0)
		s->input.input_id = key;
	s->chat.session_id = session;
	s->chat.inputs = &s->input;
	s->chat.n_inputs = 1;
	s->chat.cancel_on_disconnect = true;
	return true;
}
