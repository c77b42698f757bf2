/*
 * What a turn writes into its session, and it alone, while it is head; and its
 * end.
 *
 * Each function is one script, so one round trip and one flush of the
 * append-only file, at the beginning of a turn as at its end.
 */
#include "core/id.h"
#include "core/mem.h"
#include "state/events.h"
#include "state/record.h"
#include "state/session_append.h"
#include "state/session_lua.h"
#include "state/turn.h"
#include "state/turn_lua.h"

#define LUA_FENCE                                     \
	"if redis.call('LINDEX',KEYS[1],0)~=ARGV[1] " \
	"then\n return {" LUA_CONFLICT "}\nend\n"

/*
 * KEYS turns, session, events, record, messages, idle  ARGV me, the most
 * messages, soul, terminal, idle ms, user:session (tokens), late, number of
 * events, events …, messages …, characters  → {OK, seq}
 */
static const struct state_script input = {
	LUA_NOW LUA_RECORD LUA_APPEND LUA_LATE LUA_AWAKE LUA_TELL LUA_FENCE
	"local n=tonumber(ARGV[8])\n"
	"if #ARGV>9+n then append(KEYS[2],KEYS[5],ARGV[2],9+n) end\n"
	"late(KEYS[2],ARGV[7])\n"
	"awake(KEYS[2],KEYS[6],now,ARGV[3],ARGV[4],ARGV[5],ARGV[6])\n"
	"if n>0 and redis.call('EXISTS',KEYS[4])==1 then\n"
	" redis.call('HSET',KEYS[4],'begun','1')\n"
	"end\n"
	"return {" LUA_OK ",tell(KEYS[2],KEYS[3],9,n)}"
};

/* KEYS turns, session, events  ARGV me, events …  → {OK, seq} */
static const struct state_script tell = { LUA_TELL LUA_FENCE
	"return {" LUA_OK ",tell(KEYS[2],KEYS[3],2,#ARGV-1)}" };

/*
 * KEYS turns, my instance, session, events, record  ARGV me, reply or '',
 * timeline or '', forget, events …  → {OK, the instance of the new head or '',
 * seq}
 */
static const struct state_script leave = { LUA_PURGE LUA_LEAVE
	"ended(ARGV[2],ARGV[3],ARGV[4])\n"
	"local out=leave(ARGV[1])\n"
	"if out[2]~=nil then out[3]=tell(KEYS[3],KEYS[4],5,#ARGV-4) end\n"
	"return out" };

/*
 * KEYS turns, my instance, session, events, record, messages  ARGV me, reply,
 * timeline, forget, the most messages, late, number of events, events …,
 * messages …, characters  → {OK, the instance of the new head or '', seq}
 */
static const struct state_script finish = {
	LUA_RECORD LUA_APPEND LUA_LATE LUA_PURGE LUA_LEAVE LUA_FENCE
	"local n=tonumber(ARGV[7])\n"
	"append(KEYS[3],KEYS[6],ARGV[5],8+n)\n"
	"late(KEYS[3],ARGV[6])\n"
	"local seq=tell(KEYS[3],KEYS[4],8,n)\n"
	"ended(ARGV[2],ARGV[3],ARGV[4])\n"
	"local out=leave(ARGV[1])\n"
	"out[3]=seq\n"
	"return out"
};

static const struct str none = { NULL, 0 };

static bool
can_append(const struct session_new *new)
{
	return new->n > 0 && new->n <= SESSION_APPEND_MAX;
}

static void
put_texts(struct call *c, const struct str *json, size_t n, size_t max)
{
	size_t i;

	for (i = 0; i < n; i++)
		call_text(c, json[i], max);
}

/* ---- at the beginning, and under way ------------------------------------- */

enum rc
turn_append(struct state *s, const struct turn_place *p, const struct str *json,
    size_t n)
{
	return turn_keep(s, p, &(struct session_new){ .json = json, .n = n });
}

enum rc
turn_keep(
    struct state *s, const struct turn_place *p, const struct session_new *new)
{
	return session_append_as(s, &p->key, p, *new, NULL);
}

