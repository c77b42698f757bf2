/*
 * terminal_report: what bodies report: presence, snapshots, refusals.
 *
 * All scripts begin with the same arguments and the same check of the epoch.
 * Whatever may fail (a key of another type) comes before the first write.
 */
#include "core/mem.h"
#include "state/record.h"
#include "state/terminal.h"

/* Skills and catalog versions are compared as doubles by scripts. */
#define VERSION_MAX ((INT64_C(1) << 53) - 1)

/*
 * KEYS terminal, ticks, interval  ARGV broker, epoch, ttl, replayed
 * was: present before.  here: nothing is known of it at another broker.
 * note(on): write that the epoch was seen, and on unless nil.
 * alive(): it gave a sign of life.
 */
#define LUA_REPORT                                                     \
	LUA_NOW LUA_RECORD LUA_TICK                                    \
	    "local F='" TERMINAL_FORMAT "'\n"                          \
	    "local r,k,b,epoch=redis.call,KEYS[1],ARGV[1],ARGV[2]\n"   \
	    "local e='e:'..b\n"                                        \
	    "local h=r('HMGET',k,'on','seen','b','s',e,'v','gone',\n"  \
	    " 'ref:h')\n"                                              \
	    "if h[7] then return {" LUA_NOENT "} end\n"                \
	    "if h[6]~=F then record(k,F) end\n"                        \
	    "if h[5] and (tonumber(h[5]) or 0)>tonumber(epoch) then\n" \
	    " return {" LUA_DENIED "}\n"                               \
	    "end\n"                                                    \
	    "local replayed=ARGV[4]=='1'\n"                            \
	    "local here=not h[3] or h[3]==b\n"                         \
	    "local seen=tonumber(h[2] or '') or 0\n"                   \
	    "local recent=seen>0 and now-seen<tonumber(ARGV[3])\n"     \
	    "local was=h[1]=='1' and recent\n"                         \
	    "local function begin()\n"                                 \
	    " if h[4] then tick(KEYS[2],KEYS[3],h[4],now) end\n"       \
	    "end\n"                                                    \
	    "local function note(on)\n"                                \
	    " r('HSET',k,'v',F,e,epoch)\n"                             \
	    " if not h[3] then r('HSET',k,'b',b) end\n"                \
	    " if on then r('HSET',k,'on',on) end\n"                    \
	    "end\n"                                                    \
	    "local function alive()\n"                                 \
	    " begin()\n"                                               \
	    " if h[1]=='1' and h[3]==b and h[5]==epoch then\n"         \
	    "  r('HSET',k,'seen',now)\n"                               \
	    " else\n"                                                  \
	    "  r('HSET',k,'v',F,e,epoch,'on','1','seen',now,'b',b)\n"  \
	    " end\n"                                                   \
	    "end\n"

/* All but the last answer with {OK, presence changed, present, …}. */

/* … ARGV …, online */
static const struct state_script put_online = { LUA_REPORT
	"local is=was\n"
	"if ARGV[5]=='1' and not replayed then\n"
	" is=true alive()\n"
	"elseif not here then\n"
	" note(nil)\n"
	"elseif ARGV[5]=='1' then\n"
	" is=recent\n"
	" if is then begin() end\n"
	" note('1')\n"
	"else\n"
	" is=false note('0')\n"
	"end\n"
	"if not replayed then r('HDEL',k,'ref:o') end\n"
	"return {" LUA_OK ",was~=is and 1 or 0,is and 1 or 0}" };

static const struct state_script beat = { .text = LUA_REPORT
	"alive()\n"
	"if h[8] then r('HDEL',k,'ref:h') end\n"
	"return {" LUA_OK ",was and 0 or 1,1}" };

/*
 * What the broker has kept may be older than a refusal, unless it is news.
 * … ARGV …, field of the version, version, field, value, …; a field whose value
 * is empty goes; what stays as it is is not written again
 * → {OK or CONFLICT, …, version, whether something is other than before}
 */
static const struct state_script put_snapshot = { LUA_REPORT
	"local new=tonumber(ARGV[6])\n"
	"local cur=tonumber(r('HGET',k,ARGV[5]) or '') or 0\n"
	"local turned,is=0,was and 1 or 0\n"
	"if replayed then\n"
	" note(nil)\n"
	"else\n"
	" turned=1-is is=1 alive()\n"
	"end\n"
	"if new<cur then return {" LUA_CONFLICT ",turned,is,cur,0} end\n"
	"local differs=0\n"
	"for i=5,#ARGV,2 do\n"
	" local f,v=ARGV[i],ARGV[i+1]\n"
	" if (r('HGET',k,f) or '')~=v then\n"
	"  differs=1\n"
	"  if v=='' then r('HDEL',k,f) else r('HSET',k,f,v) end\n"
	" end\n"
	"end\n"
	"if differs==1 or not replayed then\n"
	" r('HDEL',k,ARGV[5]=='sv' and 'ref:s' or 'ref:c')\n"
	"end\n"
	"return {" LUA_OK ",turned,is,new,differs}" };

