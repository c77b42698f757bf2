/*
 * session_lua: what several scripts do with a session.  Private.
 *
 * They need LUA_RECORD (record.h) before them.
 */
#ifndef STATE_SESSION_LUA_H
#define STATE_SESSION_LUA_H

#include "state/keys.h"

/*
 * append(session, messages, max, from): Append ARGV[from], …; the number of the
 * first.
 */
#define LUA_APPEND                                 \
	"local function append(k,list,max,from)\n" \
	" local r,n=redis.call,#ARGV-from+1\n"     \
	" record(k,'" SESSION_FORMAT "')\n"        \
	" r('LLEN',list)\n"                        \
	" local last=r('HINCRBY',k,'last',n)\n"    \
	" r('HSET',k,'v','" SESSION_FORMAT "')\n"  \
	" r('RPUSH',list,unpack(ARGV,from))\n"     \
	" r('LTRIM',list,-tonumber(max),-1)\n"     \
	" return last-n+1\n"                       \
	"end\n"

/* late(session, text): Keep it; '-': as it was, '': forget it. */
#define LUA_LATE                               \
	"local function late(k,text)\n"        \
	" if text=='' then\n"                  \
	"  redis.call('HDEL',k,'late')\n"      \
	" elseif text~='-' then\n"             \
	"  redis.call('HSET',k,'late',text)\n" \
	" end\n"                               \
	"end\n"
/* Its argument: absent is as it was. */
#define LATE_ARG(s) ((s).p == NULL ? STR("-") : (s))

/*
 * awake(session, idle, now, soul, terminal, ms, user:session): A user's input.
 * Two stretches are never the same one, however many inputs come within a
 * millisecond.
 */
#define LUA_AWAKE                                                      \
	"local function awake(k,idle,now,soul,term,ms,me)\n"           \
	" record(k,'" SESSION_FORMAT "')\n"                            \
	" local due=now+tonumber(ms)\n"                                \
	" local old=tonumber(redis.call('HGET',k,'due') or '') or 0\n" \
	" if old>=due and old-due<1000 then due=old+1 end\n"           \
	" redis.call('ZADD',idle,due,me)\n"                            \
	" redis.call('HSET',k,'v','" SESSION_FORMAT "','soul',soul,\n" \
	"  'term',term,'active',now,'due',due,'claims',0)\n"           \
	"end\n"

#endif /* !STATE_SESSION_LUA_H */
