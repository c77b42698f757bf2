/*
 * tk_json: reading JSON in tests.
 */
#ifndef TESTKIT_JSON_H
#define TESTKIT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* tk_json(p, n): Parse JSON; fails the test if it is invalid. */
json_t *tk_json(const char *p, size_t n);

/*
 * tk_find(j, path): The member at a path like "soul_emotion.p" or
 * "items.0", or NULL.
 * tk_find_text(j, path): Its text, "" if it is absent or not a text.
 */
json_t *tk_find(json_t *j, const char *path);
const char *tk_find_text(json_t *j, const char *path);

/*
 * tk_at(j, path): The same; fails the test if there is none.
 * tk_text(j, path), tk_number(j, path), tk_int(j, path): Its value; NULL or
 * 0 if it is of another type.  Texts live as long as j.
 */
json_t *tk_at(json_t *j, const char *path);
const char *tk_text(json_t *j, const char *path);
double tk_number(json_t *j, const char *path);
json_int_t tk_int(json_t *j, const char *path);

/* tk_json_equals(j, text): Whether j equals the JSON text. */
bool tk_json_equals(json_t *j, const char *text);

/*
 * tk_text_has(j, path, part): Whether the text at path contains part.
 * tk_list_has(j, path, text): Whether the list of texts at path has this one.
 */
bool tk_text_has(json_t *j, const char *path, const char *part);
bool tk_list_has(json_t *j, const char *path, const char *text);

#endif /* !TESTKIT_JSON_H */
