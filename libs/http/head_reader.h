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

/* Fields of one head, and bytes of it. */
#define HTTP_FIELDS_MAX 64
#define HTTP_HEAD_MAX   8192

struct http_field {
	struct str name, value; /* the value without white space around it */
};

struct http_head {
	struct str method, target;
	bool http11; /* otherwise HTTP/1.0 */
	struct http_field field[HTTP_FIELDS_MAX];
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

/* http_head_find(h, name): The first value of that name, or absent. */
struct str http_head_find(const struct http_head *h, struct str name);

/* http_head_count(h, name): How many fields have that name. */
size_t http_head_count(const struct http_head *h, struct str name);

/* http_list_next(list, item): The next item of a comma-separated list, without
 * white space; list becomes the rest.  False at its end.  Empty items are
 * skipped. */
bool http_list_next(struct str *list, struct str *item);

#endif /* !HTTP_HEAD_READER_H */
