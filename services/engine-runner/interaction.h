/*
 * interaction: what the user is to be prompted for, read from a message's block
 *
 *	```ask_user
 *	{"kind": "single_choice", "prompt": "…", "options": ["…"]}
 *	```
 *
 * or from codex' questions.  It enriches a question and never decides whether
 * there is one.  Pure.
 */
#ifndef INTERACTION_H
#define INTERACTION_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "fcmp/fcmp_write.h"

#define INTERACTION_OPTIONS_MAX 64
#define INTERACTION_FIELDS_MAX  32

/*
 * interaction_of_text(text, a, q):
 * The last block of a message; *q is taken from a, but for its id, and its
 * prompt is absent if the block has none.  RC_NOENT: no block, or none that is
 * valid: then it is as if there were none.
 */
enum rc interaction_of_text(
    struct str text, struct arena *a, struct fcmp_question *q) RC_CHECK;

/*
 * interaction_of_codex(json, a, q): The same of the questions of
 * request_user_input, an array.  One with options is a choice, several are a
 * form.
 */
enum rc interaction_of_codex(
    struct str json, struct arena *a, struct fcmp_question *q) RC_CHECK;

#endif /* !INTERACTION_H */
