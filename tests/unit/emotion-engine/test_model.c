/*
 * The weights file: the committed one is read, broken ones are rejected.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "recognition/model.h"
#include "testkit/testkit.h"

#define WEIGHTS "services/emotion-engine/emotion.weights"

TEST(the_committed_file_is_linked_into_the_program)
{
	struct model inside, file;
	char why[128];

	ck_assert_msg(
	    model_open("", &inside, why, sizeof(why)) == RC_OK, "%s", why);
	ck_assert_msg(
	    model_open(WEIGHTS, &file, why, sizeof(why)) == RC_OK, "%s", why);
	ck_assert_uint_le(file.map_n, MODEL_FILE_MAX);
	ck_assert_uint_gt(file.head->keys, 10000);
	ck_assert(memcmp(inside.head, file.head, file.map_n) == 0);
	model_close(&file);
	model_close(&inside);
}

static enum rc
open_copy(const char *p, size_t n, char *why, size_t size)
{
	const char *path = tk_path("weights");
	FILE *f = fopen(path, "we");
	struct model m;
	enum rc rc;

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(p, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
	rc = model_open(path, &m, why, size);
	ck_assert((rc == RC_OK) == (m.map != NULL));
	model_close(&m);
	return rc;
}

/* Fix the checksum, so that the checks after it are reached. */
static void
fix_checksum(char *p, size_t n)
{
	uint32_t sum = model_checksum(
	    p + sizeof(struct model_head), n - sizeof(struct model_head));

	memcpy(p + offsetof(struct model_head, checksum), &sum, sizeof(sum));
}

static const struct {
	size_t at;
	uint32_t value;
	bool fixed;
	const char *why;
} broken_files[] = {
	{ 0, 0, false, "not a weights file" },
	{ offsetof(struct model_head, version), 2, false, "its version is 2" },
	{ offsetof(struct model_head, keys), 1, false, "length" },
	{ offsetof(struct model_head, keys), UINT32_MAX, false, "too many" },
	{ offsetof(struct model_head, index_bits), 0, false, "too many" },
	{ offsetof(struct model_head, index_bits), 31, false, "too many" },
	{ offsetof(struct model_head, scale), 0, false, "scale" },
	{ offsetof(struct model_head, gain), 0x7fc00000, false, "gain" },
	{ offsetof(struct model_head, checksum), 7, false, "checksum" },
	{ sizeof(struct model_head), 7, false, "checksum" },
	{ sizeof(struct model_head), 7, true, "index" },
	{ sizeof(struct model_head) + 4, UINT32_MAX, true, "index" },
};

TEST(a_broken_file_is_rejected_with_a_reason)
{
	size_t n, i;
	char *good = tk_read_file(WEIGHTS, &n), *bad = mem_alloc(n);
	char why[128];

	ck_assert_int_eq(open_copy(good, n, why, sizeof(why)), RC_OK);
	for (i = 0; i < NELEM(broken_files); i++) {
		memcpy(bad, good, n);
		memcpy(bad + broken_files[i].at, &broken_files[i].value, 4);
		if (broken_files[i].fixed)
			fix_checksum(bad, n);
		ck_assert_int_eq(
		    open_copy(bad, n, why, sizeof(why)), RC_INVALID);
		ck_assert_msg(strstr(why, broken_files[i].why) != NULL,
		    "%zu: %s", i, why);
	}
	for (i = 0; i < n; i += i < 100 ? 1 : n / 7) {
		ck_assert_int_eq(
		    open_copy(good, i, why, sizeof(why)), RC_INVALID);
	}
	free(bad);
	free(good);
}

/* Equal or unordered marks are rejected. */
TEST(colliding_marks_are_rejected)
{
	struct model m;
	size_t n, at;
	char *p = tk_read_file(WEIGHTS, &n), why[128];

	ck_assert_int_eq(
	    model_of((struct str){ p, n }, &m, why, sizeof(why)), RC_OK);
	at = (size_t)((const char *)m.marks - p);
	memcpy(p + at, p + at + 4, 4);
	fix_checksum(p, n);
	ck_assert_int_eq(
	    model_of((struct str){ p, n }, &m, why, sizeof(why)), RC_INVALID);
	ck_assert_ptr_nonnull(strstr(why, "order"));
	free(p);
}

TEST(a_missing_file_is_reported)
{
	struct model m;
	char why[128];

	ck_assert_int_eq(
	    model_open(tk_path("none"), &m, why, sizeof(why)), RC_NOENT);
	ck_assert_ptr_nonnull(strstr(why, "No such file"));
	ck_assert_int_eq(
	    model_open(tk_dir(), &m, why, sizeof(why)), RC_INVALID);
}

TEST(softmax_sums_to_one)
{
	static const double far[EMOTION_N] = { 1e6, -1e6, 0 };
	double z[EMOTION_N], p[EMOTION_N], sum = 0;
	size_t i;

	for (i = 0; i < EMOTION_N; i++)
		z[i] = (double)i / 3 - 2;
	model_softmax(z, p);
	for (i = 0; i < EMOTION_N; i++) {
		sum += p[i];
		if (i > 0)
			ck_assert_double_eq_tol(
			    p[i] / p[i - 1], exp(1. / 3), 1e-9);
	}
	ck_assert_double_eq_tol(sum, 1, 1e-12);
	model_softmax(far, p);
	ck_assert_double_eq(p[0], 1);
	ck_assert(p[1] >= 0 && p[1] < 1e-300);
}
