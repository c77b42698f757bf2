/*
 * rights: a connection to a server in the bytes of its protocol, and the tables
 * that say what is whose.
 */
#ifndef RIGHTS_H
#define RIGHTS_H

#include <arpa/inet.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testkit/rights.h"

struct raw {
	int fd;
	char said[16384]; /* the last answer */
};

/* Send text, and read until end stands in what came. */
__attribute__((format(printf, 3, 4))) static inline const char *
raw_ask(struct raw *r, const char *end, const char *fmt, ...)
{
	char text[2048];
	size_t n = 0;
	ssize_t got;
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ck_assert_int_lt(len, (int)sizeof(text));
	if (send(r->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		ck_abort_msg("the server is gone; it said %s", r->said);
	do {
		got = recv(r->fd, r->said + n, sizeof(r->said) - n - 1, 0);
		ck_assert_msg(got > 0, "after %s: %.*s", text, (int)n, r->said);
		n += (size_t)got;
		r->said[n] = '\0';
	} while (strstr(r->said, end) == NULL);
	return r->said;
}

static inline void
raw_open(struct raw *r, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct timeval tv = { 20, 0 };

	memset(r, 0, sizeof(*r));
	r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(r->fd, -1);
	ck_assert_int_eq(
	    setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0);
	ck_assert_int_eq(connect(r->fd, (void *)&a, sizeof(a)), 0);
}

static inline void
raw_close(struct raw *r)
{
	close(r->fd);
}

/* ---- the tables ---------------------------------------------------------- */

static inline json_t *
tables(void)
{
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);

	ck_assert(json_is_object(all));
	return all;
}

static inline const char *
of(const json_t *e, const char *member)
{
	const char *s = json_string_value(json_object_get(e, member));

	return s != NULL ? s : "";
}

static inline bool
lists(const json_t *e, const char *member, const char *s)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(e, member), i, v)
		if (strcmp(json_string_value(v), s) == 0)
			return true;
	return false;
}

/* A template with an id in each place that open begins and close ends. */
static inline const char *
filled(const char *template, char open, char close, const char *with)
{
	static char text[4][256];
	static unsigned turn;
	char *dst = text[turn++ % 4];
	size_t n = 0;

	for (; *template != '\0'; template ++) {
		if (*template != open) {
			dst[n++] = *template;
			continue;
		}
		n += (size_t)snprintf(dst + n, sizeof(text[0]) - n, "%s", with);
		while (*template != close)
			template ++;
	}
	dst[n] = '\0';
	return dst;
}

#endif /* !RIGHTS_H */
