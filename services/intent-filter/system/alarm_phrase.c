/*
 * Patterns are matched with the segment's outline: its folded text with a mark
 * in place of each time.
 */
#include "system/alarm_phrase.h"

#include <stdlib.h>

#include "alarm/alarm_when.h"
#include "core/mem.h"
#include "rx/rx.h"

/* A longer segment is no command to an alarm. */
#define OUTLINE_MAX 768
#define MARK        '\x01'
#define T           "\\x01"

/* What may precede a request, and follow it. */
#define PRE_HELP  "请|麻烦你?|帮忙|帮我|帮|给我|替我|你|记得|到时候?|"
#define PRE_MODAL "能不能|可不可以|可以|能|我想让你|我要你|我想|我要|要|让|"
#define PRE_FILL  "嗯|呃|那个|那|好的|好|就|在|再|然后|现在|马上|,|，|、|"
#define PRE_EN    "please|can you|could you|would you|hey|okay|ok|"
#define PRE_EN_I  "i want you to|i'd like you to| "
#define PRE       "^(?:" PRE_HELP PRE_MODAL PRE_FILL PRE_EN PRE_EN_I ")*"
#define END_ZH    "好吗|好不好|行吗|可以吗|吧|啊|哦|呀|谢谢你?|"
#define END_EN    "please|thanks|thank you|for me| "
#define END       "(?:" END_ZH END_EN "|[.。!！~?？])*$"
/* 取消了: the action is completed, or to be. */
#define END_DONE "(?:了|掉|" END_ZH "[.。!！~]| )*$"
#define NOUN     "(闹钟|闹铃|闹表|提醒|计时器|定时器|倒计时)"
#define NOUN_EN  "(alarm clock|alarm|reminder|timer|countdown)s?"
/* What one is called for, after 叫我: 叫我小王 is no alarm. */
#define WAKE_GO  "起床|起来|起|去|吃|开|出|上|下|做|看|回|接|睡|喝|醒|打|"
#define WAKE_GET "买|交|赶|拿|取|写|练|跑|学|关|收|洗|集合|运动"
#define WAKE_FOR "(?:一下|一声)?(?:" WAKE_GO WAKE_GET ")"

/* before, noun, after: the groups before the noun or verb, of the noun, and
 * after it; 0: it has none. */
struct alarm_pattern {
	enum alarm_act act;
	const char *kind;        /* NULL: by the noun */
	int before, noun, after; /* group numbers, 0: none */
	bool needs_time;         /* else it is something else */
	bool takes_duration;     /* a duration is its time */
	const char *pattern;
};

