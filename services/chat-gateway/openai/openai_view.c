/*
 * Reading messages, writing replies, chunks and errors.
 */
#include "openai/openai_view.h"

#include "chat/message_text.h"
#include "core/buf.h"
#include "core/mem.h"
#include "wire/wire.h"

#define MODEL_PREFIX STR("soul/")
#define NONE         ((struct str){ NULL, 0 })
/* Longest error text. */
#define MESSAGE_MAX 4096

/* ---- requests ---- */

enum rc
openai_newest_text(const struct wire_openai_chat_request *req, struct arena *a,
    struct str *out)
{
	for (size_t i = req->n_messages; i > 0; i--) {
		if (!str_eq(req->messages[i - 1].role, STR("user")))
			continue;
		enum rc rc = message_text(req->messages[i - 1].content, a, out);
		return rc == RC_OK && out->n == 0 ? RC_NOENT : rc;
	}
	return RC_NOENT;
}

struct str
openai_soul(struct str model)
{
	const struct str prefix = MODEL_PREFIX;

	if (!str_starts(model, prefix))
		return model;
	return (struct str){ model.p + prefix.n, model.n - prefix.n };
}

/* ---- replies ---- */

void
openai_put_reply(const struct openai_head *h,
    const struct wire_chat_response *m,
    struct wire_openai_chat_response_choices *choice,
    struct wire_openai_chat_response *out)
{
	*choice = (struct wire_openai_chat_response_choices){
		.message = { .role = STR("assistant"), .content = m->reply },
		.finish_reason = STR("stop"),
	};
	*out = (struct wire_openai_chat_response){ .id = h->id,
		.object = STR("chat.completion"),
		.created = h->created,
		.model = h->model,
		.choices = choice,
		.n_choices = 1,
		.soul = *m };
}

static enum rc
openai_write_chunk(const struct openai_head *h,
    struct wire_openai_chat_chunk_choices choice, struct str soul,
    struct buf *out)
{
	const struct wire_openai_chat_chunk m = { .id = h->id,
		.object = STR("chat.completion.chunk"),
		.created = h->created,
		.model = h->model,
		.choices = &choice,
		.n_choices = 1,
		.soul = soul };

	return wire_encode(&wire_openai_chat_chunk_desc, &m, out, NULL);
}

enum rc
openai_write_start(const struct openai_head *h, struct buf *out)
{
	return openai_write_chunk(h,
	    (struct wire_openai_chat_chunk_choices){
		.delta = { .role = STR("assistant"), .content = STR("") } },
	    NONE, out);
}

enum rc
openai_write_text(const struct openai_head *h, struct str text, struct buf *out)
{
	return openai_write_chunk(h,
	    (struct wire_openai_chat_chunk_choices){
		.delta = { .content = text } },
	    NONE, out);
}

enum rc
openai_write_end(const struct openai_head *h, struct str soul, struct buf *out)
{
	return openai_write_chunk(h,
	    (struct wire_openai_chat_chunk_choices){
		.finish_reason = STR("stop") },
	    soul, out);
}

/* ---- errors ---- */

static struct str
openai_error_type(int status)
{
	switch (status) {
	case 401:
		return STR("authentication_error");
	case 403:
		return STR("permission_error");
	case 404:
		return STR("not_found_error");
	case 409:
		return STR("conflict_error");
	case 429:
		return STR("rate_limit_error");
	default:
		return status >= 500 ? STR("server_error")
				     : STR("invalid_request_error");
	}
}

enum rc
openai_write_error(const struct wire_error *e, int status, struct buf *out)
{
	struct buf text = BUF_INIT(MESSAGE_MAX);

	buf_put_str(&text, e->error);
	if (e->reason.n > 0)
		buf_printf(&text, ": %.*s", STR_ARG(e->reason));
	const struct wire_openai_error m = {
		.error = { .message = text.over ? e->error : buf_str(&text),
		    .type = openai_error_type(status),
		    .code = e->code },
	};
	enum rc rc = wire_encode(&wire_openai_error_desc, &m, out, NULL);
	buf_free(&text);
	return rc;
}
