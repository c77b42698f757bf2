/*
 * events: a stream per session whose ids are 0-<seq>.
 *
 * The count is the session's, so that a stream that has expired goes on where
 * it ended.
 */
#include "state/events.h"

#include "core/mem.h"
#include "state/record.h"

/* Entries that the script takes out of the stream at once. */
#define CHUNK "64"

/*
 * KEYS session, events  ARGV after, the most, the most bytes
 * → {OK, newest seq, more, {seq, JSON or nothing, turn or nothing, at, …}}
 */
static const struct state_script read_ = { LUA_RECORD
	"local r,log=redis.call,KEYS[2]\n"
	"record(KEYS[1],'" SESSION_FORMAT "')\n"
	"local newest=tonumber(r('HGET',KEYS[1],'seq') or '') or 0\n"
	"local after,max,room=ARGV[1],tonumber(ARGV[2]),tonumber(ARGV[3])\n"
	"local out,more,n={},0,0\n"
	"local function take(entry)\n"
	" local of={}\n"
	" for i=1,#entry[2],2 do of[entry[2][i]]=entry[2][i+1] end\n"
	" room=room-#(of.e or '')\n"
	" if n==max or room<0 and n>0 then more=1 return false end\n"
	" n=n+1\n"
	" after=string.match(entry[1],'-(%d+)$')\n"
	" for _,v in ipairs({tonumber(after),of.e or false,\n"
	"  of.lost or false,tonumber(of.at or '') or 0}) do\n"
	"  out[#out+1]=v\n"
	" end\n"
	" return true\n"
	"end\n"
	"local function read()\n"
	" repeat\n"
	"  local l=r('XRANGE',log,'(0-'..after,'+','COUNT'," CHUNK ")\n"
	"  for _,e in ipairs(l) do if not take(e) then return end end\n"
	" until #l<" CHUNK "\n"
	"end\n"
	"read()\n"
	"return {" LUA_OK ",newest,more,out}" };

/* KEYS session → {OK, seq} */
static const struct state_script newest = { LUA_RECORD
	"record(KEYS[1],'" SESSION_FORMAT "')\n"
	"return {" LUA_OK ",\n"
	" tonumber(redis.call('HGET',KEYS[1],'seq') or '') or 0}" };

/* Elements of a script's answer for one event. */
#define ITEM 4

static enum rc
read_items(const struct state_reply *l, struct arena *a,
    struct events_page *out, struct str key)
{
	size_t n = state_reply_len(l) / ITEM;
	struct reading rd = { .a = a };
	size_t i;

	out->item = arena_alloc(a, (n + 1) * sizeof(*out->item));
	if (out->item == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		out->item[i] = (struct events_item){
			.seq = reading_num(&rd, state_reply_at(l, ITEM * i)),
			.json =
			    reading_text(&rd, state_reply_at(l, ITEM * i + 1)),
			.lost_turn =
			    reading_id(&rd, state_reply_at(l, ITEM * i + 2)),
			.lost_at = { reading_num(
			    &rd, state_reply_at(l, ITEM * i + 3)) },
		};
	out->n = rd.rc == RC_OK ? n : 0;
	return reading_end(&rd, key);
}

enum rc
events_read(struct state *s, const struct session_key *k, int64_t after,
    struct arena *a, struct events_page *out)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct events_page){ 0 };
	if (after < 0)
		return RC_INVALID;
	call_begin(&c, &read_);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_num(&c, after);
	call_num(&c, EVENTS_PAGE_MAX);
	call_num(&c, EVENTS_PAGE_BYTES);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->newest = state_reply_int(state_reply_at(r, 1));
		out->more = state_reply_int(state_reply_at(r, 2)) != 0;
		rc = read_items(state_reply_at(r, 3), a, out, c.keys[1]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
events_newest(struct state *s, const struct session_key *k, int64_t *seq)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*seq = 0;
	call_begin(&c, &newest);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		*seq = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}
