/*
 * run_due: timers of runs that have not ended.
 *
 * A sorted set of each bucket has the times.  A claim moves them by its lease,
 * so that it expires if nothing more happens.
 */
#include "core/mem.h"
#include "state/run.h"
#include "state/scripts.h"
#include "state/state_internal.h"

static enum rc
run_due_parse_status(struct str name, enum run_status *out)
{
	int st;

	for (st = 0; st < RUN_STATUS_N; st++)
		if (str_eq(
			name, str_of(run_status_name((enum run_status)st)))) {
			*out = (enum run_status)st;
			return RC_OK;
		}
	return RC_INVALID;
}

static enum rc
run_due_parse(const struct state_reply *list, struct arena *a,
    struct run_due_list *out, struct str key)
{
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(list);

	out->run = arena_alloc(a, (n + 1) * sizeof(*out->run));
	if (out->run == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		const struct state_reply *f = state_reply_at(list, i);
		struct run_due *d = &out->run[i];

		d->run_id = record_text(&rd, state_reply_at(f, 0));
		if (run_due_parse_status(state_reply_str(state_reply_at(f, 1)),
			&d->status) != RC_OK)
			rd.rc = RC_INVALID;
		d->runner = record_text(&rd, state_reply_at(f, 2));
		if (d->runner.n == 0)
			d->runner = STR_NONE;
		d->epoch = record_num(&rd, state_reply_at(f, 3));
		d->cancel = record_num(&rd, state_reply_at(f, 4)) != 0;
		d->changed.ms = record_num(&rd, state_reply_at(f, 5));
	}
	out->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

enum rc
run_due_claim(struct state *s, unsigned bucket, int64_t lease_ms, size_t max,
    struct arena *a, struct run_due_list *out)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct run_due_list){ 0 };
	if (lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &script_run_due_claim);
	call_bucket_key(&c, KEY_RUNS_DUE, bucket);
	call_num(&c, lease_ms);
	call_num(&c, (int64_t)(max < RUN_DUE_MAX ? max : RUN_DUE_MAX));
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = run_due_parse(state_reply_at(r, 2), a, out, c.keys[0]);
	if (rc == RC_OK)
		out->next.ms = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}
