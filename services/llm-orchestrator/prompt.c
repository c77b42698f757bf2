/*
 * The system text, section by section.
 */
#include "prompt.h"

#include <math.h>

#include "core/mem.h"
#include "persona/persona.h"
#include "relation.h"

/* ---- words for numbers ------------------------------------------------- */

static const char *
level(double x, double low, double high)
{
	if (x >= high)
		return "high";
	return x >= low ? "mid" : "low";
}

static const char *
side(double x)
{
	if (x >= 0.35)
		return "high";
	return x <= -0.35 ? "low" : "neutral";
}

static const char *
strategy(enum wire_emotion e)
{
	switch (e) {
	case WIRE_EMOTION_SADNESS:
	case WIRE_EMOTION_DISAPPOINTMENT:
	case WIRE_EMOTION_FEAR:
	case WIRE_EMOTION_ANXIETY:
		return "supportive";
	case WIRE_EMOTION_ANGER:
	case WIRE_EMOTION_DISGUST:
	case WIRE_EMOTION_FRUSTRATION:
		return "deescalate";
	case WIRE_EMOTION_JOY:
	case WIRE_EMOTION_GRATITUDE:
	case WIRE_EMOTION_RELIEF:
	case WIRE_EMOTION_EXCITEMENT:
	case WIRE_EMOTION_SURPRISE:
		return "positive";
	default:
		return "neutral_clear";
	}
}

/* ---- sections ---------------------------------------------------------- */

/* As the soul is by now: born with its type, changed by what it lived. */
static bool
traits_of(const struct prompt *p, struct persona *out)
{
	if (p->mbti.n == 0 || persona_of_mbti(p->mbti, out) != RC_OK)
		return false;
	if (p->feeling == NULL || !p->feeling->soul_emotion.has_drift)
		return true;
	const struct wire_drift *d = &p->feeling->soul_emotion.drift;
	const struct persona drift = { d->empathy, d->sensitivity, d->stability,
		d->expressiveness, d->dominance };
	*out = persona_add(out, &drift);
	return true;
}

static void
put_soul(const struct prompt *p, struct buf *b)
{
	struct persona t;

	buf_puts(b, "你是");
	if (p->name.n > 0)
		buf_printf(b, "「%.*s」，", STR_ARG(p->name));
	buf_puts(b,
	    "一个住在桌面机器人身体里的灵魂，陪伴它的主人。"
	    "你只能用这次给出的工具使用身体。\n");
	if (!traits_of(p, &t))
		return;
	buf_printf(b,
	    "【人格】MBTI %.*s；共情 %.2f，敏感 %.2f，稳定 %.2f，"
	    "外放 %.2f，主导 %.2f（0 到 1，0.5 为一般）。\n",
	    STR_ARG(p->mbti), t.empathy, t.sensitivity, t.stability,
	    t.expressiveness, t.dominance);
}

/* The emotional state in the few words that models follow best. */
static void
put_keywords(const struct wire_emotion_observe_reply *f, struct buf *b)
{
	struct str user = wire_emotion_names[f->user_emotion.emotion];
	struct str mode = wire_exec_mode_names[f->exec_mode];

	buf_printf(b,
	    "关键词：user_%.*s, user_intensity_%s, soul_valence_%s, "
	    "soul_arousal_%s, soul_dominance_%s, gate_%.*s, gate_prob_%s",
	    STR_ARG(user), level(f->user_emotion.intensity, 0.34, 0.67),
	    side(f->soul_emotion.p), side(f->soul_emotion.a),
	    side(f->soul_emotion.d), STR_ARG(mode),
	    level(f->exec_probability, 0.35, 0.75));
	if (f->soul_emotion.shock_load >= 0.45)
		buf_puts(b, ", soul_shock_high");
	if (f->soul_emotion.extreme_memory >= 0.60)
		buf_puts(b, ", soul_extreme_memory_high");
	buf_printf(b, ", strategy_%s。\n", strategy(f->user_emotion.emotion));
}

static void
put_feeling(const struct prompt *p, struct buf *b)
{
	const struct wire_emotion_observe_reply *f = p->feeling;

	buf_printf(b, "【此刻】%.*s", STR_ARG(p->now));
	if (f == NULL) {
		buf_puts(b, "；主人和你的心情现在都不清楚。\n");
		return;
	}
	struct str user = wire_emotion_names[f->user_emotion.emotion];
	struct str mode = wire_exec_mode_names[f->exec_mode];
	buf_printf(b,
	    "；主人的情绪 %.*s，强度 %.2f；你的心情 P %.2f，A %.2f，D %.2f；"
	    "执行门控 %.*s，意愿 %.2f。\n",
	    STR_ARG(user), f->user_emotion.intensity, f->soul_emotion.p,
	    f->soul_emotion.a, f->soul_emotion.d, STR_ARG(mode),
	    f->exec_probability);
	put_keywords(f, b);
}

