/*
 * System intents.
 */
#include "fallback.h"

#include "core/mem.h"
#include "duration.h"

static const struct str questions[] = {
	STR_INIT("怎么"),
	STR_INIT("如何"),
	STR_INIT("为什么"),
	STR_INIT("咋"),
	STR_INIT("吗"),
	STR_INIT("么"),
	STR_INIT("?"),
	STR_INIT("什么"),
	STR_INIT("谁"),
	STR_INIT("哪"),
	STR_INIT("how "),
	STR_INIT("what "),
	STR_INIT("why "),
	STR_INIT("when "),
	STR_INIT("where "),
	STR_INIT("who "),
};
/* The whole command is one of these, with or without a particle behind it. */
static const struct str feelings[] = {
	STR_INIT("吓我一跳"),
	STR_INIT("吓死我"),
	STR_INIT("笑死我"),
	STR_INIT("气死我"),
	STR_INIT("烦死我"),
	STR_INIT("累死我"),
	STR_INIT("困死我"),
	STR_INIT("无语"),
	STR_INIT("太离谱"),
	STR_INIT("真离谱"),
	STR_INIT("离谱"),
	STR_INIT("服"),
	STR_INIT("好烦"),
	STR_INIT("我好烦"),
	STR_INIT("我烦死"),
	STR_INIT("好累"),
	STR_INIT("我好累"),
	STR_INIT("我累死"),
	STR_INIT("好困"),
	STR_INIT("我好困"),
	STR_INIT("我困死"),
	STR_INIT("好难受"),
	STR_INIT("我好难受"),
	STR_INIT("我难受死"),
	STR_INIT("我烦"),
	STR_INIT("我累"),
	STR_INIT("我困"),
	STR_INIT("我难受"),
	STR_INIT("天哪"),
	STR_INIT("天啊"),
	STR_INIT("我的天"),
	STR_INIT("wow"),
	STR_INIT("omg"),
	STR_INIT("ugh"),
	STR_INIT("huh"),
	STR_INIT("scared me"),
	STR_INIT("that was close"),
	STR_INIT("so annoying"),
	STR_INIT("i am so tired"),
	STR_INIT("i am tired"),
	STR_INIT("i am so upset"),
	STR_INIT("i am upset"),
	STR_INIT("i am so annoyed"),
	STR_INIT("i am annoyed"),
};
static const struct str particles[] = {
	STR_INIT("啊"),
	STR_INIT("哦"),
	STR_INIT("嗯"),
	STR_INIT("唉"),
	STR_INIT("哎"),
	STR_INIT("呀"),
	STR_INIT("哇"),
	STR_INIT("哈"),
	STR_INIT("呜"),
	STR_INIT("了"),
	STR_INIT("!"),
	STR_INIT("。"),
	STR_INIT(","),
	STR_INIT("…"),
	STR_INIT("~"),
	STR_INIT("."),
	STR_INIT(" "),
};

static bool
has_any(struct str s, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_find(s, list[i]) >= 0)
			return true;
	}
	return false;
}

static bool
only_particles(struct str s)
{
	size_t i;

	while (s.n > 0) {
		for (i = 0; i < NELEM(particles); i++) {
			if (str_starts(s, particles[i]))
				break;
		}
		if (i == NELEM(particles))
			return false;
		s.p += particles[i].n;
		s.n -= particles[i].n;
	}
	return true;
}

static bool
is_feeling(struct str s)
{
	size_t i;

	if (only_particles(s))
		return true;
	for (i = 0; i < NELEM(feelings); i++) {
		if (str_starts(s, feelings[i]) &&
		    only_particles((struct str){
			s.p + feelings[i].n, s.n - feelings[i].n }))
			return true;
	}
	return false;
}

struct fallback
fallback_decide(const struct command *c)
{
	struct fallback f = { WIRE_DECISION_ACTION_FALLBACK_REASONING,
		"sys.fallback_reasoning", "触发高级推理", NULL, .9 };

	if (has_any(c->folded, questions, NELEM(questions))) {
		f.reason = "question_or_discussion";
	} else if (duration_count(c->folded) > 0) {
		f.reason = "has_task_signal";
	} else if (is_feeling(c->folded)) {
		f = (struct fallback){ WIRE_DECISION_ACTION_NO_ACTION,
			"sys.no_action", "无需处理",
			"matched_no_action_pattern", .99 };
	} else {
		f.reason = "insufficient_signal_for_no_action";
	}
	return f;
}
