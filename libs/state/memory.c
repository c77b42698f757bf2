/*
 * memory: what a soul remembers of a user, in Redis.
 *
 * All of it is read in pages; the version, which every change makes a new one,
 * tells whether the pages belong together.
 */
#include "state/memory.h"

#include "core/mem.h"
#include "state/memory_lua.h"
#include "state/record.h"

#define PAGE_ITEMS 500
#define PAGE_IDS   5000
#define PAGE_BYTES "2097152"
/* Times that reading begins again because something changed. */
#define TRIES_MAX 4

/*
 * KEYS memory, items, order, gone, vectors
 * ARGV id, JSON, the most items, made (ms), vector
 */
static const struct state_script put = { .text = LUA_BUMP
	"if r('HEXISTS',KEYS[2],ARGV[1])==1 then return " LUA_OK
	" end\n" LUA_GONE(
	    4) "local n=r('ZCARD',KEYS[3])+1-tonumber(ARGV[3])\n"
	       "r('ZADD',KEYS[3],r('HINCRBY',k,'seq',1),ARGV[1])\n"
	       "r('HSET',KEYS[2],ARGV[1],ARGV[2])\n"
	       "if ARGV[5]~='' then r('HSET',KEYS[5],ARGV[1],ARGV[5]) end\n"
	       "for i=1,n do\n"
	       " local old=r('ZPOPMIN',KEYS[3])[1]\n"
	       " r('HDEL',KEYS[2],old)\n"
	       " r('HDEL',KEYS[5],old)\n"
	       "end\n"
	       "bump()\n"
	       "return " LUA_OK };

/* KEYS memory, items, order, gone, vectors  ARGV id, vector, … */
static const struct state_script vectors = { .text = LUA_BUMP
	"for i=1,#ARGV,2 do\n"
	" if r('HEXISTS',KEYS[2],ARGV[i])==1 then\n"
	"  r('HSET',KEYS[5],ARGV[i],ARGV[i+1])\n"
	" end\n"
	"end\n"
	"bump()\n"
	"return " LUA_OK };

/*
 * KEYS memory, items, order, gone  ARGV id, how long it stays forgotten (ms; 0:
 * not at all), the most that stay
 */
static const struct state_script del = { .text = LUA_NOW LUA_BUMP LUA_BURY
	"local ttl=tonumber(ARGV[2])\n"
	"r('ZCARD',KEYS[3])\n"
	"r('ZCARD',KEYS[4])\n"
	"if r('HDEL',KEYS[2],ARGV[1])+r('ZREM',KEYS[6],ARGV[1])==0 then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"r('ZREM',KEYS[3],ARGV[1])\n"
	"r('HDEL',KEYS[5],ARGV[1])\n"
	"r('HDEL',KEYS[7],ARGV[1])\n"
	"if ttl>0 then bury(ARGV[1],ttl,tonumber(ARGV[3])) end\n"
	"bump()\n"
	"return " LUA_OK };

/* KEYS memory, …  ARGV as del */
static const struct state_script tomb = { .text = LUA_NOW LUA_BUMP LUA_BURY
	"bury(ARGV[1],tonumber(ARGV[2]),tonumber(ARGV[3]))\n"
	"return " LUA_OK };

/* KEYS memory, items, order, gone  ARGV id, made (ms) */
static const struct state_script gone = { .text = LUA_BUMP LUA_GONE(
					      2) "return " LUA_OK };

/* KEYS memory, … → {OK, how many; of the past none counts} */
static const struct state_script clear = { .text = LUA_NOW LUA_BUMP
	"local n=r('HLEN',KEYS[2])\n"
	"r('DEL',KEYS[2],KEYS[3],KEYS[4],KEYS[5],KEYS[6],KEYS[7])\n"
	"if n>0 then bump() end\n"
	"r('HSET',k,'v','" MEMORY_FORMAT "','cleared',now)\n"
	"return {" LUA_OK ",n}" };

/*
 * KEYS memory, items, order, gone, vectors
 * ARGV from which on, version that is known, how many, 0: ids only
 * → {OK, version, how many in all, {id, …}, {JSON, …}, {vector, …}}; none of
 * them from 0 on if it is the version that is known.
 */
