/*
 * responses_view: turns in the form of OpenAI's Responses API.  Pure.
 */
#ifndef CHAT_GATEWAY_OPENAI_RESPONSES_VIEW_H
#define CHAT_GATEWAY_OPENAI_RESPONSES_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "openai/openai_view.h"
#include "wire/msgs.h"

struct turn_record;

/* A whole message, and what was really done: JSON, or absent. */
struct responses_message {
	struct str id, text, soul;
};

/* Strings live as long as what they are put into. */
struct responses_parts {
	struct wire_openai_output_item item;
	struct wire_openai_output_part part;
};

/*
 * responses_put(h, session, status, out):
 * The response with this status, without a message.  Strings are shared.
 *
 * responses_put_reply(reply, a, parts, out):
 * A turn's reply, as the output of the response.  RC_TOOBIG if a is full.
 */
void responses_put(const struct openai_head *h, struct str session,
    struct str status, struct wire_openai_response *out);
enum rc responses_put_reply(const struct wire_chat_response *reply,
    struct arena *a, struct responses_parts *parts,
    struct wire_openai_response *out) RC_CHECK;

/*
 * responses_put_record(h, rec, a, parts, out):
 * A response as its turn's record has it.  RC_INVALID if the stored end is
 * invalid, RC_TOOBIG if a is full.
 */
enum rc responses_put_record(const struct openai_head *h,
    const struct turn_record *rec, struct arena *a,
    struct responses_parts *parts, struct wire_openai_response *out) RC_CHECK;

/*
 * A stream.  Zero at first, but for the members of the first group.
 *
 * Its events are numbered by the seq of those that they are made of, so that a
 * number is the same whenever the log is read.
 */
struct responses {
	struct openai_head head;
	struct str session;
	struct arena
	    *lasting;  /* for the text and what was done, until the end */
	int64_t after; /* send events above this number; -1: all */
	/* Sends an event, whose strings live until it returns. */
	enum rc (*send)(void *arg, struct str type, struct str json);
	void *arg;

	bool begun;
	char message[ID_MAX + 1]; /* the open one; empty: none */
	int64_t index;            /* of the open item, or the next one */
	size_t sent;              /* bytes of it */
	struct responses_message whole;
	int64_t number; /* of the next event */
	enum rc rc;
};

/*
 * responses_convert(r, e):       Send what e becomes after those before it.
 * responses_convert_error(r, e): The same of an error that ends the stream.
 *
 * The error of send, RC_INVALID, or RC_TOOBIG if lasting is full.
 */
enum rc responses_convert(
    struct responses *r, const struct wire_chat_event *e) RC_CHECK;
enum rc responses_convert_error(
    struct responses *r, const struct wire_error *e) RC_CHECK;

#endif /* !CHAT_GATEWAY_OPENAI_RESPONSES_VIEW_H */
