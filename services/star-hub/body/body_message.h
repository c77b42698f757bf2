/*
 * body_message: what a soul's agent and its environment send each other, and
 * the ids of both.  Pure.
 */
#ifndef STAR_HUB_BODY_MESSAGE_H
#define STAR_HUB_BODY_MESSAGE_H

#include <stdbool.h>

#include "client_identity.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

/* The broker of these bodies. */
#define BODY_BROKER STR("star")

/* ---- ids ---- */

/* Room for the id of a terminal: "star-" and base64url of 16 bytes. */
#define BODY_TERMINAL_MAX 32

/*
 * body_terminal_id(agent, dst): The terminal of a soul that is this agent, in
 * dst.
 * body_key_id(id, dst): The id in keys: itself, or a digest if it is longer
 * than ids of keys may be; in dst.  An absent one is "-".
 */
struct str body_terminal_id(
    const struct identity *agent, char dst[BODY_TERMINAL_MAX]);
struct str body_key_id(struct str id, char dst[ID_MAX + 1]);

/*
 * body_guest(from, dst):
 * The user that a client of the Star Protocol is for a soul: "star:human:<id>",
 * "star:environment:<id>" or "star:agent:<environment>#<id>", after its tenant
 * and a slash; of a name that is too long a digest.  No access token has it.
 */
struct str body_guest(const struct identity *from, char dst[ID_MAX + 1]);

/* ---- from the agent ---- */

struct body_action {
	struct str id, action;
	struct str parameters; /* JSON object; absent: {} */
};

/*
 * body_action_write(sender, to, a, out): A message with an action; sender is
 * JSON, to is an environment.
 */
void body_action_write(struct str sender, const struct identity *to,
    const struct body_action *a, struct buf *out);

/*
 * body_event_begin(sender, to, id, event, out): A message with an event, up to
 * its data, which is to follow.
 * body_event_end(out): The rest.
 */
struct body_event {
	struct str sender; /* JSON */
	const struct identity *to;
	struct str id, event;
};
void body_event_begin(const struct body_event *e, struct buf *out);
void body_event_end(struct buf *out);

/*
 * body_intent_read(normalized, a, out):
 * The action of an intent: its skill, and what else it has as parameters.
 * RC_INVALID: it has no skill.
 */
enum rc body_intent_read(
    struct str normalized, struct arena *a, struct body_action *out) RC_CHECK;

/* ---- to the agent ---- */

/* A payload; absent: it has no such text. */
struct body_payload {
	struct str type, event;
	struct str id;      /* also of a number, as written */
	struct str outcome; /* JSON */
	struct str data;    /* JSON */
	struct str
	    user_text;  /* data.text, .message or .content, or of itself */
	bool attention; /* data.attention is true */
	bool is_reply;  /* data.in_reply_to is there */
};

/* body_payload_read(json, a, out): RC_INVALID: it is no object. */
enum rc body_payload_read(
    struct str json, struct arena *a, struct body_payload *out) RC_CHECK;

struct body_outcome {
	bool ok;           /* its status is "success" */
	struct str output; /* JSON, for a result */
	struct str error;  /* why it is not ok */
};

/* Bytes of an output; a longer one is replaced by its message. */
#define BODY_OUTPUT_MAX 65536
/* Bytes of an error. */
#define BODY_ERROR_MAX 1024

/* body_outcome_read(json, a, out): Of the outcome of an action, any JSON. */
void body_outcome_read(
    struct str json, struct arena *a, struct body_outcome *out);

#endif /* !STAR_HUB_BODY_MESSAGE_H */
