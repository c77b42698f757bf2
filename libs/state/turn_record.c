/*
 * turn_record: reading what turn.c and turn_write.c keep.
 */
#include "state/turn_record.h"

#include "core/mem.h"
#include "state/record.h"

/*
 * KEYS record → {OK, known, lost, {fields}}
 * Computed: the key of its process.
 */
static const struct state_script read_ = { LUA_RECORD
	"local k=KEYS[1]\n"
	"local known=record(k,'" TURN_FORMAT "')\n"
	"local h=redis.call('HMGET',k,'u','s','i','trace','at','end','tl')\n"
	"local lost=h[6]==''\n"
	"if known and not h[6] then\n"
	" lost=redis.call('EXISTS','" KEY_INSTANCE_PRE
	"'..h[3]..'" KEY_INSTANCE_POST "')==0\n"
	"end\n"
	"return {" LUA_OK ",known and 1 or 0,lost and 1 or 0,h}" };

static enum turn_state
state_of(const struct turn_record *t, bool lost)
{
	if (lost)
		return TURN_STATE_LOST;
	return t->reply.n > 0 ? TURN_STATE_ENDED : TURN_STATE_OPEN;
}

static enum rc
read_fields(const struct state_reply *r, struct arena *a,
    struct turn_record *out, struct str key)
{
	const struct state_reply *h = state_reply_at(r, 3);
	struct reading rd = { .a = a };

	out->known = state_reply_int(state_reply_at(r, 1)) != 0;
	out->user_id = reading_id(&rd, state_reply_at(h, 0));
	out->session_id = reading_id(&rd, state_reply_at(h, 1));
	out->instance = reading_id(&rd, state_reply_at(h, 2));
	out->trace_id = reading_text(&rd, state_reply_at(h, 3));
	out->started.ms = reading_num(&rd, state_reply_at(h, 4));
	out->reply = reading_text(&rd, state_reply_at(h, 5));
	out->timeline = reading_text(&rd, state_reply_at(h, 6));
	out->state = state_of(out, state_reply_int(state_reply_at(r, 2)) != 0);
	return reading_end(&rd, key);
}

enum rc
turn_record_read(struct state *s, struct str turn_id, struct arena *a,
    struct turn_record *out)
{
	static const struct str none = { NULL, 0 };
	struct state_reply *r;
	struct call c;
	enum rc rc;

	*out = (struct turn_record){ 0 };
	call_begin(&c, &read_);
	call_key(&c, KEY_TURN, turn_id, none);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK)
		rc = read_fields(r, a, out, c.keys[0]);
	if (rc != RC_OK)
		*out = (struct turn_record){ 0 };
	state_reply_free(r);
	return rc;
}
