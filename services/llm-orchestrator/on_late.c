/*
 * Results are looked for where the bridge keeps all of them.
 */
#include "on_late.h"

#include "core/log.h"
#include "late.h"
#include "orch.h"
#include "reply.h"
#include "run.h"
#include "state/terminal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define WHY_MAX 1024

/* What json says came of it; anything that is no result says nothing. */
static void
take(struct late_item *it, struct str json, struct arena *scratch,
    struct arena *keep)
{
	struct wire_result m;

	if (wire_decode(&wire_result_desc, json, scratch, &m, NULL) != RC_OK ||
	    !str_eq(m.request_id, it->request_id))
		return;
	it->outcome = m.ok ? TURN_OK : TURN_ERROR;
	if (!m.ok)
		it->why = reply_clean(m.error, WHY_MAX, keep);
	log_info("turn.late_result", LOG_V("request", it->request_id),
	    LOG_I("ok", m.ok));
}

enum rc
late_load(struct run *r, struct str kept)
{
	struct arena *scratch = r->o->scratch;
	struct late_list *l = &r->facts.late;
	struct str json;

	late_read(kept, clock_wall().ms, r->a, l);
	r->facts.had_late = kept.n > 0;
	for (size_t i = 0; i < l->n; i++) {
		arena_reset(scratch);
		enum rc rc =
		    terminal_get_result(r->o->state, l->item[i].terminal_id,
			l->item[i].request_id, scratch, &json);
		if (rc == RC_OK)
			take(&l->item[i], json, scratch, r->a);
		else if (rc != RC_NOENT && rc != RC_INVALID)
			return rc;
	}
	return RC_OK;
}

struct str
late_keep(const struct run *r, bool told)
{
	struct late_list l = r->facts.late;

	late_add(&l, &r->turn, run_chat(r)->terminal_id, clock_wall().ms);
	if (l.n == 0 && !r->facts.had_late)
		return (struct str){ 0 };
	return late_write(&l, told, r->a);
}
