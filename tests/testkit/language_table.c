#include "testkit/language_table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/str.h"
#include "testkit/testkit.h"

#define SHOWN_MAX 4096

struct language_score {
	int lines, right, any;
	double floor_right, floor_any; /* shares that must not be missed */
};

struct language_run {
	const struct language_scorer *scorer;
	const char *folder;
	struct language_score rounds[LANGUAGE_ROUNDS], all[LANGUAGE_ROUNDS];
	int round;
	int below; /* rounds of tables below their floor */
	bool is_verbose;
};

static char *
language_trim(char *s)
{
	char *end = s + strlen(s);

	while (*s == ' ')
		s++;
	while (end > s && (end[-1] == ' ' || end[-1] == '\n'))
		*--end = '\0';
	return s;
}

/* The first alternative is what is meant; the others are consistent with it. */
static enum language_match
language_score_line(struct language_run *r, const struct language_line *l)
{
	char got[SHOWN_MAX], wants[LANGUAGE_LINE_MAX], *next, *want = wants;
	enum language_match best = LANGUAGE_WRONG, one;

	got[0] = '\0';
	r->scorer->show(r->scorer->ctx, l, got, sizeof(got));
	(void)snprintf(wants, sizeof(wants), "%s", l->want);
	for (; want != NULL; want = next) {
		next = strstr(want, " / ");
		if (next != NULL) {
			*next = '\0';
			next += strlen(" / ");
		}
		one = r->scorer->match(
		    r->scorer->ctx, l, language_trim(want), got);
		if (one == LANGUAGE_RIGHT && want != wants &&
		    !r->scorer->is_any_right)
			one = LANGUAGE_PARTLY;
		if (one > best)
			best = one;
	}
	if (r->is_verbose && best != LANGUAGE_RIGHT)
		printf("  %s round %d: %s | %s %s | got %s\n", l->file,
		    r->round, l->text,
		    best == LANGUAGE_WRONG ? "want" : "rather", l->want, got);
	return best;
}

static void
language_read_line(struct language_run *r, const char *file, char *line)
{
	struct language_line l = { .file = file };
	struct language_score *s;
	char *want, *source;
	enum language_match m;
	double right, any;
	int n;

	if (line[0] == '\n' || line[0] == '#' || line[0] == '\0')
		return;
	if (strncmp(line, "@round ", strlen("@round ")) == 0) {
		(void)sscanf(line, "@round %d", &r->round);
		ck_assert(r->round > 0 && r->round < LANGUAGE_ROUNDS);
		return;
	}
	s = &r->rounds[r->round];
	n = sscanf(line, "@floor %lf %lf", &right, &any);
	if (n > 0) {
		s->floor_right = right;
		s->floor_any = n == 2 ? any : right;
		return;
	}
	if (line[0] == '@') {
		ck_assert_msg(
		    r->scorer->directive != NULL, "%s: %s", file, line);
		r->scorer->directive(r->scorer->ctx, language_trim(line));
		return;
	}
	want = strstr(line, " | ");
	source = want != NULL ? strstr(want + 3, " | ") : NULL;
	ck_assert_msg(source != NULL, "%s: not three columns: %s", file, line);
	if (source == NULL)
		return;
	*want = *source = '\0';
	l.text = language_trim(line);
	l.want = language_trim(want + 3);
	m = language_score_line(r, &l);
	s->lines++;
	s->right += m == LANGUAGE_RIGHT;
	s->any += m != LANGUAGE_WRONG;
}

static double
language_share(int part, int of)
{
	return of > 0 ? (double)part / of : 1;
}

static void
language_report(const char *name, const struct language_score *rounds)
{
	int i;

	printf("%-24s", name);
	for (i = 1; i < LANGUAGE_ROUNDS; i++) {
		if (rounds[i].lines > 0)
			printf("  round %d: %3d lines %.3f %.3f", i,
			    rounds[i].lines,
			    language_share(rounds[i].right, rounds[i].lines),
			    language_share(rounds[i].any, rounds[i].lines));
	}
	printf("\n");
}

static void
language_run_file(struct language_run *r, const char *name)
{
	char path[512], line[LANGUAGE_LINE_MAX];
	FILE *f;
	int i;

	memset(r->rounds, 0, sizeof(r->rounds));
	r->round = 1;
	(void)snprintf(path, sizeof(path), "%s/%s", r->folder, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL)
		language_read_line(r, name, line);
	fclose(f);
	language_report(name, r->rounds);
	for (i = 1; i < LANGUAGE_ROUNDS; i++) {
		const struct language_score *x = &r->rounds[i];

		r->all[i].lines += x->lines;
		r->all[i].right += x->right;
		r->all[i].any += x->any;
		/* Floors have three digits. */
		if (language_share(x->right, x->lines) + 5e-4 >=
			x->floor_right &&
		    language_share(x->any, x->lines) + 5e-4 >= x->floor_any)
			continue;
		printf("%s: round %d is below its floor %.3f %.3f\n", path, i,
		    x->floor_right, x->floor_any);
		r->below++;
	}
}

static int
language_is_file(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), STR(".txt"));
}

void
language_table_run(const char *folder, const struct language_scorer *scorer)
{
	struct language_run r = { .scorer = scorer,
		.folder = folder,
		.is_verbose = getenv("LANGUAGE_VERBOSE") != NULL };
	struct dirent **names = NULL;
	int n = scandir(folder, &names, language_is_file, alphasort), i;

	ck_assert_int_gt(n, 0);
	for (i = 0; i < n; i++) {
		language_run_file(&r, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	language_report("all", r.all);
	(void)fflush(stdout);
	ck_assert_int_eq(r.below, 0);
}
