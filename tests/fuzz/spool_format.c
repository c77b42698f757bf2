/* The files of a spool: what is accepted is written alike; journals in parts.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "must.h"
#include "procsup/spool_format.h"
#include "spool/journal.h"

#define COPY_MAX (4UL * 1024 * 1024)

static void
spool_check_meta(struct str text, struct arena *a)
{
	struct spool_meta m, back;
	struct buf b = BUF_INIT(COPY_MAX), c = BUF_INIT(COPY_MAX);

	if (spool_meta_read(text, a, &m) == RC_OK) {
		spool_meta_write(&m, &b);
		must(spool_meta_read(buf_str(&b), a, &back) == RC_OK);
		spool_meta_write(&back, &c);
		must(str_eq(buf_str(&b), buf_str(&c)));
	}
	buf_free(&b);
	buf_free(&c);
}

static void
spool_check_exit(struct str text)
{
	struct spool_exit x, back;
	struct buf b = BUF_INIT(COPY_MAX);

	if (spool_exit_read(text, &x) == RC_OK) {
		spool_exit_write(&x, &b);
		must(spool_exit_read(buf_str(&b), &back) == RC_OK);
		must(x.code == back.code && x.signal == back.signal);
		must(x.stop == back.stop && x.ns == back.ns);
		must(x.not_started == back.not_started);
		must(x.orphans == back.orphans);
	}
	buf_free(&b);
}

static void
spool_check_files(struct str text, struct arena *a)
{
	struct spool_file f;
	enum rc rc;

	while ((rc = spool_file_next(&text, a, &f)) != RC_NOENT) {
		if (rc == RC_TOOBIG)
			break;
		must(rc != RC_OK || f.path.n > 0);
	}
}

static void
spool_check_journal(struct str all)
{
	struct journal whole = { 0 }, parts = { 0 };
	struct journal_chunk c, d;
	uint64_t ends[SPOOL_STREAMS_N] = { 0 };
	struct str rest = all;
	size_t i = 0;

	while (journal_next(&whole, &rest, &c)) {
		must(c.from == ends[c.stream] && c.to > c.from);
		ends[c.stream] = c.to;
		for (;;) {
			struct str byte = { all.p + i, 1 };

			must(i < all.n);
			i++;
			if (journal_next(&parts, &byte, &d))
				break;
		}
		must(c.stream == d.stream && c.from == d.from);
		must(c.to == d.to && c.ns == d.ns);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena *a = arena_new(COPY_MAX);
	struct str text = { (const char *)data, n };

	spool_check_meta(text, a);
	spool_check_exit(text);
	spool_check_files(text, a);
	spool_check_journal(text);
	arena_free(a);
	return 0;
}
