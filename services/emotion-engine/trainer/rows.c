/*
 * Labelled lines from TSV files.
 */
#include "trainer/trainer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "persona/emotion.h"
#include "recognition/codepoints.h"

#define OWN_LINES      "services/emotion-engine/trainer/lines"
#define FILE_MAX_BYTES (64 * 1024 * 1024)
#define DEV_ONE_IN     8

/* White space and punctuation. */
static bool
rows_is_mark(uint32_t r)
{
	return !codepoint_is_latin(r) &&
	    (r < 0x2190 || (r >= 0x3000 && r < 0x3400));
}

/* Hash of a line without case and marks, unless it has nothing else. */
static uint64_t
rows_hash(struct str text)
{
	uint32_t runes[512];
	size_t i, letters = 0, n = codepoints_fold(text, runes, NELEM(runes));
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (i = 0; i < n; i++) {
		if (!rows_is_mark(runes[i]))
			letters++;
	}
	for (i = 0; i < n; i++) {
		if (letters == 0 || !rows_is_mark(runes[i]))
			h = (h ^ runes[i]) * UINT64_C(0x100000001b3);
	}
	h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static enum rc
rows_read_file(
    struct rows *r, const char *path, struct str *out, char *why, size_t size)
{
	FILE *f = fopen(path, "re");
	char *p = NULL;
	size_t n = 0, got;

	if (f == NULL) {
		(void)snprintf(why, size, "%s: %s", path, strerror(errno));
		return RC_NOENT;
	}
	do {
		p = mem_realloc(p, n + 65536);
		got = fread(p + n, 1, 65536, f);
		n += got;
	} while (got > 0 && n < FILE_MAX_BYTES);
	(void)fclose(f);
	r->files = mem_realloc(r->files, (r->n_files + 1) * sizeof(p));
	r->files[r->n_files++] = p;
	*out = (struct str){ p, n };
	return RC_OK;
}

static enum rc
rows_label(struct str name, enum wire_emotion *out)
{
	size_t i;

	for (i = 0; i < EMOTION_N; i++) {
		if (str_eq(name, wire_emotion_names[i])) {
			*out = (enum wire_emotion)i;
			return RC_OK;
		}
	}
	return RC_INVALID;
}

static void
rows_add(struct rows *r, struct row row)
{
	if (r->n == r->cap) {
		r->cap = r->cap == 0 ? 4096 : 2 * r->cap;
		r->v = mem_realloc(r->v, r->cap * sizeof(r->v[0]));
	}
	row.hash = rows_hash(row.text);
	if (row.own && !row.framed)
		row.dev = row.hash % DEV_ONE_IN == 0;
	r->v[r->n++] = row;
}

static enum rc
rows_add_own_file(
    struct rows *r, const char *dir, const char *name, char *why, size_t size)
{
	struct str rest, line;
	char path[4096];
	unsigned n = 0;
	enum rc rc;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = rows_read_file(r, path, &rest, why, size);
	if (rc != RC_OK)
		return rc;
	while (rest.n > 0) {
		struct row row = { .own = true,
			.subset = STR("own"),
			.framed = str_ends(str_of(name), STR("-frames.tsv")),
			.chinese = str_starts(str_of(name), STR("zh")) };

		line = str_split(&rest, '\n');
		n++;
		if (line.n == 0)
			continue;
		rc = rows_label(str_split(&line, '\t'), &row.label);
		row.text = line;
		if (rc != RC_OK || line.n == 0) {
			(void)snprintf(why, size,
			    "%s:%u: must be label, tab, text", path, n);
			return RC_INVALID;
		}
		rows_add(r, row);
	}
	return RC_OK;
}

static int
rows_is_tsv(const struct dirent *d)
{
	return str_ends(str_of(d->d_name), STR(".tsv"));
}

static int
rows_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

enum rc
rows_add_own(struct rows *r, const char *dir, char *why, size_t size)
{
	struct dirent **names;
	enum rc rc = RC_OK;
	int i, n = scandir(dir, &names, rows_is_tsv, rows_by_name);

	if (n < 0) {
		(void)snprintf(why, size, "%s: %s", dir, strerror(errno));
		return RC_NOENT;
	}
	for (i = 0; i < n; i++) {
		if (rc == RC_OK)
			rc = rows_add_own_file(
			    r, dir, names[i]->d_name, why, size);
		free(names[i]);
	}
	free(names);
	return rc;
}

static enum rc
rows_add_pair(struct rows *r, const char *dir, const char *part, bool dev,
    char *why, size_t size)
{
	struct str rest, sources, line, source;
	char path[4096];
	enum rc rc;

	(void)snprintf(path, sizeof(path), "%s/%s.tsv", dir, part);
	rc = rows_read_file(r, path, &rest, why, size);
	if (rc != RC_OK)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/%s.src.tsv", dir, part);
	rc = rows_read_file(r, path, &sources, why, size);
	if (rc != RC_OK)
		return rc;
	while (rest.n > 0) {
		struct row row = { .dev = dev };

		line = str_split(&rest, '\n');
		source = str_split(&sources, '\n');
		row.subset = str_split(&source, '\t');
		(void)str_split(&source, '\t');
		if (!dev && !str_eq(source, STR("A")))
			continue;
		if (rows_label(str_split(&line, '\t'), &row.label) != RC_OK) {
			(void)snprintf(why, size, "%s/%s.tsv: an unknown label",
			    dir, part);
			return RC_INVALID;
		}
		row.chinese = str_eq(str_split(&line, '\t'), STR("zh"));
		row.text = line;
		rows_add(r, row);
	}
	return RC_OK;
}

enum rc
rows_add_external(struct rows *r, const char *dir, char *why, size_t size)
{
	enum rc rc = rows_add_pair(r, dir, "train", false, why, size);

	return rc != RC_OK ? rc : rows_add_pair(r, dir, "dev", true, why, size);
}

struct row_ref {
	uint64_t hash;
	size_t at;
	bool dev;
};

static int
rows_by_hash(const void *a, const void *b)
{
	const struct row_ref *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

size_t
rows_separate(struct rows *r)
{
	struct row_ref *s = mem_calloc(r->n + 1, sizeof(s[0]));
	bool *drop = mem_calloc(r->n + 1, sizeof(drop[0]));
	size_t i, n = 0, was = r->n;

	for (i = 0; i < r->n; i++)
		s[i] = (struct row_ref){ r->v[i].hash, i, r->v[i].dev };
	qsort(s, r->n, sizeof(s[0]), rows_by_hash);
	for (i = 1; i < r->n; i++)
		drop[s[i].at] = s[i].hash == s[i - 1].hash;
	for (i = 0; i < r->n; i++) {
		if (!drop[i])
			r->v[n++] = r->v[i];
	}
	r->n = n;
	free(s);
	free(drop);
	return was - n;
}

void
rows_free(struct rows *r)
{
	size_t i;

	for (i = 0; i < r->n_files; i++)
		free(r->files[i]);
	free(r->files);
	free(r->v);
	*r = (struct rows){ 0 };
}

int
rows_load(struct rows *r, const char *external)
{
	char why[512];
	enum rc rc = rows_add_own(r, OWN_LINES, why, sizeof(why));
	size_t i, dev = 0, repeated;

	if (rc == RC_OK && external != NULL)
		rc = rows_add_external(r, external, why, sizeof(why));
	if (rc != RC_OK) {
		(void)fprintf(stderr, "emotion-trainer: %s\n", why);
		return 1;
	}
	repeated = rows_separate(r);
	for (i = 0; i < r->n; i++)
		dev += r->v[i].dev;
	printf("%zu rows to learn from, %zu to measure with, %zu repeated\n",
	    r->n - dev, dev, repeated);
	return 0;
}
