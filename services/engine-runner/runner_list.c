#include "runner_list.h"

#include "context.h"
#include "core/log.h"

enum rc
runner_list_read(struct runner *r, struct arena *a, struct runner_list *out)
{
	struct wire_err err;
	size_t i;
	enum rc rc;

	*out = (struct runner_list){ 0 };
	rc = run_runner_list(r->state, a, &out->all, &out->n_all);
	if (rc != RC_OK)
		return rc;
	out->status = arena_alloc(a, (out->n_all + 1) * sizeof(*out->status));
	if (out->status == NULL)
		return RC_TOOBIG;
	for (i = 0; i < out->n_all; i++) {
		if (!out->all[i].alive)
			continue;
		rc = wire_decode(&wire_runner_status_desc, out->all[i].status,
		    a, &out->status[out->n_status], &err);
		if (rc == RC_OK)
			out->n_status++;
		else
			log_error("runner.status",
			    LOG_V("runner", out->all[i].id),
			    LOG_S("path", err.path), LOG_S("why", err.why));
	}
	return RC_OK;
}

const struct run_runner *
runner_list_find(const struct runner_list *l, struct str runner)
{
	size_t i;

	for (i = 0; i < l->n_all; i++)
		if (str_eq(l->all[i].id, runner))
			return &l->all[i];
	return NULL;
}
