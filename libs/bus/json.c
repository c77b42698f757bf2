/*
 * Members of JSON objects.
 */
#include "bus/json.h"

void
json_str(struct wire_out *o, const char *key, const char *value)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, value != NULL ? str_of(value) : STR(""));
}

void
json_i64(struct wire_out *o, const char *key, int64_t value)
{
	wire_out_key(o, str_of(key));
	wire_out_i64(o, value);
}
