/*
 * What scripts that touch a terminal's binding share.
 */
#ifndef STATE_TERMINAL_LUA_H
#define STATE_TERMINAL_LUA_H

#include "state/record.h"

/*
 * unbind(k, me): Take the binding from the terminal whose key is k and whose
 * token is me; one of which nothing else is known is gone then.  Returns the
 * user who had bound it (a token), or false.
 * Computed: the terminals of the user and of the soul.
 */
#define LUA_UNBIND                                                          \
	"local function unbind(k,me)\n"                                     \
	" local h=redis.call('HMGET',k,'u','s')\n"                          \
	" if h[1] then\n"                                                   \
	"  redis.call('SREM','" KEY_BOUND_PRE "'..h[1]..'" KEY_BOUND_POST   \
	"',me)\n"                                                           \
	" end\n"                                                            \
	" if h[2] then\n"                                                   \
	"  redis.call('SREM','" KEY_BODIES_PRE "'..h[2]..'" KEY_BODIES_POST \
	"',me)\n"                                                           \
	" end\n"                                                            \
	" redis.call('HDEL',k,'u','s')\n"                                   \
	" if redis.call('HLEN',k)==1 then redis.call('DEL',k) end\n"        \
	" return h[1]\n"                                                    \
	"end\n"

#endif /* !STATE_TERMINAL_LUA_H */
