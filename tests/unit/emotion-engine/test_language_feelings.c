/*
 * The tables of tests/language/feelings: a phenomenon and a language each, with
 * the accuracy that must not fall.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "persona/emotion.h"
#include "recognition/recognizer.h"
#include "testkit/language_table.h"
#include "testkit/testkit.h"

#define TABLES "tests/language/feelings"

struct feelings_run {
	struct recognizer *recognizer;
	int lines[2], right[2]; /* Chinese, English */
};

static void
feelings_show(void *ctx, const struct language_line *l, char *dst, size_t n)
{
	struct feelings_run *r = ctx;
	struct wire_user_emotion got;

	recognizer_read(r->recognizer, str_of(l->text), &got);
	r->lines[str_ends(str_of(l->file), STR("_en.txt"))]++;
	(void)snprintf(
	    dst, n, "%.*s", STR_ARG(wire_emotion_names[got.emotion]));
}

/* All of the alternatives are right. */
static enum language_match
feelings_match(
    void *ctx, const struct language_line *l, const char *want, const char *got)
{
	struct feelings_run *r = ctx;

	if (strcmp(want, got) != 0)
		return LANGUAGE_WRONG;
	r->right[str_ends(str_of(l->file), STR("_en.txt"))]++;
	return LANGUAGE_RIGHT;
}

TEST(feelings_of_the_tables)
{
	struct feelings_run r = { 0 };
	const struct language_scorer scorer = { .ctx = &r,
		.show = feelings_show,
		.match = feelings_match,
		.is_any_right = true };
	char why[128];

	ck_assert_int_eq(
	    recognizer_new("", &r.recognizer, why, sizeof(why)), RC_OK);
	language_table_run(TABLES, &scorer);
	printf("Chinese %.3f, English %.3f\n", (double)r.right[0] / r.lines[0],
	    (double)r.right[1] / r.lines[1]);
	recognizer_free(r.recognizer);
}
