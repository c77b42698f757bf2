#include "svc/tick_hint.h"

#include "bus/bus.h"
#include "core/buf.h"
#include "core/log.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define HINT_MAX 64

void
svc_tick_hint(struct svc *s, unsigned bucket)
{
	const struct wire_timer_tick m = { .bucket = bucket };
	struct buf out = BUF_INIT(HINT_MAX);
	enum rc rc;

	rc = wire_encode(&wire_timer_tick_desc, &m, &out, NULL);
	if (rc == RC_OK)
		rc = bus_publish(
		    svc_bus(s), WIRE_SUBJECT_TIMER_TICK, buf_str(&out), NULL);
	if (rc != RC_OK)
		log_debug("tick.hint_lost", LOG_RC(rc));
	buf_free(&out);
}
