#include "alarm_store.h"

#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "ring.h"
#include "wire/wire.h"

enum rc
alarm_store_decode(struct alarm_stored *x, struct arena *a)
{
	struct wire_err err;
	enum rc rc =
	    wire_decode(&wire_alarm_record_desc, x->entry.json, a, &x->r, &err);

	if (rc != RC_OK)
		log_error("alarm.unreadable", LOG_V("user", x->entry.user_id),
		    LOG_V("id", x->entry.id), LOG_S("why", err.why));
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

enum rc
alarm_store_save(struct alarm_clock *c, struct alarm_stored *x, int64_t due_ms,
    struct arena *a, struct wall *now)
{
	struct alarm_entry_change change = { .most = c->conf->per_user };
	struct buf json = BUF_INIT(ALARM_ENTRY_MAX);
	struct wire_err err;
	enum rc rc;

	x->r.has_tried = x->r.n_tried > 0;
	if (ring_has_ended(&x->r) && x->r.next_ms == 0)
		change.ended.ms =
		    x->r.last_end_ms > 0 ? x->r.last_end_ms : x->r.updated_ms;
	else
		change.due.ms = due_ms > 0 ? due_ms : x->r.next_ms;
	rc = wire_encode(&wire_alarm_record_desc, &x->r, &json, &err);
	if (rc == RC_OK) {
		change.json = arena_str(a, buf_str(&json));
		rc = change.json.p == NULL ? RC_TOOBIG : RC_OK;
	}
	buf_free(&json);
	if (rc == RC_OK)
		rc = alarm_entry_swap(c->state, &x->entry, &change, a, now);
	if (rc == RC_CONFLICT && x->entry.version > 0 &&
	    alarm_store_decode(x, a) != RC_OK)
		rc = RC_INVALID;
	return rc;
}

enum rc
alarm_store_read(struct alarm_clock *c, struct alarm_stored *x, struct arena *a,
    struct wall *now)
{
	enum rc rc = alarm_entry_read(c->state, &x->entry, a, now);

	return rc == RC_OK ? alarm_store_decode(x, a) : rc;
}

enum rc
alarm_store_list(struct alarm_clock *c, const struct alarm_entry *which,
    bool ended, struct arena *a, struct alarm_stored_list *out)
{
	struct alarm_entry_list list;
	size_t i;
	enum rc rc = alarm_entry_list(c->state, which, ended, a, &list);

	*out = (struct alarm_stored_list){ .now = list.now };
	if (rc != RC_OK)
		return rc;
	out->x = arena_alloc(a, (list.n + 1) * sizeof(*out->x));
	if (out->x == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list.n; i++) {
		out->x[out->n].entry = list.entry[i];
		if (alarm_store_decode(&out->x[out->n], a) == RC_OK) {
			out->x[out->n].entry.id = out->x[out->n].r.id;
			out->n++;
		}
	}
	return RC_OK;
}
