/*
 * Bytes are given in the order of the journal.
 */
#include "spool/replay.h"

#include <string.h>

#include "spool/journal.h"

/* The bytes of one record, as many at a time as is wanted. */
static void
replay_chunk(
    const struct replay *r, struct attempt *a, const struct journal_chunk *c)
{
	struct str all = c->stream == SPOOL_OUT ? r->out : r->err;
	size_t from = c->from < all.n ? (size_t)c->from : all.n;
	size_t to = c->to < all.n ? (size_t)c->to : all.n;

	while (from < to) {
		size_t n = to - from;

		if (r->feed > 0 && n > r->feed)
			n = r->feed;
		attempt_bytes(
		    a, c->stream, (struct str){ all.p + from, n }, c->ns);
		from += n;
	}
	attempt_record_end(a);
}

/* Each line is a record. */
static void
replay_lines(
    const struct replay *r, struct attempt *a, enum spool_stream stream)
{
	struct str all = stream == SPOOL_OUT ? r->out : r->err;
	struct journal_chunk c = { .stream = stream };

	while (c.to < all.n) {
		const char *end =
		    memchr(all.p + c.to, '\n', all.n - (size_t)c.to);

		c.from = c.to;
		c.to = end != NULL ? (uint64_t)(end - all.p) + 1 : all.n;
		replay_chunk(r, a, &c);
	}
}

static void
replay_records(const struct replay *r, struct attempt *a, struct journal *j)
{
	struct journal_chunk c;
	struct str bytes = r->journal;

	while (journal_next(j, &bytes, &c))
		replay_chunk(r, a, &c);
}

void
replay_begin(const struct replay *r, struct attempt *a)
{
	struct journal j = { 0 };

	attempt_begin(a);
	replay_records(r, a, &j);
}

static void
replay_journal(const struct replay *r, struct attempt *a)
{
	struct journal j = { 0 };
	struct journal_chunk c;
	int64_t ns;

	replay_records(r, a, &j);
	ns = r->exit.ns > j.ns ? r->exit.ns : j.ns;
	if (journal_rest(&j, SPOOL_OUT, r->out.n, ns, &c))
		replay_chunk(r, a, &c);
	if (journal_rest(&j, SPOOL_ERR, r->err.n, ns, &c))
		replay_chunk(r, a, &c);
}

void
replay_run(const struct replay *r, struct attempt *a)
{
	attempt_begin(a);
	if (r->pty)
		attempt_note(a, "PTY_STREAM_MISMATCH",
		    "stdout lacks the end: the recorded terminal is read.");
	if (r->journal.p != NULL) {
		replay_journal(r, a);
	} else {
		replay_lines(r, a, SPOOL_OUT);
		replay_lines(r, a, SPOOL_ERR);
	}
	attempt_exit(a, &r->exit, r->files);
}

static void
replay_ignore(void *arg, const struct rasp_event *e)
{
	(void)arg;
	(void)e;
}

static bool
replay_has_end(const struct replay *r, const struct attempt_opts *o)
{
	struct attempt_opts quiet = *o;
	struct attempt *a;
	bool ended;

	quiet.event = replay_ignore;
	a = attempt_new(&quiet);
	replay_run(r, a);
	ended = attempt_result(a)->end_signal_ns != 0 ||
	    attempt_result(a)->end == ATTEMPT_COMPLETED ||
	    attempt_result(a)->end == ATTEMPT_WAITING;
	attempt_free(a);
	return ended;
}

bool
replay_chooses_pty(
    const struct replay *r, struct str pty, const struct attempt_opts *o)
{
	struct replay other = *r;

	if (pty.p == NULL)
		return false;
	if (r->out.n == 0)
		return true;
	other.out = pty;
	return !replay_has_end(r, o) && replay_has_end(&other, o);
}
