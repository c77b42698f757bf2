/*
 * session_lua: what several scripts do with a session.  Private.
 *
 * They need LUA_RECORD (record.h) before them.
 */
#ifndef STATE_SESSION_LUA_H
#define STATE_SESSION_LUA_H

#include "state/keys.h"

/*
 * counted(session, n, chars): n messages of so many characters (0: not known)
 * were appended.  A count that was not kept up to then, by an older program or
 * because there is none, goes; whoever needs it counts once (session_long.c).
 */
#define LUA_COUNTED                                                        \
	"local function counted(k,n,chars)\n"                              \
	" local h=redis.call('HMGET',k,'chars','sumn','last')\n"           \
	" local sumn,to=tonumber(h[2] or '') or 0,tonumber(h[3])\n"        \
	" local of,at,c=string.match(h[1] or '','^(%d+):(%d+):(%d+)$')\n"  \
	" if to==n then of,at,c=0,0,0 end\n"                               \
	" if chars>0 and tonumber(of)==sumn and tonumber(at)==to-n then\n" \
	"  redis.call('HSET',k,'chars',\n"                                 \
	"   string.format('%.0f:%.0f:%.0f',sumn,to,c+chars))\n"            \
	" elseif h[1] then\n"                                              \
	"  redis.call('HDEL',k,'chars')\n"                                 \
	" end\n"                                                           \
	"end\n"

/*
 * append(session, messages, max, from): Append ARGV[from], … but the last one,
 * which is how many characters they have; the number of the first.  Over max,
 * or too many bytes, the oldest fall out; one stays.
 */
#define LUA_APPEND                                                            \
	LUA_COUNTED                                                           \
	"local function append(k,list,max,from)\n"                            \
	" local r,n=redis.call,#ARGV-from\n"                                  \
	" record(k,'" SESSION_FORMAT "')\n"                                   \
	" local had=r('LLEN',list)\n"                                         \
	" local over,bytes=had+n-tonumber(max),0\n"                           \
	" if had>0 then\n"                                                    \
	"  bytes=tonumber(r('HGET',k,'bytes') or '') or 0\n"                  \
	" end\n"                                                              \
	" for i=from,#ARGV-1 do bytes=bytes+#ARGV[i] end\n"                   \
	" local last=r('HINCRBY',k,'last',n)\n"                               \
	" r('RPUSH',list,unpack(ARGV,from,#ARGV-1))\n"                        \
	" while over>0 or bytes>" MESSAGES_BYTES " and r('LLEN',list)>1 do\n" \
	"  bytes=bytes-#r('LPOP',list)\n"                                     \
	"  over=over-1\n"                                                     \
	" end\n"                                                              \
	" r('HSET',k,'v','" SESSION_FORMAT "','bytes',math.max(bytes,0))\n"   \
	" counted(k,n,tonumber(ARGV[#ARGV]))\n"                               \
	" return last-n+1\n"                                                  \
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

/* apart(me): user:session as the two tokens. */
#define LUA_APART                                        \
	"local function apart(me)\n"                     \
	" return string.match(me,'^([^:]*):([^:]*)$')\n" \
	"end\n"

/*
 * crowd(idle, all, user): Of the sessions in all that are too many, delete two
 * that have been silent for long.
 */
#define LUA_CROWD                                                            \
	"local function crowd(idle,all,u)\n"                                 \
	" local r,n=redis.call,0\n"                                          \
	" local over=r('ZCARD',all)-" SESSIONS_KEPT "\n"                     \
	" if over<=0 then return end\n"                                      \
	" for _,s in ipairs(r('ZRANGE',all,0,15)) do\n"                      \
	"  local me=u..':'..s\n"                                             \
	"  local k='" KEY_SESSION_PRE "'..me\n"                              \
	"  local h=k..'" KEY_SESSION_POST "'\n"                              \
	"  local turns=k..'" KEY_TURNS_POST "'\n"                            \
	"  local quiet=not r('ZSCORE',idle,me) and r('EXISTS',turns)==0\n"   \
	"   and redis.pcall('HEXISTS',h,'job')==0\n"                         \
	"  if n<2 and (quiet or over>" SESSIONS_KEPT ") then\n"              \
	"   n=n+1\n"                                                         \
	"   r('DEL',h,turns,k..'" KEY_MESSAGES_POST "',k..'" KEY_EVENTS_POST \
	"')\n"                                                               \
	"   r('ZREM',idle,me)\n"                                             \
	"   r('ZREM',all,s)\n"                                               \
	"  end\n"                                                            \
	" end\n"                                                             \
	"end\n"

/*
 * awake(session, idle, now, soul, terminal, ms, user:session): A user's input.
 * Two stretches are never the same one, however many inputs come within a
 * millisecond.
 */
#define LUA_AWAKE                                                          \
	LUA_APART LUA_CROWD                                                \
	    "local function awake(k,idle,now,soul,term,ms,me)\n"           \
	    " record(k,'" SESSION_FORMAT "')\n"                            \
	    " local u,s=apart(me)\n"                                       \
	    " local all='" KEY_USER_SESSIONS_PRE                           \
	    "'..u..'" KEY_USER_SESSIONS_POST "'\n"                         \
	    " local due=now+tonumber(ms)\n"                                \
	    " local old=tonumber(redis.call('HGET',k,'due') or '') or 0\n" \
	    " if old>=due and old-due<1000 then due=old+1 end\n"           \
	    " redis.call('ZADD',idle,due,me)\n"                            \
	    " redis.call('ZADD',all,now,s)\n"                              \
	    " redis.call('HSET',k,'v','" SESSION_FORMAT "','soul',soul,\n" \
	    "  'term',term,'active',now,'due',due,'claims',0)\n"           \
	    " crowd(idle,all,u)\n"                                         \
	    "end\n"

#endif /* !STATE_SESSION_LUA_H */
