/* Members by their path. */
#include "testkit/json.h"

#include <stdio.h>
#include <string.h>

#include "testkit/testkit.h"

json_t *
tk_json(const char *p, size_t n)
{
	json_error_t e;
	json_t *j = json_loadb(p, n, 0, &e);

	ck_assert_msg(j != NULL, "not JSON (%s): %.*s", e.text, (int)n, p);
	return j;
}

json_t *
tk_find(json_t *j, const char *path)
{
	char key[64];
	size_t n;

	while (*path != '\0' && j != NULL) {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		path += path[n] == '.' ? n + 1 : n;
	}
	return j;
}

const char *
tk_find_text(json_t *j, const char *path)
{
	const char *s = json_string_value(tk_find(j, path));

	return s != NULL ? s : "";
}

json_t *
tk_at(json_t *j, const char *path)
{
	j = tk_find(j, path);
	ck_assert_msg(j != NULL, "no %s", path);
	return j;
}

const char *
tk_text(json_t *j, const char *path)
{
	return json_string_value(tk_at(j, path));
}

double
tk_number(json_t *j, const char *path)
{
	return json_number_value(tk_at(j, path));
}

json_int_t
tk_int(json_t *j, const char *path)
{
	return json_integer_value(tk_at(j, path));
}
