/*
 * The tables of tests/language/feelings: a phenomenon and a language each, with
 * the accuracy that must not fall.  LANGUAGE_VERBOSE=1 lists the lines that
 * differ.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "persona/emotion.h"
#include "recognition/recognizer.h"
#include "testkit/testkit.h"

#define TABLES   "tests/language/feelings"
#define LINE_MAX 1024
#define ROUNDS   8

struct feelings_score {
	int lines, right;
	double floor; /* the share that must not be missed */
};

struct feelings_run {
	struct recognizer *recognizer;
	int round;
	struct feelings_score rounds[ROUNDS];
	struct feelings_score languages[2]; /* Chinese, English */
	int below;
	bool is_verbose;
};

static char *
feelings_trim(char *s)
{
	char *end = s + strlen(s);

	while (*s == ' ')
		s++;
	while (end > s && (end[-1] == ' ' || end[-1] == '\n'))
		*--end = '\0';
	return s;
}

/* One of the labels, separated by " / ", is the emotion of the text. */
static bool
feelings_is_right(struct feelings_run *r, const char *text, const char *want)
{
	struct wire_user_emotion got;
	struct str rest = str_of(want), one;

	recognizer_read(r->recognizer, str_of(text), &got);
	while (rest.p != NULL) {
		one = str_split(&rest, '/');
		while (one.n > 0 && one.p[0] == ' ') {
			one.p++;
			one.n--;
		}
		while (one.n > 0 && one.p[one.n - 1] == ' ')
			one.n--;
		if (emotion_find(one) == got.emotion)
			return true;
	}
	if (r->is_verbose)
		printf("  round %d: %s | want %s | got %.*s %.2f\n", r->round,
		    text, want, STR_ARG(wire_emotion_names[got.emotion]),
		    got.confidence);
	return false;
}

static void
feelings_read_line(
    struct feelings_run *r, const char *path, char *line, int language)
{
	char *want, *source;
	bool ok;

	if (line[0] == '\n' || line[0] == '#')
		return;
	if (line[0] == '@') {
		(void)sscanf(line, "@round %d", &r->round);
		ck_assert(r->round > 0 && r->round < ROUNDS);
		(void)sscanf(line, "@floor %lf", &r->rounds[r->round].floor);
		return;
	}
	want = strstr(line, " | ");
	source = want != NULL ? strstr(want + 3, " | ") : NULL;
	ck_assert_msg(source != NULL, "%s: not three columns: %s", path, line);
	*want = *source = '\0';
	ok = feelings_is_right(r, feelings_trim(line), feelings_trim(want + 3));
	r->rounds[r->round].lines++;
	r->rounds[r->round].right += ok;
	r->languages[language].lines++;
	r->languages[language].right += ok;
}

static double
feelings_share(const struct feelings_score *s)
{
	return s->lines > 0 ? (double)s->right / s->lines : 1;
}

static void
feelings_run_file(struct feelings_run *r, const char *name)
{
	char path[512], line[LINE_MAX];
	FILE *f;
	int i;

	memset(r->rounds, 0, sizeof(r->rounds));
	r->round = 1;
	(void)snprintf(path, sizeof(path), "%s/%s", TABLES, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL)
		feelings_read_line(
		    r, path, line, str_ends(str_of(name), STR("_en.txt")));
	fclose(f);
	printf("%-24s", name);
	for (i = 1; i < ROUNDS; i++) {
		if (r->rounds[i].lines > 0)
			printf("  round %d: %3d lines %.3f", i,
			    r->rounds[i].lines, feelings_share(&r->rounds[i]));
	}
	printf("\n");
	for (i = 1; i < ROUNDS; i++) {
		if (feelings_share(&r->rounds[i]) + 5e-4 >= r->rounds[i].floor)
			continue;
		printf("%s: round %d is below its floor %.3f\n", path, i,
		    r->rounds[i].floor);
		r->below++;
	}
}

static int
feelings_is_file(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), STR(".txt"));
}

TEST(feelings_of_the_tables)
{
	struct feelings_run r = { .is_verbose =
				      getenv("LANGUAGE_VERBOSE") != NULL };
	struct dirent **names = NULL;
	char why[128];
	int n = scandir(TABLES, &names, feelings_is_file, alphasort), i;

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(
	    recognizer_new("", &r.recognizer, why, sizeof(why)), RC_OK);
	for (i = 0; i < n; i++) {
		feelings_run_file(&r, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	printf("Chinese %.3f, English %.3f\n", feelings_share(&r.languages[0]),
	    feelings_share(&r.languages[1]));
	recognizer_free(r.recognizer);
	(void)fflush(stdout);
	ck_assert_int_eq(r.below, 0);
}