static enum rc
run_input(struct state *s, const struct turn_place *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_told *told)
{
	const struct session_key *k = &p->key;
	struct state_reply *r;
	struct call c;
	enum rc rc;

	if (told->n > TURN_TOLD_MAX || !id_valid(in->soul) ||
	    !id_valid(in->terminal) || in->idle_ms < 0)
		return RC_INVALID;
	call_begin(&c, &input);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(&c, KEY_TURN, p->turn_id, none);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_IDLE, none, none);
	call_tokens(&c, p->instance, ':', p->turn_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_text(&c, in->soul, ID_MAX);
	call_text(&c, in->terminal, ID_MAX);
	call_num(&c, in->idle_ms);
	call_tokens(&c, k->user_id, ':', k->session_id);
	call_text(&c, LATE_ARG(new->late), SESSION_TEXT_MAX);
	call_num(&c, (int64_t)told->n);
	put_texts(&c, told->json, told->n, EVENTS_TEXT_MAX);
	put_texts(&c, new->json, new->n, SESSION_TEXT_MAX);
	call_num(&c, new->chars);
	rc = call_run(s, &c, 2, &r);
	told->seq = rc == RC_OK ? state_reply_int(state_reply_at(r, 1)) : 0;
	state_reply_free(r);
	return rc;
}

enum rc
turn_append_input(struct state *s, const struct turn_place *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_told *told)
{
	return can_append(new) ? run_input(s, p, new, in, told) : RC_INVALID;
}

enum rc
turn_stored_input(struct state *s, const struct turn_place *p,
    const struct turn_input *in, struct turn_told *told)
{
	return run_input(s, p, &(struct session_new){ .n = 0 }, in, told);
}

enum rc
turn_tell(struct state_pipe *pipe, const struct turn_place *p,
    const struct turn_told *told)
{
	const struct session_key *k = &p->key;
	struct call c;

	if (told->n == 0 || told->n > TURN_TOLD_MAX)
		return RC_INVALID;
	call_begin(&c, &tell);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_tokens(&c, p->instance, ':', p->turn_id);
	put_texts(&c, told->json, told->n, EVENTS_TEXT_MAX);
	return call_queue(pipe, &c);
}

enum rc
turn_told_reply(const struct state_pipe *pipe, size_t i, int64_t *seq)
{
	const struct state_reply *r;
	enum rc rc;

	*seq = 0;
	rc = state_pipe_reply(pipe, i, &r);
	if (rc == RC_OK)
		rc = record_status(r, 2);
	if (rc == RC_OK)
		*seq = state_reply_int(state_reply_at(r, 1));
	return rc;
}

/* ---- at the end ---------------------------------------------------------- */

static void
begin_ending(struct call *c, const struct state_script *script,
    const struct turn_place *p, const struct turn_ending *end)
{
	const struct session_key *k = &p->key;

	call_begin(c, script);
	call_key(c, KEY_TURNS, k->user_id, k->session_id);
	call_key(c, KEY_INSTANCE, p->instance, none);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
	call_key(c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(c, KEY_TURN, p->turn_id, none);
	call_tokens(c, p->instance, ':', p->turn_id);
	call_text(c, end->reply, EVENTS_TEXT_MAX);
	call_text(c, end->timeline, EVENTS_TEXT_MAX);
	call_num(c, end->forget);
}

static enum rc
run_ending(
    struct state *s, struct call *c, struct turn_ending *end, struct arena *a)
{
	struct reading rd = { .a = a };
	struct state_reply *r;
	enum rc rc;

	end->next = none;
	end->told.seq = 0;
	rc = call_run(s, c, 3, &r);
	if (rc == RC_OK) {
		end->next = reading_id(&rd, state_reply_at(r, 1));
		end->told.seq = state_reply_int(state_reply_at(r, 2));
		rc = reading_end(&rd, c->keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
turn_leave(struct state *s, const struct turn_place *p, struct turn_ending *end,
    struct arena *a)
{
	struct call c;

	if (end->told.n > TURN_TOLD_MAX)
		return RC_INVALID;
	begin_ending(&c, &leave, p, end);
	put_texts(&c, end->told.json, end->told.n, EVENTS_TEXT_MAX);
	return run_ending(s, &c, end, a);
}

enum rc
turn_finish(struct state *s, const struct turn_place *p,
    const struct session_new *new, struct turn_ending *end, struct arena *a)
{
	const struct session_key *k = &p->key;
	struct call c;

	if (!can_append(new) || end->told.n > TURN_TOLD_MAX)
		return RC_INVALID;
	begin_ending(&c, &finish, p, end);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_text(&c, LATE_ARG(new->late), SESSION_TEXT_MAX);
	call_num(&c, (int64_t)end->told.n);
	put_texts(&c, end->told.json, end->told.n, EVENTS_TEXT_MAX);
	put_texts(&c, new->json, new->n, SESSION_TEXT_MAX);
	call_num(&c, new->chars);
	return run_ending(s, &c, end, a);
}
