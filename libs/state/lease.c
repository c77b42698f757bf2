/*
 * lease: one owner at a time, by Redis' clock.
 */
#include "state/lease.h"

#include "state/record.h"

#define OWNER_MAX 256

/* KEYS lease, epoch  ARGV me, ttl → {OK, my epoch or 0} */
static const struct state_script acquire = {
	"local h=redis.call('GET',KEYS[1])\n"
	"local e=redis.call('GET',KEYS[2])\n"
	"if h and h~=ARGV[1] then return {" LUA_OK ",0} end\n"
	"if not h or not e then e=redis.call('INCR',KEYS[2]) end\n"
	"redis.call('SET',KEYS[1],ARGV[1],'PX',ARGV[2])\n"
	"return {" LUA_OK ",tonumber(e)}"
};

/* KEYS lease  ARGV me */
static const struct state_script release = {
	"if redis.call('GET',KEYS[1])==ARGV[1] then\n"
	" redis.call('DEL',KEYS[1])\n"
	"end\n"
	"return " LUA_OK
};

enum rc
lease_acquire(struct state *s, struct str name, struct str me, int64_t ttl_ms,
    int64_t *epoch)
{
	const struct str none = { NULL, 0 };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*epoch = 0;
	if (ttl_ms <= 0 || me.n == 0)
		return RC_INVALID;
	call_begin(&c, &acquire);
	call_key(&c, KEY_LEASE, name, none);
	call_key(&c, KEY_LEASE_EPOCH, name, none);
	call_text(&c, me, OWNER_MAX);
	call_num(&c, ttl_ms);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		*epoch = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
lease_release(struct state *s, struct str name, struct str me)
{
	const struct str none = { NULL, 0 };
	struct call c;

	call_begin(&c, &release);
	call_key(&c, KEY_LEASE, name, none);
	call_text(&c, me, OWNER_MAX);
	return call_run(s, &c, 1, NULL);
}
