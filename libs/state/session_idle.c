/*
 * session_idle: when sessions fall idle, and who deals with it.
 *
 * A sorted set says when.  A claim moves the moment by the lease, so that
 * another claims again if nothing more is heard.  Which stretch of silence it
 * is stands in the session, where only a user's input changes it.
 */
#include "core/mem.h"
#include "state/record.h"
#include "state/session.h"
#include "state/session_lua.h"

#define CLAIM_MAX 1000

/* KEYS session, idle  ARGV soul, terminal, idle ms, user:session (tokens) */
static const struct state_script user_input = { LUA_NOW LUA_RECORD LUA_AWAKE
	"awake(KEYS[1],KEYS[2],now,ARGV[1],ARGV[2],ARGV[3],ARGV[4])\n"
	"return " LUA_OK };

/*
 * KEYS idle  ARGV lease, the most → {OK, {user:session, due, claims, …}}
 * Computed: the sessions.  What is no session of our format is no longer due.
 */
static const struct state_script claim = { LUA_NOW
	"local z,out=KEYS[1],{}\n"
	"local l=redis.call('ZRANGEBYSCORE',z,'-inf',now,'LIMIT',0,ARGV[2])\n"
	"for _,m in ipairs(l) do\n"
	" local h=redis.pcall('HMGET','" KEY_SESSION_PRE
	"'..m..'" KEY_SESSION_POST "','v','due')\n"
	" local due=not h.err and h[1]=='" SESSION_FORMAT "' and\n"
	"  tonumber(h[2] or '')\n"
	" if due then\n"
	"  redis.call('ZADD',z,now+tonumber(ARGV[1]),m)\n"
	"  local n=redis.pcall('HINCRBY','" KEY_SESSION_PRE
	"'..m..'" KEY_SESSION_POST "','claims',1)\n"
	"  out[#out+1]=m out[#out+1]=due\n"
	"  out[#out+1]=type(n)=='number' and n or 1\n"
	" else\n"
	"  redis.call('ZREM',z,m)\n"
	" end\n"
	"end\n"
	"return {" LUA_OK ",out}" };

/* KEYS session, idle  ARGV due, user:session (tokens) */
static const struct state_script done = { LUA_NOW
	"local due=tonumber(redis.call('HGET',KEYS[1],'due') or '')\n"
	"if due~=tonumber(ARGV[1]) then return " LUA_OK " end\n"
	"if due<=now then\n"
	" redis.call('ZREM',KEYS[2],ARGV[2])\n"
	"else\n"
	" redis.call('ZADD',KEYS[2],'XX',due,ARGV[2])\n"
	" redis.call('HSET',KEYS[1],'claims',0)\n"
	"end\n"
	"return " LUA_OK };

/* KEYS session, idle  ARGV due, user:session (tokens), ms */
static const struct state_script later = { LUA_NOW
	"local r,z,m=redis.call,KEYS[2],ARGV[2]\n"
	"if tonumber(r('HGET',KEYS[1],'due') or '')~=tonumber(ARGV[1]) or\n"
	" not r('ZSCORE',z,m) then\n"
	" return " LUA_CONFLICT "\n"
	"end\n"
	"r('ZADD',z,now+tonumber(ARGV[3]),m)\n"
	"return " LUA_OK };

static const struct str none = { NULL, 0 };

static void
idle_call(struct call *c, const struct state_script *script,
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
	call_key(c, KEY_IDLE, none, none);
}

enum rc
session_user_input(struct state *s, const struct session_key *k,
    struct str soul, struct str terminal, int64_t idle_ms)
{
	struct call c;

	if (!id_valid(soul) || !id_valid(terminal) || idle_ms < 0)
		return RC_INVALID;
	idle_call(&c, &user_input, k);
	call_text(&c, soul, ID_MAX);
	call_text(&c, terminal, ID_MAX);
	call_num(&c, idle_ms);
	call_tokens(&c, k->user_id, ':', k->session_id);
	return call_run(s, &c, 1, NULL);
}

static enum rc
id_of(struct str token, struct arena *a, struct str *out)
{
	char id[ID_MAX + 1];

	if (id_untoken(token, id) != RC_OK)
		return RC_INVALID;
	*out = arena_str(a, str_of(id));
	return out->p == NULL ? RC_TOOBIG : RC_OK;
}

/* {user:session, due, claims, …}; what names no session is left out. */
static enum rc
claimed(
    const struct state_reply *l, struct arena *a, struct session_idle_list *out)
{
	size_t i, n = state_reply_len(l) / 3;
	struct session_idle *idle;
	struct str member, user;
	enum rc rc;

	out->idle = arena_alloc(a, n * sizeof(*out->idle));
	if (out->idle == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		idle = &out->idle[out->n];
		member = state_reply_str(state_reply_at(l, 3 * i));
		idle->due.ms = state_reply_int(state_reply_at(l, 3 * i + 1));
		idle->claims = state_reply_int(state_reply_at(l, 3 * i + 2));
		user = str_split(&member, ':');
		rc = id_of(user, a, &idle->key.user_id);
		if (rc == RC_OK)
			rc = id_of(member, a, &idle->key.session_id);
		if (rc == RC_TOOBIG)
			return rc;
		if (rc == RC_OK)
			out->n++;
		else
			record_bad(user, STR("an idle session is none"));
	}
	return RC_OK;
}

enum rc
session_idle_claim(struct state *s, int64_t lease_ms, size_t max,
    struct arena *a, struct session_idle_list *out)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct session_idle_list){ 0 };
	if (lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &claim);
	call_key(&c, KEY_IDLE, none, none);
	call_num(&c, lease_ms);
	call_num(&c, max < CLAIM_MAX ? (int64_t)max : CLAIM_MAX);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		rc = claimed(state_reply_at(r, 1), a, out);
	if (rc != RC_OK)
		*out = (struct session_idle_list){ 0 };
	state_reply_free(r);
	return rc;
}

enum rc
session_idle_later(struct state *s, const struct session_idle *idle, int64_t ms)
{
	struct call c;

	if (ms <= 0)
		return RC_INVALID;
	idle_call(&c, &later, &idle->key);
	call_num(&c, idle->due.ms);
	call_tokens(&c, idle->key.user_id, ':', idle->key.session_id);
	call_num(&c, ms);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_idle_done(struct state *s, const struct session_idle *idle)
{
	struct call c;

	idle_call(&c, &done, &idle->key);
	call_num(&c, idle->due.ms);
	call_tokens(&c, idle->key.user_id, ':', idle->key.session_id);
	return call_run(s, &c, 1, NULL);
}
