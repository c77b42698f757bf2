/*
 * A note: traceparent, time, skill, with a blank between them.
 */
#include "asked.h"

#include <stdio.h>

#include "core/id.h"

struct str
asked_note(const struct asked *a, char dst[ASKED_NOTE_MAX])
{
	char parent[TRACE_PARENT_MAX];

	trace_format(&a->trace, parent);
	(void)snprintf(dst, ASKED_NOTE_MAX, "%s %lld %.*s", parent,
	    (long long)a->at.ms, STR_ARG(a->skill));
	return str_of(dst);
}

bool
asked_read(struct str note, struct asked *a)
{
	struct str rest = note, parent, at;

	parent = str_split(&rest, ' ');
	at = str_split(&rest, ' ');
	a->skill = rest;
	return trace_parse(parent, &a->trace) == RC_OK &&
	    str_to_i64(at, 0, INT64_MAX, &a->at.ms) == RC_OK && id_valid(rest);
}