/* … ARGV …, field, refusal; "ref" was of all reports together, up to 0.1.0 */
static const struct state_script put_refused = { LUA_REPORT
	"note(nil)\n"
	"r('HDEL',k,'ref')\n"
	"r('HSET',k,ARGV[5],ARGV[6])\n"
	"return " LUA_OK };

static void
report_begin(struct call *c, const struct state_script *script,
    const struct terminal_writer *w, struct str id)
{
	const struct str none = { NULL, 0 };

	call_begin(c, script);
	if (!id_valid(w->broker) || w->epoch <= 0 || w->ttl_ms <= 0)
		c->rc = RC_INVALID;
	call_key(c, KEY_TERMINAL, id, none);
	call_key(c, KEY_TICKS, none, none);
	call_key(c, KEY_TICK_INTERVAL, none, none);
	call_text(c, w->broker, ID_MAX);
	call_num(c, w->epoch);
	call_num(c, w->ttl_ms);
	call_num(c, w->replayed);
}

/* Fields of a snapshot that are put beside its version. */
struct field {
	struct str name, value;
	size_t max;
};

static void
snapshot_begin(struct call *c, const struct terminal_writer *w,
    const struct terminal_report *r)
{
	const struct terminal_snapshot *snap = &r->snap;
	bool catalog = r->kind == TERMINAL_CATALOG;
	const struct field fields[] = {
		{ catalog ? STR("ct") : STR("sk"), snap->json,
		    TERMINAL_JSON_MAX },
		catalog
		    ? (struct field){ STR("ch"), snap->hash, TERMINAL_HASH_MAX }
		    : (struct field){ STR("hint"), snap->soul_hint,
			  TERMINAL_HINT_MAX },
	};
	size_t i;

	report_begin(c, &put_snapshot, w, r->id);
	if (snap->version < 0 || snap->version > VERSION_MAX)
		c->rc = RC_INVALID;
	call_text(c, catalog ? STR("cv") : STR("sv"), TERMINAL_HASH_MAX);
	call_num(c, snap->version);
	for (i = 0; i < NELEM(fields); i++) {
		call_text(c, fields[i].name, TERMINAL_HASH_MAX);
		call_text(c, fields[i].value, fields[i].max);
	}
}

static struct str
refused_field(enum terminal_said said)
{
	static const char *const fields[TERMINAL_SAID] = { "ref:o", "ref:h",
		"ref:s", "ref:c", "ref:r" };

	return str_of(fields[said]);
}

static void
any_begin(struct call *c, const struct terminal_writer *w,
    const struct terminal_report *r)
{
	switch (r->kind) {
	case TERMINAL_ONLINE:
	case TERMINAL_OFFLINE:
		report_begin(c, &put_online, w, r->id);
		call_num(c, r->kind == TERMINAL_ONLINE);
		break;
	case TERMINAL_BEAT:
		report_begin(c, &beat, w, r->id);
		break;
	case TERMINAL_SKILLS:
	case TERMINAL_CATALOG:
		snapshot_begin(c, w, r);
		break;
	case TERMINAL_REFUSED:
		report_begin(c, &put_refused, w, r->id);
		call_text(c, refused_field(r->refused.said), TERMINAL_HASH_MAX);
		call_text(c, r->refused.json, TERMINAL_JSON_MAX);
		break;
	}
}

/* Elements of the answer. */
static size_t
any_len(enum terminal_report_kind kind)
{
	switch (kind) {
	case TERMINAL_SKILLS:
	case TERMINAL_CATALOG:
		return 5;
	case TERMINAL_REFUSED:
		return 1;
	default:
		return 3;
	}
}

static void
any_end(struct terminal_report *r, enum rc rc, const struct state_reply *reply)
{
	r->rc = rc;
	r->turned = state_reply_int(state_reply_at(reply, 1)) != 0;
	r->present = state_reply_int(state_reply_at(reply, 2)) != 0;
	r->current = state_reply_int(state_reply_at(reply, 3));
	r->differs = state_reply_int(state_reply_at(reply, 4)) != 0;
}

static enum rc
any_run(
    struct state *s, const struct terminal_writer *w, struct terminal_report *r)
{
	struct state_reply *reply;
	struct call c;
	enum rc rc;

	any_begin(&c, w, r);
	rc = call_run(s, &c, any_len(r->kind), &reply);
	any_end(r, rc, reply);
	state_reply_free(reply);
	return rc;
}

enum rc
terminal_put_online(struct state *s, const struct terminal_writer *w,
    struct str id, bool online, bool *changed)
{
	struct terminal_report r = {
		.kind = online ? TERMINAL_ONLINE : TERMINAL_OFFLINE, .id = id
	};
	enum rc rc = any_run(s, w, &r);