static const struct state_script page = { LUA_RECORD
	"local r=redis.call\n"
	"record(KEYS[1],'" MEMORY_FORMAT "')\n"
	"local ver=r('HGET',KEYS[1],'ver') or '0'\n"
	"local from,room=tonumber(ARGV[1])," PAGE_BYTES "\n"
	"local total,ids,json,vec=r('ZCARD',KEYS[3]),{},{},{}\n"
	"local out={" LUA_OK ",ver,total,ids,json,vec}\n"
	"if from==0 and ver==ARGV[2] then return out end\n"
	"local to=from+tonumber(ARGV[3])-1\n"
	"for _,id in ipairs(r('ZRANGE',KEYS[3],from,to)) do\n"
	" if ARGV[4]=='1' then\n"
	"  local j=r('HGET',KEYS[2],id) or ''\n"
	"  local x=r('HGET',KEYS[5],id) or ''\n"
	"  room=room-#j-#x\n"
	"  if room<0 and #ids>0 then break end\n"
	"  json[#json+1]=j vec[#vec+1]=x\n"
	" end\n"
	" ids[#ids+1]=id\n"
	"end\n"
	"return out" };

/* KEYS memory, items, order, gone, vectors  ARGV id, … → {OK, {JSON, …}, …} */
static const struct state_script get = { LUA_RECORD
	"record(KEYS[1],'" MEMORY_FORMAT "')\n"
	"return {" LUA_OK ",redis.call('HMGET',KEYS[2],unpack(ARGV)),"
	"redis.call('HMGET',KEYS[5],unpack(ARGV))}" };

void
memory_call(struct call *c, const struct state_script *script,
    const struct memory_scope *scope)
{
	static const char *const pattern[] = { KEY_MEMORY, KEY_MEMORY_ITEMS,
		KEY_MEMORY_ORDER, KEY_MEMORY_GONE, KEY_MEMORY_VECS,
		KEY_MEMORY_PAST, KEY_MEMORY_PAST_ITEMS };
	size_t i;

	call_begin(c, script);
	for (i = 0; i < NELEM(pattern); i++)
		call_key(c, pattern[i], scope->user_id, scope->soul_id);
}

