#include "runs/run_wake.h"

#include <stdio.h>

#include "bus/bus.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "gateway.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

void
run_wake(struct gateway *g, const struct svc_call *c, struct str runner,
    struct str run)
{
	const struct wire_run_wake msg = { .run_id = run };
	char token[ID_TOKEN_MAX], subject[ID_TOKEN_MAX + 32];
	struct bus_meta meta = { .trace = svc_call_trace(c) };
	struct buf out = BUF_INIT(1024);
	enum rc rc;

	if (runner.n == 0)
		return;
	rc = id_token(runner, token);
	if (rc == RC_OK)
		rc = wire_encode(&wire_run_wake_desc, &msg, &out, NULL);
	if (rc == RC_OK) {
		(void)snprintf(
		    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_WAKE, token);
		rc =
		    bus_publish(svc_bus(g->svc), subject, buf_str(&out), &meta);
	}
	if (rc != RC_OK)
		log_debug("gateway.run_wake", LOG_V("run", run), LOG_RC(rc));
	buf_free(&out);
}
