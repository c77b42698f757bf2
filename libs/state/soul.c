/*
 * soul: profiles, and who has which.
 */
#include "state/soul.h"

#include "core/mem.h"
#include "state/soul_state.h"
#include "state/terminal_lua.h"

#define TIME_MAX INT64_C(9007199254740991)

/*
 * KEYS soul, its state, the user's souls, their names
 * ARGV user, soul (tokens), name, mbti, model, created, state, the most souls
 */
static const struct state_script create = {
	"local r=redis.call\n"
	"if r('EXISTS',KEYS[1],KEYS[2])>0 then return " LUA_CONFLICT " end\n"
	"if r('HEXISTS',KEYS[4],ARGV[3])==1 then return " LUA_CONFLICT " end\n"
	"if r('ZCARD',KEYS[3])>=tonumber(ARGV[8]) then\n"
	" return " LUA_AGAIN "\n"
	"end\n"
	"r('HSET',KEYS[1],'v','" SOUL_FORMAT "','u',ARGV[1],'name',ARGV[3],\n"
	" 'mbti',ARGV[4],'model',ARGV[5],'created',ARGV[6])\n"
	"r('SET',KEYS[2],ARGV[7])\n"
	"r('ZADD',KEYS[3],ARGV[6],ARGV[2])\n"
	"r('HSET',KEYS[4],ARGV[3],ARGV[2])\n"
	"return " LUA_OK
};

#define LUA_FIELDS "'u','name','mbti','model','created'"

/* KEYS soul → {OK, {fields}} */
static const struct state_script read_ = { LUA_RECORD
	"if not record(KEYS[1],'" SOUL_FORMAT "') then\n"
	" return {" LUA_NOENT "}\n"
	"end\n"
	"return {" LUA_OK ",redis.call('HMGET',KEYS[1]," LUA_FIELDS ")}" };

/*
 * KEYS the user's souls → {OK, {{fields, token}, …}}
 * Computed: the souls.  What is not one of our format is left out.
 */
static const struct state_script list = {
	"local out={}\n"
	"for _,t in ipairs(redis.call('ZRANGE',KEYS[1],0,-1)) do\n"
	" local h=redis.pcall('HMGET','" KEY_SOUL_PRE "'..t..'" KEY_SOUL_POST
	"',\n"
	"  " LUA_FIELDS ",'v')\n"
	" if not h.err and h[6]=='" SOUL_FORMAT "' then\n"
	"  h[6]=t out[#out+1]=h\n"
	" end\n"
	"end\n"
	"return {" LUA_OK ",out}"
};

/*
 * KEYS soul, its state, its terminals, the user's souls, their names, ticks,
 * its log  ARGV user, soul (tokens) → {OK, {tokens of those unbound}}
 * Computed: the terminals.
 */
static const struct state_script delete_ = { LUA_RECORD LUA_UNBIND
	"local r,soul=redis.call,ARGV[2]\n"
	"if not record(KEYS[1],'" SOUL_FORMAT "') then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"local h=r('HMGET',KEYS[1],'u','name')\n"
	"if h[1]~=ARGV[1] then return " LUA_DENIED " end\n"
	"local bound,out=r('SMEMBERS',KEYS[3]),{}\n"
	"r('ZREM',KEYS[6],soul)\n"
	"r('ZREM',KEYS[4],soul)\n"
	"if h[2] and r('HGET',KEYS[5],h[2])==soul then\n"
	" r('HDEL',KEYS[5],h[2])\n"
	"end\n"
	"for _,t in ipairs(bound) do\n"
	" local k='" KEY_TERMINAL_PRE "'..t..'" KEY_TERMINAL_POST "'\n"
	" if redis.pcall('HGET',k,'s')==soul then\n"
	"  unbind(k,t)\n"
	"  out[#out+1]=t\n"
	" end\n"
	"end\n"
	"r('DEL',KEYS[1],KEYS[2],KEYS[3],KEYS[7])\n"
	"return {" LUA_OK ",out}" };

static const struct str none = { NULL, 0 };

