/*
 * What reading the feelings of a short utterance costs, in instructions.
 */
#include <stdio.h>

#include "core/mem.h"
#include "recognition/recognizer.h"
#include "testkit/instructions.h"
#include "testkit/testkit.h"

#define CALLS 20
/* 3 us at 2.4 instructions a cycle of 2.5 GHz. */
#define INSTRUCTIONS_MAX 18000.0

/* About fifteen characters each. */
static const char *const feelings[] = { "今天一点儿也高兴不起来真的好累啊",
	"打开客厅的灯然后把窗帘拉上谢谢", "明天就要考试了我好紧张睡不着啊",
	"谢谢你帮我把弟弟送回家，辛苦了", "可真行啊，又把我的文件弄丢了QAQ" };

__attribute__((noinline)) int counted_feelings(
    struct recognizer *r, const char *text);

int
counted_feelings(struct recognizer *r, const char *text)
{
	struct wire_user_emotion got;

	recognizer_read(r, str_of(text), &got);
	return (int)got.emotion;
}

/* In the process that is counted. */
TEST(run_feelings)
{
	struct recognizer *r;
	char why[128];
	size_t i, k;
	int found = 0;

	if (!instructions_child())
		return;
	ck_assert_int_eq(recognizer_new("", &r, why, sizeof(why)), RC_OK);
	for (k = 0; k < CALLS; k++) {
		for (i = 0; i < NELEM(feelings); i++)
			found += counted_feelings(r, feelings[i]);
	}
	ck_assert_int_gt(found, 0);
	recognizer_free(r);
}

TEST_T(feelings_of_a_short_utterance, 120)
{
	double n;

	if (instructions_child())
		return;
	n = instructions_count(
	    "counted_feelings", "run_feelings", CALLS * (int)NELEM(feelings));
	if (n > 0)
		printf("counted_feelings: %.0f instructions\n", n);
	ck_assert_double_le(n, INSTRUCTIONS_MAX);
}
