#include "rpc.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "transport.h"
#include "wire/out.h"
#include "wire/slice.h"

enum rpc_path {
	RPC_PATH_ID,
	RPC_PATH_METHOD,
	RPC_PATH_PARAMS,
	RPC_PATH_RESULT,
	RPC_PATH_ERROR,
	RPC_PATH_CODE,
	RPC_PATH_TEXT,
	RPC_PATH_DATA,
	RPC_PATH_TOKEN,
	RPC_PATH_PROGRESS,
	RPC_PATH_TOTAL,
	RPC_PATH_PROGRESS_TEXT,
	RPC_PATHS_N
};

static const char *const rpc_paths[RPC_PATHS_N] = { "id", "method", "params",
	"result", "error", "error.code", "error.message", "error.data",
	"params.progressToken", "params.progress", "params.total",
	"params.message" };

/* Digits of an integer that surely fits into 64 bits. */
#define INTEGER_DIGITS 18
/* Longest name of a method, in bytes. */
#define METHOD_MAX 256

struct rpc_reader {
	struct wire_paths *paths;
	struct buf method; /* of the last message, if it has escapes */
};

struct rpc_reader *
rpc_reader_new(void)
{
	struct rpc_reader *r = mem_zalloc(sizeof(*r));

	r->paths = wire_paths_new(rpc_paths, RPC_PATHS_N);
	buf_init(&r->method, METHOD_MAX);
	return r;
}

void
rpc_reader_free(struct rpc_reader *r)
{
	if (r == NULL)
		return;
	wire_paths_free(r->paths);
	buf_free(&r->method);
	free(r);
}

/* ---- reading ---- */

/* One of ours is a positive integer; some servers return it as a string. */
static int64_t
rpc_own_id(const struct wire_found *f)
{
	int64_t id;
	struct str text =
	    wire_found_is_text(f) ? wire_found_inside(f) : f->value;

	return str_to_i64(text, 1, INT64_MAX, &id) == RC_OK ? id : 0;
}

static bool
rpc_is_null(struct str json)
{
	return json.n == 0 || str_eq(json, STR("null"));
}

static bool
rpc_is_kind(const struct wire_found *f, char first)
{
	return f->value.n > 0 && f->value.p[0] == first;
}

static struct str
rpc_number(const struct wire_found *f)
{
	char c = f->value.n > 0 ? f->value.p[0] : '\0';

	return c == '-' || (c >= '0' && c <= '9') ? f->value
						  : (struct str){ NULL, 0 };
}

/* A string or a number; what else there may be is not repeated. */
static bool
rpc_is_id(struct str json)
{
	return json.p[0] == '"' || json.p[0] == '-' ||
	    (json.p[0] >= '0' && json.p[0] <= '9');
}

/* Some libraries write "tools\/list". */
static enum rc
rpc_read_method(
    struct rpc_reader *r, const struct wire_found *f, struct str *out)
{
	*out = wire_found_inside(f);
	if (out->n > METHOD_MAX)
		return RC_INVALID;
	if (memchr(out->p, '\\', out->n) == NULL)
		return RC_OK;
	buf_reset(&r->method);
	wire_text_put(*out, &r->method);
	*out = buf_str(&r->method);
	return buf_rc(&r->method);
}

static enum rc
rpc_read_call(
    struct rpc_reader *r, const struct wire_found *f, struct rpc_message *m)
{
	const struct wire_found *params = &f[RPC_PATH_PARAMS];

	if ((m->id_json.p != NULL && !rpc_is_id(m->id_json)) ||
	    rpc_read_method(r, &f[RPC_PATH_METHOD], &m->method) != RC_OK)
		return RC_INVALID;
	if (!rpc_is_null(params->value)) {
		if (!rpc_is_kind(params, '{') && !rpc_is_kind(params, '['))
			return RC_INVALID;
		m->params = params->value;
	}
	m->kind = m->id_json.p != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
	m->progress_token = rpc_own_id(&f[RPC_PATH_TOKEN]);
	m->progress = rpc_number(&f[RPC_PATH_PROGRESS]);
	m->total = rpc_number(&f[RPC_PATH_TOTAL]);
	m->progress_text = wire_found_inside(&f[RPC_PATH_PROGRESS_TEXT]);
	return RC_OK;
}

