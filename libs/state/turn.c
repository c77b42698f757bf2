/*
 * turn: the queue of a session's turns, which is lock and fencing token too.
 *
 * An entry is <instance>:<turn>, and no entry comes back once it is gone, so
 * whoever sees itself as head is it, and nobody else was since.
 */
#include "state/turn.h"

#include "core/mem.h"
#include "state/events.h"
#include "state/record.h"
#include "state/turn_lua.h"

/* A queue without a turn that moves is forgotten; no turn lasts that long. */
#define QUEUE_MS "3600000"

/*
 * KEYS turns, my instance, session, events, record, retry  ARGV me, my turn,
 * user, session, my instance (tokens), trace, said or '', alive ms, the most
 * turns  → {OK, ahead, the turn that stored the input or nothing} or {CONFLICT,
 * the first turn or nothing}
 * Computed: the record of the turn that it repeats.
 */
static const struct state_script enter = { .text = LUA_PURGE
	"local again,rec=KEYS[6]..redis.sha1hex(ARGV[7]),KEYS[5]\n"
	"r('LLEN',q)\n"
	"if r('HEXISTS',KEYS[5],'end')==1 then\n"
	" return {" LUA_CONFLICT ",false}\n"
	"end\n"
	"alive(ARGV[8])\n"
	"local live=purge()\n"
	"for _,e in ipairs(live) do\n"
	" if string.match(e,':(.+)$')==ARGV[2] then\n"
	"  return {" LUA_CONFLICT ",false}\n"
	" end\n"
	"end\n"
	"local first=ARGV[7]~='' and r('GET',again)\n"
	"local input=false\n"
	"if first then\n"
	" local h=r('HMGET','" KEY_TURN_PRE "'..first..'" KEY_TURN_POST "',\n"
	"  'void','begun','input')\n"
	" if not h[1] then return {" LUA_CONFLICT ",first} end\n"
	" input=h[3] or (h[2] and first)\n"
	"end\n"
	"if #live>=tonumber(ARGV[9]) then return {" LUA_AGAIN "} end\n"
	"r('RPUSH',q,ARGV[1])\n"
	"r('PEXPIRE',q," QUEUE_MS ")\n"
	"r('HSET',rec,'v','" TURN_FORMAT "','u',ARGV[3],'s',ARGV[4],\n"
	" 'i',ARGV[5],'trace',ARGV[6],'at',now)\n"
	"r('PEXPIRE',rec," TURN_MS ")\n"
	"if input then r('HSET',rec,'input',input) end\n"
	"if ARGV[7]~='' then\n"
	" r('HSET',rec,'again',again)\n"
	" r('SET',again,ARGV[2],'PX'," RETRY_MS ")\n"
	"end\n"
	"return {" LUA_OK ",#live,input}" };

/*
 * KEYS turns, my instance, session, events, record  ARGV me, alive ms
 * → {OK, ahead}
 */
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

/*
 * KEYS turns, my instance, session, events, record  ARGV me
 * What only reads costs no flush: the mark is written once.
 */
static const struct state_script act = {
	"if redis.call('LINDEX',KEYS[1],0)~=ARGV[1] then return " LUA_CONFLICT
	" end\n"
	"local k=KEYS[5]\n"
	"if redis.call('EXISTS',k)==1 and redis.call('HEXISTS',k,'acting')==0\n"
	"then\n"
	" redis.call('HSET',k,'acting','1')\n"
	"end\n"
	"return " LUA_OK
};

/*
 * KEYS turns, my instance, session, events, record  ARGV me, my turn, user,
 * session, my instance (tokens), trace, the end, the end if it may have acted
 * → {OK, the end or '', acting}
 * The place is another process's, so it is found by the turn.
 */
