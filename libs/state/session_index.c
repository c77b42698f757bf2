#include "state/session_index.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* What the script returns of each session. */
enum {
	MEMBER_ID,
	MEMBER_SOUL,
	MEMBER_TERMINAL,
	MEMBER_ACTIVE,
	MEMBER_COUNT,
	MEMBER_TEXT,
	MEMBERS
};

static struct str
session_index_text(struct record_reader *rd, const struct state_reply *r)
{
	struct str s = record_text(rd, r);

	return s.n > 0 ? s : STR_NONE;
}

static void
session_index_take(struct record_reader *rd, const struct state_reply *list,
    size_t at, struct session_entry *e)
{
	*e = (struct session_entry){
		.session_id = record_id(rd, state_reply_at(list, at)),
		.soul_id = session_index_text(
		    rd, state_reply_at(list, at + MEMBER_SOUL)),
		.terminal_id = session_index_text(
		    rd, state_reply_at(list, at + MEMBER_TERMINAL)),
		.active = { record_num(
		    rd, state_reply_at(list, at + MEMBER_ACTIVE)) },
		.messages =
		    state_reply_int(state_reply_at(list, at + MEMBER_COUNT)),
		.last_text = session_index_text(
		    rd, state_reply_at(list, at + MEMBER_TEXT)),
	};
}

static enum rc
session_index_take_page(const struct state_reply *r, struct arena *a,
    struct session_index_page *p, struct str key)
{
	const struct state_reply *list = state_reply_at(r, 1);
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(list) / MEMBERS;

	p->entry = arena_alloc(a, (n + 1) * sizeof(*p->entry));
	if (p->entry == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		session_index_take(&rd, list, i * MEMBERS, &p->entry[p->n++]);
	p->next = session_index_text(&rd, state_reply_at(r, 2));
	return record_end(&rd, key);
}

enum rc
session_index_read(struct state *s, struct str user, struct arena *a,
    struct session_index_page *p)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	p->n = 0;
	p->next = STR_NONE;
	if (p->max == 0 || p->max > SESSION_INDEX_PAGE_MAX)
		return RC_INVALID;
	call_begin(&c, &script_session_index);
	call_key(&c, KEY_USER_SESSIONS, user, STR_NONE);
	call_token(&c, user);
	rc = call_cursor(&c, p->after);
	if (rc != RC_OK)
		return rc;
	call_num(&c, (int64_t)p->max);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = session_index_take_page(r, a, p, c.keys[0]);
	state_reply_free(r);
	return rc;
}
