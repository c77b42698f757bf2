/*
 * speech_group: the words of speech as data.
 */
#ifndef INTENT_FILTER_SPEECH_GROUP_H
#define INTENT_FILTER_SPEECH_GROUP_H

#include <stddef.h>

#include "speech.h"

/* Words of one kind with one value; separated by blanks, "_" is a blank. */
struct speech_group {
	enum speech_kind kind;
	const char *value; /* of an entity; NULL of others */
	const char *words;
};

extern const struct speech_group speech_groups[];
extern const size_t speech_groups_n;

#endif /* !INTENT_FILTER_SPEECH_GROUP_H */
