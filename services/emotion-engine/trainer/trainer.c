/*
 * Says on stdout what it does, on stderr why it could not.
 */
#include "trainer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "learn.h"

#define LINES    "services/emotion-engine/trainer/lines"
#define FILE_CAP (64 * 1024 * 1024)

int
trainer_load(struct rows *r, const char *external)
{
	char why[512];
	enum rc rc = rows_add_own(r, LINES, why, sizeof(why));
	size_t i, dev = 0, again;

	if (rc == RC_OK && external != NULL)
		rc = rows_add_external(r, external, why, sizeof(why));
	if (rc != RC_OK) {
		(void)fprintf(stderr, "emotion-trainer: %s\n", why);
		return 1;
	}
	again = rows_separate(r);
	for (i = 0; i < r->n; i++)
		dev += r->v[i].dev;
	printf("%zu rows to learn from, %zu to measure with, %zu repeated\n",
	    r->n - dev, dev, again);
	return 0;
}

static void
say_epoch(int epoch, int epochs, double loss)
{
	printf("epoch %d of %d: loss %.4f\n", epoch, epochs, loss);
	(void)fflush(stdout);
}

int
trainer_train(const struct rows *r, const char *path)
{
	struct buf b = BUF_INIT(FILE_CAP);
	FILE *f = fopen(path, "we");
	int failed;

	if (f == NULL) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	learn(r, &learn_defaults, say_epoch, &b);
	failed = fwrite(b.p, 1, b.n, f) != b.n;
	failed = fclose(f) != 0 || failed;
	if (failed)
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
	else
		printf("%s: %zu bytes\n", path, b.n);
	buf_free(&b);
	return failed;
}
