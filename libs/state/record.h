/*
 * record: what the records share: calling their scripts, reading the answers.
 */
#ifndef STATE_RECORD_H
#define STATE_RECORD_H

#include "core/arena.h"
#include "core/id.h"
#include "state/keys.h"
#include "state/state.h"

/* ---- pieces of scripts --------------------------------------------------- */

/*
 * A script answers with one of these, or with an array whose first element is
 * one: the enum rc of its call.
 */
#define LUA_OK       "0"
#define LUA_AGAIN    "1"
#define LUA_NOENT    "4"
#define LUA_DENIED   "7"
#define LUA_CONFLICT "8"

/* Redis' clock: now, in ms since 1970. */
#define LUA_NOW                        \
	"local t=redis.call('TIME')\n" \
	"local now=tonumber(t[1])*1000+math.floor(tonumber(t[2])/1000)\n"

/*
 * record(key, format): whether the hash is there.  Ends the script with the
 * error FORMAT if it is of another format.
 */
#define LUA_RECORD                                  \
	"local function record(k,f)\n"              \
	" local v=redis.call('HGET',k,'v')\n"       \
	" if v==f then return true end\n"           \
	" if v or redis.call('EXISTS',k)==1 then\n" \
	"  error({err='FORMAT '..k})\n"             \
	" end\n"                                    \
	" return false\n"                           \
	"end\n"

/*
 * grid(soul, iv, now): A soul's next moment to tick: each has its own place
 * within the interval, which no lateness shifts.
 */
#define LUA_GRID                                                      \
	"local function grid(soul,iv,now)\n"                          \
	" local h=tonumber(string.sub(redis.sha1hex(soul),1,8),16)\n" \
	" return now+iv-(now-h)%iv\n"                                 \
	"end\n"

/* tick(ticks, interval, soul, now): Let a soul tick unless it does. */
#define LUA_TICK                                                         \
	LUA_GRID                                                         \
	"local function tick(ticks,interval,soul,now)\n"                 \
	" if redis.call('ZSCORE',ticks,soul) then return end\n"          \
	" local iv=tonumber(redis.call('GET',interval) or '') or 3000\n" \
	" redis.call('ZADD',ticks,'NX',grid(soul,iv,now),soul)\n"        \
	"end\n"

/* ---- calls --------------------------------------------------------------- */

#define CALL_KEYS_MAX 8
#define CALL_ARGS_MAX 520
#define CALL_NUMS_MAX 8
#define CALL_IDS_MAX  6

/* A call of a script in the making; large, and not to be copied. */
struct call {
	const struct state_script *script;
	enum rc rc; /* why it cannot be made */
	size_t n_keys, n_args, n_nums, n_ids;
	struct str keys[CALL_KEYS_MAX];
	struct str args[CALL_ARGS_MAX];
	char key_text[CALL_KEYS_MAX][STATE_KEY_MAX];
	char num_text[CALL_NUMS_MAX][STATE_NUM_MAX];
	char id_text[CALL_IDS_MAX][2 * ID_TOKEN_MAX + 1];
};

/* call_begin(c, script): A call without keys and arguments. */
void call_begin(struct call *c, const struct state_script *script);

/*
 * call_key(c, pattern, a, b):
 * The next of KEYS; a and b are the ids for its '%', as many as it has.
 */
void call_key(struct call *c, const char *pattern, struct str a, struct str b);

/*
 * The next of ARGV: text, which must live until the call was made, and must
 * not be over max bytes; a number; an id's token; two ids' tokens with a
 * separator between them.
 */
void call_text(struct call *c, struct str text, size_t max);
void call_num(struct call *c, int64_t v);
void call_token(struct call *c, struct str id);
void call_tokens(struct call *c, struct str a, char sep, struct str b);

/*
 * call_run(s, c, want, out):
 * Call the script: what its answer begins with, or why there is none.  RC_BUG
 * if it does not begin with an enum rc, or says RC_OK and has less than want
 * elements.  out may be NULL; *out may be NULL unless RC_OK, and the caller
 * frees it.
 */
enum rc call_run(struct state *s, struct call *c, size_t want,
    struct state_reply **out) RC_CHECK;

/* call_queue(p, c): Queue the call; its keys and arguments are copied. */
enum rc call_queue(struct state_pipe *p, struct call *c) RC_CHECK;

/*
 * record_status(r, want):
 * What a script's answer begins with, as call_run() tells.
 */
enum rc record_status(const struct state_reply *r, size_t want) RC_CHECK;

/* record_bad(key, why): Log what was found instead of a record. */
void record_bad(struct str key, struct str why);

/* ---- reading ------------------------------------------------------------- */

/* Reads values out of a reply; rc keeps the first fault. */
struct reading {
	struct arena *a; /* texts are copied into it */
	enum rc rc;
};

/* A text; absent of nil. */
struct str reading_text(struct reading *rd, const struct state_reply *r);

/* A number, as an integer or as text; 0 of nil. */
int64_t reading_num(struct reading *rd, const struct state_reply *r);

/* The id whose token is r; absent of nil. */
struct str reading_id(struct reading *rd, const struct state_reply *r);

/*
 * reading_end(rd, key):
 * Its rc; RC_INVALID is logged with the record's key.
 */
enum rc reading_end(const struct reading *rd, struct str key) RC_CHECK;

#endif /* !STATE_RECORD_H */
