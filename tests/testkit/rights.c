/*
 * The shipped rights as settings of test servers.
 */
#include "testkit/rights.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testkit/testkit_internal.h"

#define NAME_MAX_ 64

/* The name behind lead at the beginning of a line; false: another line. */
static bool
named(
    const char *line, const char *lead, const char *stop, char name[NAME_MAX_])
{
	if (strncmp(line, lead, strlen(lead)) != 0)
		return false;
	line += strlen(lead);
	snprintf(name, NAME_MAX_, "%.*s", (int)strcspn(line, stop), line);
	return true;
}

static const char *
next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line == '\0' ? line : line + 1;
}

void
tk_rights_users(
    const char *file, void (*fn)(void *arg, const char *user), void *arg)
{
	char *text = tk_read_file(file, NULL), name[NAME_MAX_];
	const char *line;

	for (line = text; *line != '\0'; line = next_line(line))
		if (named(line, "{ user: \"", "\"", name) ||
		    (named(line, "user ", " ", name) &&
			strcmp(name, "default") != 0))
			fn(arg, name);
	free(text);
}

/* NATS_CHAT_GATEWAY: "secret-of-chat-gateway" */
static void
put_variable(void *arg, const char *user)
{
	const char *s;

	fputs("NATS_", arg);
	for (s = user; *s != '\0'; s++)
		fputc(*s == '-' ? '_' : toupper(*s), arg);
	fprintf(arg, ": \"" TK_PASSWORD "%s\"\n", user);
}

/* Settings of more, the users of services, and one who may do everything. */
static void
start_nats(struct tk_server *s, const char *more, const char *witness)
{
	char *rights = tk_read_file(TK_NATS_RIGHTS, NULL), *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	tk_rights_users(TK_NATS_RIGHTS, put_variable, f);
	fprintf(f, "%s\nauthorization { users: [\n%s%s ] }\n", more, rights,
	    witness);
	fclose(f);
	tk_server_start_with(s, TK_NATS, text);
	free(text);
	free(rights);
}

/* Without a witness, who comes without a name may do all. */
static void
start_redis(struct tk_server *s, const char *more, const char *witness)
{
	char *rights = tk_read_file(TK_REDIS_RIGHTS, NULL), *text = NULL;
	char name[NAME_MAX_];
	const char *line;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n%s\n", more, witness);
	for (line = rights; *line != '\0'; line = next_line(line)) {
		int len = (int)strcspn(line, "\n");

		if (!named(line, "user ", " ", name))
			continue;
		if (strcmp(name, "default") != 0)
			fprintf(
			    f, "%.*s >" TK_PASSWORD "%s\n", len, line, name);
		else if (*witness != '\0')
			fprintf(f, "%.*s\n", len, line);
	}
	fclose(f);
	tk_server_start_with(s, TK_REDIS, text);
	free(text);
	free(rights);
}

void
tk_rights_nats(struct tk_server *s)
{
	start_nats(
	    s, "no_auth_user: \"test\"", "{ user: \"test\", password: \"\" }");
}

void
tk_rights_redis(struct tk_server *s)
{
	start_redis(s, "", "");
}

void
tk_rights_closed(struct tk_server *nats, struct tk_server *redis)
{
	char *conf = tk_read_file("deploy/nats.conf", NULL);

	start_nats(nats, conf,
	    "{ user: \"" TK_WITNESS "\", password: \"" TK_PASSWORD TK_WITNESS
	    "\" }");
	free(conf);
	conf = tk_read_file("deploy/redis.conf", NULL);
	start_redis(redis, conf,
	    "user " TK_WITNESS " on >" TK_PASSWORD TK_WITNESS " ~* &* +@all");
	free(conf);
}

/* The first line of a log with part in it. */
static bool
line_with(const struct tk_proc *p, const char *part, char *dst, size_t size)
{
	char *log = tk_read_file(p->log, NULL);
	const char *at = strstr(log, part);

	if (at != NULL)
		snprintf(dst, size, "%.*s", (int)strcspn(at, "\n"), at);
	free(log);
	return at != NULL;
}

/* What Redis remembers of denials: "*0" if there was none. */
static bool
redis_denied(const struct tk_server *s, char *dst, size_t size)
{
	static const char ask[] = "ACL LOG 1\r\n";
	int fd = tk_connect(s->port);
	ssize_t n = 0, got;
	char *at;

	if (fd == -1)
		return false;
	if (write(fd, ask, strlen(ask)) != (ssize_t)strlen(ask)) {
		close(fd);
		return false;
	}
	/* An entry ends with who the client was. */
	do {
		got = read(fd, dst + n, size - (size_t)n - 1);
		n += got > 0 ? got : 0;
		dst[n] = '\0';
	} while (got > 0 && strcmp(dst, "*0\r\n") != 0 &&
	    strstr(dst, " lib-ver=") == NULL && strstr(dst, " resp=") == NULL);
	close(fd);
	for (at = dst; (at = strpbrk(at, "\r\n")) != NULL;)
		*at = ' ';
	return strcmp(dst, "*0  ") != 0;
}

const char *
tk_rights_denied(const struct tk_server *nats, const struct tk_server *redis)
{
	static char why[1024];

	why[0] = '\0';
	if (line_with(&nats->proc, "Violation", why, sizeof(why)))
		return why;
	if (tk_alive(&redis->proc) && redis_denied(redis, why, sizeof(why)))
		return why;
	return "";
}
