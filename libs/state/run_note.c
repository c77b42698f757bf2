/*
 * run_note: what a session is to report of its runs.
 */
#include "core/mem.h"
#include "state/keys.h"
#include "state/run.h"
#include "state/scripts.h"
#include "state/state_internal.h"

static void
run_note_call(struct script_call *c, const struct state_script *script,
    struct str user, struct str session)
{
	call_begin(c, script);
	call_key(c, KEY_USER_RUN_NOTES, user, STR_NONE);
	call_token(c, session);
}

enum rc
run_notes_read(struct state *s, struct str user, struct str session,
    struct arena *a, struct str **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *texts;
	struct state_reply *r;
	struct script_call c;
	size_t i, len;
	enum rc rc;

	*n = 0;
	run_note_call(&c, &script_run_notes_read, user, session);
	rc = call_run(s, &c, 2, &r);
	texts = state_reply_at(r, 1);
	len = state_reply_len(texts);
	*list = arena_alloc(a, (len + 1) * sizeof(**list));
	if (rc == RC_OK && *list == NULL)
		rc = RC_TOOBIG;
	if (rc == RC_OK) {
		for (i = 0; i < len; i++)
			(*list)[i] = record_text(&rd, state_reply_at(texts, i));
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc == RC_OK)
		*n = len;
	state_reply_free(r);
	return rc;
}

enum rc
run_notes_done(struct state *s, struct str user, struct str session,
    const struct str *list, size_t n)
{
	struct script_call c;
	size_t i;

	if (n == 0)
		return RC_OK;
	if (n > RUN_NOTES_MAX)
		return RC_INVALID;
	run_note_call(&c, &script_run_notes_done, user, session);
	for (i = 0; i < n; i++)
		call_text(&c, list[i], RUN_NOTE_MAX);
	return call_run(s, &c, 1, NULL);
}
