/*
 * openai_view: requests and replies in the form of OpenAI's API.  Pure.
 */
#ifndef CHAT_GATEWAY_OPENAI_OPENAI_VIEW_H
#define CHAT_GATEWAY_OPENAI_OPENAI_VIEW_H

#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct buf;

/*
 * openai_newest_text(req, a, out):
 * The text of the newest message of the user: a string, or its parts of type
 * text, separated by line feeds.  RC_NOENT if there is none, RC_TOOBIG if a is
 * full.
 */
enum rc openai_newest_text(const struct wire_openai_chat_request *req,
    struct arena *a, struct str *out) RC_CHECK;

/* openai_soul(model): The soul that it names, after "soul/" or alone. */
struct str openai_soul(struct str model);

/* What all messages about a turn have in common. */
struct openai_head {
	struct str id, model;
	int64_t created; /* Unix time, s */
};

/*
 * openai_put_reply(h, m, out): The whole reply.  out is as the message's
 *                              struct; strings are shared.
 */
void openai_put_reply(const struct openai_head *h,
    const struct wire_chat_response *m,
    struct wire_openai_chat_response_choices *choice,
    struct wire_openai_chat_response *out);

/*
 * openai_write_start(h, out):       The first chunk.
 * openai_write_text(h, text, out):  More text.
 * openai_write_end(h, soul, out):   The last chunk; soul is JSON, or absent.
 * openai_write_error(e, status, out): An error with that HTTP status.
 *
 * Append JSON to out; RC_INVALID, RC_TOOBIG.
 */
enum rc openai_write_start(
    const struct openai_head *h, struct buf *out) RC_CHECK;
enum rc openai_write_text(
    const struct openai_head *h, struct str text, struct buf *out) RC_CHECK;
enum rc openai_write_end(
    const struct openai_head *h, struct str soul, struct buf *out) RC_CHECK;
enum rc openai_write_error(
    const struct wire_error *e, int status, struct buf *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_OPENAI_OPENAI_VIEW_H */
