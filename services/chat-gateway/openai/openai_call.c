/*
 * Users, sessions and retries.
 */
#include "openai/openai_call.h"

#include "caller.h"
#include "chat/soul_chat.h"
#include "core/arena.h"
#include "svc/svc.h"

bool
openai_call_user(struct soul_chat *s, struct str named)
{
	if (svc_call_caller(s->c) == NULL || !caller_is_unlimited(s->c))
		named = (struct str){ NULL, 0 };
	return caller_user(s->g, s->c, named, &s->user);
}

bool
openai_call_set(struct soul_chat *s, struct str text, struct str session)
{
	if (session.n == 0)
		session = arena_printf(svc_call_arena(s->c), "openai-%.*s",
		    STR_ARG(s->chat.soul_id));
	return soul_chat_set(
	    s, text, session, svc_call_header(s->c, "Idempotency-Key"));
}
