/*
 * json: members of the objects that the bus writes by hand.
 */
#ifndef BUS_JSON_H
#define BUS_JSON_H

#include <stdint.h>

#include "wire/out.h"

/* json_str(o, key, value): A member; value NULL is written as "". */
void json_str(struct wire_out *o, const char *key, const char *value);

/* json_i64(o, key, value): A member. */
void json_i64(struct wire_out *o, const char *key, int64_t value);

#endif /* !BUS_JSON_H */
