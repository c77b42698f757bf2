/*
 * kit_json: reading JSON in tests.
 */
#ifndef KIT_KIT_JSON_H
#define KIT_KIT_JSON_H

#include <jansson.h>
#include <stddef.h>

/* kit_json(p, n): What these bytes say; it fails the test if they are no JSON.
 */
json_t *kit_json(const char *p, size_t n);

/*
 * kit_find(j, path): The member at a path like "soul_emotion.p", or NULL.
 * kit_find_text(j, path): Its text, "" if it is absent or no text.
 */
json_t *kit_find(json_t *j, const char *path);
const char *kit_find_text(json_t *j, const char *path);

/*
 * kit_at(j, path): The same, and the test fails if there is none.
 * kit_text(j, path), kit_number(j, path), kit_int(j, path): Its value; NULL or
 * 0 if it is of another type.
 */
json_t *kit_at(json_t *j, const char *path);
const char *kit_text(json_t *j, const char *path);
double kit_number(json_t *j, const char *path);
json_int_t kit_int(json_t *j, const char *path);

#endif /* !KIT_KIT_JSON_H */
