/*
 * rc: the names of the result codes and the HTTP statuses they stand for.
 */
#include "core/rc.h"

struct rc_row {
	const char *name;
	int status;
};

static const struct rc_row rows[RC_N] = {
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
};

/* A value that is no code is itself a bug, and named so. */
static const struct rc_row *
row_of(enum rc rc)
{
	unsigned i = (unsigned)rc;

	return &rows[i < RC_N ? i : RC_BUG];
}

const char *
rc_name(enum rc rc)
{
	return row_of(rc)->name;
}

int
rc_http_status(enum rc rc)
{
	return row_of(rc)->status;
}
