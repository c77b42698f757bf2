/*
 * The weights file is validated once, so that reading it needs no checks.
 */
#include "recognition/model.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as the file is");

/* The committed weights, linked into the program and mapped with it. */
extern const char model_bytes[];
extern const uint32_t model_bytes_n;
__asm__(".section .rodata\n"
	".balign 64\n"
	".globl model_bytes\n"
	"model_bytes:\n"
	".incbin \"services/emotion-engine/emotion.weights\"\n"
	"1:\n"
	".balign 4\n"
	".globl model_bytes_n\n"
	"model_bytes_n:\n"
	".long 1b - model_bytes\n"
	".previous\n");

static enum rc
model_reject(char *why, size_t size, const char *what)
{
	(void)snprintf(why, size, "%s", what);
	return RC_INVALID;
}

uint32_t
model_mark(uint64_t key, uint32_t salt)
{
	return (uint32_t)(key * (2 * (uint64_t)salt + 1) >> 32);
}

uint32_t
model_checksum(const void *p, size_t n)
{
	const unsigned char *c = p;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	uint64_t word;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&word, c + i, 8);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	for (; i < n; i++)
		h = (h ^ c[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(h ^ h >> 32);
}

static enum rc
model_check_head(struct str b, char *why, size_t size)
{
	struct model_head h;

	if (b.n < sizeof(h))
		return model_reject(why, size, "it is shorter than its head");
	memcpy(&h, b.p, sizeof(h));
	if (memcmp(h.magic, MODEL_MAGIC, sizeof(h.magic)) != 0)
		return model_reject(why, size, "it is not a weights file");
	if (h.version != MODEL_VERSION) {
		(void)snprintf(why, size, "its version is %u, this reads %d",
		    (unsigned)h.version, MODEL_VERSION);
		return RC_INVALID;
	}
	if (h.keys > MODEL_KEYS_MAX || h.index_bits < 1 || h.index_bits > 20)
		return model_reject(why, size, "it has too many keys");
	if (b.n !=
	    sizeof(h) + 4 * (((size_t)1 << h.index_bits) + 1) +
		(size_t)h.keys * (4 + MODEL_ROW))
		return model_reject(
		    why, size, "its length is not what its head says");
	if (!isfinite(h.scale) || h.scale <= 0 || h.scale > 1 ||
	    !isfinite(h.gain) || h.gain <= 0 || h.gain > 1000)
		return model_reject(
		    why, size, "its scale or gain is out of range");
	if (model_checksum(b.p + sizeof(h), b.n - sizeof(h)) != h.checksum)
		return model_reject(why, size, "its checksum is wrong");
	return RC_OK;
}

static enum rc
model_check_marks(const struct model *m, char *why, size_t size)
{
	size_t n = (size_t)1 << m->head->index_bits, b, i;
	int shift = 32 - (int)m->head->index_bits;

	if (m->index[0] != 0 || m->index[n] != m->head->keys)
		return model_reject(
		    why, size, "its index does not cover its keys");
	for (b = 0; b < n; b++) {
		if (m->index[b] > m->index[b + 1] ||
		    m->index[b + 1] > m->head->keys)
			return model_reject(
			    why, size, "its index is not in order");
		for (i = m->index[b]; i < m->index[b + 1]; i++) {
			if (m->marks[i] >> shift != b ||
			    (i > 0 && m->marks[i] <= m->marks[i - 1]))
				return model_reject(
				    why, size, "its keys are not in order");
		}
	}
	return RC_OK;
}

enum rc
model_of(struct str bytes, struct model *m, char *why, size_t size)
{
	enum rc rc = model_check_head(bytes, why, size);

	*m = (struct model){ 0 };
	if (rc != RC_OK)
		return rc;
	m->head = (const void *)bytes.p;
	m->index = (const uint32_t *)(m->head + 1);
	m->marks = m->index + ((size_t)1 << m->head->index_bits) + 1;
	m->rows = (const int8_t *)(m->marks + m->head->keys);
	return model_check_marks(m, why, size);
}

static enum rc
model_map_file(const char *path, struct model *m, char *why, size_t size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		(void)snprintf(why, size, "%s", strerror(errno));
		return RC_NOENT;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > MODEL_FILE_MAX) {
		(void)close(fd);
		return model_reject(
		    why, size, "it is no file of 1 byte to 3 MB");
	}
	m->map_n = (size_t)st.st_size;
	m->map = mmap(NULL, m->map_n, PROT_READ, MAP_PRIVATE, fd, 0);
	(void)close(fd);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		(void)snprintf(why, size, "%s", strerror(errno));
		return RC_DOWN;
	}
	return RC_OK;
}

