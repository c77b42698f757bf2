/*
 * plain: a command without what may stand inside a verb and its object, so that
 * the keyword 点头 is found in 点个头, 点三下头, 点点头 and 把头点一下.
 */
#ifndef INTENT_FILTER_PLAIN_H
#define INTENT_FILTER_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

struct plain {
	struct str text;     /* absent: the same as the command */
	uint32_t *from, *to; /* private: bytes of the command, per byte */
};

/*
 * plain_make(folded, a, out):
 * Linear in the text; memory from a.  If it is full, out->text is absent.
 */
void plain_make(struct str folded, struct arena *a, struct plain *out);

/*
 * plain_source(p, start, end, src_start, src_end):
 * The bytes of the command that [start, end) of the plain text stands for.
 * Returns whether something was left out or moved between them.
 */
bool plain_source(const struct plain *p, size_t start, size_t end,
    size_t *src_start, size_t *src_end);

/* plain_part(p, start, end): What became of the command's [start, end). */
struct str plain_part(const struct plain *p, size_t start, size_t end);

#endif /* !INTENT_FILTER_PLAIN_H */
