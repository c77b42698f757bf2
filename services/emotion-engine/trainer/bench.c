/*
 * Tables on stdout.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "emotion.h"
#include "fasttext.h"
#include "feeling.h"
#include "score.h"

struct guesses {
	const char *name;
	uint8_t *of; /* of each row */
};

/* Which rows a table is about. */
struct subset {
	const char *title;
	const char *names[4]; /* of subsets of rows; none: all dev rows */
};

static const struct subset subsets[] = {
	{ "own dev lines", { "own" } },
	{ "own dev lines and probes", { "own", "probe-easy", "probe-hard" } },
	{ "probe-easy", { "probe-easy" } },
	{ "probe-hard", { "probe-hard" } },
	{ "gold", { "gold" } },
	{ "authored", { "authored" } },
	{ "public", { "public" } },
};

static bool
in_subset(const struct row *r, const struct subset *s, bool chinese)
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
select_pairs(const struct rows *r, const struct subset *s, bool chinese,
    const uint8_t *guess, struct score_pair *v)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		if (in_subset(&r->v[i], s, chinese))
			v[n++] = (struct score_pair){ (uint8_t)r->v[i].label,
				guess[i] };
	}
	return n;
}

static void
print_spans(const struct guesses *g, const struct score_pair *v, size_t n)
{
	struct score_span f1, pol;

	score_spans(v, n, &f1, &pol);
	printf("  %-10s %.3f [%.3f %.3f]    %.3f [%.3f %.3f]\n", g->name,
	    f1.mid, f1.low, f1.high, pol.mid, pol.low, pol.high);
}

static void
print_labels(const struct score *s, size_t n)
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
print_subset(const struct rows *r, const struct subset *s, bool chinese,
    const struct guesses *g, size_t n_guesses)
{
	struct score_pair *v = mem_calloc(r->n + 1, sizeof(v[0]));
	struct score scores[2];
	size_t k, n = 0;

	for (k = 0; k < n_guesses; k++) {
		n = select_pairs(r, s, chinese, g[k].of, v);
		if (n == 0)
			break;
		if (k == 0)
			printf("\n%s, %s, %zu rows\n  %-10s %-22s   %s\n",
			    s->title, chinese ? "zh" : "en", n, "", "macro-F1",
			    "polarity");
		print_spans(&g[k], v, n);
		scores[k] = score_of(v, n);
	}
	if (n > 0) {
		printf("    F1 by label%s (rows)\n",
		    n_guesses > 1 ? ", ours and fastText's" : "");
		print_labels(scores, n_guesses);
	}
	free(v);
}

static void
guess(struct feeling *f, const struct rows *r, uint8_t *out)
{
	struct wire_user_emotion u;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!r->v[i].dev)
			continue;
		feeling_read(f, r->v[i].text, &u);
		out[i] = (uint8_t)u.emotion;
	}
}

int
bench_print(const struct rows *r)
{
	struct guesses g[2] = { { "ours", NULL }, { "fastText", NULL } };
	struct feeling *f;
	size_t i, n = 1;
	char why[128];

	if (feeling_new("", &f, why, sizeof(why)) != RC_OK) {
		(void)fprintf(stderr, "the weights: %s\n", why);
		return 1;
	}
	for (i = 0; i < 2; i++)
		g[i].of = mem_calloc(r->n + 1, 1);
	guess(f, r, g[0].of);
	if (fasttext_guess(r, g[1].of, why, sizeof(why)) == RC_OK)
		n = 2;
	else
		printf("fastText: %s\n", why);
	for (i = 0; i < NELEM(subsets); i++) {
		print_subset(r, &subsets[i], true, g, n);
		print_subset(r, &subsets[i], false, g, n);
	}
	for (i = 0; i < 2; i++)
		free(g[i].of);
	feeling_free(f);
	return 0;
}
