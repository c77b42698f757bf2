/*
 * Answers: put into the request by whoever answers it, sent by the worker.
 */
#include "core/log.h"
#include "httpd/req.h"
#include "wire/out.h"

void
req_error_json(struct buf *out, const char *code, const char *text,
    const struct trace *trace)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_key(&o, STR("error"));
	wire_out_str(&o, str_of(text));
	wire_out_key(&o, STR("code"));
	wire_out_str(&o, str_of(code));
	wire_out_key(&o, STR("trace_id"));
	wire_out_str(&o, str_of(trace->trace_id));
	wire_out_object_end(&o);
}

/* Whoever asked too much is told when to come again. */
static int
retry_after(const struct httpd_req *r, int status)
{
	if (status != 429 && status != 503)
		return 0;
	return r->retry_s > 0 ? r->retry_s : 1;
}

/* Make the bytes in r->out the answer, unless there is one or it is late. */
static void
settle(struct httpd_req *r, int status, const char *type)
{
	r->status = status;
	r->retry_after_s = retry_after(r, status);
	str_copy(str_of(type), r->type, sizeof(r->type));
	r->state = REQ_ANSWERED;
	atomic_store(&r->settled, true);
}

/* Wake the worker once it can have the lock: it would wait again for that. */
static void
unlock_and_wake(struct httpd_req *r)
{
	pthread_mutex_unlock(&r->lock);
	pthread_cond_signal(&r->changed);
}

static void
put_error(struct httpd_req *r, int status, const char *code, const char *text)
{
	buf_reset(&r->out);
	req_error_json(&r->out, code, text, &r->trace);
	if (buf_rc(&r->out) != RC_OK)
		buf_reset(&r->out);
	settle(r, status, "application/json");
}

void
req_answer(struct httpd_req *r, int status, const char *type, struct str body)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQ_OPEN && !r->left) {
		buf_put_str(&r->out, body);
		if (buf_rc(&r->out) == RC_OK) {
			settle(r, status, type != NULL ? type : "");
		} else {
			log_error("httpd.answer_too_big",
			    LOG_V("path", r->path), LOG_I("bytes", body.n));
			put_error(
			    r, 500, rc_name(RC_BUG), "the answer is too big");
		}
	}
	unlock_and_wake(r);
}

void
req_answer_error(
    struct httpd_req *r, int status, const char *code, const char *text)
{
	pthread_mutex_lock(&r->lock);
	if (r->state == REQ_OPEN && !r->left)
		put_error(r, status, code, text);
	unlock_and_wake(r);
}

void
httpd_retry_after(struct httpd_req *r, int seconds)
{
	r->retry_s = seconds;
}

void
httpd_challenge(struct httpd_req *r, const char *error)
{
	r->challenge = error;
}

void
httpd_respond(
    struct httpd_req *r, int status, const char *type, struct str body)
{
	req_forget(r);
	req_answer(r, status, type, body);
	req_drop(r);
}

void
httpd_respond_error(struct httpd_req *r, enum rc rc, const char *text)
{
	req_forget(r);
	req_answer_error(r, rc_http_status(rc), rc_name(rc), text);
	req_drop(r);
}
