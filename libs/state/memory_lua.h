/*
 * memory_lua: what several scripts do with memories.  Private.
 *
 * KEYS are those of memory_call(): memory, items, order, gone, vectors, past,
 * past items.
 */
#ifndef STATE_MEMORY_LUA_H
#define STATE_MEMORY_LUA_H

#include "state/keys.h"
#include "state/memory.h"
#include "state/record.h"

#define MEMORY_GONE_MS (MEMORY_GONE_DAYS * INT64_C(86400000))

/*
 * bump(): Make the version a new one, also one that was never seen before Redis
 * lost its data: it counts, but not slower than microseconds do.
 */
#define LUA_BUMP                                                          \
	LUA_RECORD                                                        \
	"local r,k=redis.call,KEYS[1]\n"                                  \
	"local known=record(k,'" MEMORY_FORMAT "')\n"                     \
	"local function bump()\n"                                         \
	" local t=r('TIME')\n"                                            \
	" local old=tonumber(r('HGET',k,'ver') or '') or 0\n"             \
	" local us=tonumber(t[1])*1000000+tonumber(t[2])\n"               \
	" r('HSET',k,'v','" MEMORY_FORMAT "','ver',math.max(old+1,us))\n" \
	"end\n"

/* Ends the script if ARGV[1], made at ARGV[made], has been forgotten since. */
#define LUA_GONE(made)                                                \
	"local cleared=tonumber(r('HGET',k,'cleared') or '') or -1\n" \
	"if tonumber(ARGV[" #made "])<cleared or "                    \
	"r('ZSCORE',KEYS[4],ARGV[1]) then\n"                          \
	" return " LUA_CONFLICT "\n"                                  \
	"end\n"

/*
 * bury(id, ttl, max): It stays forgotten for ttl ms, with max others at most.
 */
#define LUA_BURY                                          \
	"local function bury(id,ttl,max)\n"               \
	" r('ZREMRANGEBYSCORE',KEYS[4],'-inf',now-ttl)\n" \
	" r('ZADD',KEYS[4],now,id)\n"                     \
	" r('ZREMRANGEBYRANK',KEYS[4],0,-1-max)\n"        \
	" r('PEXPIRE',KEYS[4],ttl)\n"                     \
	"end\n"

/* memory_call(c, script, scope): A call with these keys, without arguments. */
void memory_call(struct call *c, const struct state_script *script,
    const struct memory_scope *scope);

#endif /* !STATE_MEMORY_LUA_H */