static const struct alarm_pattern alarm_pattern_table[] = {
	/* 10分钟后提醒我喝水, 提醒我周五下午三点开会 */
	{ ALARM_ACT_SET, "reminder", 1, 0, 2, false, false,
	    PRE "(" T "?)"
		"(?:,|，|的时候|时|再|就|请|记得|你|要|帮忙)*"
		"(?:提醒|通知)(?:一下)?我(?:们)?(?![们的了过是])(?:一下|一声)?"
		"[,，:：]?(.*?)" END },
	{ ALARM_ACT_SET, "alarm", 1, 0, 2, true, false,
	    PRE "(" T "?)"
		"(?:,|，|的时候|时|再|就|请|记得|你|要|帮忙)*"
		"(?:叫醒|叫|喊)(?:一下)?我(?:" T ")?(?:一下|一声)?()" END },
	{ ALARM_ACT_SET, "alarm", 1, 0, 2, false, false,
	    PRE "(" T "?)"
		"(?:,|，|的时候|时|再|就|请|记得|你|要|帮忙)*"
		"(?:叫|喊)(?:一下)?我((?:" T ")?" WAKE_FOR ".*?)" END },
	/* 定一个明天早上八点的闹钟, 设个闹钟明早七点叫我起床 */
	{ ALARM_ACT_SET, NULL, 1, 2, 3, false, true,
	    PRE
	    "(?:" T ")?(?:,|，|请|再|要|帮我|给我)*"
	    "(?:定|订|设置|设定|设(?!计)|建立|创建|新建|建|加|添加|上|开|来|弄)"
	    "(?:好|上)?(?:一个|一|个|下|一下)?(.{0,60}?)的?" NOUN
	    "(?:,|，|在|到|为|成)*(?:" T
	    ")?(?:(?:,|，)?(?:叫|提醒)我(.*?))?" END },
	{ ALARM_ACT_SET, NULL, 1, 2, 3, true, true,
	    PRE "(" T "?)(?:的)?" NOUN "(?:定|设置|设)(?:在|到|为|成)?" T
		"(?:(?:,|，)?(?:叫|提醒)我(.*?))?" END },
	/* 倒计时五分钟 */
	{ ALARM_ACT_SET, "timer", 1, 0, 0, true, true,
	    PRE "(?:开始|开启|来个?)?(?:一个|个)?(?:倒计时|计时|倒数)"
		"(?:" T ")(?:的)?()" END },
	{ ALARM_ACT_SET, "timer", 1, 0, 0, true, true,
	    PRE "(?:开始|开启|来个?)?(?:一个|个)?(?:" T ")(?:的)?"
		"(?:倒计时|计时)()" END },
	/* remind me to drink water in 10 minutes */
	{ ALARM_ACT_SET, "reminder", 1, 0, 2, false, false,
	    PRE "(" T
		"?)[, ]*remind me(?: to| that| about| of)?(?![a-z])(.*?)" END },
	{ ALARM_ACT_SET, "alarm", 1, 0, 2, true, false,
	    PRE "(" T "?)[, ]*wake me(?: up)?(?: at| in)?(?![a-z])(.*?)" END },
	{ ALARM_ACT_SET, NULL, 1, 2, 3, false, true,
	    PRE "(?:set|create|add|make|start|put)(?: me)?(?: up)?(?: an| a)?"
		"(?: new)?((?: " T ")?) " NOUN_EN "(?=$|[ .!?]*$|,| " T
		"| for | at | to | in | on | that )"
		"(?: for| at| to| in| on| that| about|,)*(.*?)" END },
	/* 取消明天早上的闹钟, 把喝水的提醒删掉 */
	{ ALARM_ACT_CANCEL, NULL, 1, 2, 0, false, false,
	    PRE
	    "(?:取消|删除|删掉|删了|删|关掉|关闭|关了|关|停掉|停止|停|清除|清空|"
	    "去掉)(?:掉|了)?(.{0,60}?)的?" NOUN END_DONE },
	{ ALARM_ACT_CANCEL, NULL, 1, 2, 0, false, false,
	    PRE "(?:把|将)(.{0,60}?)的?" NOUN "(?:都|全部|全都|全|给我)*"
		"(?:取消|删除|删|关闭|关|停|清除|清空|去)" END_DONE },
	{ ALARM_ACT_CANCEL, NULL, 1, 2, 0, false, false,
	    PRE "(.{0,60}?)的?" NOUN "(?:都|全部|全都|全|给我)*"
		"(?:取消|删除|删掉|关掉|停掉|不要了)" END },
	{ ALARM_ACT_CANCEL, NULL, 1, 2, 3, false, false,
	    PRE "(?:cancel|delete|remove|turn off|stop|clear|dismiss)"
		"((?: my| the| all| of|(?: " T "))*) ?" NOUN_EN
		"(?: for| at| on| to| about| that)*(.{0,60}?)" END },
	/* 我有哪些闹钟, 明天有闹钟吗 */
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "(?:我们?|咱们?|目前|还|都|一共|总共)*(" T "?)"
		"(?:我|都|还|一共|总共|的|设置|设|定|有|存|了|没有)*"
		"(?:哪些|些什么|什么|哪几个|几个|多少个?|啥)(?:" T
		")?(?:的)?" NOUN "(?:吗|呢|要响)*" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE
	    "(?:看看|看一?下|查看|查一?下|查查|查询|列出|列一?下|显示|念一?下|"
	    "说说|告诉我|读一?下)((?:我|一下|的|所有|全部|都|有|哪些|什么|设置|设|"
	    "定|了|" T ")*)" NOUN "(?:列表|有哪些|都有什么)*" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "((?:我|还|" T "|的|设|定)*)有没有(?:设|定)?(?:" T
		")?(?:的)?" NOUN END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "((?:我|还|" T "|的|设|定)*)有(?:设|定)?(?:" T ")?(?:的)?" NOUN
		"(?:吗|没有|没|么)" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "((?:我|" T "|的)*)" NOUN
		"都?(?:有哪些|有几个|有什么|列表|是几点的?|"
		"几点响?|定在几点|设在几点|是什么时候)(?:的|响|呢)*" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "(?:what|which|how many)(?: are| is)?(?: my| the)?((?: " T
		")?) " NOUN_EN
		"(?: do i have| have i set| are set| are there| i "
		"have)?(?: for| on)?(?: " T ")?" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "(?:show|list|tell|read)(?: me)?((?: all| of| my| the| " T
		")*) " NOUN_EN "(?: for| on)?(?: " T ")?" END },
	{ ALARM_ACT_LIST, NULL, 1, 2, 0, false, false,
	    PRE "(?:do i have|are there|have i got)((?: any| an| a| " T
		")*) " NOUN_EN "(?: set)?(?: for| on)?(?: " T ")?" END },
	/* 把七点的闹钟改到八点 */
	{ ALARM_ACT_CHANGE, NULL, 1, 2, 3, true, false,
	    PRE "(?:把|将)(.{0,60}?)的?" NOUN "(?:的)?(?:时间)?"
		"(?:改|调|换|挪|推迟|提前|延后|移|变更|修改|设|调整|更改)"
		"(?:到|成|为|至|在)(" T "(?:的)?)" END },
	{ ALARM_ACT_CHANGE, NULL, 1, 2, 3, true, false,
	    PRE "(?:改|修改|调整|更改)(?:一下)?(.{0,60}?)的?" NOUN
		"(?:到|成|为)(" T "(?:的)?)" END },
	{ ALARM_ACT_CHANGE, NULL, 1, 2, 3, true, false,
	    PRE "(.{0,60}?)的?" NOUN "(?:改|调|换|挪|推迟|提前|延后)"
		"(?:到|成|为|至)(" T "(?:的)?)" END },
	{ ALARM_ACT_CHANGE, NULL, 1, 2, 3, true, false,
	    PRE "(?:change|move|reschedule|set|shift|push)((?: my| the| " T
		")*) " NOUN_EN "(?: from " T ")?(?: to| until)( " T ")" END },
};

