#include "alarm_words.h"

#include "alarm/alarm_when.h"

/* What begins the words, and what stands for a missing text: Chinese, English.
 */
static const struct {
	const char *zh, *zh_alone, *en, *en_alone;
} words_rows[] = {
	[WIRE_ALARM_RECORD_KIND_ALARM] = { "闹钟响了：", "闹钟响了",
	    "Alarm: ", "Your alarm is ringing" },
	[WIRE_ALARM_RECORD_KIND_TIMER] = { "时间到了：", "时间到了",
	    "Time is up: ", "Time is up" },
	[WIRE_ALARM_RECORD_KIND_REMINDER] = { "提醒你：", "提醒你，时间到了",
	    "A reminder: ", "This is your reminder" },
	[WIRE_ALARM_RECORD_KIND_ACTION] = { "", "到时间了", "", "It is time" },
};

static const char *const words_titles[][2] = {
	[WIRE_ALARM_RECORD_KIND_ALARM] = { "闹钟", "alarm" },
	[WIRE_ALARM_RECORD_KIND_TIMER] = { "计时器", "timer" },
	[WIRE_ALARM_RECORD_KIND_REMINDER] = { "提醒", "reminder" },
	[WIRE_ALARM_RECORD_KIND_ACTION] = { "定时任务", "scheduled action" },
};

static struct str
words_lag(int64_t lag_s, bool zh, struct arena *a)
{
	int64_t minutes = lag_s / 60, hours = minutes / 60;

	if (lag_s <= 0)
		return STR("");
	if (hours > 0)
		return arena_printf(a,
		    zh ? "（晚了%lld小时%lld分钟）"
		       : " (%lld hours %lld minutes behind time)",
		    (long long)hours, (long long)(minutes % 60));
	return arena_printf(a,
	    zh ? "（晚了%lld分钟）" : " (%lld minutes behind time)",
	    (long long)(minutes > 0 ? minutes : 1));
}

struct str
alarm_words_ring(
    const struct wire_alarm_record *r, int64_t lag_s, struct arena *a)
{
	bool zh = alarm_is_chinese(r->text);
	struct str lag;

	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH)
		return r->text;
	lag = words_lag(lag_s, zh, a);
	if (lag.p == NULL)
		return lag;
	if (r->text.n == 0)
		return arena_printf(
		    a, "%s%.*s。", words_rows[r->kind].zh_alone, STR_ARG(lag));
	return arena_printf(a, "%s%.*s%.*s",
	    zh ? words_rows[r->kind].zh : words_rows[r->kind].en,
	    STR_ARG(r->text), STR_ARG(lag));
}

struct str
alarm_words_title(const struct wire_alarm_record *r, struct arena *a)
{
	bool zh = alarm_is_chinese(r->text);
	struct str s = r->text;

	if (r->title.n > 0)
		return r->title;
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH)
		return wire_alarm_record_source_names[r->source];
	while (s.n > 60 ||
	    (s.n > 0 && s.n < r->text.n &&
		((unsigned char)r->text.p[s.n] & 0xc0U) == 0x80))
		s.n--;
	if (s.n == 0)
		return str_of(words_titles[r->kind][zh ? 0 : 1]);
	return arena_printf(a, zh ? "%s：%.*s" : "%s: %.*s",
	    words_titles[r->kind][zh ? 0 : 1], STR_ARG(s));
}
