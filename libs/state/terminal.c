/*
 * terminal: reading a terminal's record, and its binding.
 */
#include "state/terminal.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

static void
terminal_read_fields(const struct state_reply *r, struct arena *a,
    struct terminal *t, struct record_reader *rd)
{
	const struct state_reply *h = state_reply_at(r, 3);
	size_t i;

	*rd = (struct record_reader){ .a = a };
	t->known = state_reply_int(state_reply_at(r, 1)) != 0;
	t->present = state_reply_int(state_reply_at(r, 2)) != 0;
	t->seen.ms = record_num(rd, state_reply_at(h, 0));
	t->broker = record_text(rd, state_reply_at(h, 1));
	t->skill_version = record_num(rd, state_reply_at(h, 2));
	t->skills = record_text(rd, state_reply_at(h, 3));
	t->catalog_version = record_num(rd, state_reply_at(h, 4));
	t->catalog = record_text(rd, state_reply_at(h, 5));
	t->catalog_hash = record_text(rd, state_reply_at(h, 6));
	t->soul_hint = record_text(rd, state_reply_at(h, 7));
	t->user_id = record_id(rd, state_reply_at(h, 8));
	t->soul_id = record_id(rd, state_reply_at(h, 9));
	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		t->rejected[i] = record_text(rd, state_reply_at(h, 11 + i));
	t->catalog_bytes = (size_t)state_reply_int(state_reply_at(r, 4));
}

static enum rc
terminal_read_record(struct script_call *c, struct state *s, struct arena *a,
    struct terminal *out)
{
	struct state_reply *r;
	struct record_reader rd;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	rc = call_run(s, c, 5, &r);
	if (rc == RC_OK) {
		terminal_read_fields(r, a, out, &rd);
		rc = record_end(&rd, c->keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

enum rc
terminal_read(struct state *s, struct str id, int64_t ttl_ms, struct arena *a,
    struct terminal *out)
{
	struct script_call c;

	call_begin(&c, &script_terminal_read);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_num(&c, ttl_ms);
	call_text(&c, STR("ct"), 2);
	return terminal_read_record(&c, s, a, out);
}

enum rc
terminal_read_brief(struct state *s, struct str id, int64_t ttl_ms,
    struct arena *a, struct terminal *out)
{
	struct script_call c;

	call_begin(&c, &script_terminal_read);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_num(&c, ttl_ms);
	call_text(&c, STR_NONE, 0);
	return terminal_read_record(&c, s, a, out);
}

enum rc
terminal_read_catalog(struct state *s, struct str id, struct str hash,
    struct arena *a, struct str *json)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*json = STR_NONE;
	call_begin(&c, &script_terminal_read_catalog);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_text(&c, hash, TERMINAL_HASH_MAX);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*json = record_text(&rd, state_reply_at(r, 1));
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc == RC_OK && json->p == NULL)
		rc = RC_NOENT;
	state_reply_free(r);
	return rc;
}

struct terminal_binding {
	struct str terminal, user, soul;
	bool if_unbound;
};

static enum rc
terminal_bind_to(struct state *s, const struct terminal_binding *b)
{
	struct script_call c;

	call_begin(&c, &script_terminal_bind);
	call_key(&c, KEY_TERMINAL, b->terminal, STR_NONE);
	call_key(&c, KEY_USER_TERMINALS, b->user, STR_NONE);
	call_key(&c, KEY_SOUL, b->soul, STR_NONE);
	call_key(&c, KEY_BODIES, b->soul, STR_NONE);
	call_key(&c, KEY_TICKS, STR_NONE, STR_NONE);
	call_key(&c, KEY_TICK_INTERVAL, STR_NONE, STR_NONE);
	call_token(&c, b->user);
	call_token(&c, b->soul);
	call_token(&c, b->terminal);
	call_num(&c, TERMINAL_LIST_MAX);
	call_num(&c, b->if_unbound ? 1 : 0);
	return call_run(s, &c, 1, NULL);
}

enum rc
terminal_bind(struct state *s, struct str id, struct str user, struct str soul)
{
	return terminal_bind_to(
	    s, &(struct terminal_binding){ id, user, soul, false });
}

enum rc
terminal_bind_if_unbound(
    struct state *s, struct str id, struct str user, struct str soul)
{
	return terminal_bind_to(
	    s, &(struct terminal_binding){ id, user, soul, true });
}

enum rc
terminal_unbind(struct state *s, struct str id, struct str user)
{
	struct script_call c;

	call_begin(&c, &script_terminal_unbind);
	call_key(&c, KEY_TERMINAL, id, STR_NONE);
	call_token(&c, user);
	call_token(&c, id);
	return call_run(s, &c, 1, NULL);
}

static int
terminal_id_compare(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

enum rc
terminal_list(struct state *s, struct str user, struct arena *a,
    struct str **ids, size_t *n)
{
	const struct state_reply *tokens;
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;
	size_t i;

	*ids = NULL;
	*n = 0;
	call_begin(&c, &script_terminal_list);
	call_key(&c, KEY_USER_TERMINALS, user, STR_NONE);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		tokens = state_reply_at(r, 1);
		*ids = arena_alloc(a, state_reply_len(tokens) * sizeof(**ids));
		rd.rc = *ids == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(tokens); i++)
			(*ids)[i] = record_id(&rd, state_reply_at(tokens, i));
		rc = record_end(&rd, c.keys[0]);
		*n = rc == RC_OK ? i : 0;
		if (*n > 0)
			qsort(*ids, *n, sizeof(**ids), terminal_id_compare);
	}
	state_reply_free(r);
	return rc;
}