struct alarm_patterns {
	struct rx *rx[NELEM(alarm_pattern_table)];
};

struct alarm_patterns *
alarm_patterns_new(void)
{
	struct alarm_patterns *p = mem_zalloc(sizeof(*p));
	size_t i;

	for (i = 0; i < NELEM(alarm_pattern_table); i++) {
		/* Constant patterns: the tests compile each. */
		if (rx_new(str_of(alarm_pattern_table[i].pattern), 0, &p->rx[i],
			NULL, 0) != RC_OK)
			p->rx[i] = NULL;
	}
	return p;
}

void
alarm_patterns_free(struct alarm_patterns *p)
{
	size_t i;

	if (p == NULL)
		return;
	for (i = 0; i < NELEM(alarm_pattern_table); i++)
		rx_free(p->rx[i]);
	free(p);
}

/* ---- the outline ---- */

struct alarm_outline {
	char text[OUTLINE_MAX];
	size_t n;
	size_t from[OUTLINE_MAX + 1]; /* bytes of the command */
	const struct datetime *times[UTTERANCE_TIMES_MAX]; /* of the marks */
	size_t n_times;
	const struct utterance *u;
};

/* 现在, 以后, and what is quoted are text, not times. */
static bool
alarm_is_mark(const struct utterance *u, const struct datetime *t)
{
	return !t->is_loose && !utterance_is_quoted(u, t->start) &&
	    !(t->kind == DATETIME_INSTANT && t->grain == DATETIME_SECOND &&
		utterance_time_includes_now(u, t));
}

