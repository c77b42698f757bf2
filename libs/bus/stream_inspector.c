/*
 * Stream inspector: reading and deleting single stored messages.
 *
 * Headers and payload of a message come as base64 in JSON and may be longer
 * than any message of ours; so they are taken out of the JSON before it is
 * decoded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/jetstream.h"

#include "bus/bus_internal.h"
#include "core/base64.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"

#define REPLY_MAX (4 * 1024 * 1024)
#define BYTES_MAX (2 * 1024 * 1024)

/* A pending query. */
struct inspector_query {
	bus_stream_query_fn fn;
	void *arg;
};

/* ---- replies ---- */

struct str
bus_stream_msg_header(const struct bus_stream_msg *m, const char *key)
{
	struct str rest = m->headers, line, name;

	/* The first line is "NATS/1.0". */
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
 * Return the text that follows key and remove it from *json; what precedes it
 * is appended to rest.  Quotes within earlier texts are escaped, so no text can
 * look like the key.
 */
static struct str
inspector_extract(struct str *json, const char *key, struct buf *rest)
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
inspector_decode(struct str json, struct arena *a, struct buf bytes[2],
    struct wire_jetstream_answer *in)
{
	struct buf rest = BUF_INIT(REPLY_MAX);
	struct str headers = inspector_extract(&json, "\"hdrs\":\"", &rest);
	struct str data = inspector_extract(&json, "\"data\":\"", &rest);
	enum rc rc;

	buf_put_str(&rest, json);
	rc = buf_rc(&rest);
	if (rc == RC_OK)
		rc = bus_jetstream_reply_decode(buf_str(&rest), a, in);
	if (rc == RC_OK)
		rc = base64_decode(headers, &bytes[0]);
	if (rc == RC_OK)
		rc = base64_decode(data, &bytes[1]);
	buf_free(&rest);
	return rc;
}

/* The callback's code of an error reply, or of one that cannot be read. */
static enum rc
inspector_error(const struct wire_jetstream_answer *in)
{
	if (!in->has_error) {
		log_warn("bus.stream_reply_invalid");
		return RC_BUG;
	}
	switch (in->error.err_code) {
	case JETSTREAM_NO_MESSAGE:
	case JETSTREAM_NO_SEQUENCE:
	case JETSTREAM_STORE_FAILED:
		return RC_NOENT;
	case JETSTREAM_NO_STREAM:
		return RC_INVALID;
	default:
		log_warn("bus.stream_query_rejected",
		    LOG_I("err_code", in->error.err_code),
		    LOG_V("why", in->error.description));
		return RC_BUG;
	}
}

/* The sum of the members of an object of numbers. */
static int64_t
inspector_sum(struct str json)
{
	struct wire_tree_member m;
	struct wire_tree *v = NULL;
	double n = 0;
	bool more;

	if (json.p == NULL || wire_tree_parse(json, &v) != RC_OK)
		return 0;
	for (more = wire_tree_first(v, &m); more; more = wire_tree_next(v, &m))
		n += wire_tree_number(m.value);
	wire_tree_free(v);
	return n >= 0 && n < 1e15 ? (int64_t)n : 0;
}

static enum rc
inspector_result(const struct wire_jetstream_answer *in,
    const struct buf bytes[2], struct bus_stream_result *out)
{
	*out = (struct bus_stream_result){ 0 };
	if (in->has_state) {
		out->first_seq = in->state.first_seq;
		out->last_seq = in->state.last_seq;
		out->count = inspector_sum(in->state.subjects);
	}
	if (!in->has_message)
		return RC_OK;
	out->m = (struct bus_stream_msg){ .seq = in->message.seq,
		.subject = in->message.subject,
		.headers = buf_str(&bytes[0]),
		.data = buf_str(&bytes[1]) };
	return wall_parse(in->message.time, &out->m.stored);
}

static void
inspector_on_reply(void *arg, enum rc rc, struct str data)
{
	struct inspector_query to = *(struct inspector_query *)arg;
	struct buf bytes[2] = { BUF_INIT(BYTES_MAX), BUF_INIT(BYTES_MAX) };
	struct arena *a = arena_new(BUS_JETSTREAM_ARENA_MAX);
	struct wire_jetstream_answer in = { 0 };
	struct bus_stream_result out;

	free(arg);
	if (rc == RC_OK) {
		rc = inspector_decode(data, a, bytes, &in);
		if (rc == RC_OK)
			rc = inspector_result(&in, bytes, &out);
		if (rc != RC_OK)
			rc = inspector_error(&in);
	} else if (rc != RC_TIMEOUT && rc != RC_DOWN) {
		/* No responders: JetStream is off. */
		rc = RC_DENIED;
	}
	to.fn(to.arg, rc, rc == RC_OK ? &out : NULL);
	arena_free(a);
	buf_free(&bytes[0]);
	buf_free(&bytes[1]);
}

/* ---- requests ---- */

static enum rc
inspector_request(struct bus *b, const struct bus_stream_query *q,
    const char *call, const char *json)
{
	char subject[160];
	struct inspector_query *to;
	enum rc rc;

	if (!bus_token_valid(q->stream) || q->deadline.ms <= 0)
		return RC_INVALID;
	(void)snprintf(
	    subject, sizeof(subject), "$JS.API.STREAM.%s.%s", call, q->stream);
	to = mem_alloc(sizeof(*to));
	*to = (struct inspector_query){ q->fn, q->arg };
	rc = bus_request_send(b,
	    &(struct bus_request_out){
		subject, str_of(json), NULL, q->deadline },
	    (struct bus_reply_handler){ .fn = inspector_on_reply, .arg = to },
	    NULL);
	if (rc != RC_OK)
		free(to);
	return rc;
}

static enum rc
inspector_request_seq(struct bus *b, const struct bus_stream_query *q,
    const char *call, int64_t seq, const char *more)
{
	char json[96];

	if (seq <= 0)
		return RC_INVALID;
	(void)snprintf(
	    json, sizeof(json), "{\"seq\":%lld%s}", (long long)seq, more);
	return inspector_request(b, q, call, json);
}

enum rc
bus_stream_info(struct bus *b, const struct bus_stream_query *q)
{
	return inspector_request(b, q, "INFO", "");
}

enum rc
bus_stream_count(
    struct bus *b, const struct bus_stream_query *q, const char *subject)
{
	struct buf json = BUF_INIT(REPLY_MAX);
	struct wire_out o = { .b = &json };
	enum rc rc;

	if (!bus_subject_valid(subject, false))
		return RC_INVALID;
	wire_out_object(&o);
	bus_json_str(&o, "subjects_filter", subject);
	wire_out_object_end(&o);
	rc = buf_rc(&json);
	if (rc == RC_OK)
		rc = inspector_request(b, q, "INFO", json.p);
	buf_free(&json);
	return rc;
}

enum rc
bus_stream_msg_get(struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return inspector_request_seq(b, q, "MSG.GET", seq, "");
}

enum rc
bus_stream_msg_next(
    struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return inspector_request_seq(
	    b, q, "MSG.GET", seq, ",\"next_by_subj\":\">\"");
}

enum rc
bus_stream_msg_delete(
    struct bus *b, const struct bus_stream_query *q, int64_t seq)
{
	return inspector_request_seq(b, q, "MSG.DELETE", seq, "");
}
