#include "testkit/json.h"

#include <stdio.h>
#include <stdlib.h>
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
		j = json_is_array(j) ? json_array_get(j, strtoul(key, NULL, 10))
				     : json_object_get(j, key);
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
	json_t *found = tk_find(j, path);

	ck_assert_msg(found != NULL, "no %s in %.800s", path, json_dumps(j, 0));
	return found;
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

bool
tk_json_equals(json_t *j, const char *text)
{
	json_t *other = json_loads(text, JSON_DECODE_ANY, NULL);
	bool is;

	ck_assert_ptr_nonnull(other);
	is = json_equal(j, other);
	json_decref(other);
	return is;
}

bool
tk_text_has(json_t *j, const char *path, const char *part)
{
	return strstr(tk_text(j, path), part) != NULL;
}

bool
tk_list_has(json_t *j, const char *path, const char *text)
{
	json_t *list = tk_at(j, path);
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		if (strcmp(json_string_value(json_array_get(list, i)), text) ==
		    0)
			return true;
	}
	return false;
}
