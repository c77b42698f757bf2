/*
 * Fuzzes patterns and texts, separated by a NUL; the first byte has the flags.
 * Each find must end soon, report positions in the text, and find the same
 * match when it starts there.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "rx/rx.h"

/* CPU time of a call, with sanitizers. */
#define MOST_S 1

static void
rx_check_match(const struct rx *r, struct str text, const struct rx_match *m)
{
	size_t groups = rx_groups(r) + 1;
	must(m->n == (groups < RX_GROUPS_MAX ? groups : RX_GROUPS_MAX));
	must(m->g[0].start >= 0);
	for (size_t i = 0; i < m->n; i++) {
		must(m->g[i].start >= -1);
		must(m->g[i].end <= (ptrdiff_t)text.n);
		must((m->g[i].start < 0) == (m->g[i].end < 0));
	}
}

static void
rx_check_text(const struct rx *r, struct str text)
{
	struct rx_scratch *s = rx_scratch_new();
	struct rx_match m;
	double start = cpu_s();
	enum rc rc = rx_find(r, s, text, 0, &m);
	must(cpu_s() - start < MOST_S);
	must(rc != RC_INVALID || str_utf8_count(text) < 0);
	must(rc == RC_OK || rc == RC_NOENT || rc == RC_TOOBIG ||
	    rc == RC_INVALID);
	if (rc == RC_OK) {
		rx_check_match(r, text, &m);
		rc = rx_find(r, s, text, (size_t)m.g[0].start, NULL);
		/* \K and \G make a match depend on where the search began. */
		must(rc == RC_OK || rc == RC_NOENT || rc == RC_TOOBIG);
	}
	rx_scratch_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n < 2)
		return 0;
	/* A copy on the heap, so that the sanitizer finds overreads. */
	char *copy = mem_alloc(n - 1);
	memcpy(copy, data + 1, n - 1);
	struct str text = { copy, n - 1 };
	struct str pattern = str_split(&text, '\0');
	struct rx *r = NULL;
	char why[200] = "";
	double start = cpu_s();
	enum rc rc = rx_new(
	    pattern, data[0] & (RX_NOCASE | RX_ECMA), &r, why, sizeof(why));
	must(cpu_s() - start < MOST_S);
	must(rc == RC_OK || rc == RC_INVALID || rc == RC_TOOBIG);
	must((rc == RC_OK) == (why[0] == '\0'));
	if (rc == RC_OK)
		rx_check_text(r, text);
	rx_free(r);
	free(copy);
	return 0;
}
