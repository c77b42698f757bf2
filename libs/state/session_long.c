/*
 * session_long: sessions that get long before they fall idle.
 *
 * Whoever deals with idle sessions deals with a long one too: it becomes due
 * now, and its silence begins anew when that is done (session_idle.c).
 *
 * How long it is stands in the session, kept up by each append; it is counted
 * here once where it does not: an older program appended, or a summary left
 * some messages over.
 */
#include "core/mem.h"
#include "state/record.h"
#include "state/session.h"

/* Asked again for the same messages after that long at the soonest, ms. */
#define AGAIN_MS "60000"

/*
 * KEYS session, messages, idle  ARGV messages, characters, user:session
 * (tokens)  → {OK, asked}
 */
static const struct state_script long_ = { LUA_NOW LUA_RECORD
	"local r,k,list=redis.call,KEYS[1],KEYS[2]\n"
	"if not record(k,'" SESSION_FORMAT "') then return {" LUA_OK ",0} end\n"
	"local h=r('HMGET',k,'sumn','last','early','chars')\n"
	"local sumn=tonumber(h[1] or '') or 0\n"
	"local last=tonumber(h[2] or '') or 0\n"
	"local n=math.min(last-sumn,r('LLEN',list))\n"
	"local function chars(json)\n"
	" local ok,m=pcall(cjson.decode,json)\n"
	" local s=ok and type(m)=='table' and m.content\n"
	" if type(s)~='string' then return 0 end\n"
	" local _,c=string.gsub(s,'[^\\128-\\191]','')\n"
	" return c\n"
	"end\n"
	"local function long()\n"
	" if n>=tonumber(ARGV[1]) then return true end\n"
	" local of,to,c=string.match(h[4] or '','^(%d+):(%d+):(%d+)$')\n"
	" if tonumber(of)~=sumn or tonumber(to)~=last then\n"
	"  c=0\n"
	"  for _,json in ipairs(n>0 and r('LRANGE',list,-n,-1) or {}) do\n"
	"   c=c+chars(json)\n"
	"  end\n"
	"  r('HSET',k,'chars',string.format('%.0f:%.0f:%.0f',sumn,last,c))\n"
	" end\n"
	" c=tonumber(c)\n"
	" return c>=tonumber(ARGV[2])\n"
	"end\n"
	"if not long() then return {" LUA_OK ",0} end\n"
	"local of,at=string.match(h[3] or '','^(%d+):(%d+)$')\n"
	"if tonumber(of or '')==sumn and now-tonumber(at)<" AGAIN_MS " then\n"
	" return {" LUA_OK ",0}\n"
	"end\n"
	"r('HSET',k,'early',string.format('%.0f:%.0f',sumn,now))\n"
	"r('ZADD',KEYS[3],'LT',now,ARGV[3])\n"
	"return {" LUA_OK ",1}" };

static const struct str none = { NULL, 0 };

enum rc
session_long(struct state *s, const struct session_key *k,
    const struct session_length *least, bool *asked)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	call_begin(&c, &long_);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_IDLE, none, none);
	call_num(&c, least->messages);
	call_num(&c, least->chars);
	call_tokens(&c, k->user_id, ':', k->session_id);
	rc = call_run(s, &c, 2, &r);
	*asked = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}