enum rc
memory_put(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, struct wall made)
{
	struct call c;

	if (!id_valid(item->id) || made.ms < 0)
		return RC_INVALID;
	memory_call(&c, &put, scope);
	call_text(&c, item->id, ID_MAX);
	call_text(&c, item->json, MEMORY_JSON_MAX);
	call_num(&c, MEMORY_MAX);
	call_num(&c, made.ms);
	call_text(&c, item->vector, MEMORY_VECTOR_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_vectors(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, size_t n)
{
	struct call c;
	size_t i;

	if (n == 0 || n > MEMORY_VECTORS_MAX)
		return n == 0 ? RC_OK : RC_INVALID;
	memory_call(&c, &vectors, scope);
	for (i = 0; i < n; i++) {
		call_text(&c, item[i].id, ID_MAX);
		call_text(&c, item[i].vector, MEMORY_VECTOR_MAX);
	}
	return call_run(s, &c, 1, NULL);
}

static enum rc
forget(struct state *s, const struct state_script *script,
    const struct memory_scope *scope, struct str id, int64_t gone_ms)
{
	struct call c;

	if (!id_valid(id))
		return RC_INVALID;
	memory_call(&c, script, scope);
	call_text(&c, id, ID_MAX);
	call_num(&c, gone_ms);
	call_num(&c, MEMORY_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_forget(struct state *s, const struct memory_scope *scope, struct str id)
{
	return forget(s, &del, scope, id, MEMORY_GONE_MS);
}

enum rc
memory_bury(struct state *s, const struct memory_scope *scope, struct str id)
{
	return forget(s, &tomb, scope, id, MEMORY_GONE_MS);
}

enum rc
memory_gone(struct state *s, const struct memory_scope *scope, struct str id,
    struct wall made)
{
	struct call c;

	if (!id_valid(id) || made.ms < 0)
		return RC_INVALID;
	memory_call(&c, &gone, scope);
	call_text(&c, id, ID_MAX);
	call_num(&c, made.ms);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_del(struct state *s, const struct memory_scope *scope, struct str id)
{
	return forget(s, &del, scope, id, 0);
}

enum rc
memory_clear(struct state *s, const struct memory_scope *scope, size_t *n)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	memory_call(&c, &clear, scope);
	rc = call_run(s, &c, 2, &r);
	if (n != NULL)
		*n = rc == RC_OK ? (size_t)state_reply_int(state_reply_at(r, 1))
				 : 0;
	state_reply_free(r);
	return rc;
}

/* Reading all of it: where it stands. */
struct whole {
	struct memory_list *out;
	struct arena *a;
	int64_t known; /* version of which nothing is wanted */
	bool ids;      /* nothing else is wanted */
	size_t total, got;
	bool again; /* it changed: from the beginning */
};

static enum rc
add_page(struct whole *w, const struct state_reply *r)
{
	const struct state_reply *ids = state_reply_at(r, 3);
	const struct state_reply *json = state_reply_at(r, 4);
	const struct state_reply *vec = state_reply_at(r, 5);
	struct reading rd = { .a = w->a };
	int64_t version = reading_num(&rd, state_reply_at(r, 1));
	struct memory_item *item;
	size_t i;

	if (w->got == 0) {
		w->out->version = version;
		if (version == w->known)
			return rd.rc;
		w->total = (size_t)state_reply_int(state_reply_at(r, 2));
		if (w->total > STATE_REPLY_MAX)
			return RC_TOOBIG;
		w->out->item = arena_alloc(w->a, w->total * sizeof(*item));
		if (w->out->item == NULL)
			return RC_TOOBIG;
	}
	w->again = version != w->out->version ||
	    (state_reply_len(ids) == 0 && w->got < w->total);
	for (i = 0; i < state_reply_len(ids) && w->got < w->total; i++) {
		item = &w->out->item[w->got++];
		item->id = reading_text(&rd, state_reply_at(ids, i));
		if (w->ids)
			continue;
		item->json = reading_text(&rd, state_reply_at(json, i));
		item->vector = reading_text(&rd, state_reply_at(vec, i));
	}
	return rd.rc;
}

/* Read from the beginning; done unless w->again. */
static enum rc
read_all(struct state *s, const struct memory_scope *scope, struct whole *w)
{
	struct state_reply *r;
	enum rc rc = RC_OK;
	struct call c;

	w->got = 0;
	w->total = 0;
	w->again = false;
	do {
		memory_call(&c, &page, scope);
		call_num(&c, (int64_t)w->got);
		call_num(&c, w->known);
		call_num(&c, w->ids ? PAGE_IDS : PAGE_ITEMS);
		call_num(&c, !w->ids);
		rc = call_run(s, &c, 6, &r);
		if (rc == RC_OK)
			rc = add_page(w, r);
		if (rc == RC_INVALID)
			record_bad(c.keys[0], STR("not memories"));
		state_reply_free(r);
	} while (rc == RC_OK && !w->again && w->got < w->total);
	return rc;
}

static enum rc
read_whole(struct state *s, const struct memory_scope *scope, struct whole *w)
{
	struct memory_list *out = w->out;
	enum rc rc = RC_OK;
	int i;

	*out = (struct memory_list){ 0 };
	w->again = true;
	for (i = 0; i < TRIES_MAX && rc == RC_OK && w->again; i++)
		rc = read_all(s, scope, w);
	if (rc == RC_OK && w->again)
		rc = RC_RETRY;
	if (rc != RC_OK) {
		*out = (struct memory_list){ 0 };
	} else {
		out->changed = out->version != w->known;
		out->n = w->got;
	}
	return rc;
}

enum rc
memory_all(struct state *s, const struct memory_scope *scope, int64_t known,
    struct arena *a, struct memory_list *out)
{
	struct whole w = { .out = out, .a = a, .known = known };

	return read_whole(s, scope, &w);
}

enum rc
memory_ids(struct state *s, const struct memory_scope *scope, int64_t known,
    struct arena *a, struct memory_list *out)
{
	struct whole w = { .out = out, .a = a, .known = known, .ids = true };

	return read_whole(s, scope, &w);
}

enum rc
memory_get(struct state *s, const struct memory_scope *scope,
    struct memory_item *item, size_t n, struct arena *a)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	size_t i;
	enum rc rc;

	if (n == 0 || n > MEMORY_GET_MAX)
		return n == 0 ? RC_OK : RC_INVALID;
	memory_call(&c, &get, scope);
	for (i = 0; i < n; i++)
		call_text(&c, item[i].id, ID_MAX);
	rc = call_run(s, &c, 3, &r);
	for (i = 0; i < n && rc == RC_OK; i++) {
		item[i].json =
		    reading_text(&rd, state_reply_at(state_reply_at(r, 1), i));
		item[i].vector =
		    reading_text(&rd, state_reply_at(state_reply_at(r, 2), i));
	}
	if (rc == RC_OK)
		rc = reading_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}
