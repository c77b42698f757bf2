/*
 * terminal: reading terminals' records, and which a user has.
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

static int
terminal_id_compare(const void *a, const void *b)
{
	return str_cmp(((const struct terminal_listed *)a)->id,
	    ((const struct terminal_listed *)b)->id);
}

/* {terminal, entry, …} */
static enum rc
terminal_list_read(const struct state_reply *all, struct record_reader *rd,
    struct terminal_listed **list, size_t *n)
{
	size_t i, max = state_reply_len(all) / 2;

	*list = arena_alloc(rd->a, max * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; rd->rc == RC_OK && i < max; i++) {
		(*list)[i].id = record_id(rd, state_reply_at(all, 2 * i));
		(*list)[i].entry =
		    record_text(rd, state_reply_at(all, 2 * i + 1));
	}
	if (rd->rc == RC_OK)
		*n = max;
	return rd->rc;
}

enum rc
terminal_list(struct state *s, struct str user, struct arena *a,
    struct terminal_listed **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*list = NULL;
	*n = 0;
	call_begin(&c, &script_terminal_list);
	call_key(&c, KEY_USER_TERMINALS, user, STR_NONE);
	call_key(&c, KEY_USER_DELETING, user, STR_NONE);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		rd.rc = terminal_list_read(state_reply_at(r, 1), &rd, list, n);
		rc = record_end(&rd, c.keys[0]);
		if (*n > 0)
			qsort(*list, *n, sizeof(**list), terminal_id_compare);
		soul_delete_rest(s, user, state_reply_at(r, 2));
	}
	state_reply_free(r);
	return rc;
}

enum rc
terminal_list_drop(
    struct state *s, struct str user, const struct terminal_listed *t)
{
	struct script_call c;

	call_begin(&c, &script_terminal_list_drop);
	call_key(&c, KEY_USER_TERMINALS, user, STR_NONE);
	call_token(&c, user);
	call_token(&c, t->id);
	call_text(&c, t->entry, STATE_KEY_MAX);
	return call_run(s, &c, 1, NULL);
}
