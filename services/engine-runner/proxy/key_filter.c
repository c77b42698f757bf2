/*
 * Knuth, Morris and Pratt's search: the bytes withheld are always a prefix of
 * the key, so they need no copy.
 */
#include "proxy/key_filter.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>

#include "core/mem.h"

void
key_filter_init(struct key_filter *f, struct str key)
{
	size_t i, k = 0;

	assert(key.n <= KEY_FILTER_MAX);
	*f = (struct key_filter){ .n = key.n };
	if (key.n == 0)
		return;
	f->key = str_dup(key);
	f->back = mem_calloc(key.n, sizeof(*f->back));
	for (i = 1; i < key.n; i++) {
		while (k > 0 && key.p[i] != key.p[k])
			k = f->back[k - 1];
		if (key.p[i] == key.p[k])
			k++;
		f->back[i] = (uint16_t)k;
	}
}

void
key_filter_free(struct key_filter *f)
{
	if (f->key != NULL)
		OPENSSL_cleanse(f->key, f->n);
	free(f->key);
	free(f->back);
	*f = (struct key_filter){ 0 };
}

static void
filter_byte(struct key_filter *f, char c, struct buf *out)
{
	size_t i, k;

	while (f->matched > 0 && f->key[f->matched] != c) {
		k = f->back[f->matched - 1];
		buf_put(out, f->key, f->matched - k);
		f->matched = k;
	}
	if (f->key[f->matched] != c) {
		buf_putc(out, c);
		return;
	}
	if (++f->matched < f->n)
		return;
	for (i = 0; i < f->n; i++)
		buf_putc(out, '*');
	f->matched = 0;
}

void
key_filter_feed(struct key_filter *f, struct str s, struct buf *out)
{
	size_t i = 0;

	if (f->n == 0) {
		buf_put_str(out, s);
		return;
	}
	while (i < s.n) {
		const char *p = s.p + i;
		size_t left = s.n - i;

		/* Mostly nothing of the key is near. */
		if (f->matched == 0) {
			const char *next = memchr(p, f->key[0], left);
			size_t plain = next != NULL ? (size_t)(next - p) : left;

			buf_put(out, p, plain);
			i += plain;
			if (next == NULL)
				return;
		}
		filter_byte(f, s.p[i++], out);
	}
}

void
key_filter_end(struct key_filter *f, struct buf *out)
{
	buf_put(out, f->key, f->matched);
	f->matched = 0;
}
