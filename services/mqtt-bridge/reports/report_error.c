#include "reports/report_error.h"

#include <stdio.h>

#include "core/mem.h"
#include "core/str.h"
#include "wire/iface.h"
#include "wire/subjects.h"

void
report_error_fill(struct report_error *r, enum wire_report_kind kind,
    enum wire_refusal_outcome outcome, const struct wire_err *err,
    struct wall at)
{
	wire_init(&wire_refusal_desc, &r->wire);
	r->err = *err;
	wall_format(at, 0, r->at);
	r->wire.kind = kind;
	r->wire.outcome = outcome;
	r->wire.path = str_of(r->err.path);
	r->wire.reason =
	    r->err.why[0] != '\0' ? str_of(r->err.why) : STR("cannot be read");
	r->wire.at = str_of(r->at);
}

bool
report_error_kind(size_t row, enum wire_report_kind *kind)
{
	static const size_t rows[] = {
		[WIRE_REPORT_KIND_ONLINE] = WIRE_TOPIC_ONLINE,
		[WIRE_REPORT_KIND_HEARTBEAT] = WIRE_TOPIC_HEARTBEAT,
		[WIRE_REPORT_KIND_SKILLS] = WIRE_TOPIC_SKILLS,
		[WIRE_REPORT_KIND_INTENT_CATALOG] = WIRE_TOPIC_INTENT_CATALOG,
		[WIRE_REPORT_KIND_RESULT] = WIRE_TOPIC_RESULT,
	};
	size_t i;

	for (i = 0; i < NELEM(rows) && rows[i] != row; i++)
		continue;
	*kind = (enum wire_report_kind)i;
	return i < NELEM(rows);
}

void
report_error_rollback(
    size_t row, int64_t version, int64_t known, bool bare, struct wire_err *err)
{
	const char *path =
	    row == WIRE_TOPIC_SKILLS ? "/skill_version" : "/catalog_version";

	(void)snprintf(err->path, sizeof(err->path), "%s", bare ? "" : path);
	if (version == 0)
		(void)snprintf(err->why, sizeof(err->why),
		    "has no version, but version %lld is known",
		    (long long)known);
	else
		(void)snprintf(err->why, sizeof(err->why),
		    "version %lld is older than version %lld, which is known",
		    (long long)version, (long long)known);
}
