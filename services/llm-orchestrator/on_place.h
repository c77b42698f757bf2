/*
 * on_place: a turn's place in its session's queue: taking it, waiting in it,
 * giving it up; and the proof that this process lives.
 */
#ifndef LLM_ORCHESTRATOR_ON_PLACE_H
#define LLM_ORCHESTRATOR_ON_PLACE_H

#include "core/rc.h"
#include "core/str.h"

struct bus_msg;
struct orch;
struct run;

/*
 * place_enter(r):
 * Take a place; RC_OK: r->ahead turns are before it, and it is fed as these
 * end.  Otherwise as turn_enter(), which sets *first; r then has no place.
 */
enum rc place_enter(struct run *r, struct str *first) RC_CHECK;

/*
 * place_wait(r):
 * Tell the turn how many are before it, and go on asking while it waits.  r may
 * be freed when it returns.
 */
void place_wait(struct run *r);

/*
 * place_leave(r):
 * Give the place up with r->ending, and wake whoever is next.  If Redis is
 * away, that is done as soon as it is back.
 */
void place_leave(struct run *r);

/* place_left(r): r->ending has been written: publish it, wake who is next. */
void place_left(struct run *r);

/* on_wake(o, m): Somebody's turn has ended; ours may be next. */
void on_wake(void *o, struct bus_msg *m);

/* on_tick(o): Every second: this process lives; places still to be left. */
void on_tick(void *o);

/* place_free(o): Forget the places that could not be given up. */
void place_free(struct orch *o);

#endif /* !LLM_ORCHESTRATOR_ON_PLACE_H */
