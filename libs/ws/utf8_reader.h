/*
 * utf8_reader: whether bytes that come in parts are UTF-8 (RFC 3629): no
 * surrogates, no overlong forms, nothing above U+10FFFF.  Pure.
 */
#ifndef WS_UTF8_READER_H
#define WS_UTF8_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero: at the beginning. */
struct utf8_reader {
	uint8_t more;      /* bytes that the code point still needs */
	uint8_t low, high; /* of the next one */
};

/* utf8_read(u, p, n): False as soon as what was read cannot become UTF-8. */
bool utf8_read(struct utf8_reader *u, const unsigned char *p, size_t n);

/* utf8_is_whole(u): Whether no code point is left unfinished. */
bool utf8_is_whole(const struct utf8_reader *u);

#endif /* !WS_UTF8_READER_H */
