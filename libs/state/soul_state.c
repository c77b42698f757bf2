/*
 * soul_state: emotional states, many at a time; which souls tick when.
 */
#include "state/soul_state.h"

#include "core/mem.h"
#include "state/record.h"

#define BLOB_FORMAT '1'
/* Bodies that one claim lists, but for the last soul's. */
#define BODIES_MAX "4000"
#define TICKS_MAX  1000
/* A claim of souls without bodies only is followed by another. */
#define CLAIMS_MAX 8

/* KEYS state  ARGV head that must be there, new string → 1 or 0 */
static const struct state_script cas = {
	"if redis.call('GETRANGE',KEYS[1],0,8)~=ARGV[1] then return 0 end\n"
	"redis.call('SET',KEYS[1],ARGV[2])\n"
	"return 1"
};

/*
 * KEYS ticks, interval  ARGV interval, ttl, the most souls
 * → {OK, souls that were due, {{soul, terminal, broker, …}, …}}
 * Computed: terminals of the souls, and each terminal.
 */
static const struct state_script claim = { LUA_NOW
	"local r,ticks,iv=redis.call,KEYS[1],tonumber(ARGV[1])\n"
	"local ttl=tonumber(ARGV[2])\n"
	"if r('GET',KEYS[2])~=ARGV[1] then r('SET',KEYS[2],ARGV[1]) end\n"
	"local function bodies(soul)\n"
	" local list={soul}\n"
	" local all=redis.pcall('SMEMBERS','" KEY_BODIES_PRE
	"'..soul..'" KEY_BODIES_POST "')\n"
	" if all.err then return list end\n"
	" for _,t in ipairs(all) do\n"
	"  local h=redis.pcall('HMGET','" KEY_TERMINAL_PRE
	"'..t..'" KEY_TERMINAL_POST "','on','seen','b','s','v')\n"
	"  if not h.err and h[1]=='1' and h[3] and h[4]==soul and\n"
	"   h[5]=='" TERMINAL_FORMAT "' and\n"
	"   now-(tonumber(h[2] or '') or 0)<ttl then\n"
	"   list[#list+1]=t list[#list+1]=h[3]\n"
	"  end\n"
	" end\n"
	" return list\n"
	"end\n"
	"local due=r('ZRANGEBYSCORE',ticks,'-inf',now,'WITHSCORES',\n"
	" 'LIMIT',0,ARGV[3])\n"
	"local out,n,seen={},0,0\n"
	"for i=1,#due,2 do\n"
	" local list=bodies(due[i])\n"
	" if #list==1 then r('ZREM',ticks,due[i])\n"
	" else\n"
	"  local d=tonumber(due[i+1])+iv\n"
	"  if d<=now then d=d+(math.floor((now-d)/iv)+1)*iv end\n"
	"  r('ZADD',ticks,d,due[i])\n"
	"  out[#out+1]=list\n"
	"  n=n+#list\n"
	" end\n"
	" seen=seen+1\n"
	" if n>2*" BODIES_MAX " then break end\n"
	"end\n"
	"return {" LUA_OK ",seen,out}" };

static const struct str none = { NULL, 0 };

struct str
soul_blob(char dst[SOUL_BLOB_MAX], int64_t version, struct str bytes)
{
	uint64_t v = (uint64_t)version;
	int i;

	dst[0] = BLOB_FORMAT;
	for (i = 8; i > 0; i--, v >>= 8)
		dst[i] = (char)(v & 0xff);
	if (bytes.n > 0)
		memcpy(dst + SOUL_BLOB_HEAD, bytes.p, bytes.n);
	return (struct str){ dst, SOUL_BLOB_HEAD + bytes.n };
}

/* The version in a string that is kept of a state, 0 if it is none. */
static int64_t
blob_version(struct str blob)
{
	uint64_t v = 0;
	size_t i;

	if (blob.n < SOUL_BLOB_HEAD || blob.n > SOUL_BLOB_MAX ||
	    blob.p[0] != BLOB_FORMAT)
		return 0;
	for (i = 1; i < SOUL_BLOB_HEAD; i++)
		v = v << 8 | (unsigned char)blob.p[i];
	return v > INT64_MAX ? 0 : (int64_t)v;
}

static enum rc
state_of(const struct state_reply *r, struct soul_state *st, struct arena *a)
{
	struct str blob = state_reply_str(r);

	st->version = blob_version(blob);
	if (st->version == 0) {
		if (state_reply_kind(r) != STATE_NIL)
			record_bad(st->soul_id, STR("not a soul's state"));
		return RC_OK;
	}
	st->bytes = arena_str(a,
	    (struct str){ blob.p + SOUL_BLOB_HEAD, blob.n - SOUL_BLOB_HEAD });
	return st->bytes.p == NULL ? RC_TOOBIG : RC_OK;
}

/* One round trip of soul_state_get(). */
static enum rc
get_some(struct state_pipe *p, struct soul_state *st, size_t n, struct arena *a)
{
	const struct state_reply *r;
	char text[STATE_KEY_MAX];
	enum rc rc = RC_OK;
	struct str key;
	size_t i;

	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = state_key(text, KEY_SOUL_STATE, &st[i].soul_id, 1, &key);
		if (rc == RC_OK)
			rc = state_pipe_cmd(p, STATE_ARGS(STR("GET"), key));
	}
	if (rc == RC_OK)
		rc = state_pipe_run(p);
	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = state_pipe_reply(p, i, &r);
		if (rc == RC_OK || rc == RC_INVALID)
			rc = state_of(r, &st[i], a);
	}
	return rc;
}

