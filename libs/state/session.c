/*
 * session: conversations: what is remembered of them, and their messages.
 */
#include "state/session.h"

#include "core/mem.h"
#include "state/record.h"
#include "state/session_append.h"
#include "state/session_lua.h"

#define NUMBER_MAX INT64_C(9007199254740991)
/* Messages that a script takes out of a list at once. */
#define CHUNK "32"

/* KEYS session → {OK, known, {fields}} */
static const struct state_script read_ = { LUA_RECORD
	"local known=record(KEYS[1],'" SESSION_FORMAT "')\n"
	"return {" LUA_OK ",known and 1 or 0,redis.call('HMGET',KEYS[1],\n"
	" 'soul','term','sum','sumn','active','job','late')}" };

/*
 * KEYS session, messages, turns  ARGV turn or '', the most messages, late,
 * JSON, …, characters  → {OK, number of the first}
 */
static const struct state_script append = { LUA_RECORD LUA_APPEND LUA_LATE
	"if ARGV[1]~='' and redis.call('LINDEX',KEYS[3],0)~=ARGV[1] then\n"
	" return {" LUA_CONFLICT "}\n"
	"end\n"
	"local first=append(KEYS[1],KEYS[2],ARGV[2],4)\n"
	"late(KEYS[1],ARGV[3])\n"
	"return {" LUA_OK ",first}" };

/*
 * KEYS session, messages  ARGV after, the most messages, the most bytes
 * → {OK, number of the first, {JSON, …}}
 */
static const struct state_script messages = { LUA_RECORD
	"local r,k=redis.call,KEYS[2]\n"
	"record(KEYS[1],'" SESSION_FORMAT "')\n"
	"local after,max,room=tonumber(ARGV[1]),tonumber(ARGV[2]),"
	"tonumber(ARGV[3])\n"
	"local last=tonumber(r('HGET',KEYS[1],'last') or '') or 0\n"
	"local first=last-r('LLEN',k)+1\n"
	"local from,to=math.max(first,after+1),last\n"
	"if after<0 then from=math.max(first,last-max+1)\n"
	"else to=math.min(last,from+max-1) end\n"
	"local out={}\n"
	"local function take(m)\n"
	" room=room-#m\n"
	" if room<0 and #out>0 then return false end\n"
	" out[#out+1]=m\n"
	" return true\n"
	"end\n"
	"if after>=0 then\n"
	" for a=from,to," CHUNK " do\n"
	"  local z=math.min(to,a+" CHUNK "-1)\n"
	"  for _,m in ipairs(r('LRANGE',k,a-first,z-first)) do\n"
	"   if not take(m) then return {" LUA_OK ",from,out} end\n"
	"  end\n"
	" end\n"
	" return {" LUA_OK ",from,out}\n"
	"end\n"
	"local function newest()\n"
	" for z=to,from,-" CHUNK " do\n"
	"  local a=math.max(from,z-" CHUNK "+1)\n"
	"  local l=r('LRANGE',k,a-first,z-first)\n"
	"  for i=#l,1,-1 do if not take(l[i]) then return end end\n"
	" end\n"
	"end\n"
	"newest()\n"
	"local n,turned=#out,{}\n"
	"for i=1,n do turned[i]=out[n+1-i] end\n"
	"return {" LUA_OK ",to-n+1,turned}" };

/* KEYS session  ARGV summary, number */
static const struct state_script put_summary = { LUA_RECORD
	"local k,n=KEYS[1],tonumber(ARGV[2])\n"
	"if not record(k,'" SESSION_FORMAT "') then return " LUA_NOENT " end\n"
	"local h=redis.call('HMGET',k,'sumn','last')\n"
	"local of,last=tonumber(h[1] or '') or 0,tonumber(h[2] or '') or 0\n"
	"if of>n or last<n then\n"
	" return " LUA_CONFLICT "\n"
	"end\n"
	"redis.call('HSET',k,'sum',ARGV[1],'sumn',ARGV[2])\n"
	"return " LUA_OK };

