/*
 * terminal_ask: whether a terminal can be reached, questions to it, and their
 * results.
 *
 * A result is expected by a note that lies where the result will: what nobody
 * asked for is not kept, so a terminal cannot fill Redis with it.
 */
#include "core/mem.h"
#include "state/record.h"
#include "state/terminal.h"

/* KEYS terminal  ARGV ttl, broker */
#define LUA_IS_AT                                                            \
	LUA_NOW LUA_RECORD                                                   \
	    "local known=record(KEYS[1],'" TERMINAL_FORMAT "')\n"            \
	    "local h=redis.call('HMGET',KEYS[1],'on','seen','b')\n"          \
	    "local seen=tonumber(h[2] or '') or 0\n"                         \
	    "local is=h[1]=='1' and seen>0 and now-seen<tonumber(ARGV[1])\n" \
	    "is=is and known and (ARGV[2]=='' or h[3]==ARGV[2])\n"

/* → {OK, present and there} */
static const struct state_script is_at = { LUA_IS_AT "return {" LUA_OK
						     ",is and 1 or 0}" };

/* KEYS …, result  ARGV …, note → {OK, present and there} */
static const struct state_script ask_ = { LUA_IS_AT
	"if is then\n"
	" redis.call('SET',KEYS[2],'" RESULT_ASKED "'..ARGV[3],\n"
	"  'NX','PX'," RESULT_MS ")\n"
	"end\n"
	"return {" LUA_OK ",is and 1 or 0}" };

/* KEYS result, terminal  ARGV format and JSON → {OK, first, note}, or NOENT */
static const struct state_script answer = {
	"local v=redis.call('GET',KEYS[1])\n"
	"if not v then return " LUA_NOENT " end\n"
	"if string.sub(v,1,1)~='" RESULT_ASKED "' then\n"
	" return {" LUA_OK ",0,''}\n"
	"end\n"
	"redis.call('HDEL',KEYS[2],'ref:r')\n"
	"redis.call('SET',KEYS[1],ARGV[1]..ARGV[2],'PX'," RESULT_MS ")\n"
	"return {" LUA_OK ",1,string.sub(v,2)}"
};

static const struct str none = { NULL, 0 };

static enum rc
run_is(struct state *s, struct call *c, bool *is)
{
	struct state_reply *r;
	enum rc rc;

	rc = call_run(s, c, 2, &r);
	*is = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}

enum rc
terminal_is_at(struct state *s, struct str id, struct str broker,
    int64_t ttl_ms, bool *here)
{
	struct call c;

	call_begin(&c, &is_at);
	call_key(&c, KEY_TERMINAL, id, none);
	call_num(&c, ttl_ms);
	call_text(&c, broker, ID_MAX);
	return run_is(s, &c, here);
}

enum rc
terminal_ask(
    struct state *s, struct str id, const struct terminal_ask *ask, bool *here)
{
	struct call c;

	call_begin(&c, &ask_);
	call_key(&c, KEY_TERMINAL, id, none);
	call_key(&c, KEY_RESULT, id, ask->request_id);
	call_num(&c, ask->ttl_ms);
	call_text(&c, ask->broker, ID_MAX);
	call_text(&c, ask->note, TERMINAL_NOTE_MAX);
	return run_is(s, &c, here);
}

/* What became of one; the note is copied. */
static void
answered(
    struct terminal_result *v, const struct state_reply *r, struct arena *a)
{
	v->rc = record_status(r, 3);
	if (v->rc != RC_OK)
		return;
	v->first = state_reply_int(state_reply_at(r, 1)) != 0;
	v->note = arena_str(a, state_reply_str(state_reply_at(r, 2)));
}

/* How many of v fit a round trip: at least one. */
static size_t
part_of(const struct terminal_result *v, size_t n)
{
	size_t i, bytes = 0;

	for (i = 0; i < n && i < STATE_PIPE_MAX; i++) {
		bytes += v[i].json.n;
		if (i > 0 && bytes > TERMINAL_TRIP_BYTES)
			break;
	}
	return i;
}

/* One round trip. */
static enum rc
put_some(
    struct state_pipe *p, struct terminal_result *v, size_t n, struct arena *a)
{
	const struct state_reply *r;
	size_t i, at = 0;
	struct call c;
	enum rc rc;

	for (i = 0; i < n; i++) {
		call_begin(&c, &answer);
		call_key(&c, KEY_RESULT, v[i].id, v[i].request_id);
		call_key(&c, KEY_TERMINAL, v[i].id, none);
		call_text(&c, STR(RESULT_FORMAT), 1);
		call_text(&c, v[i].json, TERMINAL_JSON_MAX);
		v[i].first = false;
		v[i].note = none;
		v[i].rc = call_queue(p, &c);
	}
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		if (v[i].rc != RC_OK)
			continue;
		v[i].rc = state_pipe_reply(p, at++, &r);
		if (v[i].rc == RC_INVALID)
			record_bad(v[i].id, state_reply_str(r));
		if (v[i].rc == RC_OK)
			answered(&v[i], r, a);
	}
	return at > 0 ? rc : RC_OK;
}

enum rc
terminal_put_results(
    struct state *s, struct terminal_result *v, size_t n, struct arena *a)
{
	struct state_pipe *p = state_pipe_new(s, n);
	enum rc rc = RC_OK;
	size_t i, part;

	for (i = 0; i < n && rc == RC_OK; i += part) {
		part = part_of(v + i, n - i);
		rc = put_some(p, v + i, part, a);
	}
	for (; i < n; i++) {
		v[i].rc = rc;
		v[i].first = false;
		v[i].note = none;
	}
	state_pipe_free(p);
	return rc;
}
