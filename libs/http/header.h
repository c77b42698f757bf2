/*
 * header: the fields of an HTTP header.  Pure.
 */
#ifndef HTTP_HEADER_H
#define HTTP_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct header_field {
	struct str name;
	struct str value;
};

/* header_find(fields, n, name): The first value of that name, or absent. */
struct str header_find(
    const struct header_field *fields, size_t n, struct str name);

/* header_count(fields, n, name): How many fields have that name. */
size_t header_count(
    const struct header_field *fields, size_t n, struct str name);

/* header_has_token(value, token): Whether a comma-separated list has token. */
bool header_has_token(struct str value, struct str token);

#endif /* !HTTP_HEADER_H */
