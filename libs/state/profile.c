/*
 * profile: leaves with their times, and marks of those that are gone.
 *
 * A mark stands for "here and below, nothing that is older".  A value stands
 * for that too, so what lies below a value or a mark is always younger, and one
 * look at the places above a path tells whether a change comes too late.
 */
#include "state/profile.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/record.h"

#define DAY_MS INT64_C(86400000)

_Static_assert(
    CALL_ARGS_MAX >= 2 * PROFILE_LEAVES_MAX + 6, "a change fits one call");

/*
 * at, val: the leaves and the marks, by path: when (ms) and what ("": a mark).
 * kids: the paths that lie below one, some of them no longer there, so that
 * nobody must look at all.  up(p): What p lies in; nil at the top.
 * set(p, ms, v): Make them so, with save() in Redis too.
 */
#define LUA_LEAVES                                               \
	LUA_NOW LUA_RECORD                                       \
	    "local r,k=redis.call,KEYS[1]\n"                     \
	    "record(k,'" PROFILE_FORMAT "')\n"                   \
	    "local at,val,kids,low,dirty={},{},{},0,{}\n"        \
	    "local function up(p)\n"                             \
	    " local q=string.match(p,'^(.+)/[^/]*$')\n"          \
	    " return q\n"                                        \
	    "end\n"                                              \
	    "local function set(p,ms,v)\n"                       \
	    " local q=not at[p] and up(p)\n"                     \
	    " while q do\n"                                      \
	    "  local l=kids[q]\n"                                \
	    "  if l then l[#l+1]=p else kids[q]={p} end\n"       \
	    "  q=up(q)\n"                                        \
	    " end\n"                                             \
	    " at[p]=ms val[p]=v dirty[p]=true\n"                 \
	    "end\n"                                              \
	    "local h=r('HGETALL',k)\n"                           \
	    "for i=1,#h,2 do\n"                                  \
	    " if h[i]=='low' then low=tonumber(h[i+1])\n"        \
	    " elseif h[i]~='v' then\n"                           \
	    "  local ms,v=string.match(h[i+1],'^(%d+) (.*)$')\n" \
	    "  if not ms then error({err='FORMAT '..k}) end\n"   \
	    "  set(h[i],tonumber(ms),v)\n"                       \
	    " end\n"                                             \
	    "end\n"                                              \
	    "dirty={}\n"

/*
 * kill(p, ms): What lies below p goes unless it is younger; whether it is.
 * save(ttl, max): Give up marks that are too old or too many, and write.
 */
#define LUA_SAVE                                                          \
	"local function kill(p,ms)\n"                                     \
	" local left=false\n"                                             \
	" for _,q in ipairs(kids[p] or {}) do\n"                          \
	"  if at[q] and at[q]>ms then left=true\n"                        \
	"  elseif at[q] then set(q,nil,nil) end\n"                        \
	" end\n"                                                          \
	" return left\n"                                                  \
	"end\n"                                                           \
	"local function save(ttl,max)\n"                                  \
	" if not next(dirty) then return end\n"                           \
	" local marks,live={},false\n"                                    \
	" for p,v in pairs(val) do\n"                                     \
	"  if v=='' then marks[#marks+1]=p else live=true end\n"          \
	" end\n"                                                          \
	" table.sort(marks,function(a,b)\n"                               \
	"  return at[a]>at[b] end)\n"                                     \
	" for i,p in ipairs(marks) do\n"                                  \
	"  if i>max or at[p]<now-ttl then\n"                              \
	"   low=math.max(low,at[p])\n"                                    \
	"   set(p,nil,nil)\n"                                             \
	"  end\n"                                                         \
	" end\n"                                                          \
	" for p in pairs(dirty) do\n"                                     \
	"  if not val[p] then r('HDEL',k,p)\n"                            \
	"  else r('HSET',k,p,string.format('%.0f ',at[p])..val[p]) end\n" \
	" end\n"                                                          \
	" r('HSET',k,'v','" PROFILE_FORMAT "')\n"                         \
	" r('HSET',k,'low',string.format('%.0f',low))\n"                  \
	" if live then r('PERSIST',k) else r('PEXPIRE',k,ttl) end\n"      \
	"end\n"

/*
 * KEYS profile  ARGV at, marks' life (ms), most marks, most leaves, most bytes,
 * path, value, …  → {OK, 1 if it fits}
 */
