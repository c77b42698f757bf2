#include "rpc.h"

#include <stdlib.h>

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

struct rpc_reader {
	struct wire_paths *paths;
};

struct rpc_reader *
rpc_reader_new(void)
{
	struct rpc_reader *r = mem_zalloc(sizeof(*r));

	r->paths = wire_paths_new(rpc_paths, RPC_PATHS_N);
	return r;
}

void
rpc_reader_free(struct rpc_reader *r)
{
	if (r == NULL)
		return;
	wire_paths_free(r->paths);
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

static enum rc
rpc_read_call(const struct wire_found *f, struct rpc_message *m)
{
	const struct wire_found *params = &f[RPC_PATH_PARAMS];

	m->method = wire_found_inside(&f[RPC_PATH_METHOD]);
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
		return rpc_read_call(f, m);
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

enum rc
rpc_read(struct rpc_reader *r, struct str json, bool batches,
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
