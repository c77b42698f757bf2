#include "memories/session_view.h"

#include "core/log.h"
#include "state/session.h"
#include "wire/wire.h"

enum rc
session_view_messages(struct arena *a, const struct session_list *list,
    struct wire_session_messages *out)
{
	struct wire_err err;
	size_t i;

	out->items = arena_alloc(a, list->n * sizeof(*out->items));
	if (out->items == NULL)
		return RC_TOOBIG;
	for (i = 0; i < list->n; i++) {
		struct wire_session_messages_items *m =
		    &out->items[out->n_items];

		if (wire_decode(&wire_session_messages_items_desc,
			list->message[i].json, a, m, &err) != RC_OK) {
			log_error("gateway.stored_message",
			    LOG_S("path", err.path), LOG_S("why", err.why));
			continue;
		}
		m->id =
		    arena_printf(a, "%lld", (long long)list->message[i].number);
		if (m->id.p == NULL)
			return RC_TOOBIG;
		out->n_items++;
	}
	return RC_OK;
}
