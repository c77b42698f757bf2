#include "webhooks/webhook_view.h"

#include "core/log.h"
#include "wire/wire.h"

enum rc
webhook_view_put(
    const struct webhook_listed *w, struct arena *a, struct wire_webhook *out)
{
	struct wire_webhook_record rec;
	struct wire_err err;
	enum rc rc =
	    wire_decode(&wire_webhook_record_desc, w->json, a, &rec, &err);

	if (rc != RC_OK) {
		log_error("gateway.stored_webhook", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		return rc;
	}
	*out = (struct wire_webhook){ .id = w->id,
		.url = rec.url,
		.types = rec.types,
		.n_types = rec.n_types,
		.has_types = rec.has_types,
		.description = rec.description,
		.created_at = rec.created_at,
		.state = w->tries > 0 ? WIRE_WEBHOOK_STATE_FAILING
				      : WIRE_WEBHOOK_STATE_OK,
		.pending = w->pending,
		.dead = w->dead,
		.dropped = w->dropped,
		.tries = w->tries };
	if (w->at.ms > 0)
		out->last_at = wall_text(w->at, 0, a);
	if (w->status > 0) {
		out->last_status = w->status;
		out->has_last_status = true;
	}
	if (w->why.n > 0)
		out->last_error = w->why;
	return RC_OK;
}
