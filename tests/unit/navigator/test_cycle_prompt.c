/* What a model is shown to think about. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "cycle_prompt.h"
#include "testkit/testkit.h"

static const struct cycle_message talk[] = {
	{ CYCLE_ROLE_USER, STR_INIT(""), STR_INIT("我很难过") },
	{ CYCLE_ROLE_TOOL, STR_INIT("light"), STR_INIT("ok") },
	{ CYCLE_ROLE_SOUL, STR_INIT(""), STR_INIT("怎么了？") },
	{ CYCLE_ROLE_SOUL, STR_INIT(""), STR_INIT("") },
};

static bool
has(const struct buf *b, const char *part)
{
	return str_find(buf_str(b), str_of(part)) >= 0;
}

TEST(the_conversation_is_shown)
{
	const struct drive_levels drives = { .curiosity = .9, .survival = 1 };
	const struct str memories[] = { STR("爱喝茶") };
	const struct str alarms[] = { STR("08:00 起床") };
	const struct str asked[] = { STR("查天气（主人不要）") };
	struct cycle_view v = { .trigger = NAV_EMOTION,
		.name = STR("小月"),
		.mbti = STR("INFP"),
		.now = STR("2026-11-27T08:00:00Z"),
		.drives = &drives,
		.earlier = STR("聊了考试"),
		.messages = talk,
		.n_messages = NELEM(talk),
		.memories = memories,
		.n_memories = 1,
		.alarms = alarms,
		.n_alarms = 1,
		.evolutions = asked,
		.n_evolutions = 1 };
	struct buf b = BUF_INIT(CYCLE_PROMPT_MAX);

	cycle_prompt_system(&v, &b);
	ck_assert(has(&b, "「小月」（MBTI INFP）的潜意识"));
	ck_assert(has(&b, "主人的情绪很强烈"));
	ck_assert(has(&b, "\"suggestion\""));
	buf_reset(&b);
	cycle_prompt_user(&v, &b);
	ck_assert(has(&b, "主人：我很难过\n技能 light：ok\n你：怎么了？\n"));
	ck_assert(has(&b, "很好奇"));
	ck_assert(has(&b, "- 爱喝茶\n"));
	ck_assert(has(&b, "- 08:00 起床\n"));
	ck_assert(has(&b, "【请求过的能力】\n- 查天气（主人不要）\n"));
	ck_assert(has(&b, "聊了考试"));
	ck_assert(!has(&b, "还没有"));
	buf_free(&b);
}

TEST(an_idle_soul_is_shown_its_choice)
{
	struct cycle_view v = { .trigger = NAV_IDLE, .choice = IDLE_EXPLORE };
	struct buf b = BUF_INIT(CYCLE_PROMPT_MAX);

	cycle_prompt_system(&v, &b);
	ck_assert(has(&b, "很好奇"));
	v.choice = IDLE_CONNECT;
	buf_reset(&b);
	cycle_prompt_system(&v, &b);
	ck_assert(has(&b, "想和主人亲近"));
	buf_free(&b);
}

TEST(a_long_message_is_shortened_to_whole_characters)
{
	char *text = mem_alloc(3 * 4096);
	struct cycle_message m = { .role = CYCLE_ROLE_USER };
	struct cycle_view v = { .messages = &m, .n_messages = 1 };
	struct buf b = BUF_INIT(CYCLE_PROMPT_MAX);

	for (int i = 0; i < 4096; i++)
		memcpy(text + 3 * i, "想", 3);
	m.text = (struct str){ text, 3 * 4096 };
	cycle_prompt_user(&v, &b);
	ck_assert_int_ge(str_utf8_count(buf_str(&b)), CYCLE_MESSAGE_MAX / 3);
	ck_assert_uint_lt(b.n, 2 * CYCLE_MESSAGE_MAX);
	buf_free(&b);
	free(text);
}
