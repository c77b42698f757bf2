/*
 * What hubs send to each other: reading stays within the bytes, and what was
 * read is the same after it was written and read again.
 */
#include <string.h>

#include "cluster/link_record.h"
#include "core/mem.h"
#include "must.h"

#define MAX (1024UL * 1024)

static bool
str_is_within(struct str s, struct str in)
{
	return s.n == 0 || (s.p >= in.p && s.p + s.n <= in.p + in.n);
}

/* Control characters of text become spaces. */
static bool
text_is_same(struct str a, struct str b)
{
	size_t i;

	for (i = 0; i < a.n && i < b.n; i++) {
		unsigned char c = (unsigned char)a.p[i];

		if (b.p[i] != (c < 0x20 || c == 0x7f ? ' ' : a.p[i]))
			return false;
	}
	return a.n == b.n;
}

static void
check_written(const struct link_record *r)
{
	struct buf one = BUF_INIT(2 * MAX), two = BUF_INIT(2 * MAX);
	struct link_record same;
	struct str in;

	link_record_write(r, &one);
	in = buf_str(&one);
	must(link_record_next(&in, &same) == RC_OK && in.n == 0);
	must(same.kind == r->kind && same.n == r->n && same.gen == r->gen);
	must(same.seq == r->seq && same.audience == r->audience);
	must(same.prefix == r->prefix);
	must(text_is_same(r->to, same.to));
	must(text_is_same(r->from, same.from));
	must(text_is_same(r->text, same.text));
	must(str_eq(r->bytes, same.bytes));
	link_record_write(&same, &two);
	must(str_eq(buf_str(&one), buf_str(&two)));
	buf_free(&one);
	buf_free(&two);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct str all = { (const char *)bytes, n };
	struct str in = all, before;
	struct link_record r;
	enum rc rc;

	for (;;) {
		before = in;
		rc = link_record_next(&in, &r);
		must(in.n == 0 || str_is_within(in, all));
		if (rc != RC_OK)
			break;
		must(in.p > before.p && in.p + in.n == all.p + all.n);
		must(str_is_within(r.to, before));
		must(str_is_within(r.from, before));
		must(str_is_within(r.text, before));
		must(str_is_within(r.bytes, before));
		must(r.n >= 0 && r.gen >= 0 && r.seq >= 0);
		must(r.audience >= 0 && r.prefix >= 0);
		check_written(&r);
	}
	must(rc == RC_INVALID || (rc == RC_NOENT && in.n == 0));
	return 0;
}