static enum rc
rpc_read_response(const struct wire_found *f, struct rpc_message *m)
{
	m->id = rpc_own_id(&f[RPC_PATH_ID]);
	if (rpc_is_kind(&f[RPC_PATH_ERROR], '{')) {
		m->kind = RPC_ERROR;
		if (wire_found_i64(&f[RPC_PATH_CODE], &m->code) != RC_OK)
			m->code = RPC_INTERNAL;
		m->error = wire_found_inside(&f[RPC_PATH_TEXT]);
		m->data = f[RPC_PATH_DATA].value;
		return RC_OK;
	}
	/* Not as it should be, but surely no result. */
	if (!rpc_is_null(f[RPC_PATH_ERROR].value)) {
		m->kind = RPC_ERROR;
		m->code = RPC_INTERNAL;
		m->error = wire_found_inside(&f[RPC_PATH_ERROR]);
		return RC_OK;
	}
	m->kind = RPC_RESULT;
	m->result = f[RPC_PATH_RESULT].value;
	return m->result.p != NULL ? RC_OK : RC_INVALID;
}

static enum rc
rpc_read_one(struct rpc_reader *r, struct str json, struct rpc_message *m)
{
	struct wire_found f[RPC_PATHS_N];
	struct str text = str_trim(json);

	*m = (struct rpc_message){ 0 };
	if (text.n == 0 || text.p[0] != '{' ||
	    wire_slice_paths(r->paths, text, f) != RC_OK)
		return RC_INVALID;
	if (!rpc_is_null(f[RPC_PATH_ID].value))
		m->id_json = f[RPC_PATH_ID].value;
	if (wire_found_is_text(&f[RPC_PATH_METHOD]))
		return rpc_read_call(r, f, m);
	return rpc_read_response(f, m);
}

struct rpc_batch {
	struct rpc_reader *r;
	void (*fn)(void *arg, const struct rpc_message *m);
	void *arg;
	size_t n;
};

static void
rpc_read_element(void *arg, const struct wire_slice *s)
{
	struct rpc_batch *b = arg;
	struct rpc_message m;

	if (b->n++ < RPC_BATCH_MAX && rpc_read_one(b->r, s->value, &m) == RC_OK)
		b->fn(b->arg, &m);
}

static enum rc
rpc_read_text(struct rpc_reader *r, struct str json, bool batches,
    void (*fn)(void *arg, const struct rpc_message *m), void *arg)
{
	struct rpc_batch b = { r, fn, arg, 0 };
	const struct wire_slice_handler h = { .each = rpc_read_element,
		.arg = &b,
		.max = TRANSPORT_MESSAGE_MAX };
	struct str text = str_trim(json);
	struct rpc_message m;
	enum rc rc;

	if (text.n > 0 && text.p[0] == '[') {
		if (!batches ||
		    wire_slice_each(text,
			&(struct wire_slice_handler){
			    .max = TRANSPORT_MESSAGE_MAX }) != RC_OK)
			return RC_INVALID;
		rc = wire_slice_each(text, &h);
		return rc == RC_OK && b.n > RPC_BATCH_MAX ? RC_TOOBIG : rc;
	}
	rc = rpc_read_one(r, json, &m);
	if (rc == RC_OK)
		fn(arg, &m);
	return rc;
}

/* ---- long integers ---- */

/* The end of the string that begins at i. */
static size_t
rpc_string_end(struct str json, size_t i)
{
	for (i++; i < json.n && json.p[i] != '"'; i++)
		if (json.p[i] == '\\')
			i++;
	return i + 1 < json.n ? i + 1 : json.n;
}

static bool
rpc_is_digit(struct str json, size_t i)
{
	return i < json.n && json.p[i] >= '0' && json.p[i] <= '9';
}