enum rc
soul_create(struct state *s, const struct soul *soul, struct str state)
{
	char blob[SOUL_BLOB_MAX];
	struct call c;

	if (soul->created.ms < 0 || soul->created.ms > TIME_MAX)
		return RC_INVALID;
	if (state.n > SOUL_STATE_MAX)
		return RC_TOOBIG;
	call_begin(&c, &create);
	call_key(&c, KEY_SOUL, soul->id, none);
	call_key(&c, KEY_SOUL_STATE, soul->id, none);
	call_key(&c, KEY_USER_SOULS, soul->user_id, none);
	call_key(&c, KEY_USER_SOUL_NAMES, soul->user_id, none);
	call_token(&c, soul->user_id);
	call_token(&c, soul->id);
	call_text(&c, soul->name, SOUL_TEXT_MAX);
	call_text(&c, soul->mbti_type, SOUL_TEXT_MAX);
	call_text(&c, soul->model, SOUL_TEXT_MAX);
	call_num(&c, soul->created.ms);
	call_text(&c, soul_blob(blob, 1, state), SOUL_BLOB_MAX);
	call_num(&c, SOUL_LIST_MAX);
	return call_run(s, &c, 1, NULL);
}

static void
read_fields(const struct state_reply *h, struct reading *rd, struct soul *out)
{
	out->user_id = reading_id(rd, state_reply_at(h, 0));
	out->name = reading_text(rd, state_reply_at(h, 1));
	out->mbti_type = reading_text(rd, state_reply_at(h, 2));
	out->model = reading_text(rd, state_reply_at(h, 3));
	out->created.ms = reading_num(rd, state_reply_at(h, 4));
	/* Who owns it decides what is allowed; a soul of nobody is not one. */
	if (rd->rc == RC_OK && out->user_id.p == NULL)
		rd->rc = RC_INVALID;
}

enum rc
soul_read(struct state *s, struct str id, struct arena *a, struct soul *out)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	call_begin(&c, &read_);
	call_key(&c, KEY_SOUL, id, none);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		read_fields(state_reply_at(r, 1), &rd, out);
		out->id = arena_str(a, id);
		if (rd.rc == RC_OK && out->id.p == NULL)
			rd.rc = RC_TOOBIG;
		rc = reading_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

/* It is done: as many of them as a takes can be told. */
static void
read_unbound(const struct state_reply *tokens, struct soul_unbound *out)
{
	struct reading rd = { .a = out->a };
	size_t i;

	out->total = state_reply_len(tokens);
	out->ids = arena_alloc(out->a, (out->total + 1) * sizeof(*out->ids));
	for (i = 0; out->ids != NULL && i < out->total; i++) {
		out->ids[i] = reading_id(&rd, state_reply_at(tokens, i));
		if (rd.rc != RC_OK)
			break;
		out->n++;
	}
}

enum rc
soul_delete(
    struct state *s, struct str user, struct str id, struct soul_unbound *out)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	call_begin(&c, &delete_);
	call_key(&c, KEY_SOUL, id, none);
	call_key(&c, KEY_SOUL_STATE, id, none);
	call_key(&c, KEY_BODIES, id, none);
	call_key(&c, KEY_USER_SOULS, user, none);
	call_key(&c, KEY_USER_SOUL_NAMES, user, none);
	call_key(&c, KEY_TICKS, none, none);
	call_key(&c, KEY_SOUL_LOG, id, none);
	call_token(&c, user);
	call_token(&c, id);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && out != NULL)
		read_unbound(state_reply_at(r, 1), out);
	state_reply_free(r);
	return rc;
}

enum rc
soul_list(struct state *s, struct str user, struct arena *a, struct soul **out,
    size_t *n)
{
	struct reading rd = { .a = a };
	const struct state_reply *all, *h;
	struct state_reply *r;
	struct call c;
	enum rc rc;
	size_t i;

	*out = NULL;
	*n = 0;
	call_begin(&c, &list);
	call_key(&c, KEY_USER_SOULS, user, none);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		all = state_reply_at(r, 1);
		*out = arena_alloc(a, state_reply_len(all) * sizeof(**out));
		rd.rc = *out == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(all); i++) {
			h = state_reply_at(all, i);
			(*out)[i].id = reading_id(&rd, state_reply_at(h, 5));
			read_fields(h, &rd, &(*out)[i]);
		}
		rc = reading_end(&rd, c.keys[0]);
		*n = rc == RC_OK ? i : 0;
	}
	state_reply_free(r);
	return rc;
}
