#include "alarm_select.h"

#include "alarm/alarm_moment.h"
#include "alarm/alarm_when.h"
#include "alarm_words.h"
#include "context.h"
#include "core/buf.h"
#include "ring.h"
#include "state/speech.h"

#define NAMES_MAX 2048
/* Alarms that an error names. */
#define NAMED_MAX 5

static bool
select_has_text(const struct wire_alarm_record *r, struct str text)
{
	return text.n == 0 || str_find(r->text, text) >= 0 ||
	    (r->has_action && str_find(r->action.request_text, text) >= 0);
}

static bool
select_is_at(const struct wire_alarm_record *r, const struct alarm_range *range)
{
	return (r->at_ms >= range->from.ms && r->at_ms < range->to.ms) ||
	    (r->at_ms >= range->other_from.ms && r->at_ms < range->other_to.ms);
}

/* The candidates in words, for a question. */
static struct str
select_names(const struct alarm_selection *s, struct arena *a)
{
	struct buf b = BUF_INIT(NAMES_MAX);
	char moment[ALARM_MOMENT_MAX];
	bool zh =
	    alarm_is_chinese(s->match_text.n > 0 ? s->match_text : s->when);
	struct str text;
	size_t i;

	buf_puts(&b,
	    zh ? "有多个符合，请说明是哪一个：" : "several match, which one: ");
	for (i = 0; i < s->n && i < NAMED_MAX; i++) {
		alarm_moment_write((struct wall){ s->x[i].r.at_ms }, s->now,
		    s->zone, zh, moment);
		buf_printf(&b, "%s%s ", i > 0 ? "; " : "", moment);
		buf_put_str(&b, alarm_words_title(&s->x[i].r, a));
		buf_printf(&b, " (alarm_id %.*s)", STR_ARG(s->x[i].r.id));
	}
	text = arena_str(a, buf_str(&b));
	buf_free(&b);
	return text;
}

static enum rc
select_by_id(struct alarm_clock *c, struct alarm_selection *s, struct arena *a,
    struct alarm_rejection *why)
{
	enum rc rc;

	s->x = arena_alloc(a, sizeof(*s->x));
	if (s->x == NULL)
		return alarm_reject_state(why, RC_TOOBIG);
	*s->x = (struct alarm_stored){ .entry = { .type = ALARM_ENTRY_ALARM,
					   .user_id = s->user_id,
					   .id = s->alarm_id } };
	rc = alarm_store_read(c, s->x, a, &s->now);
	if (rc == RC_NOENT ||
	    (rc == RC_OK && !s->ended && ring_has_ended(&s->x->r) &&
		s->x->r.next_ms == 0))
		return alarm_reject(
		    why, RC_NOENT, STR("the user has no such alarm"));
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	s->n = 1;
	return RC_OK;
}

enum rc
alarm_select(struct alarm_clock *c, struct alarm_selection *s, struct arena *a,
    struct alarm_rejection *why)
{
	const struct alarm_entry which = { .type = ALARM_ENTRY_ALARM,
		.user_id = s->user_id };
	struct alarm_range range = { 0 };
	struct alarm_stored_list list;
	struct speech_context x;
	size_t i;
	enum rc rc;

	s->n = 0;
	rc = speech_context_read(
	    c->state, s->user_id, (struct str){ NULL, 0 }, a, &x);
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	s->zone = clock_zone(c, x.zone);
	s->zone = s->zone != NULL ? s->zone : c->zone;
	s->now = x.now;
	if (s->alarm_id.n > 0)
		return select_by_id(c, s, a, why);
	if (s->when.n > 0 &&
	    alarm_when_range(s->when, x.now, s->zone, &range) != RC_OK)
		return alarm_reject(why, RC_INVALID,
		    arena_printf(a,
			alarm_is_chinese(s->when)
			    ? "听不懂“%.*s”是哪个时间"
			    : "/when: \"%.*s\" is no single time",
			STR_ARG(s->when)));
	rc = alarm_store_list(c, &which, s->ended, a, &list);
	if (rc != RC_OK)
		return alarm_reject_state(why, rc);
	s->x = list.x;
	for (i = 0; i < list.n; i++)
		if (select_has_text(&list.x[i].r, s->match_text) &&
		    (s->when.n == 0 || select_is_at(&list.x[i].r, &range)))
			s->x[s->n++] = list.x[i];
	if (s->one && s->n == 0)
		return alarm_reject(why, RC_NOENT,
		    alarm_is_chinese(s->when.n > 0 ? s->when : s->match_text)
			? STR("没有这样的闹钟")
			: STR("the user has no such alarm"));
	if (s->one && s->n > 1)
		return alarm_reject(why, RC_CONFLICT, select_names(s, a));
	return RC_OK;
}
