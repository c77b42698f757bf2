/*
 * terminal: reading the record, binding, results of skills.
 */
#include "state/terminal.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/terminal_lua.h"

/*
 * KEYS terminal  ARGV ttl, field of the catalog; empty: not read
 * → {OK, known, present, {fields}, bytes of the catalog}
 */
static const struct state_script read_ = { LUA_NOW LUA_RECORD
	"local known=record(KEYS[1],'" TERMINAL_FORMAT "')\n"
	"local h=redis.call('HMGET',KEYS[1],'seen','b','sv','sk','cv',\n"
	" ARGV[2],'ch','hint','u','s','on',\n"
	" 'ref:o','ref:h','ref:s','ref:c','ref:r')\n"
	"local seen=tonumber(h[1] or '') or 0\n"
	"local present=h[11]=='1' and seen>0 and now-seen<tonumber(ARGV[1])\n"
	"return {" LUA_OK ",known and 1 or 0,present and 1 or 0,h,\n"
	" redis.call('HSTRLEN',KEYS[1],'ct')}" };

/* KEYS terminal  ARGV hash → {OK, catalog}, NOENT or CONFLICT */
static const struct state_script read_catalog = { LUA_RECORD
	"record(KEYS[1],'" TERMINAL_FORMAT "')\n"
	"local h=redis.call('HGET',KEYS[1],'ch')\n"
	"if not h then return " LUA_NOENT " end\n"
	"if h~=ARGV[1] then return " LUA_CONFLICT " end\n"
	"return {" LUA_OK ",redis.call('HGET',KEYS[1],'ct')}" };

/*
 * KEYS terminal, the user's terminals, soul, its terminals, ticks, interval
 * ARGV user, soul, terminal (tokens), the most terminals, whether it must be
 * free (0, 1)
 * Computed: the terminals of the soul that was bound before.
 * A soul without a body that is present stops ticking at its next tick, so
 * presence is not decided here.
 */
static const struct state_script bind_ = { LUA_NOW LUA_RECORD LUA_TICK
	"local k,user,soul,me=KEYS[1],ARGV[1],ARGV[2],ARGV[3]\n"
	"if not record(KEYS[3],'" SOUL_FORMAT "') then\n"
	" return " LUA_NOENT "\n"
	"end\n"
	"if redis.call('HGET',KEYS[3],'u')~=user then\n"
	" return " LUA_DENIED "\n"
	"end\n"
	"record(k,'" TERMINAL_FORMAT "')\n"
	"local h=redis.call('HMGET',k,'u','s','on')\n"
	"if h[1] and (h[1]~=user or ARGV[5]=='1') then\n"
	" return " LUA_CONFLICT "\n"
	"end\n"
	"local n=redis.call('SCARD',KEYS[2])\n"
	"if not h[1] and n>=tonumber(ARGV[4]) then return " LUA_AGAIN " end\n"
	"redis.call('SCARD',KEYS[4])\n"
	"if h[3]=='1' then tick(KEYS[5],KEYS[6],soul,now) end\n"
	"if h[2] and h[2]~=soul then\n"
	" redis.call('SREM','" KEY_BODIES_PRE "'..h[2]..'" KEY_BODIES_POST
	"',me)\n"
	"end\n"
	"redis.call('SADD',KEYS[4],me)\n"
	"redis.call('SADD',KEYS[2],me)\n"
	"redis.call('HSET',k,'v','" TERMINAL_FORMAT "','u',user,'s',soul)\n"
	"return " LUA_OK };

/* KEYS terminal  ARGV user, terminal (tokens) */
static const struct state_script unbind = { LUA_RECORD LUA_UNBIND
	"local k=KEYS[1]\n"
	"record(k,'" TERMINAL_FORMAT "')\n"
	"local user=redis.call('HGET',k,'u')\n"
	"if not user then return " LUA_NOENT " end\n"
	"if user~=ARGV[1] then return " LUA_DENIED " end\n"
	"unbind(k,ARGV[2])\n"
	"return " LUA_OK };

