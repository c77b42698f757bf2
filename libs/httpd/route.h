/*
 * route: which row of the table serves a request.  Pure.
 */
#ifndef HTTPD_ROUTE_H
#define HTTPD_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "httpd/httpd.h"
#include "httpd/uri.h"

/* Most {…} in a route's path, and methods of one path. */
#define ROUTE_PARAMS_MAX 4
#define ROUTE_ALLOW_MAX  64

struct route_match {
	size_t index; /* of the route in the table */
	struct str params[ROUTE_PARAMS_MAX];
	size_t nparams;
	char allow[ROUTE_ALLOW_MAX]; /* of RC_DENIED: "GET, POST" */
};

/*
 * route_check(r):
 * RC_INVALID unless r has a method, a handler and a path of "/", literal
 * segments and at most ROUTE_PARAMS_MAX whole-segment {…}.
 */
enum rc route_check(const struct httpd_route *r) RC_CHECK;

/*
 * route_find(routes, n, method, u, m):
 * The route for method and the path in u.  Where several fit, the one whose
 * leftmost differing segment is literal wins; {…} fits no empty segment.
 * RC_NOENT: no route has that path.  RC_DENIED: only with other methods.
 */
enum rc route_find(const struct httpd_route *routes, size_t n,
    struct str method, const struct uri *u, struct route_match *m) RC_CHECK;

#endif /* !HTTPD_ROUTE_H */
