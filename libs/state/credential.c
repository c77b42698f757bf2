/*
 * credential: the identities of bodies, and the lists they are found in.
 */
#include "state/credential.h"

#include "core/mem.h"
#include "state/record.h"
#include "state/terminal_lua.h"

#define TIME_MAX INT64_C(9007199254740991)

/*
 * leave(k, me): As unbind().  A terminal's record that is not readable must
 * not keep its identity alive.
 */
#define LUA_LEAVE                                                     \
	LUA_UNBIND                                                    \
	"local function leave(k,me)\n"                                \
	" if redis.pcall('HGET',k,'v')~='" TERMINAL_FORMAT "' then\n" \
	"  return false\n"                                            \
	" end\n"                                                      \
	" local ok,user=pcall(unbind,k,me)\n"                         \
	" return ok and user\n"                                       \
	"end\n"

/*
 * KEYS credential, all, version, terminal, those of the tenant if there is one
 * ARGV terminal, tenant, user (tokens; empty: none), hash (empty: none),
 * created → {OK, the user it was taken from, or nil}
 * Computed: those of the tenant that had it before.
 * A binding stays only of a terminal that gets its first identity, and only of
 * the user it is meant for: whoever is minted anew has a new owner.
 */
static const struct state_script mint = { LUA_RECORD LUA_LEAVE
	"local r,k,me=redis.call,KEYS[1],ARGV[1]\n"
	"local was=record(k,'" CREDENTIAL_FORMAT "')\n"
	"local h=r('HMGET',k,'gone','ten')\n"
	"if was and h[1]~='1' then return " LUA_CONFLICT " end\n"
	"r('ZCARD',KEYS[2])\n"
	"if KEYS[5] then r('ZCARD',KEYS[5]) end\n"
	"r('INCR',KEYS[3])\n"
	"if h[2] then\n"
	" r('ZREM','" KEY_TENANT_TERMINALS_PRE
	"'..h[2]..'" KEY_TENANT_TERMINALS_POST "',me)\n"
	"end\n"
	"r('DEL',k)\n"
	"r('HSET',k,'v','" CREDENTIAL_FORMAT "','created',ARGV[5],\n"
	" 'changed',ARGV[5])\n"
	"for i,f in ipairs({'ten','u','h'}) do\n"
	" if ARGV[i+1]~='' then r('HSET',k,f,ARGV[i+1]) end\n"
	"end\n"
	"r('ZADD',KEYS[2],0,me)\n"
	"if KEYS[5] then r('ZADD',KEYS[5],0,me) end\n"
	"local by=redis.pcall('HGET',KEYS[4],'u')\n"
	"redis.pcall('HDEL',KEYS[4],'gone')\n"
	"local from=false\n"
	"if was or (ARGV[3]~='' and by~=ARGV[3]) then\n"
	" from=leave(KEYS[4],me)\n"
	"end\n"
	"return {" LUA_OK ",from}" };

/* KEYS credential, version  ARGV hash (empty: none) */
static const struct state_script rotate = { LUA_NOW LUA_RECORD
	"local r,k=redis.call,KEYS[1]\n"
	"if not record(k,'" CREDENTIAL_FORMAT "') or\n"
	" r('HGET',k,'gone')=='1' then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"r('INCR',KEYS[2])\n"
	"r('HSET',k,'changed',now)\n"
	"if ARGV[1]=='' then r('HDEL',k,'h')\n"
	"else r('HSET',k,'h',ARGV[1]) end\n"
	"return " LUA_OK };

/*
 * KEYS credential, version, terminal  ARGV terminal (token)
 * → {OK, the user it was taken from, or nil}
 */
static const struct state_script revoke = { LUA_NOW LUA_RECORD LUA_LEAVE
	"local r,k=redis.call,KEYS[1]\n"
	"if not record(k,'" CREDENTIAL_FORMAT "') or\n"
	" r('HGET',k,'gone')=='1' then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"r('INCR',KEYS[2])\n"
	"r('HSET',k,'gone','1','changed',now)\n"
	"r('HDEL',k,'h')\n"
	"local from=leave(KEYS[3],ARGV[1])\n"
	"local f=redis.pcall('HGET',KEYS[3],'v')\n"
	"if not f or f=='" TERMINAL_FORMAT "' then\n"
	" r('HSET',KEYS[3],'v','" TERMINAL_FORMAT "','on','0','gone','1')\n"
	"end\n"
	"return {" LUA_OK ",from}" };

#define LUA_FIELDS "'ten','u','h','created','changed','gone'"

/* KEYS credential → {OK, {fields}} */
static const struct state_script read_ = { LUA_RECORD
	"if not record(KEYS[1],'" CREDENTIAL_FORMAT "') then\n"
	" return {" LUA_NOENT "}\n"
	"end\n"
	"return {" LUA_OK ",redis.call('HMGET',KEYS[1]," LUA_FIELDS ")}" };

/*
 * KEYS all, or those of a tenant  ARGV the token before (empty: none), limit
 * → {OK, last token or nil, {fields, token}, …}
 * Computed: the credentials.  What is not one of our format is left out.
 */
static const struct state_script list = {
	"local from,n='-',tonumber(ARGV[2])\n"
	"if ARGV[1]~='' then from='('..ARGV[1] end\n"
	"local all=redis.call('ZRANGEBYLEX',KEYS[1],from,'+','LIMIT',0,n+1)\n"
	"local out={" LUA_OK ",#all>n and all[n] or false}\n"
	"for i=1,math.min(#all,n) do\n"
	" local h=redis.pcall('HMGET','" KEY_CREDENTIAL_PRE
	"'..all[i]..'" KEY_CREDENTIAL_POST "',\n"
	"  " LUA_FIELDS ",'v')\n"
	" if not h.err and h[7]=='" CREDENTIAL_FORMAT "' then\n"
	"  h[7]=all[i] out[#out+1]=h\n"
	" end\n"
	"end\n"
	"return out"
};

