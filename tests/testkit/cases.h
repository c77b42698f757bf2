/*
 * cases: messages of proto-schemas/cases with the verdict of their schema.
 *
 * A case has bytes (its "data" as compact JSON, its "text", or its decoded
 * "base64") and states whether they are valid; an invalid one has the JSON
 * Pointer of the error, and may have a part of the reason.
 */
#ifndef TESTKIT_CASES_H
#define TESTKIT_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

#define TK_CASES_DIR "proto-schemas/cases"

struct tk_case {
	const char *description; /* unique in its message */
	struct str bytes;        /* followed by a NUL */
	const json_t *data;      /* NULL: the bytes are no JSON */
	bool valid;
	const char *path;   /* of the error; NULL: it is valid */
	const char *reason; /* NULL: any */
};

struct tk_cases {
	json_t *list; /* owns the texts */
	struct tk_case *v;
	size_t n;
};

/*
 * tk_cases_load(c, message): The cases of a message; fails the test if there
 * are none or the file is malformed. Requires the root of the repository as the
 * working directory.
 */
void tk_cases_load(struct tk_cases *c, const char *message);
void tk_cases_free(struct tk_cases *c);

/*
 * tk_case_data(message, description): The data of one case, a new reference;
 * fails the test if there is none.
 */
json_t *tk_case_data(const char *message, const char *description);

#endif /* !TESTKIT_CASES_H */
