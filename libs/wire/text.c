/*
 * JSON values that stand alone.
 */
#include "wire/text.h"

#include <jansson.h>

#include "wire/raw.h"

static enum rc
parse(struct str json, json_t **out)
{
	struct wire_err err;
	struct wire_at at = { .err = &err };

	return wire_raw_parse(json, WIRE_DEPTH_MAX, &at, out);
}

enum rc
wire_text(struct str json, struct arena *a, struct str *out)
{
	json_t *v;
	enum rc rc = parse(json, &v);

	if (rc != RC_OK)
		return rc;
	if (json_is_string(v)) {
		struct str s = { json_string_value(v), json_string_length(v) };
		*out = arena_str(a, s);
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	} else {
		rc = RC_INVALID;
	}
	json_decref(v);
	return rc;
}

bool
wire_is_object(struct str json)
{
	json_t *v;

	if (parse(json, &v) != RC_OK)
		return false;
	bool is = json_is_object(v);
	json_decref(v);
	return is;
}