bool
rpc_put_reals(struct buf *out, struct str json)
{
	size_t i = 0, from = 0, begin;
	bool any = false;

	while (i < json.n) {
		if (json.p[i] == '"') {
			i = rpc_string_end(json, i);
			continue;
		}
		begin = i;
		while (rpc_is_digit(json, i))
			i++;
		if (i - begin > INTEGER_DIGITS &&
		    (begin == 0 || json.p[begin - 1] != '.') &&
		    (i == json.n || strchr(".eE", json.p[i]) == NULL)) {
			buf_put(out, json.p + from, i - from);
			buf_puts(out, ".0");
			from = i;
			any = true;
		}
		if (i == begin)
			i++;
	}
	buf_put(out, json.p + from, json.n - from);
	return any;
}

enum rc
rpc_read(struct rpc_reader *r, struct str json, bool batches,
    void (*fn)(void *arg, const struct rpc_message *m), void *arg)
{
	struct buf text = BUF_INIT(2 * TRANSPORT_MESSAGE_MAX);
	enum rc rc = rpc_read_text(r, json, batches, fn, arg);

	if (rc == RC_INVALID && rpc_put_reals(&text, json) && !text.over)
		rc = rpc_read_text(r, buf_str(&text), batches, fn, arg);
	buf_free(&text);
	return rc;
}

/* ---- writing ---- */

void
rpc_put_line(struct buf *out, struct str json)
{
	size_t from = 0, i;

	/* Inside of strings they are escaped, so these are blanks. */
	for (i = 0; i < json.n; i++) {
		if (json.p[i] != '\n' && json.p[i] != '\r')
			continue;
		buf_put(out, json.p + from, i - from);
		from = i + 1;
	}
	buf_put(out, json.p + from, json.n - from);
}

static void
rpc_write_params(struct buf *out, struct str params)
{
	if (params.p != NULL) {
		buf_puts(out, ",\"params\":");
		rpc_put_line(out, params);
	}
	buf_putc(out, '}');
}

void
rpc_write_request(
    struct buf *out, int64_t id, const char *method, struct str params)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"method\":\"%s\"",
	    (long long)id, method);
	rpc_write_params(out, params);
}

void
rpc_write_notification(struct buf *out, const char *method, struct str params)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", method);
	rpc_write_params(out, params);
}

static void
rpc_write_response(struct buf *out, struct str id_json)
{
	buf_puts(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	rpc_put_line(out, id_json);
}

void
rpc_write_result(struct buf *out, struct str id_json, struct str result)
{
	rpc_write_response(out, id_json);
	buf_puts(out, ",\"result\":");
	rpc_put_line(out, result);
	buf_putc(out, '}');
}

void
rpc_write_error(struct buf *out, struct str id_json, int code, const char *text)
{
	struct wire_out o = { out, false };

	rpc_write_response(out, id_json);
	buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	wire_out_text(&o, str_of(text));
	buf_puts(out, "}}");
}

/* ---- values ---- */

struct rpc_wanted {
	struct str key, value;
};

static void
rpc_member_each(void *arg, const struct wire_slice *s)
{
	struct rpc_wanted *w = arg;

	if (!s->escaped && str_eq(s->key, w->key))
		w->value = s->value;
}

struct str
rpc_member(struct str json, struct str key)
{
	struct rpc_wanted w = { key, { NULL, 0 } };
	const struct wire_slice_handler h = {
		.each = rpc_member_each, .arg = &w, .max = TRANSPORT_MESSAGE_MAX
	};

	if (json.n == 0 || json.p[0] != '{' ||
	    wire_slice_each(json, &h) != RC_OK)
		return (struct str){ NULL, 0 };
	return w.value;
}

bool
rpc_text(struct str json, struct buf *out)
{
	if (json.n < 2 || json.p[0] != '"')
		return false;
	wire_text_put((struct str){ json.p + 1, json.n - 2 }, out);
	return true;
}
