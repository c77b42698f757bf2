/*
 * Decoding, and statuses.
 */
#include "bus/api.h"

#include "wire/wire.h"

static enum rc
rc_of_status(int64_t status)
{
	switch (status) {
	case 404:
		return RC_NOENT;
	case 409:
		return RC_CONFLICT;
	case 503:
		return RC_RETRY;
	default:
		return RC_INVALID;
	}
}

enum rc
api_read(struct str data, struct arena *a, struct wire_jetstream_answer *in)
{
	if (wire_decode(&wire_jetstream_answer_desc, data, a, in, NULL) !=
	    RC_OK) {
		in->has_error = false;
		return RC_INVALID;
	}
	return in->has_error ? rc_of_status(in->error.code) : RC_OK;
}
