#include "tools/alarm_text.h"

#include "alarm/alarm_moment.h"
#include "alarm/alarm_wire.h"
#include "core/buf.h"
#include "core/zone.h"

#define TEXT_MAX 8192
/* Alarms that a reply lists. */
#define LISTED_MAX 10

static struct str
alarm_text_end(struct buf *b, struct arena *a)
{
	struct str s = { 0 };

	if (buf_rc(b) == RC_OK)
		s = arena_str(a, buf_str(b));
	buf_free(b);
	return s;
}

/* When it rings: a repetition, then the next occurrence. */
static void
alarm_put_when(const struct alarm_text_input *in,
    const struct wire_alarm *alarm, struct buf *b)
{
	char moment[ALARM_MOMENT_MAX], why[ALARM_WHY_MAX];
	struct alarm_rule rule;
	struct zone *zone = NULL;
	struct wall at;
	char name[64 + 1];

	str_copy(alarm->zone, name, sizeof(name));
	if (zone_load(name, &zone) != RC_OK)
		return;
	if (alarm_rule_of_wire(&alarm->rule, &rule, why, sizeof(why)) ==
		RC_OK &&
	    rule.kind != ALARM_SINGLE) {
		alarm_rule_describe(&rule, in->now, zone, in->chinese, b);
		buf_puts(b, in->chinese ? "，下一次是" : ", next on ");
	}
	if (alarm->next_at.p != NULL &&
	    wall_parse(alarm->next_at, &at) == RC_OK) {
		alarm_moment_write(at, in->now, zone, in->chinese, moment);
		buf_puts(b, moment);
	}
	zone_free(zone);
}

/* What it is for: the user's words, or the action's name. */
static struct str
alarm_subject(const struct wire_alarm *alarm)
{
	if (alarm->text.n == 0 && alarm->has_action &&
	    alarm->action.n_intents > 0) {
		const struct wire_alarm_action_intents *i =
		    &alarm->action.intents[0];

		return i->intent_name.n > 0 ? i->intent_name : i->intent_id;
	}
	return alarm->text;
}

static void
alarm_put_body(const struct alarm_text_input *in,
    const struct wire_alarm_reply *rep, struct buf *b)
{
	bool here = str_eq(rep->on, in->terminal_id);

	if (rep->alarm.kind == WIRE_ALARM_KIND_ACTION)
		return;
	if (in->chinese) {
		if (rep->on.n == 0)
			buf_puts(b, "，在你那时用的设备上");
		else if (here)
			buf_puts(b, "，在这台设备上");
		else
			buf_printf(b, "，在设备%.*s上", STR_ARG(rep->on));
		buf_puts(b, rep->on_self ? "由它自己响铃。" : "。");
		return;
	}
	if (rep->on.n == 0)
		buf_puts(b, ", on the device that you use then");
	else if (here)
		buf_puts(b, ", on this device");
	else
		buf_printf(b, ", on the device %.*s", STR_ARG(rep->on));
	buf_puts(b, rep->on_self ? ", by its own alarm." : ".");
}

/* What was canceled or changed rings all the same. */
static void
alarm_put_own(const struct alarm_text_input *in, struct buf *b)
{
	buf_puts(b,
	    in->chinese
		? "设备自己也定了闹钟，那一个要在设备上关掉。"
		: " The device has set an alarm of its own, too: turn that "
		  "off there.");
}

static void
alarm_put_set(const struct alarm_text_input *in, const struct wire_alarm *alarm,
    struct buf *b)
{
	struct str subject = alarm_subject(alarm);

	alarm_put_when(in, alarm, b);
	switch (alarm->kind) {
	case WIRE_ALARM_KIND_ACTION:
		buf_printf(b, in->chinese ? "执行：%.*s。" : ": %.*s.",
		    STR_ARG(subject));
		break;
	case WIRE_ALARM_KIND_ALARM:
		buf_printf(b, in->chinese ? "叫你%.*s" : " for %.*s",
		    STR_ARG(
			subject.n > 0 || in->chinese ? subject : STR("you")));
		break;
	case WIRE_ALARM_KIND_TIMER:
	case WIRE_ALARM_KIND_REMINDER:
		buf_printf(b,
		    in->chinese ? "提醒你%.*s" : " to remind you %.*s",
		    STR_ARG(subject));
		break;
	}
}

struct str
alarm_text_reply(
    const struct alarm_text_input *in, const struct wire_alarm_reply *rep)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	if (str_eq(in->intent_id, STR("sys.change_alarm")))
		buf_puts(&b, in->chinese ? "好的，改好了：" : "Changed: ");
	else if (rep->created)
		buf_puts(&b, in->chinese ? "好的，" : "Set: ");
	else
		buf_puts(&b, in->chinese ? "已经定过了：" : "Already set: ");
	alarm_put_set(in, &rep->alarm, &b);
	alarm_put_body(in, rep, &b);
	if (rep->own_alarm_stays)
		alarm_put_own(in, &b);
	return alarm_text_end(&b, in->a);
}

/* 11月28日星期六早上8:00 喝水 */
static void
alarm_put_entry(const struct alarm_text_input *in,
    const struct wire_alarm *alarm, struct buf *b)
{
	struct str subject = alarm_subject(alarm);

	alarm_put_when(in, alarm, b);
	if (subject.n > 0) {
		buf_putc(b, ' ');
		buf_put_str(b, subject);
	}
}

struct str
alarm_text_list(
    const struct alarm_text_input *in, const struct wire_alarm_list *list)
{
	bool canceled = str_eq(in->intent_id, STR("sys.cancel_alarm"));
	struct buf b = BUF_INIT(TEXT_MAX);
	size_t i;

	if (list->n_alarms == 0) {
		buf_puts(&b,
		    in->chinese ? "没有闹钟和提醒。"
				: "There are no alarms or reminders.");
		return alarm_text_end(&b, in->a);
	}
	if (canceled)
		buf_puts(&b, in->chinese ? "好的，已取消：" : "Canceled: ");
	else
		buf_printf(&b, in->chinese ? "有%zu个：" : "There are %zu: ",
		    list->n_alarms);
	for (i = 0; i < list->n_alarms && i < LISTED_MAX; i++) {
		if (i > 0)
			buf_puts(&b, in->chinese ? "；" : "; ");
		alarm_put_entry(in, &list->alarms[i], &b);
	}
	if (i < list->n_alarms)
		buf_printf(&b, in->chinese ? "；还有%zu个" : "; and %zu more",
		    list->n_alarms - i);
	buf_puts(&b, in->chinese ? "。" : ".");
	for (i = 0; canceled && i < list->n_alarms; i++)
		if (list->alarms[i].self_ringing) {
			alarm_put_own(in, &b);
			break;
		}
	return alarm_text_end(&b, in->a);
}

struct str
alarm_text_error(
    const struct alarm_text_input *in, enum rc rc, struct str error)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	if (error.n > 0 && rc != RC_BUG && rc != RC_DOWN && rc != RC_RETRY)
		buf_put_str(&b, error);
	else if (rc == RC_TIMEOUT || rc == RC_INVALID)
		buf_puts(&b,
		    in->chinese
			? "闹钟服务没有回应，不能确认是否成功，请稍后再查。"
			: "The alarm service did not reply; it is not "
			  "known whether this was done.");
	else
		buf_puts(&b,
		    in->chinese ? "闹钟服务现在用不了，没有设置成功。"
				: "The alarm service is not available now; "
				  "nothing was set.");
	return alarm_text_end(&b, in->a);
}
