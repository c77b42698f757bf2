/* The shipped permissions as settings of test servers. */
#include "testkit/rights.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "testkit/testkit_internal.h"

#define NAME_MAX_ 64

/*
 * The name after the prefix at the beginning of a line; false if the line has
 * another prefix.
 */
static bool
rights_name(const char *line, const char *prefix, const char *stop,
    char name[NAME_MAX_])
{
	if (strncmp(line, prefix, strlen(prefix)) != 0)
		return false;
	line += strlen(prefix);
	snprintf(name, NAME_MAX_, "%.*s", (int)strcspn(line, stop), line);
	return true;
}

static const char *
rights_next_line(const char *line)
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

	for (line = text; *line != '\0'; line = rights_next_line(line))
		if (rights_name(line, "{ user: \"", "\"", name) ||
		    (rights_name(line, "user ", " ", name) &&
			strcmp(name, "default") != 0))
			fn(arg, name);
	free(text);
}

/* NATS_CHAT_GATEWAY: "secret-of-chat-gateway" */
static void
rights_put_variable(void *arg, const char *user)
{
	const char *s;

	fputs("NATS_", arg);
	for (s = user; *s != '\0'; s++)
		fputc(*s == '-' ? '_' : toupper(*s), arg);
	fprintf(arg, ": \"" TK_PASSWORD "%s\"\n", user);
}

/* Further settings, the users of the services, and one without restrictions. */
static void
rights_start_nats(struct tk_server *s, const char *more, const char *witness)
{
	char *rights = tk_read_file(TK_NATS_RIGHTS, NULL), *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	tk_rights_users(TK_NATS_RIGHTS, rights_put_variable, f);
	fprintf(f, "%s\nauthorization { users: [\n%s%s ] }\n", more, rights,
	    witness);
	fclose(f);
	tk_server_start_with(s, TK_NATS, text);
	free(text);
	free(rights);
}

/* Without a witness, an unauthenticated client has all permissions. */
static void
rights_start_redis(struct tk_server *s, const char *more, const char *witness)
{
	char *rights = tk_read_file(TK_REDIS_RIGHTS, NULL), *text = NULL;
	char name[NAME_MAX_];
	const char *line;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n%s\n", more, witness);
	for (line = rights; *line != '\0'; line = rights_next_line(line)) {
		int len = (int)strcspn(line, "\n");

		if (!rights_name(line, "user ", " ", name))
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

#define RIGHTS_OPEN    "no_auth_user: \"test\"\n"
#define RIGHTS_WITNESS "{ user: \"test\", password: \"\" }"

void
tk_rights_nats_with(struct tk_server *s, const char *more)
{
	struct buf text = BUF_INIT(4096);

	buf_printf(&text, RIGHTS_OPEN "%s", more);
	rights_start_nats(s, text.p, RIGHTS_WITNESS);
	buf_free(&text);
}

void
tk_rights_nats(struct tk_server *s)
{
	tk_rights_nats_with(s, "");
}

void
tk_rights_redis(struct tk_server *s)
{
	rights_start_redis(s, "", "");
}

void
tk_rights_redis_with(struct tk_server *s, const char *conf)
{
	rights_start_redis(s, conf, "");
}

void
tk_rights_closed(struct tk_server *nats, struct tk_server *redis)
{
	char *conf = tk_read_file("deploy/nats.conf", NULL);

	rights_start_nats(nats, conf,
	    "{ user: \"" TK_WITNESS "\", password: \"" TK_PASSWORD TK_WITNESS
	    "\" }");
	free(conf);
	conf = tk_read_file("deploy/redis.conf", NULL);
	rights_start_redis(redis, conf,
	    "user " TK_WITNESS " on >" TK_PASSWORD TK_WITNESS " ~* &* +@all");
	free(conf);
}

/* The first line of a log that contains part. */
static bool
rights_find_line(
    const struct tk_proc *p, const char *part, char *dst, size_t size)
{
	char *log = tk_read_file(p->log, NULL);
	const char *at = strstr(log, part);

	if (at != NULL)
		snprintf(dst, size, "%.*s", (int)strcspn(at, "\n"), at);
	free(log);
	return at != NULL;
}

/* The denials in Redis' ACL LOG: "*0" if there are none. */
static bool
rights_redis_denied(const struct tk_server *s, char *dst, size_t size)
{
	static const char command[] = "ACL LOG 1\r\n";
	int fd = tk_connect(s->port);
	ssize_t n = 0, got;
	char *at;

	if (fd == -1)
		return false;
	if (write(fd, command, strlen(command)) != (ssize_t)strlen(command)) {
		close(fd);
		return false;
	}
	/* An entry ends with the client's description. */
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
	if (rights_find_line(&nats->proc, "Violation", why, sizeof(why)))
		return why;
	if (tk_alive(&redis->proc) &&
	    rights_redis_denied(redis, why, sizeof(why)))
		return why;
	return "";
}
