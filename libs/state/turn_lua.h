/*
 * turn_lua: what several scripts do with a session's queue of turns.  Private.
 *
 * KEYS[1] is the queue, KEYS[2] the key of my process.
 */
#ifndef STATE_TURN_LUA_H
#define STATE_TURN_LUA_H

#include "state/keys.h"

/*
 * purge(): evict the turns of dead processes; what is left.
 * alive(ms): my process lives for that long at least.
 * Computed: the keys of the turns' processes.
 */
#define LUA_PURGE                                                              \
	"local r,q=redis.call,KEYS[1]\n"                                       \
	"local function purge()\n"                                             \
	" local live={}\n"                                                     \
	" for _,e in ipairs(r('LRANGE',q,0,-1)) do\n"                          \
	"  local i=string.match(e,'^([^:]+):')\n"                              \
	"  if i and r('EXISTS','" KEY_INSTANCE_PRE "'..i..'" KEY_INSTANCE_POST \
	"')==1 then live[#live+1]=e\n"                                         \
	"  else r('LREM',q,1,e) end\n"                                         \
	" end\n"                                                               \
	" return live\n"                                                       \
	"end\n"                                                                \
	"local function alive(ms)\n"                                           \
	" if not r('SET',KEYS[2],'1','NX','PX',ms) then\n"                     \
	"  r('PEXPIRE',KEYS[2],ms,'GT')\n"                                     \
	" end\n"                                                               \
	"end\n"

/* leave(turn): {OK, the instance of the new head or ''}, or {NOENT}. */
#define LUA_LEAVE                                                       \
	"local function leave(me)\n"                                    \
	" local head=r('LINDEX',q,0)\n"                                 \
	" if r('LREM',q,1,me)==0 then return {" LUA_NOENT "} end\n"     \
	" local now=purge()[1]\n"                                       \
	" if not now or now==head then return {" LUA_OK ",false} end\n" \
	" return {" LUA_OK ",string.match(now,'^([^:]+):')}\n"          \
	"end\n"

#endif /* !STATE_TURN_LUA_H */
