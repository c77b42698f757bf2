/*
 * The stream, and one publish, named after the job's place on its own.
 */
#include "grave.h"

#include <stdio.h>

#include "core/log.h"
#include "core/mem.h"
#include "letter.h"
#include "wire/subjects.h"

#define LAY_MS       5000
#define KEEP_S       (30 * 24L * 3600)
#define KEEP_SIZE    (64L * 1024 * 1024)
#define DUPLICATES_S 600

enum rc
grave_keep(struct bus *b, bus_ready_fn ready)
{
	static const char *const subjects[] = { WIRE_SUBJECT_ALL_JOB_DEAD };
	const struct bus_stream s = {
		.name = DEAD,
		.subjects = subjects,
		.n_subjects = NELEM(subjects),
		.max_age_s = KEEP_S,
		.max_bytes = KEEP_SIZE,
		.duplicates_s = DUPLICATES_S,
		.ready = ready,
	};

	return bus_stream_ensure(b, &s);
}

/* With data for its content. */
static enum rc
lay(struct bus *b, const struct bus_msg *msg, struct str data, const char *why,
    struct bus_pub_ack_handler waiter)
{
	struct bus_delivery j = { 0 };
	struct letter_note note;
	struct trace trace;
	char id[64];
	struct bus_meta meta = { .deadline = { clock_wall().ms + LAY_MS },
		.msg_id = id,
		.headers = note.headers,
		.nheaders = NELEM(note.headers) };

	(void)bus_msg_delivery(msg, &j);
	letter_note(why, j.delivered, &note);
	snprintf(id, sizeof(id), JOBS ".%lld", (long long)j.seq);
	if (bus_msg_trace(msg, &trace))
		meta.trace = &trace;
	return bus_stream_publish(b, DEAD_SUBJECT, data, &meta, waiter);
}

enum rc
grave_lay(struct bus *b, const struct bus_msg *msg, const char *why,
    struct bus_pub_ack_handler waiter)
{
	struct str data = bus_msg_data(msg);
	struct bus_delivery j = { 0 };
	char text[128];
	enum rc rc;

	(void)bus_msg_delivery(msg, &j);
	log_error("job.dead", LOG_I("seq", j.seq),
	    LOG_V("job", bus_msg_id(msg)), LOG_I("delivered", j.delivered),
	    LOG_S("why", why));
	rc = lay(b, msg, data, why, waiter);
	if (rc != RC_TOOBIG)
		return rc;
	/* It is from elsewhere, ours are not; its stream has it yet. */
	snprintf(text, sizeof(text),
	    "%zu bytes, too many to be put aside: " JOBS " has it as %lld",
	    data.n, (long long)j.seq);
	return lay(b, msg, STR(""), text, waiter);
}
