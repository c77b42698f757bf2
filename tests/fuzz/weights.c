/*
 * Weights files of hostile bytes with a correct checksum: a file is rejected
 * with a reason, or every read of it stays within it.
 */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "must.h"
#include "recognition/model.h"

static void
check_model(const struct model *m)
{
	static struct features *f;
	double z[EMOTION_N], p[EMOTION_N], sum = 0;
	uint64_t key = 1;
	size_t i;

	if (f == NULL)
		f = features_new();
	features_read(f, STR("今天真的很难过, but not sad!"));
	model_logits(m, f, z);
	model_softmax(z, p);
	for (i = 0; i < EMOTION_N; i++) {
		must(isfinite(p[i]));
		sum += p[i];
	}
	must(fabs(sum - 1) < 1e-9);
	for (i = 0; i < 100; i++) {
		const int8_t *row = model_row(m, key);

		must(row == NULL ||
		    (row >= m->rows &&
			row < m->rows + m->head->keys * (size_t)MODEL_ROW));
		key = key * UINT64_C(6364136223846793005) + 1;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = mem_alloc(n + 1), why[128] = "";
	size_t head = sizeof(struct model_head);
	struct model m;
	uint32_t sum;
	enum rc rc;

	memcpy(copy, data, n);
	if (n >= head) {
		memcpy(copy, MODEL_MAGIC, sizeof(MODEL_MAGIC));
		sum = model_checksum(copy + head, n - head);
		memcpy(copy + offsetof(struct model_head, checksum), &sum,
		    sizeof(sum));
	}
	rc = model_of((struct str){ copy, n }, &m, why, sizeof(why));
	must(rc == RC_OK || rc == RC_INVALID);
	must((rc == RC_OK) == (why[0] == '\0'));
	if (rc == RC_OK)
		check_model(&m);
	free(copy);
	return 0;
}
