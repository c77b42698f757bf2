/* No name of a host is all digits and dots, or in brackets. */
#include "svc/host.h"

static bool
is_address(struct str s)
{
	if (s.p[0] == '[')
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9'))
			return false;
	return true;
}

bool
host_is_local(struct str host)
{
	static const struct str local = STR_INIT("localhost");
	static const struct str below = STR_INIT(".localhost");
	struct str rest = str_trim(host), name;

	if (rest.n == 0 || is_address(rest))
		return true;
	name = str_split(&rest, ':');
	if (name.n == 0 || is_address(name) || str_eq_nocase(name, local))
		return name.n > 0;
	if (name.n <= below.n)
		return false;
	struct str tail = { name.p + name.n - below.n, below.n };
	return str_eq_nocase(tail, below);
}
