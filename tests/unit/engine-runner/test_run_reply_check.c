/* Replies that suit their question, and others. */
#include "core/mem.h"
#include "run_reply_check.h"
#include "testkit/testkit.h"

static struct wire_question_option options[] = { { .value = STR_INIT("a") },
	{ .value = STR_INIT("b\"c") } };
static struct wire_question_field fields[] = {
	{ .name = STR_INIT("name"), .required = true },
	{ .name = STR_INIT("size"),
	    .kind = WIRE_QUESTION_KIND_SINGLE_CHOICE,
	    .options = options,
	    .n_options = 2 },
	{ .name = STR_INIT("parts"),
	    .kind = WIRE_QUESTION_KIND_MULTI_CHOICE,
	    .options = options,
	    .n_options = 2 },
};

static const struct {
	enum wire_question_kind kind;
	const char *content;
	bool valid;
} cases[] = {
	{ WIRE_QUESTION_KIND_FREE_TEXT, "anything", true },
	{ WIRE_QUESTION_KIND_SINGLE_CHOICE, "a", true },
	{ WIRE_QUESTION_KIND_SINGLE_CHOICE, "b\"c", true },
	{ WIRE_QUESTION_KIND_SINGLE_CHOICE, "c", false },
	{ WIRE_QUESTION_KIND_SINGLE_CHOICE, "\"a\"", false },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, "[]", true },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, " [\"a\", \"b\\\"c\"]\n", true },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, "[\"a\", \"c\"]", false },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, "[1]", false },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, "[\"a\"", false },
	{ WIRE_QUESTION_KIND_MULTI_CHOICE, "a", false },
	{ WIRE_QUESTION_KIND_FORM, "{\"name\": 1}", true },
	{ WIRE_QUESTION_KIND_FORM, "{\"n\\u0061me\": \"x\"}", true },
	{ WIRE_QUESTION_KIND_FORM, "{\"name\": \"x\", \"size\": \"a\"}", true },
	{ WIRE_QUESTION_KIND_FORM, "{\"name\": \"x\", \"size\": \"d\"}",
	    false },
	{ WIRE_QUESTION_KIND_FORM, "{\"name\": \"x\", \"parts\": [\"a\"]}",
	    true },
	{ WIRE_QUESTION_KIND_FORM, "{\"name\": \"x\", \"parts\": \"a\"}",
	    false },
	{ WIRE_QUESTION_KIND_FORM, "{\"size\": \"a\"}", false },
	{ WIRE_QUESTION_KIND_FORM, "[]", false },
	{ WIRE_QUESTION_KIND_FORM, "", false },
};

TEST(a_reply_has_the_form_of_its_question)
{
	for (size_t i = 0; i < NELEM(cases); i++) {
		const struct wire_run_question q = { .kind = cases[i].kind,
			.options = options,
			.n_options = 2,
			.fields = fields,
			.n_fields = 3 };
		bool valid =
		    run_reply_check(&q, str_of(cases[i].content)) == NULL;

		ck_assert_msg(valid == cases[i].valid, "case %zu: %s", i,
		    cases[i].content);
	}
}