enum rc
soul_state_get(
    struct state *s, struct soul_state *st, size_t n, struct arena *a)
{
	struct state_pipe *p =
	    state_pipe_new(s, n < STATE_PIPE_MAX ? n : STATE_PIPE_MAX);
	enum rc rc = RC_OK;
	size_t i, part;

	for (i = 0; i < n; i++) {
		st[i].version = 0;
		st[i].bytes = none;
	}
	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		rc = get_some(p, st + i, part, a);
	}
	state_pipe_free(p);
	return rc;
}

static enum rc
queue_cas(struct state_pipe *p, const struct soul_state *st)
{
	char old[SOUL_BLOB_MAX], new[SOUL_BLOB_MAX];
	struct call c;

	if (st->version <= 0 || st->version == INT64_MAX)
		return RC_INVALID;
	if (st->bytes.n > SOUL_STATE_MAX)
		return RC_TOOBIG;
	call_begin(&c, &cas);
	call_key(&c, KEY_SOUL_STATE, st->soul_id, none);
	call_text(&c, soul_blob(old, st->version, none), SOUL_BLOB_HEAD);
	call_text(
	    &c, soul_blob(new, st->version + 1, st->bytes), SOUL_BLOB_MAX);
	return call_queue(p, &c);
}

/* One round trip of soul_state_cas(). */
static enum rc
cas_some(struct state_pipe *p, const struct soul_state *st, size_t n, bool *won)
{
	const struct state_reply *r;
	enum rc rc = RC_OK, one;
	size_t i;

	for (i = 0; rc == RC_OK && i < n; i++)
		rc = queue_cas(p, &st[i]);
	if (rc != RC_OK)
		return rc;
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		one = state_pipe_reply(p, i, &r);
		won[i] = one == RC_OK && state_reply_int(r) == 1;
		if (one == RC_INVALID)
			record_bad(st[i].soul_id, state_reply_str(r));
		else if (rc == RC_OK)
			rc = one;
	}
	return rc;
}

enum rc
soul_state_cas(
    struct state *s, const struct soul_state *st, size_t n, bool *won)
{
	struct state_pipe *p =
	    state_pipe_new(s, n < STATE_PIPE_MAX ? n : STATE_PIPE_MAX);
	enum rc rc = RC_OK;
	size_t i, part;

	if (n > 0)
		memset(won, 0, n * sizeof(*won));
	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		rc = cas_some(p, st + i, part, won + i);
	}
	state_pipe_free(p);
	return rc;
}

/* {soul, terminal, broker, …}; a soul or body that has no name is left out. */
static enum rc
bodies_of(const struct state_reply *r, struct arena *a, struct soul_bodies *out)
{
	size_t i, max = state_reply_len(r) / 2;
	struct reading rd = { .a = a };
	struct soul_body *b;

	out->n = 0;
	out->soul_id = reading_id(&rd, state_reply_at(r, 0));
	out->body = arena_alloc(a, max * sizeof(*out->body));
	if (out->body == NULL)
		return RC_TOOBIG;
	for (i = 0; rd.rc != RC_TOOBIG && i < max; i++) {
		b = &out->body[out->n];
		rd.rc = out->soul_id.p == NULL ? RC_INVALID : RC_OK;
		b->terminal_id = reading_id(&rd, state_reply_at(r, 1 + 2 * i));
		b->broker = reading_text(&rd, state_reply_at(r, 2 + 2 * i));
		if (rd.rc == RC_OK)
			out->n++;
		else if (rd.rc == RC_INVALID)
			record_bad(state_reply_str(state_reply_at(r, 0)),
			    STR("a soul that ticks, or its body, is none"));
	}
	return rd.rc == RC_TOOBIG ? RC_TOOBIG : RC_OK;
}

static enum rc
claimed(const struct state_reply *r, struct arena *a, struct soul_bodies **list,
    size_t *n)
{
	size_t i, max = state_reply_len(r);
	enum rc rc = RC_OK;

	*list = arena_alloc(a, max * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < max; i++) {
		rc = bodies_of(state_reply_at(r, i), a, &(*list)[*n]);
		if ((*list)[*n].n > 0)
			(*n)++;
	}
	if (rc != RC_OK)
		*n = 0;
	return rc;
}

enum rc
soul_tick_claim(struct state *s, const struct soul_tick *t, struct arena *a,
    struct soul_bodies **list, size_t *n)
{
	struct state_reply *r;
	struct call c;
	int64_t due = 1;
	enum rc rc = RC_OK;
	int i;

	*list = NULL;
	*n = 0;
	if (t->interval_ms <= 0 || t->ttl_ms <= 0 || t->max == 0 ||
	    t->max > TICKS_MAX)
		return RC_INVALID;
	call_begin(&c, &claim);
	call_key(&c, KEY_TICKS, none, none);
	call_key(&c, KEY_TICK_INTERVAL, none, none);
	call_num(&c, t->interval_ms);
	call_num(&c, t->ttl_ms);
	call_num(&c, (int64_t)t->max);
	for (i = 0; i < CLAIMS_MAX && rc == RC_OK && due > 0 && *n == 0; i++) {
		rc = call_run(s, &c, 3, &r);
		due = state_reply_int(state_reply_at(r, 1));
		if (rc == RC_OK)
			rc = claimed(state_reply_at(r, 2), a, list, n);
		state_reply_free(r);
	}
	return rc;
}
