/*
 * Scores of the recogniser on rows it was not trained on, beside fastText.
 */
#include "trainer/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/str.h"
#include "persona/emotion.h"
#include "recognition/codepoints.h"
#include "recognition/recognizer.h"

#define RESAMPLES 500

struct score
score_of(const struct score_pair *v, size_t n)
{
	double hit[EMOTION_N] = { 0 }, got[EMOTION_N] = { 0 };
	size_t i, labels = 0, right = 0;
	struct score s = { 0 };

	for (i = 0; i < n; i++) {
		s.rows[v[i].want]++;
		got[v[i].got]++;
		if (v[i].want == v[i].got)
			hit[v[i].want]++;
		right += emotion_valence((enum wire_emotion)v[i].want) ==
		    emotion_valence((enum wire_emotion)v[i].got);
	}
	for (i = 0; i < EMOTION_N; i++) {
		if (s.rows[i] == 0)
			continue;
		labels++;
		s.f1[i] = 2 * hit[i] / ((double)s.rows[i] + got[i]);
		s.macro_f1 += s.f1[i];
	}
	s.macro_f1 = labels > 0 ? s.macro_f1 / (double)labels : 0;
	s.polarity = n > 0 ? (double)right / (double)n : 0;
	return s;
}

static int
score_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct score_interval
score_interval_of(double mid, double v[RESAMPLES])
{
	qsort(v, RESAMPLES, sizeof(v[0]), score_by_value);
	return (struct score_interval){ mid, v[RESAMPLES / 40],
		v[RESAMPLES - 1 - RESAMPLES / 40] };
}

void
score_intervals(const struct score_pair *v, size_t n, struct score_interval *f1,
    struct score_interval *polarity)
{
	struct score_pair *draw = mem_calloc(n + 1, sizeof(draw[0]));
	double f1s[RESAMPLES], polarities[RESAMPLES];
	struct score s;
	uint64_t x = 1;
	size_t i, k;

	for (k = 0; k < RESAMPLES; k++) {
		for (i = 0; i < n; i++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			draw[i] = v[(x >> 33) % n];
		}
		s = score_of(draw, n);
		f1s[k] = s.macro_f1;
		polarities[k] = s.polarity;
	}
	s = score_of(v, n);
	*f1 = score_interval_of(s.macro_f1, f1s);
	*polarity = score_interval_of(s.polarity, polarities);
	free(draw);
}

#define PREFIX    "__label__"
#define LABEL_MAX 4096

/* Units separated by blanks, the format of fastText. */
static void
fasttext_put_text(FILE *f, struct str text)
{
	uint32_t runes[1024];
	size_t i, n = codepoints_fold(text, runes, NELEM(runes));
	char utf8[4] = { 0 };

	for (i = 0; i < n; i++) {
		if (i > 0 &&
		    !(codepoint_is_latin(runes[i]) &&
			codepoint_is_latin(runes[i - 1])))
			(void)fputc(' ', f);
		(void)fwrite(utf8, 1, codepoint_encode(runes[i], utf8), f);
	}
	(void)fputc('\n', f);
}

static void
fasttext_put_rows(const char *path, const struct rows *r, bool dev)
{
	FILE *f = fopen(path, "we");
	size_t i;
	int times;

	if (f == NULL)
		return;
	for (i = 0; i < r->n; i++) {
		if (r->v[i].dev != dev)
			continue;
		times =
		    r->v[i].own && !dev ? (int)learn_defaults.own_weight : 1;
		for (; times > 0; times--) {
			if (!dev)
				(void)fprintf(f, PREFIX "%.*s ",
				    STR_ARG(wire_emotion_names[r->v[i].label]));
			fasttext_put_text(f, r->v[i].text);
		}
	}
	(void)fclose(f);
}

static enum rc
fasttext_run(const char *const argv[], const char *out)
{
	int status;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (freopen(out, "w", stdout) == NULL ||
		    freopen("/dev/null", "w", stderr) == NULL)
			_exit(126);
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return RC_BUG;
	if (WEXITSTATUS(status) == 127)
		return RC_NOENT;
	return WEXITSTATUS(status) == 0 ? RC_OK : RC_BUG;
}

static enum rc
fasttext_read_labels(const char *path, const struct rows *r, uint8_t *out)
{
	FILE *f = fopen(path, "re");
	char line[LABEL_MAX];
	size_t i, k = 0;

	if (f == NULL)
		return RC_BUG;
	for (i = 0; i < r->n; i++) {
		struct str s;

		if (!r->v[i].dev)
			continue;
		if (fgets(line, sizeof(line), f) == NULL)
			break;
		s = str_trim(str_of(line));
		for (k = 0; k < EMOTION_N; k++) {
			if (str_ends(s, wire_emotion_names[k]))
				out[i] = (uint8_t)k;
		}
	}
	(void)fclose(f);
	return i == r->n ? RC_OK : RC_BUG;
}

static enum rc
fasttext_predict(const char *dir, const struct rows *r, uint8_t *out)
{
	char train[64], dev[64], model[64], bin[64], labels[64];
	const char *const learn_argv[] = { "fasttext", "supervised", "-input",
		train, "-output", model, "-dim", "16", "-epoch", "10", "-lr",
		"0.3", "-wordNgrams", "2", "-minn", "2", "-maxn", "4",
		"-bucket", "200000", "-thread", "1", NULL };
	const char *const guess_argv[] = { "fasttext", "predict", bin, dev,
		NULL };
	enum rc rc;

	(void)snprintf(train, sizeof(train), "%s/train", dir);
	(void)snprintf(dev, sizeof(dev), "%s/dev", dir);
	(void)snprintf(model, sizeof(model), "%s/model", dir);
	(void)snprintf(bin, sizeof(bin), "%s/model.bin", dir);
	(void)snprintf(labels, sizeof(labels), "%s/labels", dir);
	fasttext_put_rows(train, r, false);
	fasttext_put_rows(dev, r, true);
	rc = fasttext_run(learn_argv, labels);
	if (rc == RC_OK)
		rc = fasttext_run(guess_argv, labels);
	if (rc == RC_OK)
		rc = fasttext_read_labels(labels, r, out);
	return rc;
}

