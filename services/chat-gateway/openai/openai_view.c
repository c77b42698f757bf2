/*
 * Reading messages, writing replies, chunks and errors.
 */
#include "openai/openai_view.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define MODEL_PREFIX STR("soul/")
#define NONE         ((struct str){ NULL, 0 })
/* Longest error text. */
#define MESSAGE_MAX 4096

/* ---- requests ---- */

static struct str
openai_part_text(const struct wire_tree *part)
{
	const struct wire_tree *type = wire_tree_get(part, STR("type"));

	if (wire_tree_kind(type) != WIRE_TREE_TEXT ||
	    !str_eq(wire_tree_text(type), STR("text")))
		return NONE;
	const struct wire_tree *text = wire_tree_get(part, STR("text"));
	return wire_tree_kind(text) == WIRE_TREE_TEXT ? wire_tree_text(text)
						      : NONE;
}

static enum rc
openai_content_text(struct str content, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *tree;

	*out = NONE;
	if (content.p == NULL || wire_tree_parse(content, &tree) != RC_OK)
		return RC_OK;
	if (wire_tree_kind(tree) == WIRE_TREE_TEXT)
		buf_put_str(&b, wire_tree_text(tree));
	for (size_t i = 0;
	     wire_tree_kind(tree) == WIRE_TREE_ARRAY && i < wire_tree_len(tree);
	     i++) {
		struct str text = openai_part_text(wire_tree_at(tree, i));
		if (b.n > 0 && text.n > 0)
			buf_putc(&b, '\n');
		buf_put_str(&b, text);
	}
	wire_tree_free(tree);
	if (b.n > 0)
		*out = arena_str(a, buf_str(&b));
	bool full = b.n > 0 && out->p == NULL;
	buf_free(&b);
	return full ? RC_TOOBIG : RC_OK;
}

enum rc
openai_newest_text(const struct wire_openai_chat_request *req, struct arena *a,
    struct str *out)
{
	for (size_t i = req->n_messages; i > 0; i--) {
		if (!str_eq(req->messages[i - 1].role, STR("user")))
			continue;
		enum rc rc =
		    openai_content_text(req->messages[i - 1].content, a, out);
		return rc == RC_OK && out->n == 0 ? RC_NOENT : rc;
	}
	return RC_NOENT;
}

struct str
openai_soul(struct str model)
{
	const struct str prefix = MODEL_PREFIX;

	if (!str_starts(model, prefix))
		return NONE;
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
