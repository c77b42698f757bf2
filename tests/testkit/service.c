/* What all services have in common: variables, /readyz, /metrics, SIGTERM. */
#include "testkit/service.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 60000

void
tk_env_put(struct tk_env *e, const char *fmt, ...)
{
	char *at = e->text + e->used;
	size_t room = sizeof(e->text) - e->used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	ck_assert(n > 0 && (size_t)n < room && e->n < TK_ENV_MAX);
	e->used += (size_t)n + 1;
	e->v[e->n++] = at;
}

void
tk_env_list(struct tk_env *e, const char *const more[])
{
	for (; more != NULL && *more != NULL; more++)
		tk_env_put(e, "%s", *more);
}

void
tk_service_ports(struct tk_service *s, struct tk_env *e)
{
	if (s->http == 0)
		s->http = tk_port();
	if (s->admin == 0)
		s->admin = tk_port();
	tk_env_put(e, "HTTP_ADDR=127.0.0.1:%d", s->http);
	tk_env_put(e, "ADMIN_ADDR=127.0.0.1:%d", s->admin);
}

void
tk_service_spawn(struct tk_service *s, const char *program, const char *name,
    struct tk_env *e)
{
	const char *argv[] = { tk_bin(program), NULL };

	tk_service_ports(s, e);
	tk_spawn(&s->proc, name, argv, e->v);
}

void
tk_service_start(struct tk_service *s, const char *program, const char *name,
    struct tk_env *e)
{
	tk_service_spawn(s, program, name, e);
	tk_service_wait(s);
}

int
tk_service_get(
    const struct tk_service *s, struct tk_response *a, const char *path)
{
	if (!tk_port_open(s->admin))
		return 0;
	return tk_http_request(s->admin, a, "GET", path, NULL);
}

bool
tk_service_ready(void *s)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(s, &a, "/readyz") == 200;

	tk_response_free(&a);
	return is;
}

void
tk_service_wait(struct tk_service *s)
{
	ck_assert_msg(tk_until(tk_service_ready, s, WAIT_MS), "%s is not ready",
	    s->proc.name);
}

long long
tk_service_metric(const struct tk_service *s, const char *name)
{
	struct tk_response a = { 0 };
	char line[256];
	const char *at;
	long long v = -1;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (tk_service_get(s, &a, "/metrics") == 200) {
		at = strstr(a.body.p, line);
		if (at != NULL)
			v = strtoll(at + strlen(line), NULL, 10);
	}
	tk_response_free(&a);
	return v;
}

static void
service_end_by(struct tk_service *s, int sig, int status)
{
	if (s->proc.pid <= 0)
		return;
	tk_signal(&s->proc, sig);
	ck_assert_int_eq(tk_wait(&s->proc, WAIT_MS), status);
	s->proc.pid = 0;
}

void
tk_service_end(struct tk_service *s)
{
	service_end_by(s, SIGTERM, 0);
}

void
tk_service_kill(struct tk_service *s)
{
	service_end_by(s, SIGKILL, 128 + SIGKILL);
}
