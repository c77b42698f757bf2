/*
 * model: a linear model over the features of a text, and its weights file.
 *
 * The file, little-endian: struct model_head; index, 2^index_bits + 1 numbers;
 * marks, one of 32 bits per key, ascending and unique; rows, 16 weights of 8
 * bits per key, one per emotion and a zero.  The marks whose upper bits are b
 * are those from index[b] to index[b + 1].
 */
#ifndef EMOTION_ENGINE_RECOGNITION_MODEL_H
#define EMOTION_ENGINE_RECOGNITION_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "persona/emotion.h"
#include "recognition/feature.h"

#define MODEL_MAGIC    "SOULEMO" /* eight bytes with its NUL */
#define MODEL_VERSION  1
#define MODEL_ROW      16
#define MODEL_FILE_MAX (3 * 1000 * 1000)
#define MODEL_KEYS_MAX 130000

struct model_head {
	char magic[8];
	uint32_t version;
	uint32_t keys, index_bits;
	uint32_t salt;     /* of the marks */
	uint32_t checksum; /* of everything after the head */
	float scale;       /* logit of a weight of 1 */
	float gain;        /* total of the keys of a text, relative to a sign */
	char reserved[28]; /* zero */
};
_Static_assert(sizeof(struct model_head) == 64, "as in the file");

struct model {
	const struct model_head *head;
	const uint32_t *index, *marks;
	const int8_t *rows;
	void *map; /* NULL: the caller owns the bytes */
	size_t map_n;
};

/*
 * model_open(path, m, why, size):
 * Map and validate the file at path; "" is the weights in the program.  On
 * failure why has the reason.
 * model_of(bytes, m, why, size):
 * The same for 4-aligned bytes in memory, which must outlive m.
 * model_close(m):
 * Unmap.
 */
enum rc model_open(
    const char *path, struct model *m, char *why, size_t size) RC_CHECK;
enum rc model_of(
    struct str bytes, struct model *m, char *why, size_t size) RC_CHECK;
void model_close(struct model *m);

/* model_mark(key, salt): The mark of a key in the file. */
uint32_t model_mark(uint64_t key, uint32_t salt);

/* model_checksum(p, n): As in the head. */
uint32_t model_checksum(const void *p, size_t n);

/* model_row(m, key): The key's 16 weights; NULL: unknown key. */
const int8_t *model_row(const struct model *m, uint64_t key);

/* The weights of some keys and signs of a text. */
struct model_sum {
	int32_t keys[MODEL_ROW], signs[MODEL_ROW];
	size_t n_keys;
};

/*
 * model_sum_add(m, key, is_sign, sum): Add the weights of a key or a sign.
 * model_sum_of(m, f, out):             Of all keys and signs of f.
 * model_sum_subtract(a, b, out):       Of those of a that b does not have.
 * model_sum_logits(m, sum, z):         The logit of each emotion.
 */
void model_sum_add(
    const struct model *m, uint64_t key, bool is_sign, struct model_sum *sum);
void model_sum_of(
    const struct model *m, const struct features *f, struct model_sum *out);
void model_sum_subtract(const struct model_sum *a, const struct model_sum *b,
    struct model_sum *out);
void model_sum_logits(
    const struct model *m, const struct model_sum *sum, double z[EMOTION_N]);

/*
 * model_logits(m, f, z): The logit of each emotion for the text in f.
 * model_share(m, f):     The weight of a key of f relative to a sign.
 */
void model_logits(
    const struct model *m, const struct features *f, double z[EMOTION_N]);
double model_share(const struct model *m, const struct features *f);

/*
 * model_softmax(z, p):
 * Probabilities from logits, bit for bit the same with every compiler and libc.
 */
void model_softmax(const double z[EMOTION_N], double p[EMOTION_N]);

#endif /* !EMOTION_ENGINE_RECOGNITION_MODEL_H */
