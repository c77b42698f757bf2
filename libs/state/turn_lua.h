/*
 * turn_lua: what several scripts do with a session's queue of turns.  Private.
 *
 * KEYS[1] is the queue, KEYS[2] the key of my process, KEYS[3] the session,
 * KEYS[4] its events, KEYS[5] my record.
 */
#ifndef STATE_TURN_LUA_H
#define STATE_TURN_LUA_H

#include "state/keys.h"

/*
 * tell(session, events, from, n): Tell ARGV[from], …; the seq of the last.
 * event(session, events, …): One event of the given fields.
 */
#define LUA_TELL                                                               \
	"local function event(k,log,seq,...)\n"                                \
	" redis.call('XADD',log,'MAXLEN','~'," EVENTS_KEPT ",'0-'..seq,...)\n" \
	" redis.call('PEXPIRE',log," EVENTS_MS ")\n"                           \
	"end\n"                                                                \
	"local function tell(k,log,from,n)\n"                                  \
	" if n==0 or redis.call('EXISTS',k)==0 then return 0 end\n"            \
	" local seq=redis.call('HINCRBY',k,'seq',n)\n"                         \
	" for i=1,n do event(k,log,seq-n+i,'e',ARGV[from+i-1]) end\n"          \
	" return seq\n"                                                        \
	"end\n"

/*
 * purge(): evict the turns of dead processes, and say so; what is left.
 * alive(ms): my process lives for that long at least.
 * Computed: the keys of the turns' processes and records.
 */
#define LUA_PURGE LUA_NOW LUA_TELL LUA_LOST LUA_LIVE
#define LUA_LOST                                                   \
	"local r,q=redis.call,KEYS[1]\n"                           \
	"local function lost(e)\n"                                 \
	" local turn=string.match(e,':(.+)$') or ''\n"             \
	" local k='" KEY_TURN_PRE "'..turn..'" KEY_TURN_POST "'\n" \
	" if r('EXISTS',k)==0 then return end\n"                   \
	" if r('HSETNX',k,'end','')==0 then return end\n"          \
	" if r('HGET',k,'begun') and r('EXISTS',KEYS[3])==1\n"     \
	" then\n"                                                  \
	"  event(KEYS[3],KEYS[4],r('HINCRBY',KEYS[3],'seq',1)\n"   \
	"   ,'lost',turn,'at',now)\n"                              \
	" end\n"                                                   \
	"end\n"
#define LUA_LIVE                                           \
	"local function dead(i)\n"                         \
	" return not i or r('EXISTS','" KEY_INSTANCE_PRE   \
	"'..i..'" KEY_INSTANCE_POST "')==0\n"              \
	"end\n"                                            \
	"local function purge()\n"                         \
	" local live={}\n"                                 \
	" for _,e in ipairs(r('LRANGE',q,0,-1)) do\n"      \
	"  if dead(string.match(e,'^([^:]+):')) then\n"    \
	"   r('LREM',q,1,e)\n"                             \
	"   lost(e)\n"                                     \
	"  else live[#live+1]=e end\n"                     \
	" end\n"                                           \
	" return live\n"                                   \
	"end\n"                                            \
	"local function alive(ms)\n"                       \
	" if not r('SET',KEYS[2],'1','NX','PX',ms) then\n" \
	"  r('PEXPIRE',KEYS[2],ms,'GT')\n"                 \
	" end\n"                                           \
	"end\n"

/*
 * leave(turn): {OK, the instance of the new head or ''}, or {NOENT}.
 * ended(reply, timeline, forget): keep my end, unless there is one.
 */
#define LUA_LEAVE                                                       \
	"local function leave(me)\n"                                    \
	" local head=r('LINDEX',q,0)\n"                                 \
	" if r('LREM',q,1,me)==0 then return {" LUA_NOENT "} end\n"     \
	" local now=purge()[1]\n"                                       \
	" if not now or now==head then return {" LUA_OK ",false} end\n" \
	" return {" LUA_OK ",string.match(now,'^([^:]+):')}\n"          \
	"end\n"                                                         \
	"local function ended(reply,tl,forget)\n"                       \
	" local k=KEYS[5]\n"                                            \
	" if reply=='' or r('EXISTS',k)==0 then return end\n"           \
	" if r('HSETNX',k,'end',reply)==0 then return end\n"            \
	" if tl~='' then r('HSET',k,'tl',tl) end\n"                     \
	" r('PEXPIRE',k," TURN_MS ")\n"                                 \
	" if forget=='1' then r('HSET',k,'void','1') end\n"             \
	"end\n"

#endif /* !STATE_TURN_LUA_H */
