/*
 * Calls that are answered by a stream of events or lines.
 */
#include "core/buf.h"
#include "core/log.h"
#include "svc/internal.h"
#include "wire/wire.h"

enum rc
svc_stream(struct svc_call *c)
{
	struct httpd_req *http = svc_call_http(c);

	if (http == NULL)
		return RC_INVALID;
	httpd_sse_start(http);
	svc_call_streams(c);
	return RC_OK;
}

enum rc
svc_stream_send(struct svc_call *c, const char *event, const char *id,
    const struct wire_desc *desc, const void *msg)
{
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(desc, msg, &out, &err);
	if (rc == RC_OK)
		rc = httpd_sse_send(svc_call_http(c), event, id, buf_str(&out));
	else
		log_error("svc.event_invalid",
		    LOG_S("message", wire_desc_name(desc)),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	buf_free(&out);
	return rc;
}

enum rc
svc_stream_put(
    struct svc_call *c, const char *event, const char *id, struct str data)
{
	return httpd_sse_send(svc_call_http(c), event, id, data);
}

enum rc
svc_stream_comment(struct svc_call *c, const char *text)
{
	return httpd_sse_comment(svc_call_http(c), text);
}

size_t
svc_stream_waiting(struct svc_call *c)
{
	return httpd_stream_pending(svc_call_http(c));
}

enum rc
svc_stream_text(struct svc_call *c, struct str data)
{
	return httpd_sse_send(svc_call_http(c), NULL, NULL, data);
}

enum rc
svc_lines(struct svc_call *c)
{
	struct httpd_req *http = svc_call_http(c);

	if (http == NULL)
		return RC_INVALID;
	httpd_lines_start(http);
	svc_call_streams(c);
	return RC_OK;
}

enum rc
svc_lines_put(struct svc_call *c, struct str lines)
{
	return httpd_lines_send(svc_call_http(c), lines);
}

void
svc_lines_cut(struct svc_call *c, enum rc rc)
{
	httpd_lines_truncate(svc_call_http(c));
	svc_stream_end(c, rc);
}

enum rc
svc_raw(struct svc_call *c, int status, bool keep)
{
	struct httpd_req *http = svc_call_http(c);

	if (http == NULL)
		return RC_INVALID;
	httpd_raw_start(http, status, keep);
	svc_call_streams(c);
	return RC_OK;
}

enum rc
svc_raw_send(struct svc_call *c, struct str bytes)
{
	return httpd_raw_send(svc_call_http(c), bytes);
}