static const struct state_script abandon = { LUA_PURGE
	"local rec=KEYS[5]\n"
	"local h=r('HMGET',rec,'end','acting','begun')\n"
	"local acting=h[2] and 1 or 0\n"
	"for _,e in ipairs(r('LRANGE',q,0,-1)) do\n"
	" if string.match(e,':(.+)$')==ARGV[2] then r('LREM',q,1,e) end\n"
	"end\n"
	"if h[1] then return {" LUA_OK ",h[1],acting} end\n"
	"if r('EXISTS',rec)==0 then\n"
	" r('HSET',rec,'v','" TURN_FORMAT "','u',ARGV[3],'s',ARGV[4],\n"
	"  'i',ARGV[5],'trace',ARGV[6],'at',now)\n"
	"end\n"
	"r('HSET',rec,'end',ARGV[7+acting])\n"
	"if acting==0 then r('HSET',rec,'void','1') end\n"
	"r('PEXPIRE',rec," TURN_MS ")\n"
	"if h[3] and r('EXISTS',KEYS[3])==1 then\n"
	" event(KEYS[3],KEYS[4],r('HINCRBY',KEYS[3],'seq',1)\n"
	"  ,'lost',ARGV[2],'at',now)\n"
	"end\n"
	"return {" LUA_OK ",false,acting}" };

/* KEYS turns, my instance  ARGV me */
static const struct state_script hold = {
	"if redis.call('LINDEX',KEYS[1],0)==ARGV[1] then return " LUA_OK
	" end\n"
	"return " LUA_CONFLICT
};

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
	const struct session_key *k = &p->key;

	call_begin(c, script);
	call_key(c, KEY_TURNS, k->user_id, k->session_id);
	call_key(c, KEY_INSTANCE, p->instance, none);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
	call_key(c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(c, KEY_TURN, p->turn_id, none);
	call_tokens(c, p->instance, ':', p->turn_id);
}

static enum rc
read_entered(const struct state_reply *r, enum rc rc, struct arena *a,
    struct turn_entered *out)
{
	const struct state_reply *v = state_reply_at(r, 1);
	const struct state_reply *input = state_reply_at(r, 2);
	struct reading rd = { .a = a };

	if (rc == RC_OK && state_reply_kind(input) != STATE_NIL)
		out->input = reading_id(&rd, input);
	if (rc == RC_OK)
		out->ahead = state_reply_int(v);
	else if (rc == RC_CONFLICT && state_reply_kind(v) != STATE_NIL)
		out->first = reading_id(&rd, v);
	return rd.rc != RC_OK ? rd.rc : rc;
}

enum rc
turn_enter(struct state *s, const struct turn_place *p,
    const struct turn_entry *e, struct arena *a, struct turn_entered *out)
{
	const struct session_key *k = &p->key;
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct turn_entered){ .ahead = -1 };
	turn_call(&c, &enter, p);
	call_key(&c, KEY_SESSION_RETRY, k->user_id, k->session_id);
	call_token(&c, p->turn_id);
	call_token(&c, k->user_id);
	call_token(&c, k->session_id);
	call_token(&c, p->instance);
	call_text(&c, e->trace_id, ID_MAX);
	call_text(&c, e->said, TURN_SAID_MAX);
	call_num(&c, TURN_ALIVE_MS);
	call_num(&c, TURN_QUEUE_MAX + 1); /* one more runs */
	rc = call_run(s, &c, 2, &r);
	rc = read_entered(r, rc, a, out);
	state_reply_free(r);
	return rc;
}

enum rc
turn_poll(struct state *s, const struct turn_place *p, int64_t *ahead)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	turn_call(&c, &poll_, p);
	call_num(&c, TURN_ALIVE_MS);
	rc = call_run(s, &c, 2, &r);
	*ahead = rc == RC_OK ? state_reply_int(state_reply_at(r, 1)) : -1;
	state_reply_free(r);
	return rc;
}

enum rc
turn_hold(struct state *s, const struct turn_place *p)
{
	struct call c;

	turn_call(&c, &hold, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_act(struct state *s, const struct turn_place *p)
{
	struct call c;

	turn_call(&c, &act, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_abandon(struct state *s, const struct turn_place *p,
    const struct turn_abandoning *e, struct arena *a,
    struct turn_abandoned *out)
{
	const struct session_key *k = &p->key;
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct turn_abandoned){ 0 };
	turn_call(&c, &abandon, p);
	call_token(&c, p->turn_id);
	call_token(&c, k->user_id);
	call_token(&c, k->session_id);
	call_token(&c, p->instance);
	call_text(&c, e->trace_id, ID_MAX);
	call_text(&c, e->reply, EVENTS_TEXT_MAX);
	call_text(&c, e->acted, EVENTS_TEXT_MAX);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		out->reply = reading_text(&rd, state_reply_at(r, 1));
		out->acting = state_reply_int(state_reply_at(r, 2)) != 0;
		rc = reading_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}
