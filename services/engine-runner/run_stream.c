#include "run_stream.h"

#include <stdio.h>

#include "bus/bus.h"
#include "context.h"
#include "core/log.h"
#include "wire/subjects.h"

/* Between two attempts while Redis is down. */
#define RETRY_MS 200

enum rc
run_stream_append(struct runner *r, struct run_publish *p)
{
	static struct log_rate rate;
	int64_t missed;
	enum rc rc;

	for (;;) {
		rc = run_publish(r->state, p);
		if (rc == RC_OK || rc == RC_CONFLICT || rc == RC_NOENT ||
		    rc == RC_INVALID || rc == RC_TOOBIG)
			return rc;
		/* Other events are in the log than the caller knows of. */
		if (rc == RC_RETRY && p->fcmp_is >= 0)
			return rc;
		if (r->stopping)
			return RC_DOWN;
		if (log_every(&rate, 10, &missed))
			log_warn("run.not_published", LOG_V("run", p->run_id),
			    LOG_RC(rc), LOG_I("missed", missed));
		runner_sleep(r, RETRY_MS);
	}
}

void
run_stream_publish(
    struct runner *r, struct str run, const struct str *json, size_t n)
{
	char subject[ID_TOKEN_MAX + 32], token[ID_TOKEN_MAX];
	enum rc rc = id_token(run, token);
	size_t i;

	if (rc != RC_OK)
		return;
	(void)snprintf(
	    subject, sizeof(subject), WIRE_SUBJECT_FMT_RUN_STREAM, token);
	for (i = 0; rc == RC_OK && i < n; i++)
		rc = bus_publish(r->bus, subject, json[i], NULL);
	/* Readers find them in the log. */
	if (rc != RC_OK)
		log_debug("run.stream", LOG_V("run", run), LOG_RC(rc));
}
