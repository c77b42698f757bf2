#include "testkit/stack/census.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/service.h"
#include "testkit/syscalls.h"

struct census {
	struct stack *st;
	struct census_proc {
		char name[32];
		pid_t pid;
		int admin; /* 0: a server */
		bool apart;
		struct tk_syscalls *syscalls;
	} proc[CENSUS_MAX];
	size_t n;
};

static void
census_put(struct census *c, const char *name, pid_t pid, int admin)
{
	struct census_proc *p = &c->proc[c->n++];

	ck_assert_uint_le(c->n, CENSUS_MAX);
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->pid = pid;
	p->admin = admin;
	p->apart = strcmp(name, stack_name(STACK_CHAT_GATEWAY)) == 0 ||
	    strcmp(name, stack_name(STACK_LLM_SIM)) == 0;
}

struct census *
census_new(struct stack *st)
{
	static const char *const server[] = { "nats-server", "redis-server",
		"mosquitto" };
	struct census *c = mem_zalloc(sizeof(*c));
	size_t i;

	c->st = st;
	for (i = 0; i < STACK_SERVICES; i++)
		if (st->service[i].wanted)
			census_put(c, stack_name((enum stack_service)i),
			    st->service[i].proc.pid, st->service[i].admin);
	for (i = 0; i < STACK_SERVERS; i++)
		census_put(c, server[i], st->server[i].proc.pid, 0);
	return c;
}

void
census_add(struct census *c, const char *name, const struct stack_proc *p)
{
	census_put(c, name, p->proc.pid, p->admin);
}

void
census_free(struct census *c)
{
	census_trace_end(c);
	free(c);
}

bool
census_trace(struct census *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		c->proc[i].syscalls = tk_syscalls_new(c->proc[i].pid);
		if (c->proc[i].syscalls == NULL) {
			census_trace_end(c);
			return false;
		}
	}
	return true;
}

void
census_trace_end(struct census *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		tk_syscalls_free(c->proc[i].syscalls);
		c->proc[i].syscalls = NULL;
	}
}

/* Threads that have ended are not in it. */
static double
census_switches(pid_t pid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[300], *text, *at;
	struct dirent *e;
	double n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status",
		    (int)pid, e->d_name);
		text = tk_read_file(path, NULL);
		at = strstr(text, key);
		if (at != NULL)
			n += strtod(at + strlen(key), NULL);
		free(text);
	}
	closedir(d);
	return n;
}

long long
census_nats(const struct stack *st)
{
	static const char key[] = "\"in_msgs\":";
	struct tk_response a = { 0 };
	const char *at;
	long long n;

	ck_assert_int_eq(
	    tk_http_request(st->nats_monitor, &a, "GET", "/varz", NULL), 200);
	at = strstr(a.body.p, key);
	ck_assert_ptr_nonnull(at);
	n = strtoll(at + strlen(key), NULL, 10);
	tk_response_free(&a);
	return n;
}

void
census_read(struct census *c, struct census_figures *f)
{
	struct tk_service s = { 0 };
	long long calls;
	size_t i;

	*f = (struct census_figures){ 0 };
	for (i = 0; i < c->n; i++) {
		const struct census_proc *p = &c->proc[i];

		if (p->syscalls != NULL)
			f->syscalls[i] = (double)tk_syscalls_count(p->syscalls);
		f->cpu_us[i] = tk_cpu_us(p->pid);
		f->switches[i] = census_switches(p->pid);
	}
	f->fsyncs = (double)c->st->meter->fsyncs;
	f->nats = (double)census_nats(c->st);
	for (i = 0; i < c->n; i++) {
		s.admin = c->proc[i].admin;
		calls = s.admin == 0
		    ? 0
		    : tk_service_metric(&s, "state_commands_total");
		f->redis += calls > 0 ? (double)calls : 0;
	}
}

struct census_figures
census_cost(
    const struct census_figures *from, const struct census_figures *to, int n)
{
	struct census_figures d;
	size_t i;

	for (i = 0; i < CENSUS_MAX; i++) {
		d.cpu_us[i] = (to->cpu_us[i] - from->cpu_us[i]) / n;
		d.switches[i] = (to->switches[i] - from->switches[i]) / n;
		d.syscalls[i] = (to->syscalls[i] - from->syscalls[i]) / n;
	}
	d.redis = (to->redis - from->redis) / n;
	d.fsyncs = (to->fsyncs - from->fsyncs) / n;
	d.nats = (to->nats - from->nats) / n;
	return d;
}

struct census_sum
census_sum(const struct census *c, const struct census_figures *f)
{
	struct census_sum s = { 0 };
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->proc[i].apart)
			continue;
		s.cpu_us += f->cpu_us[i];
		s.switches += f->switches[i];
		s.syscalls += f->syscalls[i];
	}
	return s;
}

static void
census_row(const char *name, double cpu, double switches, double syscalls)
{
	printf("    %-18s %8.0f %9.1f %9.1f\n", name, cpu, switches, syscalls);
}

void
census_print(const struct census *c, const struct census_figures *f)
{
	struct census_sum s = census_sum(c, f);
	double all = 0;
	size_t i;

	printf("    %-18s %8s %9s %9s\n", "a turn", "CPU us", "switches",
	    "syscalls");
	for (i = 0; i < c->n; i++) {
		census_row(c->proc[i].name, f->cpu_us[i], f->switches[i],
		    f->syscalls[i]);
		all += f->cpu_us[i];
	}
	printf("    %-18s %8.0f\n", "all", all);
	census_row("gateway, llm apart", s.cpu_us, s.switches, s.syscalls);
	printf("    Redis commands %.2f, fsyncs %.2f, NATS messages %.2f\n",
	    f->redis, f->fsyncs, f->nats);
	(void)fflush(stdout);
}
