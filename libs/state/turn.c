/*
 * turn: the queue of a session's turns, which is lock and fencing token too.
 *
 * An entry is <instance>:<turn>, and no entry comes back once it is gone, so
 * whoever sees itself as head is it, and nobody else was since.
 */
#include "state/turn.h"

#include "core/mem.h"
#include "state/record.h"
#include "state/turn_lua.h"

/* A queue without a turn that moves is forgotten; no turn lasts that long. */
#define QUEUE_MS "3600000"

/*
 * KEYS turns, my instance  ARGV me, my turn (token), alive ms, the most turns
 * → {OK, ahead}
 */
static const struct state_script enter = { .text = LUA_PURGE
	"r('LLEN',q)\n"
	"alive(ARGV[3])\n"
	"local live=purge()\n"
	"for _,e in ipairs(live) do\n"
	" if string.match(e,':(.+)$')==ARGV[2] then\n"
	"  return {" LUA_CONFLICT "}\n"
	" end\n"
	"end\n"
	"if #live>=tonumber(ARGV[4]) then return {" LUA_AGAIN "} end\n"
	"r('RPUSH',q,ARGV[1])\n"
	"r('PEXPIRE',q," QUEUE_MS ")\n"
	"return {" LUA_OK ",#live}" };

/* KEYS turns, my instance  ARGV me, alive ms → {OK, ahead} */
static const struct state_script poll_ = { .text = LUA_PURGE
	"r('LLEN',q)\n"
	"alive(ARGV[2])\n"
	"for n,e in ipairs(purge()) do\n"
	" if e==ARGV[1] then\n"
	"  r('PEXPIRE',q," QUEUE_MS ")\n"
	"  return {" LUA_OK ",n-1}\n"
	" end\n"
	"end\n"
	"return {" LUA_NOENT "}" };

/* KEYS turns, my instance  ARGV me */
static const struct state_script hold = {
	"if redis.call('LINDEX',KEYS[1],0)==ARGV[1] then return " LUA_OK
	" end\n"
	"return " LUA_CONFLICT
};

/* KEYS turns, my instance  ARGV me → {OK, the instance of the new head or ''}
 */
static const struct state_script leave = { .text = LUA_PURGE LUA_LEAVE
	"return leave(ARGV[1])" };

static const struct str none = { NULL, 0 };

enum rc
turn_alive(struct state *s, struct str instance, int64_t ttl_ms)
{
	char text[STATE_KEY_MAX], num[STATE_NUM_MAX];
	struct str key;
	enum rc rc;

	rc = state_key(text, KEY_INSTANCE, &instance, 1, &key);
	if (rc != RC_OK)
		return rc;
	if (ttl_ms <= 0)
		return RC_INVALID;
	return state_cmd(s,
	    STATE_ARGS(
		STR("SET"), key, STR("1"), STR("PX"), state_num(ttl_ms, num)),
	    NULL);
}

static void
turn_call(struct call *c, const struct state_script *script,
    const struct turn_place *p)
{
	call_begin(c, script);
	call_key(c, KEY_TURNS, p->key.user_id, p->key.session_id);
	call_key(c, KEY_INSTANCE, p->instance, none);
	call_tokens(c, p->instance, ':', p->turn_id);
}

static enum rc
run_ahead(struct state *s, struct call *c, int64_t *ahead)
{
	struct state_reply *r;
	enum rc rc = call_run(s, c, 2, &r);

	*ahead = rc == RC_OK ? state_reply_int(state_reply_at(r, 1)) : -1;
	state_reply_free(r);
	return rc;
}

enum rc
turn_enter(struct state *s, const struct turn_place *p, int64_t *ahead)
{
	struct call c;

	turn_call(&c, &enter, p);
	call_token(&c, p->turn_id);
	call_num(&c, TURN_ALIVE_MS);
	call_num(&c, TURN_QUEUE_MAX + 1); /* one more runs */
	return run_ahead(s, &c, ahead);
}

enum rc
turn_poll(struct state *s, const struct turn_place *p, int64_t *ahead)
{
	struct call c;

	turn_call(&c, &poll_, p);
	call_num(&c, TURN_ALIVE_MS);
	return run_ahead(s, &c, ahead);
}

enum rc
turn_hold(struct state *s, const struct turn_place *p)
{
	struct call c;

	turn_call(&c, &hold, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_leave(struct state *s, const struct turn_place *p, struct arena *a,
    struct str *next)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*next = none;
	turn_call(&c, &leave, p);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*next = reading_id(&rd, state_reply_at(r, 1));
		rc = reading_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
