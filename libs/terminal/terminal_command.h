/*
 * terminal_command: decoding a command to a terminal, and what is replied to
 * its sender. Pure.
 */
#ifndef TERMINAL_TERMINAL_COMMAND_H
#define TERMINAL_TERMINAL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct command_input {
	size_t row; /* of wire_topics */
	struct str terminal;
	struct str text;
	struct wall now;
};

/* The texts live in the arena or in the input. */
struct command {
	struct str payload;    /* to be published */
	struct str request_id; /* absent: none */
	struct str skill;      /* of an invoke; absent otherwise */
	struct wall deadline;  /* of the command itself; {0}: none */
};

/*
 * command_read(in, a, out, err):
 * Decode and validate a command.  The payload is the input unchanged, except
 * that an invoke without ts gets in->now.  RC_INVALID if it violates its schema
 * or names another terminal, RC_TOOBIG if it does not fit into a; err then says
 * where and why.
 */
enum rc command_read(const struct command_input *in, struct arena *a,
    struct command *out, struct wire_err *err) RC_CHECK;

/* The reply to a command: a state, or the error rc. */
struct delivery {
	enum rc rc;
	enum wire_delivery_state state; /* if rc is RC_OK */
};

/* What is known about a command before it is published. */
struct delivery_facts {
	struct wall now;
	struct wall deadlines[2]; /* of request and command; {0}: none */
	bool up;                  /* the broker is connected */
	enum rc known;            /* result of looking up presence */
	bool present;
};

/* delivery_before(f, d): Whether to publish it; if not, d is the reply. */
bool delivery_before(const struct delivery_facts *f, struct delivery *d);

/* delivery_expired(now, deadlines): Whether one of them has passed. */
bool delivery_expired(struct wall now, const struct wall deadlines[2]);

/*
 * delivery_after(rc):
 * The reply after publishing; rc is of mqtt_publish() or its completion.
 */
struct delivery delivery_after(enum rc rc);

#endif /* !TERMINAL_TERMINAL_COMMAND_H */
