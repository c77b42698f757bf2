/*
 * key_filter: a key of a provider, overwritten with asterisks wherever it
 * occurs in bytes that pass.  Pure.
 */
#ifndef ENGINE_RUNNER_KEY_FILTER_H
#define ENGINE_RUNNER_KEY_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* Longest key, in bytes. */
#define KEY_FILTER_MAX 4096

/* Private but for its allocation. */
struct key_filter {
	char *key; /* NULL: none */
	uint16_t *back;
	size_t n;
	size_t matched; /* bytes that may be the begin of the key */
};

/*
 * key_filter_init(f, key): key has at most KEY_FILTER_MAX bytes and is copied;
 * an empty one occurs nowhere.
 * key_filter_free(f): Overwrite the copy and free it.
 */
void key_filter_init(struct key_filter *f, struct str key);
void key_filter_free(struct key_filter *f);

/*
 * key_filter_feed(f, s, out): Append the bytes of s to out, but for an end that
 * may be the begin of the key; that comes with the next bytes.
 * key_filter_end(f, out): Append what was withheld: nothing follows.
 */
void key_filter_feed(struct key_filter *f, struct str s, struct buf *out);
void key_filter_end(struct key_filter *f, struct buf *out);

#endif /* !ENGINE_RUNNER_KEY_FILTER_H */
