/*
 * secrets: logs must not contain secrets or user texts.
 *
 * A stack's services are started with secrets of their own; these, the secrets
 * of its servers, and the texts that clients send are noted. No process of the
 * stack may log them: secrets at no level, user text not above debug. Notes are
 * a file of the stack, so that processes and threads of tests share them.
 */
#ifndef TESTKIT_STACK_SECRETS_H
#define TESTKIT_STACK_SECRETS_H

#include <jansson.h>
#include <stdbool.h>

#include "core/str.h"

/* Maximum number of variables that secrets_plant() adds. */
#define SECRETS_ENV_MAX 12

/* secrets_begin(): Call for a new stack; nothing is noted or found before. */
void secrets_begin(void);

/*
 * secrets_plant(env, n): Note the secrets among the n variables ("K=V") of a
 * service, and append those that every service gets here. Returns the number of
 * variables.
 */
size_t secrets_plant(const char **env, size_t n);

/* secrets_note(s): Note a secret of at least 8 bytes. */
void secrets_note(const char *s);

/*
 * secrets_note_texts(body): Note all texts of 8 bytes or more in a request
 * body, except ids and single names.
 */
void secrets_note_texts(const json_t *body);

/*
 * secrets_leaked(): The first leak in the logs of the stack and of this test,
 * as "file:line: text"; NULL if there is none.  Static memory.
 */
const char *secrets_leaked(void);

/*
 * secrets_in(text, words): A secret, or user text if words is set, that the
 * text contains; NULL if none. Static memory.
 */
const char *secrets_in(struct str text, bool words);

#endif /* !TESTKIT_STACK_SECRETS_H */