static bool
alarm_outline_make(
    const struct utterance *u, const struct segment *g, struct alarm_outline *o)
{
	size_t at = g->start, i = 0;

	o->u = u;
	o->n = o->n_times = 0;
	while (at < g->end) {
		while (i < u->n_times && u->times[i].start < at)
			i++;
		if (o->n == OUTLINE_MAX)
			return false;
		o->from[o->n] = at;
		if (i < u->n_times && u->times[i].start == at &&
		    u->times[i].end <= g->end &&
		    alarm_is_mark(u, &u->times[i])) {
			o->times[o->n_times++] = &u->times[i];
			o->text[o->n++] = MARK;
			at = u->times[i].end;
			continue;
		}
		/* No mark but ours. */
		if (u->cmd.folded.p[at] == MARK)
			return false;
		o->text[o->n++] = u->cmd.folded.p[at++];
	}
	o->from[o->n] = at;
	return true;
}

/* The times of a part of the outline, joined; absent: none. */
static struct str
alarm_outline_when(const struct alarm_outline *o, struct rx_span part,
    const struct alarm_pattern *p, struct arena *a)
{
	struct buf b = BUF_INIT(OUTLINE_MAX);
	struct str out = { 0 };
	size_t i, mark = 0;

	for (i = 0; i < o->n && (ptrdiff_t)i < part.end; i++) {
		const struct datetime *t;

		if (o->text[i] != MARK)
			continue;
		t = o->times[mark++];
		if ((ptrdiff_t)i < part.start ||
		    (t->kind == DATETIME_DURATION && !p->takes_duration))
			continue;
		if (b.n > 0 &&
		    (unsigned char)o->u->cmd.folded.p[t->start] < 0x80)
			buf_putc(&b, ' ');
		buf_put(&b, o->u->cmd.text.p + t->start, t->end - t->start);
	}
	if (b.n > 0 && buf_rc(&b) == RC_OK)
		out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return out;
}

/* A part of the outline as the user wrote it; without its times if so. */
static struct str
alarm_outline_text(const struct alarm_outline *o, struct rx_span part,
    const struct alarm_pattern *p, bool with_times, struct arena *a)
{
	struct buf b = BUF_INIT(OUTLINE_MAX);
	struct str out = { 0 };
	size_t i, mark = 0;

	for (i = 0; i < o->n && (ptrdiff_t)i < part.end; i++) {
		bool is_mark = o->text[i] == MARK, dropped;

		dropped = is_mark && !with_times &&
		    (p->takes_duration ||
			o->times[mark]->kind != DATETIME_DURATION);
		mark += is_mark;
		if ((ptrdiff_t)i < part.start || dropped)
			continue;
		buf_put(&b, o->u->cmd.text.p + o->from[i],
		    o->from[i + 1] - o->from[i]);
	}
	if (buf_rc(&b) == RC_OK)
		out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return out;
}

/* ---- what to say ---- */

/* Words at both ends that are no part of what to say. */
static struct str
alarm_trim(struct str s)
{
	static const struct str starts[] = { STR_INIT("要"), STR_INIT("该"),
		STR_INIT("记得"), STR_INIT("的"), STR_INIT("在"),
		STR_INIT("我的"), STR_INIT("我"), STR_INIT("那个"),
		STR_INIT("这个"), STR_INIT(","), STR_INIT("，"), STR_INIT(":"),
		STR_INIT("："), STR_INIT("、"), STR_INIT(" "), STR_INIT("to "),
		STR_INIT("that "), STR_INIT("about ") };
	static const struct str ends[] = { STR_INIT("的"), STR_INIT(","),
		STR_INIT("，"), STR_INIT("。"), STR_INIT("."), STR_INIT("!"),
		STR_INIT("！"), STR_INIT(" "), STR_INIT(" at"), STR_INIT(" in"),
		STR_INIT(" on") };
	size_t n;

	while ((n = str_starts_any(s, starts, NELEM(starts))) > 0) {
		s.p += n;
		s.n -= n;
	}
	while ((n = str_ends_any(s, ends, NELEM(ends))) > 0)
		s.n -= n;
	return s;
}

