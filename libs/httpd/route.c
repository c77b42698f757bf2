/*
 * Routing.  A table has a few dozen rows at most, so it is searched linearly.
 */
#include "httpd/httpd_internal.h"

#include "core/mem.h"

static bool
route_is_param(struct str segment)
{
	return segment.n >= 2 && segment.p[0] == '{' &&
	    segment.p[segment.n - 1] == '}';
}

enum rc
route_check(const struct httpd_route *r)
{
	size_t params = 0, segments = 0;

	if (r->method == NULL || r->method[0] == '\0' || r->fn == NULL ||
	    r->path == NULL || r->path[0] != '/')
		return RC_INVALID;
	struct str rest = str_of(r->path + 1);
	while (rest.p != NULL) {
		struct str segment = str_split(&rest, '/');
		segments++;
		if (route_is_param(segment))
			params++;
		else if (str_find(segment, STR("{")) >= 0)
			return RC_INVALID;
	}
	if (segments > URI_SEGMENTS_MAX || params > ROUTE_PARAMS_MAX)
		return RC_INVALID;
	return RC_OK;
}

/*
 * Whether path matches u.  *rank then has a bit for each literal segment, the
 * leftmost the highest, so that the more literal path has the higher rank.
 */
static bool
route_matches(const char *path, const struct uri *u, unsigned *rank)
{
	struct str rest = str_of(path + 1);
	size_t i;

	*rank = 0;
	for (i = 0; i < u->nsegments && rest.p != NULL; i++) {
		struct str want = str_split(&rest, '/');
		bool param = route_is_param(want);
		if (param ? u->segments[i].n == 0
			  : !str_eq(want, u->segments[i]))
			return false;
		*rank = *rank * 2 + (param ? 0 : 1);
	}
	return i == u->nsegments && rest.p == NULL;
}

static void
route_set_params(const char *path, const struct uri *u, struct route_match *m)
{
	struct str rest = str_of(path + 1);
	size_t i;

	m->nparams = 0;
	for (i = 0; i < u->nsegments && rest.p != NULL; i++)
		if (route_is_param(str_split(&rest, '/')) &&
		    m->nparams < ROUTE_PARAMS_MAX)
			m->params[m->nparams++] = u->segments[i];
}

static void
route_allow_add(struct route_match *m, const char *method)
{
	size_t used = strlen(m->allow), n = strlen(method);
	const char *sep = used > 0 ? ", " : "";

	if (str_find(str_of(m->allow), str_of(method)) >= 0 ||
	    used + strlen(sep) + n >= sizeof(m->allow))
		return;
	memcpy(m->allow + used, sep, strlen(sep));
	memcpy(m->allow + used + strlen(sep), method, n + 1);
}

enum rc
route_find(const struct httpd_route *routes, size_t n, struct str method,
    const struct uri *u, struct route_match *m)
{
	unsigned best = 0, rank;
	bool found = false;
	size_t i;

	m->nparams = 0;
	m->allow[0] = '\0';
	for (i = 0; i < n; i++) {
		if (!route_matches(routes[i].path, u, &rank))
			continue;
		if (!str_eq(str_of(routes[i].method), method)) {
			route_allow_add(m, routes[i].method);
		} else if (!found || rank > best) {
			found = true;
			best = rank;
			m->index = i;
		}
	}
	if (found) {
		route_set_params(routes[m->index].path, u, m);
		return RC_OK;
	}
	return m->allow[0] != '\0' ? RC_DENIED : RC_NOENT;
}
