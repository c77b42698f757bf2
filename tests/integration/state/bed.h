/*
 * bed: a rig with what tests of records need besides.
 */
#ifndef STATE_BED_H
#define STATE_BED_H

#include "integration/state/peers.h"
#include "state/terminal.h"

/* Time to live of snapshots. */
#define TTL 60000

struct bed {
	struct rig rig;
	struct state *s;
	struct arena *a;
	struct terminal_writer w;
};

static inline void
bed_start(struct bed *b)
{
	rig_start(&b->rig);
	b->s = b->rig.s;
	b->a = arena_new(16UL << 20);
	b->w = (struct terminal_writer){ STR("main"), 5, TTL, false };
}

static inline void
bed_end(struct bed *b)
{
	arena_free(b->a);
	rig_end(&b->rig);
}

/* Redis' clock, in ms. */
static inline int64_t
redis_now(struct bed *b)
{
	static const struct state_script now = {
		"local t=redis.call('TIME') "
		"return t[1]*1000+math.floor(t[2]/1000)"
	};
	struct state_call c = { .script = &now };
	struct state_reply *r;
	int64_t v;

	OK(state_eval(b->s, &c, &r));
	v = state_reply_int(r);
	state_reply_free(r);
	return v;
}

#endif /* !STATE_BED_H */
