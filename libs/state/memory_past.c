/*
 * memory_past: memories whose place others have taken, kept with their time.
 */
#include "core/mem.h"
#include "state/memory_lua.h"

/*
 * KEYS memory, …
 * ARGV id, made (ms), until (ms), JSON, how long it stays forgotten (ms), the
 * most that do, the most that are kept, 1: it must be here
 */
static const struct state_script retire = {
	.text = LUA_NOW LUA_BUMP LUA_BURY LUA_GONE(
	    2) "r('ZCARD',KEYS[6])\n"
	       "local n=r('HDEL',KEYS[2],ARGV[1])\n"
	       "if n==0 and ARGV[8]=='1' then return " LUA_NOENT " end\n"
	       "r('ZREM',KEYS[3],ARGV[1])\n"
	       "r('HDEL',KEYS[5],ARGV[1])\n"
	       "r('ZADD',KEYS[6],ARGV[3],ARGV[1])\n"
	       "r('HSET',KEYS[7],ARGV[1],ARGV[4])\n"
	       "for i=1,r('ZCARD',KEYS[6])-tonumber(ARGV[7]) do\n"
	       " r('HDEL',KEYS[7],r('ZPOPMIN',KEYS[6])[1])\n"
	       "end\n"
	       "bury(ARGV[1],tonumber(ARGV[5]),tonumber(ARGV[6]))\n"
	       "bump()\n"
	       "return " LUA_OK
};

/* KEYS memory, … → {OK, {id, …}, {JSON, …}} */
static const struct state_script past = { LUA_RECORD
	"record(KEYS[1],'" MEMORY_FORMAT "')\n"
	"local ids=redis.call('ZRANGE',KEYS[6],0,-1)\n"
	"if #ids==0 then return {" LUA_OK ",{},{}} end\n"
	"return {" LUA_OK ",ids,redis.call('HMGET',KEYS[7],unpack(ids))}" };

/* KEYS memory, … → {OK, when (ms)} */
static const struct state_script cleared = { LUA_RECORD
	"record(KEYS[1],'" MEMORY_FORMAT "')\n"
	"return {" LUA_OK ",redis.call('HGET',KEYS[1],'cleared') or 0}" };

enum rc
memory_retire(struct state *s, const struct memory_scope *scope,
    const struct memory_old *old, bool here)
{
	struct call c;

	if (!id_valid(old->id) || old->made.ms < 0 || old->until.ms < 0)
		return RC_INVALID;
	memory_call(&c, &retire, scope);
	call_text(&c, old->id, ID_MAX);
	call_num(&c, old->made.ms);
	call_num(&c, old->until.ms);
	call_text(&c, old->json, MEMORY_JSON_MAX);
	call_num(&c, MEMORY_GONE_MS);
	call_num(&c, MEMORY_MAX);
	call_num(&c, MEMORY_PAST_MAX);
	call_num(&c, here);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_past(struct state *s, const struct memory_scope *scope, struct arena *a,
    struct memory_list *out)
{
	struct reading rd = { .a = a };
	const struct state_reply *ids, *json;
	struct state_reply *r;
	struct call c;
	enum rc rc;
	size_t i;

	*out = (struct memory_list){ 0 };
	memory_call(&c, &past, scope);
	rc = call_run(s, &c, 3, &r);
	if (rc != RC_OK)
		return rc;
	ids = state_reply_at(r, 1);
	json = state_reply_at(r, 2);
	out->item =
	    arena_alloc(a, (state_reply_len(ids) + 1) * sizeof(*out->item));
	for (i = 0; out->item != NULL && i < state_reply_len(ids); i++)
		out->item[out->n++] = (struct memory_item){
			.id = reading_text(&rd, state_reply_at(ids, i)),
			.json = reading_text(&rd, state_reply_at(json, i)),
		};
	rc = out->item == NULL ? RC_TOOBIG : reading_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
memory_cleared(
    struct state *s, const struct memory_scope *scope, struct wall *when)
{
	struct reading rd = { 0 };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	memory_call(&c, &cleared, scope);
	rc = call_run(s, &c, 2, &r);
	if (rc != RC_OK)
		return rc;
	when->ms = reading_num(&rd, state_reply_at(r, 1));
	rc = reading_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}
