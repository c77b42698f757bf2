/*
 * What the head of a session's queue writes into the session, and it alone.
 *
 * Each function is one script, so one round trip and one flush of the
 * append-only file, at the beginning of a turn as at its end.
 */
#include "core/id.h"
#include "core/mem.h"
#include "state/record.h"
#include "state/session_append.h"
#include "state/session_lua.h"
#include "state/turn.h"
#include "state/turn_lua.h"

#define LUA_FENCE                                     \
	"if redis.call('LINDEX',KEYS[1],0)~=ARGV[1] " \
	"then\n return {" LUA_CONFLICT "}\nend\n"

/*
 * KEYS turns, session, messages, idle  ARGV me, the most messages, soul,
 * terminal, idle ms, user:session (tokens), late, JSON, …  → {OK}
 */
static const struct state_script input = {
	LUA_NOW LUA_RECORD LUA_APPEND LUA_LATE LUA_AWAKE LUA_FENCE
	"append(KEYS[2],KEYS[3],ARGV[2],8)\n"
	"late(KEYS[2],ARGV[7])\n"
	"awake(KEYS[2],KEYS[4],now,ARGV[3],ARGV[4],ARGV[5],ARGV[6])\n"
	"return {" LUA_OK "}"
};

/*
 * KEYS turns, my instance, session, messages  ARGV me, the most messages, late,
 * JSON, …  → {OK, the instance of the new head or ''}
 */
static const struct state_script finish = {
	LUA_RECORD LUA_APPEND LUA_LATE LUA_PURGE LUA_LEAVE LUA_FENCE
	"append(KEYS[3],KEYS[4],ARGV[2],4)\n"
	"late(KEYS[3],ARGV[3])\n"
	"return leave(ARGV[1])"
};

static const struct str none = { NULL, 0 };

static bool
can_append(const struct session_new *new)
{
	return new->n > 0 && new->n <= SESSION_APPEND_MAX;
}

static void
put_messages(struct call *c, const struct session_new *new)
{
	size_t i;

	call_text(c, LATE_ARG(new->late), SESSION_TEXT_MAX);
	for (i = 0; i < new->n; i++)
		call_text(c, new->json[i], SESSION_TEXT_MAX);
}

enum rc
turn_append(struct state *s, const struct turn_place *p, const struct str *json,
    size_t n)
{
	return turn_keep(s, p, &(struct session_new){ json, n, { 0 } });
}

enum rc
turn_keep(
    struct state *s, const struct turn_place *p, const struct session_new *new)
{
	return session_append_as(s, &p->key, p, *new, NULL);
}

enum rc
turn_append_input(struct state *s, const struct turn_place *p,
    const struct session_new *new, const struct turn_input *in)
{
	const struct session_key *k = &p->key;
	struct call c;

	if (!can_append(new) || !id_valid(in->soul) ||
	    !id_valid(in->terminal) || in->idle_ms < 0)
		return RC_INVALID;
	call_begin(&c, &input);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_IDLE, none, none);
	call_tokens(&c, p->instance, ':', p->turn_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_text(&c, in->soul, ID_MAX);
	call_text(&c, in->terminal, ID_MAX);
	call_num(&c, in->idle_ms);
	call_tokens(&c, k->user_id, ':', k->session_id);
	put_messages(&c, new);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_finish(struct state *s, const struct turn_place *p,
    const struct session_new *new, struct arena *a, struct str *next)
{
	const struct session_key *k = &p->key;
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*next = none;
	if (!can_append(new))
		return RC_INVALID;
	call_begin(&c, &finish);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_INSTANCE, p->instance, none);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_tokens(&c, p->instance, ':', p->turn_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	put_messages(&c, new);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*next = reading_id(&rd, state_reply_at(r, 1));
		rc = reading_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
