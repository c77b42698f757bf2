/*
 * asked: what is remembered of an invoke until its result comes.
 */
#ifndef MQTT_BRIDGE_ASKED_H
#define MQTT_BRIDGE_ASKED_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/str.h"
#include "core/trace.h"

struct asked {
	struct str skill;
	struct wall at;
	struct trace trace;
};

/* Room for any note, NUL included. */
#define ASKED_NOTE_MAX 256

/* asked_note(a, dst): a as one line of text. */
struct str asked_note(const struct asked *a, char dst[ASKED_NOTE_MAX]);

/* asked_read(note, a): False if note is none; a's skill is a part of note. */
bool asked_read(struct str note, struct asked *a);

#endif /* !MQTT_BRIDGE_ASKED_H */
