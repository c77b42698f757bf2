#include "http/header.h"

struct str
header_find(const struct header_field *fields, size_t n, struct str name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (fields[i].name.n == name.n &&
		    str_eq_nocase(fields[i].name, name))
			return fields[i].value;
	return (struct str){ NULL, 0 };
}

bool
header_has_token(struct str value, struct str token)
{
	while (value.p != NULL)
		if (str_eq_nocase(str_trim(str_split(&value, ',')), token))
			return true;
	return false;
}

size_t
header_count(const struct header_field *fields, size_t n, struct str name)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++)
		if (fields[i].name.n == name.n &&
		    str_eq_nocase(fields[i].name, name))
			found++;
	return found;
}
