/*
 * Questions to the JetStream API, and reading its answers.
 *
 * A message's headers and content come as base64 in JSON and may be longer than
 * any message of ours; so they are cut out of the JSON before it is decoded.
 */
#include "bus/jetstream.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/api.h"
#include "bus/internal.h"
#include "core/arena.h"
#include "core/base64.h"
#include "core/log.h"
#include "core/mem.h"

#define ANSWER_MAX (4 * 1024 * 1024)
#define BYTES_MAX  (2 * 1024 * 1024)

/* A question on its way. */
struct asked {
	bus_stream_query_fn fn;
	void *arg;
};

/* ---- answers ------------------------------------------------------------ */

struct str
bus_stream_msg_header(const struct bus_stream_msg *m, const char *key)
{
	struct str rest = m->headers, line, name;

	/* The first line is the version. */
	(void)str_split(&rest, '\n');
	while (rest.p != NULL) {
		line = str_split(&rest, '\n');
		name = str_split(&line, ':');
		if (line.p != NULL && str_eq(name, str_of(key)))
			return str_trim(line);
	}
	return (struct str){ NULL, 0 };
}

/*
 * Cut the text that follows key out of *json, into rest.  What stands before it
 * is ours or escaped, so no text can look like the key.
 */
static struct str
cut(struct str *json, const char *key, struct buf *rest)
{
	ptrdiff_t at = str_find(*json, str_of(key));
	struct str text = { NULL, 0 };
	size_t n;

	if (at < 0)
		return text;
	n = (size_t)at + strlen(key);
	buf_put(rest, json->p, n);
	*json = (struct str){ json->p + n, json->n - n };
	text = str_split(json, '"');
	buf_putc(rest, '"');
	return text;
}

static enum rc
read_message(struct str json, struct arena *a, struct buf bytes[2],
    struct wire_jetstream_answer *in)
{
	struct buf rest = BUF_INIT(ANSWER_MAX);
	struct str headers = cut(&json, "\"hdrs\":\"", &rest);
	struct str data = cut(&json, "\"data\":\"", &rest);
	enum rc rc;

	buf_put_str(&rest, json);
	rc = buf_rc(&rest);
	if (rc == RC_OK)
		rc = api_read(buf_str(&rest), a, in);
	if (rc == RC_OK)
		rc = base64_decode(headers, &bytes[0]);
	if (rc == RC_OK)
		rc = base64_decode(data, &bytes[1]);
	buf_free(&rest);
	return rc;
}

/* What the callback is told of an answer that is none, or an error. */
static enum rc
why_not(const struct wire_jetstream_answer *in)
{
	if (!in->has_error) {
		log_warn("bus.shelf_unreadable");
		return RC_BUG;
	}
	switch (in->error.err_code) {
	case API_NO_MESSAGE:
	case API_NO_SEQUENCE:
	case API_STORE:
		return RC_NOENT;
	case API_NO_STREAM:
		return RC_INVALID;
	default:
		log_warn("bus.shelf_refused",
		    LOG_I("err_code", in->error.err_code),
		    LOG_V("why", in->error.description));
		return RC_BUG;
	}
}

static enum rc
answer_of(const struct wire_jetstream_answer *in, const struct buf bytes[2],
    struct bus_stream_result *out)
{
	*out = (struct bus_stream_result){ 0 };
	if (in->has_state)
		out->last_seq = in->state.last_seq;
	if (!in->has_message)
		return RC_OK;
	out->m = (struct bus_stream_msg){ .seq = in->message.seq,
		.subject = in->message.subject,
		.headers = buf_str(&bytes[0]),
		.data = buf_str(&bytes[1]) };
	return wall_parse(in->message.time, &out->m.stored);
}

static void
on_answer(void *arg, enum rc rc, struct str data)
{
	struct asked to = *(struct asked *)arg;
	struct buf bytes[2] = { BUF_INIT(BYTES_MAX), BUF_INIT(BYTES_MAX) };
	struct arena *a = arena_new(API_ARENA_MAX);
	struct wire_jetstream_answer in = { 0 };
	struct bus_stream_result out;

	free(arg);
	if (rc == RC_OK) {
		rc = read_message(data, a, bytes, &in);
		if (rc == RC_OK)
			rc = answer_of(&in, bytes, &out);
		if (rc != RC_OK)
			rc = why_not(&in);
	} else if (rc != RC_TIMEOUT && rc != RC_DOWN) {
		/* Nobody serves the API. */
		rc = RC_DENIED;
	}
	to.fn(to.arg, rc, rc == RC_OK ? &out : NULL);
	arena_free(a);
	buf_free(&bytes[0]);
	buf_free(&bytes[1]);
}

/* ---- questions ---------------------------------------------------------- */

static enum rc
ask(struct bus *b, const struct bus_stream_query *q, const char *what,
    const char *json)
{
	char subject[160];
	struct asked *to;
	enum rc rc;

	if (!names_token_ok(q->stream) || q->deadline.ms <= 0)
		return RC_INVALID;
	(void)snprintf(
	    subject, sizeof(subject), "$JS.API.STREAM.%s.%s", what, q->stream);
	to = mem_alloc(sizeof(*to));
	*to = (struct asked){ q->fn, q->arg };
	rc = bus_ask(b,
	    &(struct bus_question){ subject, str_of(json), NULL, q->deadline },
	    (struct bus_reply_handler){ .fn = on_answer, .arg = to }, NULL);
	if (rc != RC_OK)
		free(to);
	return rc;
}

static enum rc
ask_of(struct bus *b, const struct bus_stream_query *q, const char *what,
    int64_t seq, const char *more)
{
	char json[96];

	if (seq <= 0)
		return RC_INVALID;
	(void)snprintf(
	    json, sizeof(json), "{\"seq\":%lld%s}", (long long)seq, more);
	return ask(b, q, what, json);
}

enum rc
bus_stream_info(struct bus *b, const struct bus_stream_query *q)
{
	return ask(b, q, "INFO", "");
}

enum rc
bus_stream_msg_get(struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return ask_of(b, q, "MSG.GET", seq, "");
}

enum rc
bus_stream_msg_next(
    struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return ask_of(b, q, "MSG.GET", seq, ",\"next_by_subj\":\">\"");
}

enum rc
bus_stream_msg_delete(
    struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return ask_of(b, q, "MSG.DELETE", seq, "");
}
