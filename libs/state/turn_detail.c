#include "state/turn_detail.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

static void
turn_detail_call(struct script_call *c, const struct state_script *script,
    struct str user, struct str turn)
{
	call_begin(c, script);
	call_key(c, KEY_TURN_DETAIL, user, turn);
}

enum rc
turn_detail_put(struct state *s, const struct turn_detail *d)
{
	struct script_call c;

	if (d->ttl_ms <= 0 || d->summary.p == NULL || d->detail.p == NULL)
		return RC_INVALID;
	turn_detail_call(&c, &script_turn_detail_put, d->user_id, d->turn_id);
	call_key(&c, KEY_USER_TURNS, d->user_id, STR_NONE);
	call_token(&c, d->user_id);
	call_token(&c, d->turn_id);
	call_num(&c, d->started.ms);
	call_num(&c, d->ttl_ms);
	call_num(&c, TURN_DETAIL_TURNS_MAX);
	call_text(&c, d->summary, TURN_SUMMARY_MAX);
	call_text(&c, d->detail, TURN_DETAIL_MAX);
	return call_run(s, &c, 1, NULL);
}

static enum rc
turn_detail_take_page(const struct state_reply *r, struct arena *a,
    struct turn_detail_page *p, struct str key)
{
	const struct state_reply *list = state_reply_at(r, 1);
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(list);

	p->summary = arena_alloc(a, (n + 1) * sizeof(*p->summary));
	if (p->summary == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		p->summary[p->n++] = record_text(&rd, state_reply_at(list, i));
	p->next = record_text(&rd, state_reply_at(r, 2));
	if (p->next.n == 0)
		p->next = STR_NONE;
	return record_end(&rd, key);
}

enum rc
turn_detail_list(struct state *s, struct str user, struct arena *a,
    struct turn_detail_page *p)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	p->n = 0;
	p->next = STR_NONE;
	if (p->max == 0 || p->max > TURN_DETAIL_PAGE_MAX)
		return RC_INVALID;
	call_begin(&c, &script_turn_detail_list);
	call_key(&c, KEY_USER_TURNS, user, STR_NONE);
	call_token(&c, user);
	rc = call_cursor(&c, p->after);
	if (rc != RC_OK)
		return rc;
	call_num(&c, (int64_t)p->max);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = turn_detail_take_page(r, a, p, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
turn_detail_read(struct state *s, struct str user, struct str turn_id,
    struct arena *a, struct str *json)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	turn_detail_call(&c, &script_turn_detail_read, user, turn_id);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		*json = record_text(&rd, state_reply_at(r, 1));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
turn_detail_wipe(struct state *s, struct str user)
{
	struct script_call c;

	call_begin(&c, &script_turn_detail_wipe);
	call_key(&c, KEY_USER_TURNS, user, STR_NONE);
	call_token(&c, user);
	return call_run(s, &c, 1, NULL);
}
