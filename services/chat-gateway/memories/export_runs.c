#include "memories/export_runs.h"

#include "core/log.h"
#include "runs/run_view.h"
#include "state/events.h"
#include "state/run.h"
#include "wire/wire.h"

static enum rc
export_runs_put_run(struct export_runs *p, struct state *s, struct str run,
    struct arena *a, const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_run = true };
	struct run_record rec;
	enum rc rc = run_read(s, run, a, &rec);

	p->seq = 0;
	/* It has expired meanwhile. */
	if (rc == RC_NOENT) {
		p->seq = -1;
		return RC_OK;
	}
	if (rc == RC_OK)
		rc = run_view_record(&rec, a, &line.run);
	return rc == RC_OK ? to->put(to->arg, &line) : rc;
}

static enum rc
export_runs_put_events(struct export_runs *p, struct state *s, struct arena *a,
    const struct export_to *to)
{
	const struct events_key k = events_of_run(str_of(p->run));
	struct wire_memory_export_line line = { .has_run_event = true };
	struct events page;
	struct wire_err err;
	enum rc rc = events_read(s, &k, p->seq, false, a, &page);
	size_t i;

	for (i = 0; rc == RC_OK && i < page.n; i++) {
		p->seq = page.item[i].seq;
		if (wire_decode(&wire_chat_event_desc, page.item[i].json, a,
			&line.run_event, &err) == RC_OK)
			rc = to->put(to->arg, &line);
		else
			log_error("gateway.stored_event",
			    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	if (rc == RC_OK && !page.more)
		p->seq = -1;
	return rc;
}

enum rc
export_runs_next(struct export_runs *p, struct state *s, struct arena *a,
    const struct export_to *to)
{
	struct run_page page = { .max = 1 };
	enum rc rc;

	if (p->run[0] != '\0' && p->seq >= 0)
		return export_runs_put_events(p, s, a, to);
	if (p->run[0] != '\0')
		page.after = str_of(p->run);
	do {
		rc = run_list(s, p->user, a, &page);
		page.after = page.next;
	} while (rc == RC_OK && page.n == 0 && page.next.p != NULL);
	if (rc != RC_OK || page.n == 0)
		return rc != RC_OK ? rc : RC_NOENT;
	str_copy(page.run[0].run_id, p->run, sizeof(p->run));
	return export_runs_put_run(p, s, page.run[0].run_id, a, to);
}