/* KEYS the user's terminals → {OK, {tokens}} */
static const struct state_script list = {
	"local all=redis.call('SMEMBERS',KEYS[1])\n"
	"return {" LUA_OK ",all}"
};

/* KEYS result  ARGV format and JSON → {OK, first} */
static const struct state_script put_result = {
	"local v=redis.call('GET',KEYS[1])\n"
	"if v and string.sub(v,1,1)~='" RESULT_ASKED "' then\n"
	" return {" LUA_OK ",0}\n"
	"end\n"
	"redis.call('SET',KEYS[1],ARGV[1]..ARGV[2],'PX'," RESULT_MS ")\n"
	"return {" LUA_OK ",1}"
};

static const struct str none = { NULL, 0 };
static const struct str result_format = STR_INIT(RESULT_FORMAT);

static void
read_fields(const struct state_reply *r, struct arena *a, struct terminal *t,
    struct reading *rd)
{
	const struct state_reply *h = state_reply_at(r, 3);
	size_t i;

	*rd = (struct reading){ .a = a };
	t->known = state_reply_int(state_reply_at(r, 1)) != 0;
	t->present = state_reply_int(state_reply_at(r, 2)) != 0;
	t->seen.ms = reading_num(rd, state_reply_at(h, 0));
	t->broker = reading_text(rd, state_reply_at(h, 1));
	t->skill_version = reading_num(rd, state_reply_at(h, 2));
	t->skills = reading_text(rd, state_reply_at(h, 3));
	t->catalog_version = reading_num(rd, state_reply_at(h, 4));
	t->catalog = reading_text(rd, state_reply_at(h, 5));
	t->catalog_hash = reading_text(rd, state_reply_at(h, 6));
	t->soul_hint = reading_text(rd, state_reply_at(h, 7));
	t->user_id = reading_id(rd, state_reply_at(h, 8));
	t->soul_id = reading_id(rd, state_reply_at(h, 9));
	for (i = 0; i < TERMINAL_SAID; i++)
		t->refused[i] = reading_text(rd, state_reply_at(h, 11 + i));
	t->catalog_bytes = (size_t)state_reply_int(state_reply_at(r, 4));
}

static enum rc
read_record(
    struct call *c, struct state *s, struct arena *a, struct terminal *out)
{
	struct state_reply *r;
	struct reading rd;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	rc = call_run(s, c, 5, &r);
	if (rc == RC_OK) {
		read_fields(r, a, out, &rd);
		rc = reading_end(&rd, c->keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

enum rc
terminal_read(struct state *s, struct str id, int64_t ttl_ms, struct arena *a,
    struct terminal *out)
{
	struct call c;

	call_begin(&c, &read_);
	call_key(&c, KEY_TERMINAL, id, none);
	call_num(&c, ttl_ms);
	call_text(&c, STR("ct"), 2);
	return read_record(&c, s, a, out);
}

enum rc
terminal_read_brief(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out)
{
	struct call c;

	call_begin(&c, &read_);
	call_key(&c, KEY_TERMINAL, id, none);
	call_num(&c, ttl_ms);
	call_text(&c, none, 0);
	return read_record(&c, s, a, out);
}

enum rc
terminal_read_catalog(struct state *s, struct str id, struct str hash,
    struct arena *a, struct str *json)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*json = none;
	call_begin(&c, &read_catalog);
	call_key(&c, KEY_TERMINAL, id, none);
	call_text(&c, hash, TERMINAL_HASH_MAX);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*json = reading_text(&rd, state_reply_at(r, 1));
		rc = reading_end(&rd, c.keys[0]);
	}
	if (rc == RC_OK && json->p == NULL)
		rc = RC_NOENT;
	state_reply_free(r);
	return rc;
}

struct binding {
	struct str terminal, user, soul;
	bool must_be_free;
};

static enum rc
bind_one(struct state *s, const struct binding *b)
{
	struct call c;

	call_begin(&c, &bind_);
	call_key(&c, KEY_TERMINAL, b->terminal, none);
	call_key(&c, KEY_USER_TERMINALS, b->user, none);
	call_key(&c, KEY_SOUL, b->soul, none);
	call_key(&c, KEY_BODIES, b->soul, none);
	call_key(&c, KEY_TICKS, none, none);
	call_key(&c, KEY_TICK_INTERVAL, none, none);
	call_token(&c, b->user);
	call_token(&c, b->soul);
	call_token(&c, b->terminal);
	call_num(&c, TERMINAL_LIST_MAX);
	call_num(&c, b->must_be_free ? 1 : 0);
	return call_run(s, &c, 1, NULL);
}

enum rc
terminal_bind(struct state *s, struct str id, struct str user, struct str soul)
{
	return bind_one(s, &(struct binding){ id, user, soul, false });
}

enum rc
terminal_bind_free(
    struct state *s, struct str id, struct str user, struct str soul)
{
	return bind_one(s, &(struct binding){ id, user, soul, true });
}

enum rc
terminal_unbind(struct state *s, struct str id, struct str user)
{
	struct call c;

	call_begin(&c, &unbind);
	call_key(&c, KEY_TERMINAL, id, none);
	call_token(&c, user);
	call_token(&c, id);
	return call_run(s, &c, 1, NULL);
}

static int
by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

enum rc
terminal_list(struct state *s, struct str user, struct arena *a,
    struct str **ids, size_t *n)
{
	const struct state_reply *tokens;
	struct reading rd = { .a = a };
	struct state_reply *r;
	struct call c;
	enum rc rc;
	size_t i;

