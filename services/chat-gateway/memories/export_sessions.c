#include "memories/export_sessions.h"

#include "memories/session_view.h"
#include "state/session.h"
#include "state/user_data.h"

/* Bytes of ids of all sessions of a user. */
#define IDS_BYTES ((size_t)1024 * 1024)
/* Messages of a line, and their bytes: JSON in JSON may take twice as many. */
#define PAGE_MESSAGES 500
#define PAGE_BYTES    (256UL * 1024)

static enum rc
export_sessions_begin(struct export_sessions *p, struct state *s)
{
	if (p->a != NULL)
		return RC_OK;
	p->a = arena_new(IDS_BYTES);
	return user_data_sessions(s, p->user, p->a, &p->ids, &p->n);
}

enum rc
export_sessions_next(struct export_sessions *p, struct state *s,
    struct arena *a, const struct export_to *to)
{
	struct wire_memory_export_line line = { .has_session = true };
	struct session_key k = { .user_id = p->user };
	struct session_list list = { 0 };
	struct session session;
	enum rc rc = export_sessions_begin(p, s);

	if (rc != RC_OK || p->at == p->n)
		return rc != RC_OK ? rc : RC_NOENT;
	k.session_id = p->ids[p->at];
	rc = session_read(s, &k, a, &session);
	if (rc == RC_OK && session.known)
		rc = session_messages(s, &k,
		    (struct session_page){
			p->after, PAGE_MESSAGES, PAGE_BYTES },
		    a, &list);
	if (rc == RC_OK && list.n > 0) {
		p->after = list.message[list.n - 1].number;
		rc = session_view_messages(a, &list, &line.session);
		line.session.user_id = p->user;
		line.session.session_id = k.session_id;
		line.session.summary = session.summary;
		if (rc == RC_OK)
			rc = to->put(to->arg, &line);
	} else if (rc == RC_OK) {
		p->at++;
		p->after = 0;
	}
	return rc;
}

void
export_sessions_free(struct export_sessions *p)
{
	if (p->a != NULL)
		arena_free(p->a);
}
