/*
 * Sums of products of bytes, which a compiler makes wide.
 */
#include "vector.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "tokens.h"

#define BLOCK 64
/* A single character says less than a pair. */
#define CHAR_WEIGHT 0.5F

/* One n-gram, to a place and with a sign that its hash says. */
static void
add(float *v, uint64_t gram, float weight)
{
	uint64_t h = tokens_mix(gram);

	v[h % VECTOR_GRAMS_N] += (h >> 63) != 0 ? weight : -weight;
}

void
vector_grams(struct str text, float v[VECTOR_GRAMS_N])
{
	/* The runes before; 0 where a run begins. */
	uint64_t one = 0, two = 0, c;
	enum rune_class is, before = RUNE_NONE;
	double sum = 0;
	uint32_t rune;
	size_t i, pos = 0;

	memset(v, 0, VECTOR_GRAMS_N * sizeof(v[0]));
	while (tokens_rune(text, &pos, &rune, &is)) {
		c = is == RUNE_NONE ? 0 : rune;
		if (is != before) {
			/* The end of a word is a letter too. */
			if (before == RUNE_LETTER)
				add(v, two << 42 | one << 21, 1);
			one = two = 0;
		}
		if (is == RUNE_LETTER)
			add(v, two << 42 | one << 21 | c, 1);
		if (is == RUNE_WIDE)
			add(v, c, CHAR_WEIGHT);
		if (is == RUNE_WIDE && one != 0)
			add(v, one << 21 | c, 1);
		two = one;
		one = c;
		before = is;
	}
	if (before == RUNE_LETTER)
		add(v, two << 42 | one << 21, 1);
	for (i = 0; i < VECTOR_GRAMS_N; i++)
		sum += (double)v[i] * (double)v[i];
	for (i = 0; i < VECTOR_GRAMS_N && sum > 0; i++)
		v[i] = (float)((double)v[i] / sqrt(sum));
}

void
vector_shrink(const float *v, size_t n, int8_t *x)
{
	float most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmaxf(most, fabsf(v[i]));
	for (i = 0; i < n; i++)
		x[i] = most > 0 ? (int8_t)lrintf(v[i] / most * 127) : 0;
}

/* Blocks of a size that is known, so that the compiler makes them wide. */
static int32_t
dot(const int8_t *x, const int8_t *y, size_t n)
{
	int32_t sum = 0; /* 127 * 127 * VECTOR_MAX is within */
	size_t i, k;

	for (i = 0; i + BLOCK <= n; i += BLOCK)
		for (k = 0; k < BLOCK; k++)
			sum += x[i + k] * y[i + k];
	for (; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

double
vector_norm(const int8_t *x, size_t n)
{
	return sqrt(dot(x, x, n));
}

double
vector_cosine(const int8_t *x, double nx, const int8_t *y, double ny, size_t n)
{
	return nx > 0 && ny > 0 ? dot(x, y, n) / (nx * ny) : 0;
}

void
vector_write(struct str model, const int8_t *x, size_t n, struct buf *out)
{
	buf_put_str(out, model);
	buf_putc(out, '\0');
	buf_put(out, x, n);
}

struct str
vector_read(struct str bytes, struct str model)
{
	const struct str none = { NULL, 0 };

	if (bytes.n <= model.n + 1 || bytes.n > model.n + 1 + VECTOR_MAX)
		return none;
	if (!str_starts(bytes, model) || bytes.p[model.n] != '\0')
		return none;
	return (struct str){ bytes.p + model.n + 1, bytes.n - model.n - 1 };
}