/* KEYS session, messages, turns, idle, events  ARGV user:session (tokens) */
static const struct state_script delete_ = { LUA_RECORD LUA_APART
	"if not record(KEYS[1],'" SESSION_FORMAT "') then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"redis.call('ZREM',KEYS[4],ARGV[1])\n"
	"redis.call('DEL',KEYS[1],KEYS[2],KEYS[3],KEYS[5])\n"
	"local u,s=apart(ARGV[1])\n"
	"redis.call('ZREM','" KEY_USER_SESSIONS_PRE
	"'..u..'" KEY_USER_SESSIONS_POST "',s)\n"
	"return " LUA_OK };

static const struct str none = { NULL, 0 };

static void
session_call(struct call *c, const struct state_script *script,
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
}

enum rc
session_read(struct state *s, const struct session_key *k, struct arena *a,
    struct session *out)
{
	struct reading rd = { .a = a };
	const struct state_reply *h;
	struct state_reply *r;
	struct call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	session_call(&c, &read_, k);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		h = state_reply_at(r, 2);
		out->known = state_reply_int(state_reply_at(r, 1)) != 0;
		out->soul_id = reading_text(&rd, state_reply_at(h, 0));
		out->terminal_id = reading_text(&rd, state_reply_at(h, 1));
		out->summary = reading_text(&rd, state_reply_at(h, 2));
		out->summarised = reading_num(&rd, state_reply_at(h, 3));
		out->active.ms = reading_num(&rd, state_reply_at(h, 4));
		out->job = reading_text(&rd, state_reply_at(h, 5));
		out->late = reading_text(&rd, state_reply_at(h, 6));
		rc = reading_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

enum rc
session_append_as(struct state *s, const struct session_key *k,
    const struct turn_place *turn, struct session_new new, int64_t *first)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;
	size_t i;

	if (first != NULL)
		*first = 0;
	if (new.n == 0 || new.n > SESSION_APPEND_MAX)
		return RC_INVALID;
	session_call(&c, &append, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	if (turn == NULL)
		call_text(&c, none, 0);
	else
		call_tokens(&c, turn->instance, ':', turn->turn_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_text(&c, LATE_ARG(new.late), SESSION_TEXT_MAX);
	for (i = 0; i < new.n; i++)
		call_text(&c, new.json[i], SESSION_TEXT_MAX);
	call_num(&c, new.chars);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && first != NULL)
		*first = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
session_append(struct state *s, const struct session_key *k,
    const struct str *json, size_t n, int64_t *first)
{
	return session_append_as(
	    s, k, NULL, (struct session_new){ .json = json, .n = n }, first);
}

static enum rc
read_messages(const struct state_reply *r, struct arena *a,
    struct session_list *out, struct str key)
{
	int64_t number = state_reply_int(state_reply_at(r, 1));
	const struct state_reply *l = state_reply_at(r, 2);
	struct reading rd = { .a = a };
	size_t i, n = state_reply_len(l);

	out->message = arena_alloc(a, n * sizeof(*out->message));
	if (out->message == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		out->message[i].number = number++;
		out->message[i].json = reading_text(&rd, state_reply_at(l, i));
	}
	out->n = rd.rc == RC_OK ? n : 0;
	return reading_end(&rd, key);
}

enum rc
session_messages(struct state *s, const struct session_key *k,
    struct session_page page, struct arena *a, struct session_list *out)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct session_list){ 0 };
	if (page.after > NUMBER_MAX)
		return RC_INVALID;
	if (page.max > SESSION_MESSAGES_MAX)
		page.max = SESSION_MESSAGES_MAX;
	if (page.bytes == 0 || page.bytes > SESSION_PAGE_BYTES)
		page.bytes = SESSION_PAGE_BYTES;
	session_call(&c, &messages, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_num(&c, page.after < 0 ? -1 : page.after);
	call_num(&c, (int64_t)page.max);
	call_num(&c, (int64_t)page.bytes);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = read_messages(r, a, out, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
session_put_summary(struct state *s, const struct session_key *k,
    struct str summary, int64_t number)
{
	struct call c;

	if (number < 0 || number > NUMBER_MAX)
		return RC_INVALID;
	session_call(&c, &put_summary, k);
	call_text(&c, summary, SESSION_TEXT_MAX);
	call_num(&c, number);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_delete(struct state *s, const struct session_key *k)
{
	struct call c;

	session_call(&c, &delete_, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_IDLE, none, none);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_tokens(&c, k->user_id, ':', k->session_id);
	return call_run(s, &c, 1, NULL);
}