static struct rx_span
alarm_group(const struct rx_match *m, int group)
{
	if (group == 0 || (size_t)group >= m->n || m->g[group].start < 0)
		return (struct rx_span){ 0, 0 };
	return m->g[group];
}

static const char *
alarm_kind_of(struct str noun)
{
	static const struct str timers[] = { STR_INIT("计时器"),
		STR_INIT("定时器"), STR_INIT("倒计时"), STR_INIT("timer"),
		STR_INIT("countdown") };
	static const struct str reminders[] = { STR_INIT("提醒"),
		STR_INIT("reminder") };

	if (str_starts_any(noun, timers, NELEM(timers)) > 0)
		return "timer";
	if (str_starts_any(noun, reminders, NELEM(reminders)) > 0)
		return "reminder";
	return "alarm";
}

/* Whether words are a time of their own, with a time of day or a distance. */
static bool
alarm_is_complete(const struct alarm_outline *o, struct str when)
{
	struct datetime_now now = { .now = o->u->now, .zone = o->u->zone };
	struct datetime t;

	return when.p != NULL && datetime_find(now, when, &t, 1) == 1 &&
	    t.grain < DATETIME_DAY;
}

/* 提醒我为什么来这里: a question, unless it has a time. */
static bool
alarm_begins_question(struct str s)
{
	static const struct str starts[] = { STR_INIT("为什么"),
		STR_INIT("什么"), STR_INIT("谁"), STR_INIT("怎么"),
		STR_INIT("哪"), STR_INIT("why"), STR_INIT("what"),
		STR_INIT("who"), STR_INIT("how"), STR_INIT("where"),
		STR_INIT("when") };

	return str_starts_any(s, starts, NELEM(starts)) > 0;
}

static bool
alarm_is_question(struct str s)
{
	static const struct str ends[] = { STR_INIT("吗"), STR_INIT("么"),
		STR_INIT("呢"), STR_INIT("?"), STR_INIT("？"), STR_INIT("没有"),
		STR_INIT("了"), STR_INIT("谁"), STR_INIT("什么"),
		STR_INIT("哪里"), STR_INIT("哪儿"), STR_INIT("几点"),
		STR_INIT("多少"), STR_INIT("怎么样"), STR_INIT("怎么办"),
		STR_INIT("为什么") };

	return str_ends_any(s, ends, NELEM(ends)) > 0;
}

static bool
alarm_fill_set(const struct alarm_outline *o, const struct alarm_pattern *p,
    const struct rx_match *m, struct arena *a, struct alarm_phrase *out)
{
	struct rx_span whole = { 0, (ptrdiff_t)o->n };
	struct rx_span after = alarm_group(m, p->after);
	struct rx_span before = { 0, after.end > 0 ? after.start : whole.end };
	struct str content;
	bool split;

	/* 八点提醒我三点开会: the second time is what to say. */
	out->when = alarm_outline_when(o, before, p, a);
	split = alarm_is_complete(o, out->when);
	if (!split)
		out->when = alarm_outline_when(o, whole, p, a);
	if (p->needs_time && out->when.p == NULL)
		return false;
	content = alarm_outline_text(o, after, p, split, a);
	if (content.p == NULL)
		return false;
	content = alarm_trim(content);
	if (content.n == 0 && p->noun > 0) {
		/* 加一个周五下午三点开会的提醒 */
		content = alarm_trim(alarm_outline_text(
		    o, alarm_group(m, p->before), p, false, a));
	}
	if (alarm_is_question(content) ||
	    (out->when.p == NULL &&
		(alarm_begins_question(content) ||
		    (p->noun > 0 && content.n > 0))))
		return false;
	out->text = content;
	return true;
}

