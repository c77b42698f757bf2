#include "state/alarm_entry.h"

#include <stdio.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

_Static_assert(ALARM_DUE_MAX + 1 <= SCRIPT_ARGS_MAX, "one call extends them");

/* Per type: the key of an entry, the key of a user's list, the letter. */
static const struct {
	const char *entry, *list, *letter;
} alarm_types[] = {
	[ALARM_ENTRY_ALARM] = { KEY_ALARM, KEY_USER_ALARMS, "a" },
	[ALARM_ENTRY_PUSH] = { KEY_PUSH, KEY_USER_PUSHES, "p" },
};

/* Room for a member of the timers, NUL included. */
#define ALARM_MEMBER_MAX (2 * ID_TOKEN_MAX + 4)

static enum rc
alarm_member(const struct alarm_entry *e, char dst[ALARM_MEMBER_MAX])
{
	char user[ID_TOKEN_MAX], id[ID_TOKEN_MAX];
	enum rc rc = id_token(e->user_id, user);

	if (rc == RC_OK)
		rc = id_token(e->id, id);
	if (rc == RC_OK)
		(void)snprintf(dst, ALARM_MEMBER_MAX, "%s:%s:%s",
		    alarm_types[e->type].letter, user, id);
	return rc;
}

/* The type, user and id of a member. */
static void
alarm_parse_member(
    struct record_reader *rd, struct str member, struct alarm_entry *e)
{
	struct str letter = str_split(&member, ':');

	e->type =
	    str_eq(letter, STR("p")) ? ALARM_ENTRY_PUSH : ALARM_ENTRY_ALARM;
	record_id_pair(rd, member, &e->user_id, &e->id);
}

enum rc
alarm_entry_swap(struct state *s, struct alarm_entry *e,
    const struct alarm_entry_change *change, struct arena *a, struct wall *now)
{
	struct record_reader rd = { .a = a };
	char member[ALARM_MEMBER_MAX];
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*now = (struct wall){ 0 };
	rc = alarm_member(e, member);
	if (rc != RC_OK)
		return rc;
	call_begin(&c, &script_alarm_swap);
	call_key(&c, alarm_types[e->type].entry, e->user_id, e->id);
	call_key(&c, alarm_types[e->type].list, e->user_id, STR_NONE);
	call_key_of(&c, KEY_ALARMS_DUE, e->user_id, STR_NONE);
	call_pack(&c);
	call_num(&c, e->version);
	call_token(&c, e->id);
	call_text(&c, str_of(member), sizeof(member));
	call_num(&c, change->due.ms);
	call_num(&c, change->ended.ms);
	call_num(
	    &c, e->type == ALARM_ENTRY_PUSH ? PUSH_STORED_MS : ALARM_STORED_MS);
	call_num(&c, change->most);
	call_pack_end(&c);
	call_text(&c, change->json, ALARM_ENTRY_MAX);
	rc = call_run(s, &c, 2, &r);
	if (call_is_done(rc)) {
		now->ms = state_reply_int(state_reply_at(r, 1));
		e->version++;
		e->json = change->json;
	} else if (rc == RC_CONFLICT) {
		e->version = state_reply_int(state_reply_at(r, 1));
		e->json = record_text(&rd, state_reply_at(r, 2));
		if (rd.rc != RC_OK)
			rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
alarm_entry_read(
    struct state *s, struct alarm_entry *e, struct arena *a, struct wall *now)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_alarm_read);
	call_key(&c, alarm_types[e->type].entry, e->user_id, e->id);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		now->ms = state_reply_int(state_reply_at(r, 1));
		e->version = record_num(&rd, state_reply_at(r, 2));
		e->json = record_text(&rd, state_reply_at(r, 3));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
alarm_entry_list(struct state *s, const struct alarm_entry *which, bool ended,
    struct arena *a, struct alarm_entry_list *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	*out = (struct alarm_entry_list){ 0 };
	call_begin(&c, &script_alarm_list);
	call_key(&c, alarm_types[which->type].list, which->user_id, STR_NONE);
	call_token(&c, which->user_id);
	call_text(&c, str_of(alarm_types[which->type].letter), 1);
	call_text(&c, ended ? STR("-inf") : STR("0"), 4);
	call_num(&c, ALARM_LIST_MAX);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		out->now.ms = state_reply_int(state_reply_at(r, 1));
		list = state_reply_at(r, 2);
		out->entry = arena_alloc(
		    a, (state_reply_len(list) / 2 + 1) * sizeof(*out->entry));
		rd.rc = out->entry == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i + 1 < state_reply_len(list);
		     i += 2)
			out->entry[out->n++] =
			    (struct alarm_entry){ .type = which->type,
				    .user_id = which->user_id,
				    .version = record_num(
					&rd, state_reply_at(list, i)),
				    .json = record_text(
					&rd, state_reply_at(list, i + 1)) };
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
alarm_entry_wipe(struct state *s, const struct alarm_entry *which)
{
	struct script_call c;

	call_begin(&c, &script_alarm_wipe);
	call_key(&c, alarm_types[which->type].list, which->user_id, STR_NONE);
	call_key_of(&c, KEY_ALARMS_DUE, which->user_id, STR_NONE);
	call_token(&c, which->user_id);
	call_text(&c, str_of(alarm_types[which->type].letter), 1);
	return call_run(s, &c, 1, NULL);
}

/* ---- timers ---- */

enum rc
alarm_due_claim(struct state *s, unsigned bucket, int64_t lease_ms, size_t max,
    struct arena *a, struct alarm_entry_list *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct alarm_entry *e;
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	*out = (struct alarm_entry_list){ 0 };
	if (lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &script_alarm_due_claim);
	call_bucket_key(&c, KEY_ALARMS_DUE, bucket);
	call_num(&c, lease_ms);
	call_num(&c, (int64_t)(max < ALARM_DUE_MAX ? max : ALARM_DUE_MAX));
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->now.ms = state_reply_int(state_reply_at(r, 1));
		out->next.ms = state_reply_int(state_reply_at(r, 2));
		list = state_reply_at(r, 3);
		out->entry = arena_alloc(
		    a, (state_reply_len(list) / 4 + 1) * sizeof(*out->entry));
		rd.rc = out->entry == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i + 3 < state_reply_len(list);
		     i += 4) {
			e = &out->entry[out->n++];
			alarm_parse_member(
			    &rd, state_reply_str(state_reply_at(list, i)), e);
			e->due.ms =
			    record_num(&rd, state_reply_at(list, i + 1));
			e->version =
			    record_num(&rd, state_reply_at(list, i + 2));
			e->json = record_text(&rd, state_reply_at(list, i + 3));
		}
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		out->n = 0;
	state_reply_free(r);
	return rc;
}

enum rc
alarm_due_extend(struct state *s, unsigned bucket, int64_t lease_ms,
    const struct alarm_entry *entries, size_t n)
{
	char member[ALARM_DUE_MAX][ALARM_MEMBER_MAX];
	struct script_call c;
	size_t i;

	if (n == 0 || n > ALARM_DUE_MAX)
		return n == 0 ? RC_OK : RC_INVALID;
	call_begin(&c, &script_alarm_due_extend);
	call_bucket_key(&c, KEY_ALARMS_DUE, bucket);
	call_num(&c, lease_ms);
	for (i = 0; i < n; i++) {
		if (alarm_member(&entries[i], member[i]) != RC_OK)
			return RC_INVALID;
		call_text(&c, str_of(member[i]), ALARM_MEMBER_MAX);
	}
	return call_run(s, &c, 1, NULL);
}
