/*
 * The client's half of the NATS protocol: what a server sends.
 */
#include <string.h>

#include "bus/bus_internal.h"
#include "core/mem.h"

#define TOKENS_MAX 6

/* The line without its end; *n becomes its length with it. */
static enum rc
frame_line(struct str in, struct str *line, size_t *n)
{
	size_t most = in.n < BUS_LINE_MAX ? in.n : BUS_LINE_MAX;
	const char *end = most > 0 ? memchr(in.p, '\n', most) : NULL;

	if (end == NULL)
		return in.n < BUS_LINE_MAX ? RC_RETRY : RC_TOOBIG;
	*n = (size_t)(end - in.p) + 1;
	if (*n < 2 || end[-1] != '\r')
		return RC_INVALID;
	*line = (struct str){ in.p, *n - 2 };
	return RC_OK;
}

/* The words of a line; TOKENS_MAX means too many. */
static size_t
frame_split(struct str line, struct str token[TOKENS_MAX])
{
	size_t n = 0;
	struct str t;

	while (line.p != NULL && n < TOKENS_MAX) {
		t = str_split(&line, ' ');
		if (t.n > 0)
			token[n++] = t;
	}
	return n;
}

static enum rc
frame_size(struct str token, size_t *size)
{
	int64_t n;

	if (str_to_i64(token, 0, INT64_MAX, &n) != RC_OK)
		return RC_INVALID;
	if ((size_t)n > BUS_FRAME_MAX)
		return RC_TOOBIG;
	*size = (size_t)n;
	return RC_OK;
}

/*
 * MSG <subject> <sid> [reply] <size>
 * HMSG <subject> <sid> [reply] <size of headers> <size of all>
 */
static enum rc
frame_parse_msg(struct str in, struct str line, struct bus_frame *f, size_t *n)
{
	struct str t[TOKENS_MAX];
	size_t n_tokens = frame_split(line, t), n_headers = 0, size;
	bool headers = line.p[0] == 'H';
	size_t least = headers ? 5 : 4;
	int64_t sid;
	enum rc rc;

	if (n_tokens < least || n_tokens > least + 1 ||
	    str_to_i64(t[2], 1, INT64_MAX, &sid) != RC_OK)
		return RC_INVALID;
	rc = frame_size(t[n_tokens - 1], &size);
	if (rc == RC_OK && headers)
		rc = frame_size(t[n_tokens - 2], &n_headers);
	if (rc != RC_OK)
		return rc;
	if (n_headers > size)
		return RC_INVALID;
	if (in.n < *n + size + 2)
		return RC_RETRY;
	if (memcmp(in.p + *n + size, "\r\n", 2) != 0)
		return RC_INVALID;
	f->op = BUS_OP_MSG;
	f->sid = (uint64_t)sid;
	f->subject = t[1];
	if (n_tokens > least)
		f->reply = t[3];
	if (headers)
		f->headers = (struct str){ in.p + *n, n_headers };
	f->data = (struct str){ in.p + *n + n_headers, size - n_headers };
	*n += size + 2;
	return RC_OK;
}

enum rc
bus_frame_parse(struct str in, struct bus_frame *f, size_t *n)
{
	static const struct {
		const char *name;
		enum bus_op op;
	} ops[] = {
		{ "PING", BUS_OP_PING },
		{ "PONG", BUS_OP_PONG },
		{ "+OK", BUS_OP_OK },
		{ "-ERR ", BUS_OP_ERR },
		{ "INFO ", BUS_OP_INFO },
	};
	struct str line, name;
	size_t i, used;
	enum rc rc;

	rc = frame_line(in, &line, &used);
	if (rc != RC_OK)
		return rc;
	memset(f, 0, sizeof(*f));
	if (str_starts(line, STR("MSG ")) || str_starts(line, STR("HMSG "))) {
		rc = frame_parse_msg(in, line, f, &used);
		if (rc == RC_OK)
			*n = used;
		return rc;
	}
	for (i = 0; i < NELEM(ops); i++) {
		name = str_of(ops[i].name);
		if (!str_starts(line, name))
			continue;
		f->op = ops[i].op;
		f->text =
		    str_trim((struct str){ line.p + name.n, line.n - name.n });
		*n = used;
		return RC_OK;
	}
	return RC_INVALID;
}

/* ---- headers ---- */

/* The next line of a message's headers, without its end. */
static struct str
headers_next(struct str *headers)
{
	struct str line = str_split(headers, '\n');

	/* bus_msg_new() makes a NUL of the carriage return. */
	if (line.n > 0 &&
	    (line.p[line.n - 1] == '\r' || line.p[line.n - 1] == '\0'))
		line.n--;
	return line;
}

struct str
bus_headers_find(struct str headers, const char *key)
{
	struct str line, name;

	(void)headers_next(&headers);
	while (headers.p != NULL) {
		line = headers_next(&headers);
		name = str_split(&line, ':');
		if (line.p != NULL && str_eq(name, str_of(key)))
			return str_trim(line);
	}
	return (struct str){ NULL, 0 };
}

int
bus_headers_status(struct str headers)
{
	struct str line = headers_next(&headers);
	int64_t status;

	if (!str_starts(line, STR("NATS/1.0 ")) || line.n < 12 ||
	    str_to_i64((struct str){ line.p + 9, 3 }, 100, 999, &status) !=
		RC_OK)
		return 0;
	return (int)status;
}
