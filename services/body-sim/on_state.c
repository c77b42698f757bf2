/*
 * A body's state as an answer.
 */
#include "on_state.h"

#include "core/clock.h"
#include "device.h"
#include "sim.h"
#include "svc/svc.h"

void
on_state(void *app, struct svc_call *c)
{
	struct sim *sim = app;
	const struct sim_conf *conf = sim->conf;
	struct device *d = sim_find(sim, svc_call_query(c, "terminal_id"));
	struct wire_body_state st = { 0 };

	if (d == NULL) {
		svc_fail(c, RC_NOENT, "no such body here");
		return;
	}
	st.terminal_id = str_of(d->id);
	st.soul_hint = str_of(conf->soul_hint);
	st.skill_version = conf->skill_version;
	st.catalog_version = conf->catalog_version;
	st.online = device_online(d);
	if (body_report(&d->body, clock_wall(), svc_call_arena(c), &st) ==
	    RC_OK)
		svc_reply(c, &st);
	else
		svc_fail(c, RC_TOOBIG, "the state takes too much memory");
}
