/* What every service has: variables, /readyz, /metrics, SIGTERM. */
#include "kit/kit_service.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 60000

void
kit_env_put(struct kit_env *e, const char *fmt, ...)
{
	char *at = e->text + e->used;
	size_t room = sizeof(e->text) - e->used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	ck_assert(n > 0 && (size_t)n < room && e->n < KIT_ENV_MAX);
	e->used += (size_t)n + 1;
	e->v[e->n++] = at;
}

void
kit_env_list(struct kit_env *e, const char *const more[])
{
	for (; more != NULL && *more != NULL; more++)
		kit_env_put(e, "%s", *more);
}

void
kit_service_ports(struct kit_service *s, struct kit_env *e)
{
	if (s->http == 0)
		s->http = kit_port();
	if (s->admin == 0)
		s->admin = kit_port();
	kit_env_put(e, "HTTP_ADDR=127.0.0.1:%d", s->http);
	kit_env_put(e, "ADMIN_ADDR=127.0.0.1:%d", s->admin);
}

void
kit_service_spawn(struct kit_service *s, const char *program, const char *name,
    struct kit_env *e)
{
	const char *argv[] = { kit_bin(program), NULL };

	kit_service_ports(s, e);
	kit_spawn(&s->proc, name, argv, e->v);
}

void
kit_service_start(struct kit_service *s, const char *program, const char *name,
    struct kit_env *e)
{
	kit_service_spawn(s, program, name, e);
	kit_service_wait(s);
}

int
kit_service_get(
    const struct kit_service *s, struct kit_answer *a, const char *path)
{
	if (!kit_port_open(s->admin))
		return 0;
	return kit_http_ask(s->admin, a, "GET", path, NULL);
}

bool
kit_service_ready(void *s)
{
	struct kit_answer a = { 0 };
	bool is = kit_service_get(s, &a, "/readyz") == 200;

	kit_answer_free(&a);
	return is;
}

void
kit_service_wait(struct kit_service *s)
{
	ck_assert_msg(kit_until(kit_service_ready, s, WAIT_MS),
	    "%s is not ready", s->proc.name);
}

long long
kit_service_metric(const struct kit_service *s, const char *name)
{
	struct kit_answer a = { 0 };
	char line[256];
	const char *at;
	long long v = -1;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (kit_service_get(s, &a, "/metrics") == 200) {
		at = strstr(a.body.p, line);
		if (at != NULL)
			v = strtoll(at + strlen(line), NULL, 10);
	}
	kit_answer_free(&a);
	return v;
}

static void
end_by(struct kit_service *s, int sig, int status)
{
	if (s->proc.pid <= 0)
		return;
	kit_signal(&s->proc, sig);
	ck_assert_int_eq(kit_wait(&s->proc, WAIT_MS), status);
	s->proc.pid = 0;
}

void
kit_service_end(struct kit_service *s)
{
	end_by(s, SIGTERM, 0);
}

void
kit_service_kill(struct kit_service *s)
{
	end_by(s, SIGKILL, 128 + SIGKILL);
}