static enum rc
fasttext_guess(const struct rows *r, uint8_t *out, char *why, size_t size)
{
	static const char *const names[] = { "train", "dev", "model.bin",
		"model.vec", "labels" };
	char dir[] = "/tmp/fasttext.XXXXXX", path[64];
	enum rc rc;
	size_t i;

	if (mkdtemp(dir) == NULL) {
		(void)snprintf(why, size, "no temporary folder");
		return RC_DOWN;
	}
	rc = fasttext_predict(dir, r, out);
	for (i = 0; i < NELEM(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
	(void)snprintf(why, size, "%s",
	    rc == RC_NOENT ? "not installed (Debian package fasttext)"
			   : "it failed");
	return rc;
}

struct guesses {
	const char *name;
	uint8_t *of; /* the guessed label of each row */
};

/* The rows of one table. */
struct subset {
	const char *title;
	const char *names[4]; /* subsets; none: all dev rows */
};

static const struct subset bench_subsets[] = {
	{ "own dev lines", { "own" } },
	{ "own dev lines and probes", { "own", "probe-easy", "probe-hard" } },
	{ "probe-easy", { "probe-easy" } },
	{ "probe-hard", { "probe-hard" } },
	{ "gold", { "gold" } },
	{ "authored", { "authored" } },
	{ "public", { "public" } },
};

static bool
bench_in_subset(const struct row *r, const struct subset *s, bool chinese)
{
	size_t i;

	if (!r->dev || r->chinese != chinese)
		return false;
	for (i = 0; i < NELEM(s->names) && s->names[i] != NULL; i++) {
		if (str_eq(r->subset, str_of(s->names[i])))
			return true;
	}
	return false;
}

static size_t
bench_select_pairs(const struct rows *r, const struct subset *s, bool chinese,
    const uint8_t *guess, struct score_pair *v)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		if (bench_in_subset(&r->v[i], s, chinese))
			v[n++] = (struct score_pair){ (uint8_t)r->v[i].label,
				guess[i] };
	}
	return n;
}

static void
bench_print_intervals(
    const struct guesses *g, const struct score_pair *v, size_t n)
{
	struct score_interval f1, pol;

	score_intervals(v, n, &f1, &pol);
	printf("  %-10s %.3f [%.3f %.3f]    %.3f [%.3f %.3f]\n", g->name,
	    f1.mid, f1.low, f1.high, pol.mid, pol.low, pol.high);
}

static void
bench_print_labels(const struct score *s, size_t n)
{
	size_t i, k;

	for (i = 0; i < EMOTION_N; i++) {
		printf("    %-15.*s", STR_ARG(wire_emotion_names[i]));
		for (k = 0; k < n; k++)
			printf(" %.2f", s[k].f1[i]);
		printf("  (%zu)\n", s[0].rows[i]);
	}
}

static void
bench_print_subset(const struct rows *r, const struct subset *s, bool chinese,
    const struct guesses *g, size_t n_guesses)
{
	struct score_pair *v = mem_calloc(r->n + 1, sizeof(v[0]));
	struct score scores[2];
	size_t k, n = 0;

	for (k = 0; k < n_guesses; k++) {
		n = bench_select_pairs(r, s, chinese, g[k].of, v);
		if (n == 0)
			break;
		if (k == 0)
			printf("\n%s, %s, %zu rows\n  %-10s %-22s   %s\n",
			    s->title, chinese ? "zh" : "en", n, "", "macro-F1",
			    "polarity");
		bench_print_intervals(&g[k], v, n);
		scores[k] = score_of(v, n);
	}
	if (n > 0) {
		printf("    F1 by label%s (rows)\n",
		    n_guesses > 1 ? ", ours and fastText's" : "");
		bench_print_labels(scores, n_guesses);
	}
	free(v);
}

static void
bench_guess(struct recognizer *f, const struct rows *r, uint8_t *out)
{
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!r->v[i].dev)
			continue;
		recognizer_read(f, r->v[i].text, &u);
		out[i] = (uint8_t)u.emotion;
	}
}

int
bench_print(const struct rows *r)
{
	struct guesses g[2] = { { "ours", NULL }, { "fastText", NULL } };
	struct recognizer *f;
	size_t i, n = 1;
	char why[128];

	if (recognizer_new("", &f, why, sizeof(why)) != RC_OK) {
		(void)fprintf(stderr, "the weights: %s\n", why);
		return 1;
	}
	for (i = 0; i < 2; i++)
		g[i].of = mem_calloc(r->n + 1, 1);
	bench_guess(f, r, g[0].of);
	if (fasttext_guess(r, g[1].of, why, sizeof(why)) == RC_OK)
		n = 2;
	else
		printf("fastText: %s\n", why);
	for (i = 0; i < NELEM(bench_subsets); i++) {
		bench_print_subset(r, &bench_subsets[i], true, g, n);
		bench_print_subset(r, &bench_subsets[i], false, g, n);
	}
	for (i = 0; i < 2; i++)
		free(g[i].of);
	recognizer_free(f);
	return 0;
}