static void
put_body(const struct prompt *p, struct buf *b)
{
	buf_puts(b, "【身体】");
	switch (p->body) {
	case PROMPT_BODY_NONE:
		buf_puts(b, "还没有连接过，做不了任何动作。\n");
		break;
	case PROMPT_BODY_ABSENT:
		buf_puts(
		    b, "现在不在线，做不了任何动作；主人要求动作时照实说。\n");
		break;
	case PROMPT_BODY_HERE:
		if (p->skills == 0)
			buf_puts(b, "在线，但没有可用的技能。\n");
		else
			buf_printf(b, "在线，有 %zu 个技能。\n", p->skills);
		break;
	}
}

static void
put_relation(const struct prompt *p, struct buf *b)
{
	struct relation rel;
	struct persona t;

	if (p->said.n == 0 || !traits_of(p, &t))
		return;
	relation_guess(p->said, &t, &rel);
	buf_printf(b, "【关系】%s", rel.word);
	if (rel.known)
		buf_printf(b, "，共鸣 %.2f", rel.resonance);
	buf_printf(b, "；%s\n", rel.strategy);
}

static bool
gate_open(const struct prompt *p)
{
	return p->feeling != NULL &&
	    p->feeling->exec_mode == WIRE_EXEC_MODE_AUTO_EXECUTE;
}

static void
put_rules(const struct prompt *p, struct buf *b)
{
	size_t n = 0;
	const char *rules[] = {
		"先弄明白主人要什么；不需要动作时直接用文字回答。",
		"可以同时使用几个工具；互相冲突的只选最合适的一组。",
		"参数要符合工具的定义；缺少必要的信息时先问主人。",
		"只有工具的结果说成功了才能说做到了；失败的、没有得到"
		"确认的都要照实说。",
		gate_open(p) ? NULL
			     : "现在身体不执行动作：不要答应马上去做，"
			       "说明现在不会做。",
		p->recall ? "回答需要以前的事情时，先用 recall_memory 查找。"
			  : "现在不能查找以前的记忆，不要假装记得。",
		p->forget ? "只有主人要你忘掉什么时才用 forget_memory；结果的 "
			    "forgotten 列出了的才是忘掉了的，没有列出就照实说。"
			  : "现在不能忘掉以前的记忆，不要答应或者假装忘了。",
		"语气要合乎你的人格和心情，也照顾主人的情绪。",
		"不说话更好的时候，只回答 <NO_REPLY>。",
		"回答要简短，适合念出来，不用 Markdown；用主人的语言，"
		"通常是中文。",
	};

	buf_puts(b, "【规则】\n");
	for (size_t i = 0; i < NELEM(rules); i++) {
		if (rules[i] != NULL)
			buf_printf(b, "%zu. %s\n", ++n, rules[i]);
	}
	if (!gate_open(p) && p->safe.n > 0)
		buf_printf(b,
		    "%zu. 与安全有关的工具现在也能执行，而且只有它们："
		    "%.*s。\n",
		    ++n, STR_ARG(p->safe));
}

void
prompt_write(const struct prompt *p, struct buf *b)
{
	put_soul(p, b);
	put_feeling(p, b);
	put_body(p, b);
	if (p->summary.n > 0)
		buf_printf(b, "【此前的对话】%.*s\n", STR_ARG(p->summary));
	if (p->late.n > 0)
		buf_printf(b,
		    "【后来】%.*s这已经另外告诉主人了，不要再说一遍。\n",
		    STR_ARG(p->late));
	put_relation(p, b);
	put_rules(p, b);
	if (p->silent)
		buf_puts(b,
		    "【这一次】主人只是在表达情绪：简短地回应心情，"
		    "或者只回答 <NO_REPLY>；不提任何动作。\n");
	else if (p->rest.n > 0)
		buf_printf(b,
		    "【这一次】这句话里能直接做的已经处理了，不要重复。"
		    "只回应还剩下的部分：「%.*s」。\n",
		    STR_ARG(p->rest));
}
