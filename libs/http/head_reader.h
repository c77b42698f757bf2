/*
 * head_reader: the head of an HTTP/1.1 request, from bytes to fields.
 *
 * Strict (RFC 9112): what two readers could take for different requests, as a
 * bare LF, white space before a colon or a folded line, is rejected.  Pure.
 */
#ifndef HTTP_HEAD_READER_H
#define HTTP_HEAD_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "http/header.h"

/* Fields of one head, and bytes of it. */
#define HTTP_FIELDS_MAX 64
#define HTTP_HEAD_MAX   8192

struct http_head {
	struct str method, target;
	bool http11;                                /* otherwise HTTP/1.0 */
	struct header_field field[HTTP_FIELDS_MAX]; /* values are trimmed */
	size_t n;
};

/*
 * http_head_read(data, h, used, why):
 * The head at the beginning of data; strings of h point into it, *used is its
 * length.  RC_RETRY: it is not whole yet; RC_TOOBIG: over HTTP_HEAD_MAX or
 * HTTP_FIELDS_MAX; RC_INVALID: *why says what is wrong, in words.
 */
enum rc http_head_read(struct str data, struct http_head *h, size_t *used,
    const char **why) RC_CHECK;

#endif /* !HTTP_HEAD_READER_H */
