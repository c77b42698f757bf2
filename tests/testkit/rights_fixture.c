#include "testkit/rights_fixture.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

const char *
rights_fixture_request(
    struct rights_fixture *r, const char *end, const char *fmt, ...)
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
		ck_abort_msg("the server has disconnected after %s", r->reply);
	do {
		got = recv(r->fd, r->reply + n, sizeof(r->reply) - n - 1, 0);
		ck_assert_msg(
		    got > 0, "after %s: %.*s", text, (int)n, r->reply);
		n += (size_t)got;
		r->reply[n] = '\0';
	} while (strstr(r->reply, end) == NULL);
	return r->reply;
}

void
rights_fixture_open(struct rights_fixture *r, int port)
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

void
rights_fixture_close(struct rights_fixture *r)
{
	close(r->fd);
}

json_t *
rights_fixture_tables(void)
{
	json_t *all = json_load_file("proto-schemas/interfaces.json", 0, NULL);

	ck_assert(json_is_object(all));
	return all;
}

const char *
rights_fixture_member(const json_t *e, const char *member)
{
	const char *s = json_string_value(json_object_get(e, member));

	return s != NULL ? s : "";
}

bool
rights_fixture_lists(const json_t *e, const char *member, const char *s)
{
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(e, member), i, v)
		if (strcmp(json_string_value(v), s) == 0)
			return true;
	return false;
}

const char *
rights_fixture_fill(
    const char *template, char open, char close, const char *with)
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
