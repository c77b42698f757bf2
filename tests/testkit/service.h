/*
 * tk_service: a service of the suite as a child of the test: its environment,
 * ports, admin endpoints, and shutdown.
 */
#ifndef TESTKIT_SERVICE_H
#define TESTKIT_SERVICE_H

#include <stdbool.h>

#include "testkit/http.h"
#include "testkit/testkit.h"

#define TK_ENV_MAX 24

/* Variables of a child; zero it before its first use, do not copy it. */
struct tk_env {
	const char
	    *v[TK_ENV_MAX + 1]; /* NULL-terminated, as tk_spawn() requires */
	size_t n;
	char text[4096];
	size_t used;
};

/*
 * tk_env_put(e, fmt, ...): Add "K=V"; of two equal names the first counts.
 * tk_env_list(e, more): Add those of a NULL-terminated list; NULL: none.
 * Too many or too long variables fail the test.
 */
void tk_env_put(struct tk_env *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void tk_env_list(struct tk_env *e, const char *const more[]);

/* Such a list in place: TK_ENV("A=1", "B=2"). */
#define TK_ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Zero it before the first start. */
struct tk_service {
	struct tk_proc proc; /* its pid is 0 while it is not running */
	int http, admin; /* ports; the first start chooses those that are 0 */
};

/*
 * tk_service_spawn(s, program, name, e): Start a program of the suite; name is
 * that of its log. HTTP_ADDR and ADMIN_ADDR of s are added to the variables of
 * e.
 */
void tk_service_spawn(struct tk_service *s, const char *program,
    const char *name, struct tk_env *e);

/* tk_service_start(s, program, name, e): The same, and wait until ready. */
void tk_service_start(struct tk_service *s, const char *program,
    const char *name, struct tk_env *e);

/*
 * tk_service_ports(s, e): Choose its ports and add them to e; for children that
 * are started another way.
 */
void tk_service_ports(struct tk_service *s, struct tk_env *e);

/*
 * tk_service_get(s, a, path): The status of GET on the admin port; 0 without a
 * response.
 */
int tk_service_get(
    const struct tk_service *s, struct tk_response *a, const char *path);

/* tk_service_ready(s): Whether it is ready; a condition for tk_until(). */
bool tk_service_ready(void *s);

/* tk_service_wait(s): Wait until it is ready; fails the test after 60 s. */
void tk_service_wait(struct tk_service *s);

/*
 * tk_service_metric(s, name): The integer part of a metric, "name" or
 * "name{labels}" as it is exposed; -1 if it is missing, or without a response.
 */
long long tk_service_metric(const struct tk_service *s, const char *name);

/*
 * tk_service_end(s): Send SIGTERM; it must drain and exit 0 within 60 s.
 * tk_service_kill(s): Kill it.
 * It may be started again. Both ignore a service that is not running.
 */
void tk_service_end(struct tk_service *s);
void tk_service_kill(struct tk_service *s);

#endif /* !TESTKIT_SERVICE_H */
