/*
 * tk_json: reading JSON in tests.
 */
#ifndef TESTKIT_JSON_H
#define TESTKIT_JSON_H

#include <jansson.h>
#include <stddef.h>

/* tk_json(p, n): What these bytes say; it fails the test if they are no JSON.
 */
json_t *tk_json(const char *p, size_t n);

/*
 * tk_find(j, path): The member at a path like "soul_emotion.p", or NULL.
 * tk_find_text(j, path): Its text, "" if it is absent or no text.
 */
json_t *tk_find(json_t *j, const char *path);
const char *tk_find_text(json_t *j, const char *path);

/*
 * tk_at(j, path): The same, and the test fails if there is none.
 * tk_text(j, path), tk_number(j, path), tk_int(j, path): Its value; NULL or
 * 0 if it is of another type.
 */
json_t *tk_at(json_t *j, const char *path);
const char *tk_text(json_t *j, const char *path);
double tk_number(json_t *j, const char *path);
json_int_t tk_int(json_t *j, const char *path);

#endif /* !TESTKIT_JSON_H */
