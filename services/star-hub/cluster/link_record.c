#include "cluster/link_record.h"

#include <string.h>

#include "core/mem.h"

/* Fields of each kind, by the first letter of their names; l: bytes follow. */
static const struct {
	char kind;
	const char *fields;
} link_rows[] = {
	{ LINK_HUB, "x" },
	{ LINK_MESSAGE, "ngtfpl" },
	{ LINK_ROOM, "natfgspl" },
	{ LINK_ALL, "natfpl" },
	{ LINK_PART, "l" },
	{ LINK_DONE, "n" },
	{ LINK_REJECTED, "nxl" },
	{ LINK_LOST, "ns" },
	{ LINK_KICK, "tx" },
	{ LINK_JOINED, "gts" },
	{ LINK_LEFT, "gtx" },
	{ LINK_ENTERED, "gtfs" },
	{ LINK_CURSOR, "gtfs" },
	{ LINK_EXITED, "gtfx" },
	{ LINK_DETACHED, "gtf" },
	{ LINK_RESUMED, "gtf" },
	{ LINK_SYNC, "" },
	{ LINK_QUERY, "t" },
	{ LINK_ENVIRONMENT, "nat" },
	{ LINK_CLIENTS, "nsa" },
	{ LINK_TAKEOVER, "gtnx" },
	{ LINK_SESSION, "nx" },
	{ LINK_FRAME, "snl" },
	{ LINK_MONITOR, "tfxnl" },
};

static const char *
link_fields(char kind)
{
	size_t i;

	for (i = 0; i < NELEM(link_rows); i++)
		if (link_rows[i].kind == kind)
			return link_rows[i].fields;
	return NULL;
}

static int64_t *
link_number(struct link_record *r, char field)
{
	switch (field) {
	case 'n':
		return &r->n;
	case 'g':
		return &r->gen;
	case 's':
		return &r->seq;
	case 'a':
		return &r->audience;
	case 'p':
		return &r->prefix;
	default:
		return NULL;
	}
}

static struct str *
link_text(struct link_record *r, char field)
{
	switch (field) {
	case 't':
		return &r->to;
	case 'f':
		return &r->from;
	default:
		return &r->text;
	}
}

static void
link_put_text(struct str s, struct buf *out)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		buf_putc(out,
		    (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? ' '
								   : s.p[i]);
}

void
link_record_write(const struct link_record *r, struct buf *out)
{
	/* Only to find its members. */
	struct link_record copy = *r;
	const char *f = link_fields((char)r->kind);

	buf_putc(out, (char)r->kind);
	for (; *f != '\0'; f++) {
		const int64_t *v = link_number(&copy, *f);

		buf_putc(out, '\t');
		if (*f == 'l')
			buf_put_i64(out, (int64_t)r->bytes.n);
		else if (v != NULL)
			buf_put_i64(out, *v);
		else
			link_put_text(*link_text(&copy, *f), out);
	}
	buf_putc(out, '\n');
	buf_put(out, r->bytes.p, r->bytes.n);
}

/* One field of line, which advances; *bytes is how many follow. */
static enum rc
link_read_field(struct str *line, char f, struct link_record *r, int64_t *bytes)
{
	int64_t *v = f == 'l' ? bytes : link_number(r, f);
	struct str s;

	if (line->p == NULL)
		return RC_INVALID;
	s = str_split(line, '\t');
	if (v != NULL)
		return str_to_i64(s, 0, INT64_MAX, v);
	*link_text(r, f) = s;
	return RC_OK;
}

enum rc
link_record_next(struct str *in, struct link_record *r)
{
	const char *end, *f;
	int64_t bytes = 0;
	struct str line;
	enum rc rc = RC_OK;

	*r = (struct link_record){ .kind = LINK_HUB };
	if (in->n == 0)
		return RC_NOENT;
	end = memchr(
	    in->p, '\n', in->n < LINK_RECORD_MAX ? in->n : LINK_RECORD_MAX);
	f = link_fields(in->p[0]);
	if (end == NULL || f == NULL)
		return RC_INVALID;
	r->kind = (enum link_kind)in->p[0];
	line = (struct str){ in->p, (size_t)(end - in->p) };
	if (str_split(&line, '\t').n != 1)
		return RC_INVALID;
	for (; rc == RC_OK && *f != '\0'; f++)
		rc = link_read_field(&line, *f, r, &bytes);
	if (rc != RC_OK || line.p != NULL)
		return RC_INVALID;
	in->n -= (size_t)(end + 1 - in->p);
	in->p = end + 1;
	if ((uint64_t)bytes > in->n)
		return RC_INVALID;
	r->bytes = (struct str){ in->p, (size_t)bytes };
	in->p += bytes;
	in->n -= (size_t)bytes;
	return RC_OK;
}