static const struct state_script put = { LUA_LEAVES LUA_SAVE
	"local ms=tonumber(ARGV[1])\n"
	"if ms==0 or ms>now then ms=now end\n"
	"if ms<low then return {" LUA_OK ",1} end\n"
	/* What is above p: whether it lets ms pass; values become marks. */
	"local function above(p)\n"
	" local list,q={},up(p)\n"
	" while q do\n"
	"  if at[q] and at[q]>ms then return false end\n"
	"  if at[q] and val[q]~='' then list[#list+1]=q end\n"
	"  q=up(q)\n"
	" end\n"
	" for _,u in ipairs(list) do set(u,at[u],'') end\n"
	" return true\n"
	"end\n"
	"for i=6,#ARGV,2 do\n"
	" local p,v=ARGV[i],ARGV[i+1]\n"
	" if above(p) and (at[p] or 0)<=ms then\n"
	/* What is younger below makes an object of p. */
	"  if kill(p,ms) then v='' end\n"
	"  set(p,ms,v)\n"
	" end\n"
	"end\n"
	"local n,bytes=0,0\n"
	"for p,v in pairs(val) do\n"
	" if v~='' then n=n+1 bytes=bytes+#p+#v end\n"
	"end\n"
	"if n>tonumber(ARGV[4]) or bytes>tonumber(ARGV[5]) then\n"
	" return {" LUA_OK ",0}\n"
	"end\n"
	"save(tonumber(ARGV[2]),tonumber(ARGV[3]))\n"
	"return {" LUA_OK ",1}" };

/* KEYS profile  ARGV path, marks' life (ms), most marks */
static const struct state_script wipe = { LUA_LEAVES LUA_SAVE
	"local p,ms=ARGV[1],now\n"
	"for _,q in ipairs(kids[p] or {}) do ms=math.max(ms,at[q]) end\n"
	"if at[p] then ms=math.max(ms,at[p]) end\n"
	"kill(p,ms)\n"
	"set(p,ms,'')\n"
	"save(tonumber(ARGV[2]),tonumber(ARGV[3]))\n"
	"return " LUA_OK };

/* KEYS profile → {OK, changed, path, value, …} */
static const struct state_script read_all = { LUA_LEAVES
	"local out={" LUA_OK ",0}\n"
	"for p,v in pairs(val) do\n"
	" out[2]=math.max(out[2],at[p])\n"
	" if v~='' then out[#out+1]=p out[#out+1]=v end\n"
	"end\n"
	"return out" };

static void
profile_call(
    struct call *c, const struct state_script *script, struct str user_id)
{
	call_begin(c, script);
	call_key(c, KEY_PROFILE, user_id, (struct str){ NULL, 0 });
}

enum rc
profile_leaves_put(struct state *s, struct str user_id,
    const struct profile_leaves *change, struct wall at)
{
	struct state_reply *r;
	struct call c;
	size_t i;
	enum rc rc;

	if (at.ms < 0)
		return RC_INVALID;
	if (change->n > PROFILE_LEAVES_MAX)
		return RC_TOOBIG;
	profile_call(&c, &put, user_id);
	call_num(&c, at.ms);
	call_num(&c, PROFILE_GONE_DAYS * DAY_MS);
	call_num(&c, PROFILE_GONE_MAX);
	call_num(&c, PROFILE_LEAVES_MAX);
	call_num(&c, PROFILE_BYTES_MAX);
	for (i = 0; i < change->n; i++) {
		if (change->leaf[i].path.n == 0 ||
		    change->leaf[i].path.p[0] != '/')
			return RC_INVALID;
		call_text(&c, change->leaf[i].path, PROFILE_PATH_MAX);
		call_text(&c, change->leaf[i].value, PROFILE_VALUE_MAX);
	}
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && state_reply_int(state_reply_at(r, 1)) == 0)
		rc = RC_TOOBIG;
	state_reply_free(r);
	return rc;
}

enum rc
profile_leaves_wipe(struct state *s, struct str user_id, struct str path)
{
	struct call c;

	if (path.n == 0 || path.p[0] != '/')
		return RC_INVALID;
	profile_call(&c, &wipe, user_id);
	call_text(&c, path, PROFILE_PATH_MAX);
	call_num(&c, PROFILE_GONE_DAYS * DAY_MS);
	call_num(&c, PROFILE_GONE_MAX);
	return call_run(s, &c, 1, NULL);
}

static int
by_path(const void *a, const void *b)
{
	return str_cmp(((const struct profile_leaf *)a)->path,
	    ((const struct profile_leaf *)b)->path);
}

enum rc
profile_leaves_read(struct state *s, struct str user_id, struct arena *a,
    struct profile_leaves *out)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	size_t i, n;
	enum rc rc;

	*out = (struct profile_leaves){ 0 };
	profile_call(&c, &read_all, user_id);
	rc = call_run(s, &c, 2, &r);
	if (rc != RC_OK) {
		state_reply_free(r);
		return rc;
	}
	n = (state_reply_len(r) - 2) / 2;
	out->changed.ms = reading_num(&rd, state_reply_at(r, 1));
	out->leaf = arena_alloc(a, (n + 1) * sizeof(*out->leaf));
	for (i = 0; i < n && out->leaf != NULL; i++) {
		out->leaf[i].path =
		    reading_text(&rd, state_reply_at(r, 2 + 2 * i));
		out->leaf[i].value =
		    reading_text(&rd, state_reply_at(r, 3 + 2 * i));
	}
	state_reply_free(r);
	if (out->leaf == NULL)
		return RC_TOOBIG;
	out->n = n;
	qsort(out->leaf, n, sizeof(*out->leaf), by_path);
	return reading_end(&rd, c.keys[0]);
}