enum rc
model_open(const char *path, struct model *m, char *why, size_t size)
{
	struct model map = { 0 };
	enum rc rc;

	*m = map;
	if (path[0] == '\0')
		return model_of(
		    (struct str){ model_bytes, model_bytes_n }, m, why, size);
	rc = model_map_file(path, &map, why, size);
	if (rc != RC_OK)
		return rc;
	rc = model_of((struct str){ map.map, map.map_n }, m, why, size);
	m->map = map.map;
	m->map_n = map.map_n;
	if (rc != RC_OK)
		model_close(m);
	return rc;
}

void
model_close(struct model *m)
{
	if (m->map != NULL)
		(void)munmap(m->map, m->map_n);
	*m = (struct model){ 0 };
}

const int8_t *
model_row(const struct model *m, uint64_t key)
{
	uint32_t mark = model_mark(key, m->head->salt);
	uint32_t b = mark >> (32 - m->head->index_bits);
	uint32_t i = m->index[b], end = m->index[b + 1];

	while (i < end && m->marks[i] < mark)
		i++;
	return i < end && m->marks[i] == mark ? m->rows + (size_t)i * MODEL_ROW
					      : NULL;
}

static void
model_add_row(int32_t sum[MODEL_ROW], const int8_t *row)
{
	int i;

	for (i = 0; i < MODEL_ROW; i++)
		sum[i] += row[i];
}

double
model_share(const struct model *m, const struct features *f)
{
	return f->n_keys > 0 ? (double)m->head->gain / sqrt((double)f->n_keys)
			     : 0;
}

void
model_sum_add(
    const struct model *m, uint64_t key, bool is_sign, struct model_sum *sum)
{
	const int8_t *row = model_row(m, key);

	sum->n_keys += !is_sign;
	if (row != NULL)
		model_add_row(is_sign ? sum->signs : sum->keys, row);
}

void
model_sum_logits(
    const struct model *m, const struct model_sum *sum, double z[EMOTION_N])
{
	double share = sum->n_keys > 0
	    ? (double)m->head->gain / sqrt((double)sum->n_keys)
	    : 0;
	size_t i;

	for (i = 0; i < EMOTION_N; i++)
		z[i] = (double)m->head->scale *
		    (sum->keys[i] * share + sum->signs[i]);
}

void
model_sum_subtract(
    const struct model_sum *a, const struct model_sum *b, struct model_sum *out)
{
	size_t i;

	for (i = 0; i < MODEL_ROW; i++) {
		out->keys[i] = a->keys[i] - b->keys[i];
		out->signs[i] = a->signs[i] - b->signs[i];
	}
	out->n_keys = a->n_keys - b->n_keys;
}

void
model_sum_of(
    const struct model *m, const struct features *f, struct model_sum *out)
{
	size_t i;

	*out = (struct model_sum){ 0 };
	for (i = 0; i < f->n_keys; i++)
		model_sum_add(m, f->keys[i].key, false, out);
	for (i = 0; i < f->n_signs; i++)
		model_sum_add(m, features_sign_key(f, i), true, out);
}

void
model_logits(
    const struct model *m, const struct features *f, double z[EMOTION_N])
{
	struct model_sum sum;

	model_sum_of(m, f, &sum);
	model_sum_logits(m, &sum, z);
}

/*
 * exp() of x in [-700, 0] to 1e-10, from 2^k and a polynomial.  The last bit of
 * libm's exp() depends on the processor, and training must not.
 */
static double
model_exp(double x)
{
	static const double c[] = { 1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120,
		1. / 720, 1. / 5040, 1. / 40320, 1. / 362880 };
	double k = floor(x * 1.4426950408889634 + .5), y = 0, r;
	uint64_t bits;
	size_t i;

	r = x - k * .6931471805599453;
	for (i = NELEM(c); i > 0; i--)
		y = y * r + c[i - 1];
	bits = (uint64_t)((int64_t)k + 1023) << 52;
	memcpy(&r, &bits, sizeof(r));
	return y * r;
}

void
model_softmax(const double z[EMOTION_N], double p[EMOTION_N])
{
	double top = z[0], sum = 0;
	int i;

	for (i = 1; i < EMOTION_N; i++)
		top = z[i] > top ? z[i] : top;
	for (i = 0; i < EMOTION_N; i++) {
		p[i] = model_exp(z[i] - top > -700 ? z[i] - top : -700);
		sum += p[i];
	}
	for (i = 0; i < EMOTION_N; i++)
		p[i] /= sum;
}
