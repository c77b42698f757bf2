/*
 * model: the weights of the recogniser, a linear model over the keys of
 * feature.h, and the file they are in.
 *
 * The file, little-endian: struct model_head; index, 2^index_bits + 1 numbers;
 * marks, one of 32 bits per key, ascending and so without collision; rows, 16
 * weights of 8 bits per key, one per emotion and a zero.  The marks whose upper
 * bits are b are those from index[b] to index[b + 1].
 */
#ifndef EMOTION_ENGINE_MODEL_H
#define EMOTION_ENGINE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "emotion.h"
#include "feature.h"

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
	uint32_t checksum; /* of what follows the head */
	float scale;       /* what a weight of 1 is worth */
	float gain;        /* what the keys of a text are worth together */
	char reserved[28]; /* zero */
};
_Static_assert(sizeof(struct model_head) == 64, "as in the file");

struct model {
	const struct model_head *head;
	const uint32_t *index, *marks;
	const int8_t *rows;
	void *map; /* NULL: the bytes are somebody else's */
	size_t map_n;
};

/*
 * model_open(path, m, why, size):
 * Map the file at path, checked; an empty path is the weights in the program.
 * On failure why says in words what is wrong.  model_close() ends it.
 */
enum rc model_open(
    const char *path, struct model *m, char *why, size_t size) RC_CHECK;
void model_close(struct model *m);

/*
 * model_of(bytes, m, why, size):
 * The same of bytes in memory, 4-aligned, which must outlive m.
 */
enum rc model_of(
    struct str bytes, struct model *m, char *why, size_t size) RC_CHECK;

/* model_mark(key, salt): What a key is in the file. */
uint32_t model_mark(uint64_t key, uint32_t salt);

/* model_checksum(p, n): As in the head. */
uint32_t model_checksum(const void *p, size_t n);

/* model_row(m, key): Its 16 weights; NULL: the model does not know it. */
const int8_t *model_row(const struct model *m, uint64_t key);

/*
 * model_logits(m, f, z): The evidence for each emotion in what f has read.
 * model_share(m, f):     What a key of f weighs beside a sign.
 */
void model_logits(
    const struct model *m, const struct features *f, double z[EMOTION_N]);
double model_share(const struct model *m, const struct features *f);

/*
 * model_softmax(z, p):
 * Probabilities from logits.  The same bits with every compiler and libc.
 */
void model_softmax(const double z[EMOTION_N], double p[EMOTION_N]);

#endif /* !EMOTION_ENGINE_MODEL_H */
