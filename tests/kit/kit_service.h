/*
 * kit_service: a service of the suite as a child of the test: its environment,
 * its ports, what its admin port says, its end.
 */
#ifndef KIT_KIT_SERVICE_H
#define KIT_KIT_SERVICE_H

#include <stdbool.h>

#include "kit/kit.h"
#include "kit/kit_http.h"

#define KIT_ENV_MAX 24

/* Variables of a child; zero it before its first use, do not copy it. */
struct kit_env {
	const char
	    *v[KIT_ENV_MAX + 1]; /* NULL at the end, as kit_spawn() wants */
	size_t n;
	char text[4096];
	size_t used;
};

/*
 * kit_env_put(e, fmt, ...): Add "K=V"; of two of one name the first counts.
 * kit_env_list(e, more): Add those of a list that NULL ends; NULL: none.
 * Too many or too long fail the test.
 */
void kit_env_put(struct kit_env *e, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void kit_env_list(struct kit_env *e, const char *const more[]);

/* Such a list in place: KIT_ENV("A=1", "B=2"). */
#define KIT_ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Zero it before the first start. */
struct kit_service {
	struct kit_proc proc; /* its pid is 0 while it does not run */
	int http, admin; /* ports; the first start chooses those that are 0 */
};

/*
 * kit_service_spawn(s, program, name, e):
 * Start a program of the suite; name is that of its log.  The variables of e
 * are joined by HTTP_ADDR and ADMIN_ADDR of s.
 */
void kit_service_spawn(struct kit_service *s, const char *program,
    const char *name, struct kit_env *e);

/* kit_service_start(s, program, name, e): The same, and wait until ready. */
void kit_service_start(struct kit_service *s, const char *program,
    const char *name, struct kit_env *e);

/* kit_service_ports(s, e): Choose its ports and add them to e; for children
 * that are started in another way. */
void kit_service_ports(struct kit_service *s, struct kit_env *e);

/*
 * kit_service_get(s, a, path):
 * The status of GET on the admin port; 0 if nobody listens or answers.
 */
int kit_service_get(
    const struct kit_service *s, struct kit_answer *a, const char *path);

/* kit_service_ready(s): Whether it is; a condition for kit_until(). */
bool kit_service_ready(void *s);

/* kit_service_wait(s): Wait until it is ready, or fail the test after 60 s. */
void kit_service_wait(struct kit_service *s);

/*
 * kit_service_metric(s, name):
 * The whole part of a metric, "name" or "name{labels}" as it is written; -1 if
 * there is none, or no answer.
 */
long long kit_service_metric(const struct kit_service *s, const char *name);

/*
 * kit_service_end(s): Ask it to end; it must drain and exit 0 within 60 s.
 * kit_service_kill(s): Kill it.
 * It may be started again.  One that does not run is left alone.
 */
void kit_service_end(struct kit_service *s);
void kit_service_kill(struct kit_service *s);

#endif /* !KIT_KIT_SERVICE_H */
