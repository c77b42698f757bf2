/* Questions that engines ask in blocks of their messages. */
#include "core/arena.h"
#include "core/mem.h"
#include "interaction.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"

#define QUESTION_ARENA 65536
#define BLOCK(json)    "text\n```ask_user\n" json "\n```\nmore"

static const struct {
	const char *text;
	enum rc rc;
	enum wire_question_kind kind;
	size_t options, fields;
} blocks[] = {
	{ "no block", RC_NOENT, 0, 0, 0 },
	{ BLOCK("{\"kind\":\"free_text\",\"prompt\":\"P\"}"), RC_OK,
	    WIRE_QUESTION_KIND_FREE_TEXT, 0, 0 },
	{ BLOCK("{}"), RC_OK, WIRE_QUESTION_KIND_FREE_TEXT, 0, 0 },
	{ BLOCK("{\"kind\":\"single_choice\",\"options\":[\"a\","
		"{\"value\":\"b\",\"label\":\"B\"},{\"label\":\"C\"}]}"),
	    RC_OK, WIRE_QUESTION_KIND_SINGLE_CHOICE, 3, 0 },
	{ BLOCK("{\"kind\":\"multi_choice\",\"options\":[]}"), RC_NOENT, 0, 0,
	    0 },
	{ BLOCK("{\"kind\":\"single_choice\",\"options\":[1]}"), RC_NOENT, 0, 0,
	    0 },
	{ BLOCK("{\"kind\":\"form\",\"fields\":[{\"name\":\"n\"},{\"name\":"
		"\"m\",\"kind\":\"multi_choice\",\"options\":[\"x\"]}]}"),
	    RC_OK, WIRE_QUESTION_KIND_FORM, 0, 2 },
	{ BLOCK("{\"kind\":\"form\",\"fields\":[{\"name\":\"n\",\"kind\":"
		"\"form\"}]}"),
	    RC_NOENT, 0, 0, 0 },
	{ BLOCK("{\"kind\":\"form\"}"), RC_NOENT, 0, 0, 0 },
	{ BLOCK("{\"kind\":\"other\"}"), RC_NOENT, 0, 0, 0 },
	{ BLOCK("[]"), RC_NOENT, 0, 0, 0 },
	{ BLOCK("not JSON"), RC_NOENT, 0, 0, 0 },
	{ "```ask_user\n{}", RC_NOENT, 0, 0, 0 },
	/* The last block counts. */
	{ BLOCK("{}") "\n" BLOCK("{\"kind\":\"single_choice\",\"options\":"
				 "[\"a\"]}"),
	    RC_OK, WIRE_QUESTION_KIND_SINGLE_CHOICE, 1, 0 },
};

TEST(blocks_are_questions)
{
	for (size_t i = 0; i < NELEM(blocks); i++) {
		struct arena *a = arena_new(QUESTION_ARENA);
		struct fcmp_question q;
		enum rc rc = interaction_of_text(str_of(blocks[i].text), a, &q);

		ck_assert_msg(rc == blocks[i].rc, "%s", blocks[i].text);
		if (rc == RC_OK) {
			ck_assert_int_eq(q.kind, blocks[i].kind);
			ck_assert_uint_eq(q.n_options, blocks[i].options);
			ck_assert_uint_eq(q.n_fields, blocks[i].fields);
		}
		arena_free(a);
	}
}

TEST(several_questions_of_codex_are_a_form)
{
	struct arena *a = arena_new(QUESTION_ARENA);
	struct fcmp_question q;

	ck_assert_int_eq(
	    interaction_of_codex(
		STR("[{\"id\":\"a\",\"question\":\"A?\",\"options\":[{"
		    "\"label\":\"x\"}]},{\"id\":\"b\",\"header\":\"B\"}]"),
		a, &q),
	    RC_OK);
	ck_assert_int_eq(q.kind, WIRE_QUESTION_KIND_FORM);
	ck_assert_uint_eq(q.n_fields, 2);
	ck_assert_int_eq(q.fields[0].kind, WIRE_QUESTION_KIND_SINGLE_CHOICE);
	ck_assert_int_eq(q.fields[1].kind, WIRE_QUESTION_KIND_FREE_TEXT);
	ck_assert(str_eq(q.prompt, STR("A?")));
	ck_assert_int_eq(interaction_of_codex(STR("[]"), a, &q), RC_NOENT);
	ck_assert_int_eq(
	    interaction_of_codex(STR("{\"id\":1}"), a, &q), RC_NOENT);
	arena_free(a);
}