static const struct str none = { NULL, 0 };

/* The token of an id that may be absent. */
static void
call_token_or_none(struct call *c, struct str id)
{
	if (id.p == NULL)
		call_text(c, none, 0);
	else
		call_token(c, id);
}

/* Run c; *from is the user whom that took the terminal from. */
static enum rc
run_leave(struct state *s, struct call *c, struct arena *a, struct str *from)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	enum rc rc;

	if (from != NULL)
		*from = none;
	rc = call_run(s, c, 2, &r);
	/* It is done, whether it can be told from whom or not. */
	if (rc == RC_OK && from != NULL)
		*from = reading_id(&rd, state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
credential_mint(struct state *s, const struct credential *cr, struct arena *a,
    struct str *from)
{
	struct call c;

	if (cr->created.ms < 0 || cr->created.ms > TIME_MAX ||
	    !id_terminal_valid(cr->terminal_id))
		return RC_INVALID;
	call_begin(&c, &mint);
	call_key(&c, KEY_CREDENTIAL, cr->terminal_id, none);
	call_key(&c, KEY_CREDENTIALS, none, none);
	call_key(&c, KEY_CREDENTIALS_VERSION, none, none);
	call_key(&c, KEY_TERMINAL, cr->terminal_id, none);
	if (cr->tenant.p != NULL)
		call_key(&c, KEY_TENANT_TERMINALS, cr->tenant, none);
	call_token(&c, cr->terminal_id);
	call_token_or_none(&c, cr->tenant);
	call_token_or_none(&c, cr->user_id);
	call_text(&c, cr->hash, CREDENTIAL_HASH_MAX);
	call_num(&c, cr->created.ms);
	return run_leave(s, &c, a, from);
}

enum rc
credential_rotate(struct state *s, struct str id, struct str hash)
{
	struct call c;

	call_begin(&c, &rotate);
	call_key(&c, KEY_CREDENTIAL, id, none);
	call_key(&c, KEY_CREDENTIALS_VERSION, none, none);
	call_text(&c, hash, CREDENTIAL_HASH_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
credential_revoke(
    struct state *s, struct str id, struct arena *a, struct str *from)
{
	struct call c;

	call_begin(&c, &revoke);
	call_key(&c, KEY_CREDENTIAL, id, none);
	call_key(&c, KEY_CREDENTIALS_VERSION, none, none);
	call_key(&c, KEY_TERMINAL, id, none);
	call_token(&c, id);
	return run_leave(s, &c, a, from);
}

static void
read_fields(
    const struct state_reply *h, struct reading *rd, struct credential *out)
{
	out->tenant = reading_id(rd, state_reply_at(h, 0));
	out->user_id = reading_id(rd, state_reply_at(h, 1));
	out->hash = reading_text(rd, state_reply_at(h, 2));
	out->created.ms = reading_num(rd, state_reply_at(h, 3));
	out->changed.ms = reading_num(rd, state_reply_at(h, 4));
	out->revoked = reading_num(rd, state_reply_at(h, 5)) != 0;
}

enum rc
credential_read(
    struct state *s, struct str id, struct arena *a, struct credential *out)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	call_begin(&c, &read_);
	call_key(&c, KEY_CREDENTIAL, id, none);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		read_fields(state_reply_at(r, 1), &rd, out);
		out->terminal_id = arena_str(a, id);
		if (rd.rc == RC_OK && out->terminal_id.p == NULL)
			rd.rc = RC_TOOBIG;
		rc = reading_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

static void
read_page(const struct state_reply *r, struct reading *rd,
    struct credential *out, struct str *next)
{
	const struct state_reply *h;
	size_t i;

	for (i = 2; rd->rc == RC_OK && i < state_reply_len(r); i++) {
		h = state_reply_at(r, i);
		out[i - 2].terminal_id = reading_id(rd, state_reply_at(h, 6));
		read_fields(h, rd, &out[i - 2]);
	}
	*next = reading_text(rd, state_reply_at(r, 1));
}

enum rc
credential_list(struct state *s, struct str tenant, struct str cursor,
    size_t limit, struct arena *a, struct credential **out, size_t *n,
    struct str *next)
{
	struct reading rd = { .a = a };
	char id[ID_MAX + 1];
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = NULL;
	*n = 0;
	*next = none;
	if (limit == 0 || limit > CREDENTIAL_PAGE_MAX ||
	    (cursor.p != NULL && id_untoken(cursor, id) != RC_OK))
		return RC_INVALID;
	call_begin(&c, &list);
	call_key(&c, tenant.p == NULL ? KEY_CREDENTIALS : KEY_TENANT_TERMINALS,
	    tenant, none);
	call_text(&c, cursor, ID_TOKEN_MAX);
	call_num(&c, (int64_t)limit);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*n = state_reply_len(r) - 2;
		*out = arena_alloc(a, (*n + 1) * sizeof(**out));
		if (*out == NULL)
			rd.rc = RC_TOOBIG;
		else
			read_page(r, &rd, *out, next);
		rc = reading_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK) {
		*n = 0;
		*next = none;
	}
	state_reply_free(r);
	return rc;
}

enum rc
credential_version(struct state *s, int64_t *version)
{
	struct reading rd = { 0 };
	char text[STATE_KEY_MAX];
	struct state_reply *r;
	struct str key;
	enum rc rc;

	*version = 0;
	rc = state_key(text, KEY_CREDENTIALS_VERSION, NULL, 0, &key);
	if (rc != RC_OK)
		return rc;
	rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	if (rc == RC_OK) {
		*version = reading_num(&rd, r);
		rc = reading_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}
