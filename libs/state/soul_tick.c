/*
 * soul_tick: which souls tick when.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/record.h"
#include "state/soul_state.h"

/* Bodies that one claim lists, but for the last soul's. */
#define BODIES_MAX "4000"
#define TICKS_MAX  1000
/* A claim of souls without bodies only is followed by another. */
#define CLAIMS_MAX 8

/*
 * KEYS ticks, interval
 * ARGV interval, ttl, the most souls, then next and soul of each that is done
 * → {OK, souls that were due, {{soul, next, state, terminal, broker, …}, …}}
 * Computed: terminals and states of the souls, and each terminal.
 */
static const struct state_script claim = { LUA_NOW LUA_GRID
	"local r,ticks,iv=redis.call,KEYS[1],tonumber(ARGV[1])\n"
	"local ttl=tonumber(ARGV[2])\n"
	"if r('GET',KEYS[2])~=ARGV[1] then r('SET',KEYS[2],ARGV[1]) end\n"
	"if ARGV[4] then r('ZADD',ticks,'XX',unpack(ARGV,4)) end\n"
	"local function bodies(soul)\n"
	" local list={soul,grid(soul,iv,now),false}\n"
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
	"local due=r('ZRANGEBYSCORE',ticks,'-inf',now,'LIMIT',0,ARGV[3])\n"
	"local out,n,again={},0,{}\n"
	"local seen=0\n"
	"for _,soul in ipairs(due) do\n"
	" local list=bodies(soul)\n"
	" if #list==3 then r('ZREM',ticks,soul)\n"
	" else\n"
	"  local st=redis.pcall('GET','" KEY_SOUL_PRE
	"'..soul..'" KEY_SOUL_STATE_POST "')\n"
	"  if type(st)=='string' then list[3]=st end\n"
	"  again[#again+1]=now+math.floor(iv/2) again[#again+1]=soul\n"
	"  out[#out+1]=list\n"
	"  n=n+#list\n"
	" end\n"
	" seen=seen+1\n"
	" if n>2*" BODIES_MAX " then break end\n"
	"end\n"
	"if #again>0 then r('ZADD',ticks,unpack(again)) end\n"
	"return {" LUA_OK ",seen,out}" };

/* {soul, next, state, terminal, broker, …}; a soul or body that has no name is
 * left out. */
static enum rc
bodies_of(const struct state_reply *r, struct arena *a, struct soul_bodies *out)
{
	size_t i, max = state_reply_len(r) / 2;
	struct reading rd = { .a = a };
	struct soul_body *b;

	*out = (struct soul_bodies){ .soul_id =
					 reading_id(&rd, state_reply_at(r, 0)),
		.next = state_reply_int(state_reply_at(r, 1)),
		.body = arena_alloc(a, max * sizeof(*out->body)) };
	if (out->body == NULL)
		return RC_TOOBIG;
	for (i = 3; rd.rc != RC_TOOBIG && i + 1 < state_reply_len(r); i += 2) {
		b = &out->body[out->n];
		rd.rc = out->soul_id.p == NULL ? RC_INVALID : RC_OK;
		b->terminal_id = reading_id(&rd, state_reply_at(r, i));
		b->broker = reading_text(&rd, state_reply_at(r, i + 1));
		if (rd.rc == RC_OK)
			out->n++;
		else if (rd.rc == RC_INVALID)
			record_bad(state_reply_str(state_reply_at(r, 0)),
			    STR("a soul that ticks, or its body, is none"));
	}
	if (rd.rc == RC_TOOBIG)
		return RC_TOOBIG;
	out->state.soul_id = out->soul_id;
	return soul_state_of(state_reply_at(r, 2), &out->state, a);
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

/* Texts of what is done. */
struct done_args {
	char at[STATE_NUM_MAX], token[ID_TOKEN_MAX];
};

/* Arguments after the first few; *room is what they lie in, to be freed. */
static enum rc
done_args(const struct soul_bodies *list, size_t n, struct str *args,
    struct done_args **room)
{
	struct done_args *a = mem_alloc((n + 1) * sizeof(*a));
	enum rc rc = RC_OK;
	size_t i;

	*room = a;
	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = id_token(list[i].soul_id, a[i].token);
		args[2 * i] = state_num(list[i].next, a[i].at);
		args[2 * i + 1] = str_of(a[i].token);
	}
	return rc;
}

enum rc
soul_tick_done(struct state *s, const struct soul_bodies *list, size_t n)
{
	struct str *args = mem_calloc(3 + 2 * n, sizeof(*args));
	struct done_args *room = NULL;
	enum rc rc = n <= TICKS_MAX ? RC_OK : RC_INVALID;

	/* XX: a soul whose last body has gone meanwhile is not due. */
	args[0] = STR("ZADD");
	args[1] = STR(KEY_TICKS);
	args[2] = STR("XX");
	if (rc == RC_OK)
		rc = done_args(list, n, args + 3, &room);
	if (rc == RC_OK && n > 0)
		rc = state_cmd(s, args, 3 + 2 * n, NULL);
	free(room);
	free(args);
	return rc;
}

static enum rc
claim_once(struct state *s, const struct soul_tick *t, struct state_reply **r)
{
	const struct str keys[] = { STR_INIT(KEY_TICKS),
		STR_INIT(KEY_TICK_INTERVAL) };
	struct str *args = mem_calloc(3 + 2 * t->n_done, sizeof(*args));
	char num[3][STATE_NUM_MAX];
	struct done_args *room;
	enum rc rc;

	*r = NULL;
	args[0] = state_num(t->interval_ms, num[0]);
	args[1] = state_num(t->ttl_ms, num[1]);
	args[2] = state_num((int64_t)t->max, num[2]);
	rc = done_args(t->done, t->n_done, args + 3, &room);
	if (rc == RC_OK)
		rc = state_eval(s,
		    &(struct state_call){
			&claim, keys, NELEM(keys), args, 3 + 2 * t->n_done },
		    r);
	if (rc == RC_OK)
		rc = record_status(*r, 3);
	if (rc == RC_INVALID || rc == RC_BUG)
		record_bad(keys[0], state_reply_str(*r));
	free(room);
	free(args);
	return rc;
}

enum rc
soul_tick_claim(struct state *s, const struct soul_tick *t, struct arena *a,
    struct soul_bodies **list, size_t *n)
{
	struct soul_tick todo = *t;
	struct state_reply *r = NULL;
	int64_t due = 1;
	enum rc rc = RC_OK;
	int i;

	*list = NULL;
	*n = 0;
	if (t->interval_ms <= 0 || t->ttl_ms <= 0 || t->max == 0 ||
	    t->max > TICKS_MAX || t->n_done > TICKS_MAX)
		return RC_INVALID;
	for (i = 0; i < CLAIMS_MAX && rc == RC_OK && due > 0 && *n == 0; i++) {
		rc = claim_once(s, &todo, &r);
		todo.n_done = 0;
		due = state_reply_int(state_reply_at(r, 1));
		if (rc == RC_OK)
			rc = claimed(state_reply_at(r, 2), a, list, n);
		state_reply_free(r);
	}
	return rc;
}