	if (changed != NULL)
		*changed = rc == RC_OK && r.turned;
	return rc;
}

enum rc
terminal_put_skills(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap, int64_t *current)
{
	struct terminal_report r = {
		.kind = TERMINAL_SKILLS, .id = id, .snap = *snap
	};
	enum rc rc = any_run(s, w, &r);

	*current = r.current;
	return rc;
}

enum rc
terminal_put_catalog(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_snapshot *snap, int64_t *current)
{
	struct terminal_report r = {
		.kind = TERMINAL_CATALOG, .id = id, .snap = *snap
	};
	enum rc rc = any_run(s, w, &r);

	*current = r.current;
	return rc;
}

enum rc
terminal_put_refused(struct state *s, const struct terminal_writer *w,
    struct str id, const struct terminal_refusal *refusal)
{
	struct terminal_report r = {
		.kind = TERMINAL_REFUSED, .id = id, .refused = *refusal
	};

	return any_run(s, w, &r);
}

/* ---- many at one time ---------------------------------------------------- */

static size_t
bytes_of(const struct terminal_report *r)
{
	return r->snap.json.n + r->snap.soul_hint.n + r->refused.json.n;
}

/* How many of v fit a round trip: at least one. */
static size_t
part_of(const struct terminal_report *v, size_t n)
{
	size_t i, bytes = 0;

	for (i = 0; i < n && i < STATE_PIPE_MAX; i++) {
		bytes += bytes_of(&v[i]);
		if (i > 0 && bytes > TERMINAL_TRIP_BYTES)
			break;
	}
	return i;
}

/*
 * One round trip.  A report that cannot even be queued has its rc; the others
 * keep their order.
 */
static enum rc
put_some(struct state_pipe *p, const struct terminal_writer *w,
    struct terminal_report *v, size_t n)
{
	const struct state_reply *reply;
	struct terminal_writer one = *w;
	size_t i, at = 0;
	struct call c;
	enum rc rc;

	for (i = 0; i < n; i++) {
		one.replayed = v[i].replayed;
		any_begin(&c, &one, &v[i]);
		v[i].rc = call_queue(p, &c);
	}
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		if (v[i].rc != RC_OK)
			continue;
		v[i].rc = state_pipe_reply(p, at++, &reply);
		if (v[i].rc == RC_INVALID)
			record_bad(v[i].id, state_reply_str(reply));
		if (v[i].rc == RC_OK)
			any_end(&v[i], record_status(reply, any_len(v[i].kind)),
			    reply);
	}
	return at > 0 ? rc : RC_OK;
}

enum rc
terminal_put_reports(struct state *s, const struct terminal_writer *w,
    struct terminal_report *v, size_t n)
{
	enum rc rc = RC_OK;
	struct state_pipe *p;
	size_t i, part;

	p = state_pipe_new(s, n);
	for (i = 0; i < n; i += part) {
		part = part_of(v + i, n - i);
		if (rc == RC_OK)
			rc = put_some(p, w, v + i, part);
		else
			for (size_t k = i; k < i + part; k++)
				v[k].rc = rc;
	}
	state_pipe_free(p);
	return rc;
}

/* One round trip of terminal_beat(). */
static enum rc
beat_some(struct state_pipe *p, const struct terminal_writer *w,
    const struct str *ids, size_t n, bool *came)
{
	const struct state_reply *r;
	enum rc rc = RC_OK, one;
	struct call c;
	size_t i;

	for (i = 0; i < n; i++) {
		report_begin(&c, &beat, w, ids[i]);
		rc = call_queue(p, &c);
		if (rc != RC_OK)
			return rc;
	}
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		one = state_pipe_reply(p, i, &r);
		if (one == RC_INVALID)
			record_bad(ids[i], state_reply_str(r));
		if (one == RC_OK)
			one = record_status(r, 2);
		if (came != NULL)
			came[i] = one == RC_OK &&
			    state_reply_int(state_reply_at(r, 1)) != 0;
		if (rc == RC_OK || rc == RC_INVALID)
			rc = one != RC_OK ? one : rc;
	}
	return rc;
}

enum rc
terminal_beat(struct state *s, const struct terminal_writer *w,
    const struct str *ids, size_t n, bool *came)
{
	enum rc rc = RC_OK, some;
	struct state_pipe *p;
	size_t i, part;

	if (came != NULL)
		memset(came, 0, n * sizeof(*came));
	p = state_pipe_new(s, n < STATE_PIPE_MAX ? n : STATE_PIPE_MAX);
	for (i = 0; i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		some = beat_some(
		    p, w, ids + i, part, came == NULL ? NULL : came + i);
		if (rc == RC_OK || rc == RC_INVALID)
			rc = some != RC_OK ? some : rc;
		if (rc == RC_DOWN || rc == RC_TIMEOUT)
			break;
	}
	state_pipe_free(p);
	return rc;
}