	*ids = NULL;
	*n = 0;
	call_begin(&c, &list);
	call_key(&c, KEY_USER_TERMINALS, user, none);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		tokens = state_reply_at(r, 1);
		*ids = arena_alloc(a, state_reply_len(tokens) * sizeof(**ids));
		rd.rc = *ids == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(tokens); i++)
			(*ids)[i] = reading_id(&rd, state_reply_at(tokens, i));
		rc = reading_end(&rd, c.keys[0]);
		*n = rc == RC_OK ? i : 0;
		if (*n > 0)
			qsort(*ids, *n, sizeof(**ids), by_bytes);
	}
	state_reply_free(r);
	return rc;
}

enum rc
terminal_put_result(struct state *s, struct str id, struct str request_id,
    struct str json, bool *first)
{
	struct state_reply *r;
	struct call c;
	enum rc rc;

	call_begin(&c, &put_result);
	call_key(&c, KEY_RESULT, id, request_id);
	call_text(&c, result_format, result_format.n);
	call_text(&c, json, TERMINAL_JSON_MAX);
	rc = call_run(s, &c, 2, &r);
	*first = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}

enum rc
terminal_get_result(struct state *s, struct str id, struct str request_id,
    struct arena *a, struct str *json)
{
	const struct str ids[] = { id, request_id };
	char text[STATE_KEY_MAX];
	struct state_reply *r;
	struct str key, got;
	enum rc rc;

	*json = none;
	rc = state_key(text, KEY_RESULT, ids, NELEM(ids), &key);
	if (rc != RC_OK)
		return rc;
	rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	got = state_reply_str(r);
	if (rc == RC_OK &&
	    (state_reply_kind(r) == STATE_NIL ||
		str_starts(got, STR(RESULT_ASKED)))) {
		rc = RC_NOENT;
	} else if (rc == RC_INVALID ||
	    (rc == RC_OK && !str_starts(got, result_format))) {
		record_bad(key, STR("not a result"));
		rc = RC_INVALID;
	} else if (rc == RC_OK) {
		got.p += result_format.n;
		got.n -= result_format.n;
		*json = arena_str(a, got);
		rc = json->p == NULL ? RC_TOOBIG : RC_OK;
	}
	state_reply_free(r);
	return rc;
}
