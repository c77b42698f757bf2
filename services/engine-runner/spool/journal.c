/*
 * Records may come in parts.
 */
#include "spool/journal.h"

#include <string.h>

static bool
journal_record(struct journal *j, struct str *bytes, struct spool_record *r)
{
	while (bytes->n > 0) {
		size_t n = SPOOL_RECORD_N - j->n_part;

		if (n > bytes->n)
			n = bytes->n;
		memcpy(j->part + j->n_part, bytes->p, n);
		j->n_part += n;
		bytes->p += n;
		bytes->n -= n;
		if (j->n_part < SPOOL_RECORD_N)
			return false;
		j->n_part = 0;
		if (spool_record_read(j->part, r) == RC_OK)
			return true;
		j->invalid++;
	}
	return false;
}

bool
journal_next(struct journal *j, struct str *bytes, struct journal_chunk *c)
{
	struct spool_record r;

	while (journal_record(j, bytes, &r)) {
		uint64_t from = j->ends[r.stream];

		if (r.end <= from)
			continue;
		*c = (struct journal_chunk){ r.stream, from, r.end, r.ns };
		j->ends[r.stream] = r.end;
		j->ns = r.ns;
		return true;
	}
	return false;
}

bool
journal_rest(struct journal *j, enum spool_stream stream, uint64_t size,
    int64_t ns, struct journal_chunk *c)
{
	uint64_t from = j->ends[stream];

	if (size <= from)
		return false;
	*c = (struct journal_chunk){ stream, from, size, ns };
	j->ends[stream] = size;
	return true;
}
