#include "core/rc.h"

struct rc_row {
	const char *name;
	int status;
};

static const struct rc_row rc_rows[RC_N] = {
	[RC_OK] = { "ok", 200 },
	[RC_RETRY] = { "overloaded", 503 },
	[RC_TIMEOUT] = { "deadline_exceeded", 504 },
	[RC_DOWN] = { "unavailable", 503 },
	[RC_NOENT] = { "not_found", 404 },
	[RC_INVALID] = { "invalid_request", 400 },
	[RC_TOOBIG] = { "too_large", 413 },
	[RC_DENIED] = { "denied", 403 },
	[RC_CONFLICT] = { "conflict", 409 },
	[RC_BUG] = { "internal", 500 },
	[RC_UNREPLICATED] = { "not_replicated", 503 },
};

/* A value that is not a code is treated as RC_BUG. */
static const struct rc_row *
rc_row_of(enum rc rc)
{
	unsigned i = (unsigned)rc;

	return &rc_rows[i < RC_N ? i : RC_BUG];
}

const char *
rc_name(enum rc rc)
{
	return rc_row_of(rc)->name;
}

int
rc_http_status(enum rc rc)
{
	return rc_row_of(rc)->status;
}
