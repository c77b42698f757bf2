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
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_USER_RUN_NOTES, k->user_id, STR_NONE);
	call_token(c, k->session_id);
}

void
session_notes_parse(struct record_reader *rd, const struct state_reply *list,
    struct session_notes *out)
{
	size_t i, n = state_reply_len(list);

	*out = (struct session_notes){ NULL, 0 };
	if (n == 0)
		return;
	out->json = arena_alloc(rd->a, n * sizeof(*out->json));
	if (out->json == NULL) {
		rd->rc = RC_TOOBIG;
		return;
	}
	for (i = 0; i < n; i++)
		out->json[i] = record_text(rd, state_reply_at(list, i));
	out->n = rd->rc == RC_OK ? n : 0;
}

enum rc
run_notes_read(struct state *s, const struct session_key *k, struct arena *a,
    struct session_notes *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct session_notes){ NULL, 0 };
	run_note_call(&c, &script_run_notes_read, k);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		session_notes_parse(&rd, state_reply_at(r, 1), out);
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
run_note_put(struct state *s, struct str user, struct str id, struct str note)
{
	struct script_call c;

	call_begin(&c, &script_run_note_put);
	call_key(&c, KEY_USER_RUN_NOTES, user, STR_NONE);
	call_token(&c, id);
	call_text(&c, note, RUN_NOTE_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
run_notes_done(struct state *s, const struct session_key *k,
    const struct session_notes *notes)
{
	struct script_call c;
	size_t i;

	if (notes->n == 0)
		return RC_OK;
	if (notes->n > RUN_NOTES_MAX)
		return RC_INVALID;
	run_note_call(&c, &script_run_notes_done, k);
	for (i = 0; i < notes->n; i++)
		call_text(&c, notes->json[i], RUN_NOTE_MAX);
	return call_run(s, &c, 1, NULL);
}
