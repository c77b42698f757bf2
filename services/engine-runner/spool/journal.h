/*
 * journal: an attempt's journal as parts of its streams, in the order in which
 * they were read.  Pure; not thread-safe.
 */
#ifndef SPOOL_JOURNAL_H
#define SPOOL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "procsup/spool_format.h"

/* Bytes of a stream that one record is about. */
struct journal_chunk {
	enum spool_stream stream;
	uint64_t from, to;
	int64_t ns;
};

/* All zero at first. */
struct journal {
	unsigned char part[SPOOL_RECORD_N]; /* the beginning of a record */
	size_t n_part;
	uint64_t ends[SPOOL_STREAMS_N]; /* of the records so far */
	int64_t ns;                     /* of the last one */
	uint64_t invalid;               /* records that were none */
};

/*
 * journal_next(j, bytes, c):
 * Take the next record from *bytes, which are advanced; false: they are used
 * up.  Records that are invalid, or about no new bytes, are skipped.
 */
bool journal_next(
    struct journal *j, struct str *bytes, struct journal_chunk *c);

/*
 * journal_rest(j, stream, size, ns, c):
 * The bytes of a stream's file, of that size, behind all records: the shim was
 * killed before it wrote the last one.  False: none.
 */
bool journal_rest(struct journal *j, enum spool_stream stream, uint64_t size,
    int64_t ns, struct journal_chunk *c);

#endif /* !SPOOL_JOURNAL_H */
