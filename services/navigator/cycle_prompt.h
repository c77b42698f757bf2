/*
 * cycle_prompt: what a model is shown to think about.  Pure.
 */
#ifndef NAVIGATOR_CYCLE_PROMPT_H
#define NAVIGATOR_CYCLE_PROMPT_H

#include <stddef.h>

#include "core/buf.h"
#include "core/str.h"
#include "idle_choice.h"
#include "persona/drive_words.h"
#include "state/nav.h"

/* Bytes of one message that are shown, and of both texts. */
#define CYCLE_MESSAGE_MAX 2048
#define CYCLE_PROMPT_MAX  (512UL * 1024)
/* Bytes of an unreadable output that are shown to the model. */
#define CYCLE_BAD_MAX 4096

enum cycle_role {
	CYCLE_ROLE_USER,
	CYCLE_ROLE_SOUL,
	CYCLE_ROLE_TOOL,
	CYCLE_ROLE_OBSERVATION
};

struct cycle_message {
	enum cycle_role role;
	struct str name; /* of a tool */
	struct str text;
};

struct cycle_view {
	enum nav_trigger trigger;
	enum idle_choice choice; /* of NAV_IDLE */
	struct str name, mbti;   /* of the soul; absent: unknown */
	struct str now;
	const struct drive_levels *drives; /* NULL: unknown */
	struct str emotion;                /* a line; absent: unknown */
	struct str earlier; /* what was spoken of before; absent: nothing */
	const struct cycle_message *messages;
	size_t n_messages;
	const struct str *memories; /* on what the user stated */
	size_t n_memories;
	const struct str *alarms; /* a line each */
	size_t n_alarms;
	/* Capabilities that were asked for, and what became of that. */
	const struct str *evolutions;
	size_t n_evolutions;
};

/*
 * cycle_prompt_system(v, b), cycle_prompt_user(v, b): Append the instructions,
 * and what there is to think about.
 * cycle_prompt_repair(why, b): Append the demand for a valid output.
 */
void cycle_prompt_system(const struct cycle_view *v, struct buf *b);
void cycle_prompt_user(const struct cycle_view *v, struct buf *b);
void cycle_prompt_repair(const char *why, struct buf *b);

#endif /* !NAVIGATOR_CYCLE_PROMPT_H */