/* 所有的, 我的, all my: all of them, not their text. */
static bool
alarm_take_all(struct str *s)
{
	static const struct str words[] = { STR_INIT("所有的"),
		STR_INIT("所有"), STR_INIT("全部的"), STR_INIT("全部"),
		STR_INIT("一切"), STR_INIT("all of my"), STR_INIT("all my"),
		STR_INIT("all the"), STR_INIT("all of"), STR_INIT("all") };
	static const struct str own[] = { STR_INIT("my"), STR_INIT("the"),
		STR_INIT(" ") };
	bool all = false;
	size_t n;

	*s = alarm_trim(*s);
	while ((n = str_starts_any(*s, words, NELEM(words))) > 0) {
		all = true;
		s->p += n;
		s->n -= n;
	}
	while ((n = str_starts_any(*s, own, NELEM(own))) > 0) {
		s->p += n;
		s->n -= n;
	}
	*s = alarm_trim(*s);
	return all;
}

static bool
alarm_fill_selection(const struct alarm_outline *o,
    const struct alarm_pattern *p, const struct rx_match *m, struct arena *a,
    struct alarm_phrase *out)
{
	struct rx_span to = alarm_group(m, p->after);
	struct rx_span whole = { 0, (ptrdiff_t)o->n };

	if (out->act == ALARM_ACT_CHANGE) {
		out->when = alarm_outline_when(o, to, p, a);
		whole.end = to.start;
		if (out->when.p == NULL)
			return false;
	}
	out->select = alarm_outline_when(o, whole, p, a);
	if (out->act == ALARM_ACT_LIST)
		return true;
	out->text =
	    alarm_outline_text(o, alarm_group(m, p->before), p, false, a);
	out->all = out->text.p != NULL && alarm_take_all(&out->text);
	if (out->text.n == 0 && out->act == ALARM_ACT_CANCEL && p->after > 0)
		out->text = alarm_trim(alarm_outline_text(o, to, p, false, a));
	return out->text.p != NULL;
}

/* Every pattern requires one of these: most commands have none. */
static bool
alarm_has_trigger(struct str s)
{
	static const struct str triggers[] = { STR_INIT("提醒"),
		STR_INIT("通知"), STR_INIT("叫"), STR_INIT("喊"),
		STR_INIT("闹"), STR_INIT("计时"), STR_INIT("倒数"),
		STR_INIT("定时"), STR_INIT("remind"), STR_INIT("wake"),
		STR_INIT("alarm"), STR_INIT("timer"), STR_INIT("countdown") };
	size_t i;

	for (i = 0; i < NELEM(triggers); i++) {
		if (str_find(s, triggers[i]) >= 0)
			return true;
	}
	return false;
}

bool
alarm_phrase_find(const struct alarm_patterns *p, struct rx_scratch *rx,
    const struct utterance *u, const struct segment *g, struct arena *a,
    struct alarm_phrase *out)
{
	struct alarm_outline o;
	struct rx_match m;
	size_t i;

	if (g->end - g->start > OUTLINE_MAX ||
	    !alarm_has_trigger((struct str){
		u->cmd.folded.p + g->start, g->end - g->start }) ||
	    !alarm_outline_make(u, g, &o))
		return false;
	for (i = 0; i < NELEM(alarm_pattern_table); i++) {
		const struct alarm_pattern *t = &alarm_pattern_table[i];

		if (p->rx[i] == NULL ||
		    rx_find(p->rx[i], rx, (struct str){ o.text, o.n }, 0, &m) !=
			RC_OK)
			continue;
		*out = (struct alarm_phrase){ .act = t->act, .kind = t->kind };
		if (t->kind == NULL && t->noun > 0) {
			struct rx_span noun = alarm_group(&m, t->noun);

			out->kind =
			    alarm_kind_of((struct str){ o.text + noun.start,
				(size_t)(noun.end - noun.start) });
		}
		if (t->act == ALARM_ACT_SET
			? alarm_fill_set(&o, t, &m, a, out)
			: alarm_fill_selection(&o, t, &m, a, out))
			return true;
	}
	return false;
}
