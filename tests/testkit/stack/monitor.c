#include "testkit/stack/monitor.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define USERS_MAX   16
#define CLIENTS_MAX 128
#define NAME_BYTES  64

struct monitor {
	redisContext *monitor, *commands;
	struct monitor_user {
		char name[NAME_BYTES];
		size_t n;
	} user[USERS_MAX];
	struct monitor_client {
		char addr[NAME_BYTES];
		struct monitor_user *user;
	} client[CLIENTS_MAX];
	size_t users, clients;
	const char *const *timers;
};

static redisContext *
monitor_connect(struct stack *st)
{
	redisContext *c =
	    redisConnect("127.0.0.1", st->server[STACK_REDIS].port);

	ck_assert_msg(c != NULL && c->err == 0, "no connection to Redis");
	return c;
}

struct monitor *
monitor_new(struct stack *st, const char *const timers[])
{
	struct monitor *m = mem_zalloc(sizeof(*m));
	redisReply *r;

	m->timers = timers;
	m->monitor = monitor_connect(st);
	m->commands = monitor_connect(st);
	r = redisCommand(m->monitor, "MONITOR");
	ck_assert_ptr_nonnull(r);
	freeReplyObject(r);
	return m;
}

void
monitor_free(struct monitor *m)
{
	if (m == NULL)
		return;
	redisFree(m->monitor);
	redisFree(m->commands);
	free(m);
}

/* ---- clients ---- */

static struct monitor_user *
monitor_user(struct monitor *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->users; i++)
		if (strcmp(m->user[i].name, name) == 0)
			return &m->user[i];
	ck_assert_uint_lt(m->users, USERS_MAX);
	snprintf(m->user[i].name, NAME_BYTES, "%s", name);
	return &m->user[m->users++];
}

/* The value of " key=" in a line of CLIENT LIST. */
static void
monitor_value(const char *line, const char *key, char v[NAME_BYTES])
{
	const char *at = strstr(line, key);

	ck_assert_ptr_nonnull(at);
	at += strlen(key);
	snprintf(v, NAME_BYTES, "%.*s", (int)strcspn(at, " \n"), at);
}

static void
monitor_list_clients(struct monitor *m)
{
	char user[NAME_BYTES], *line, *rest;
	redisReply *r = redisCommand(m->commands, "CLIENT LIST");

	ck_assert_ptr_nonnull(r);
	m->clients = 0;
	for (line = strtok_r(r->str, "\n", &rest);
	     line != NULL && m->clients < CLIENTS_MAX;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct monitor_client *c = &m->client[m->clients++];

		monitor_value(line, " addr=", c->addr);
		monitor_value(line, " user=", user);
		c->user = monitor_user(m, user);
	}
	freeReplyObject(r);
}

static struct monitor_user *
monitor_find_client(struct monitor *m, const char *addr)
{
	size_t i;

	for (i = 0; i < m->clients; i++)
		if (strcmp(m->client[i].addr, addr) == 0)
			return m->client[i].user;
	return NULL;
}

/* ---- commands ---- */

/* By the first key, which follows a script and the number of keys. */
static bool
monitor_is_timer(const struct monitor *m, const char *line)
{
	char first[NAME_BYTES], second[NAME_BYTES], third[NAME_BYTES];
	const char *key;
	size_t i;
	int n = sscanf(line,
	    "%*[^\"]\"%*[^\"]\" \"%63[^\"]\" \"%63[^\"]\" \"%63[^\"]\"", first,
	    second, third);

	if (n < 1)
		return false;
	key = n == 3 && strspn(first, "0123456789abcdef") == 40 ? third : first;
	for (i = 0; m->timers[i] != NULL; i++)
		if (strncmp(key, m->timers[i], strlen(m->timers[i])) == 0)
			return true;
	return false;
}

/* 1700000000.000000 [0 127.0.0.1:40000] "EVALSHA" "c0ff…" "3" … */
static void
monitor_take(struct monitor *m, const char *line)
{
	char addr[NAME_BYTES];
	struct monitor_user *u;

	if (sscanf(line, "%*s [%*d %63[^]]]", addr) != 1 ||
	    strcmp(addr, "lua") == 0 || monitor_is_timer(m, line))
		return;
	u = monitor_find_client(m, addr);
	if (u == NULL) {
		monitor_list_clients(m);
		u = monitor_find_client(m, addr);
	}
	/* One that has gone is a test's. */
	if (u != NULL)
		u->n++;
}

void
monitor_read(struct monitor *m)
{
	struct pollfd p = { .fd = m->monitor->fd, .events = POLLIN };
	void *reply;

	for (;;) {
		ck_assert_int_eq(
		    redisGetReplyFromReader(m->monitor, &reply), REDIS_OK);
		if (reply != NULL) {
			monitor_take(m, ((redisReply *)reply)->str);
			freeReplyObject(reply);
		} else if (poll(&p, 1, 0) == 1)
			ck_assert_int_eq(redisBufferRead(m->monitor), REDIS_OK);
		else
			return;
	}
}

size_t
monitor_count(const struct monitor *m, const char *user)
{
	size_t i, n = 0;

	for (i = 0; i < m->users; i++)
		if (strcmp(m->user[i].name, user) == 0)
			n += m->user[i].n;
	return n;
}
