#include "testkit/raw_server.h"

#include <netinet/in.h>
#include <poll.h>

struct raw_server_conn {
	struct raw_server *p;
	int fd;
};

static void *
raw_server_serve(void *arg)
{
	struct raw_server_conn c = *(struct raw_server_conn *)arg;

	free(arg);
	c.p->fn(c.p, c.fd);
	close(c.fd);
	return NULL;
}

static void *
raw_server_accept(void *arg)
{
	struct raw_server *p = arg;

	for (;;) {
		struct sockaddr_in from;
		socklen_t n = sizeof(from);
		/* Children must not inherit the connection. */
		int fd = accept4(
		    p->listener, (struct sockaddr *)&from, &n, SOCK_CLOEXEC);
		if (fd < 0 || p->stop) {
			if (fd >= 0)
				close(fd);
			return NULL;
		}
		if (p->nconns == RAW_SERVER_CONNS_MAX)
			abort();
		struct raw_server_conn *c = mem_alloc(sizeof(*c));
		*c = (struct raw_server_conn){ p, fd };
		if (pthread_create(
			&p->conns[p->nconns], NULL, raw_server_serve, c) != 0)
			abort();
		p->nconns++;
		p->accepted++;
	}
}

void
raw_server_open(struct raw_server *p, raw_server_fn fn)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	memset(p, 0, sizeof(*p));
	p->fn = fn;
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(p->listener, 0);
	ck_assert_int_eq(
	    bind(p->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(p->listener, 512), 0);
	ck_assert_int_eq(
	    getsockname(p->listener, (struct sockaddr *)&a, &n), 0);
	p->port = ntohs(a.sin_port);
	ck_assert_int_eq(
	    pthread_create(&p->acceptor, NULL, raw_server_accept, p), 0);
}

void
raw_server_close(struct raw_server *p)
{
	p->stop = true;
	shutdown(p->listener, SHUT_RDWR);
	pthread_join(p->acceptor, NULL);
	for (size_t i = 0; i < p->nconns; i++)
		pthread_join(p->conns[i], NULL);
	close(p->listener);
}

bool
raw_server_read(int fd, struct buf *b)
{
	size_t want = SIZE_MAX;
	char chunk[4096];

	buf_reset(b);
	while (b->n < want) {
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
		if (n <= 0)
			return false;
		buf_put(b, chunk, (size_t)n);
		ptrdiff_t end = str_find(buf_str(b), STR("\r\n\r\n"));
		if (end < 0)
			continue;
		const char *length = strcasestr(b->p, "content-length:");
		want = (size_t)end + 4 +
		    (length != NULL ? strtoul(length + 15, NULL, 10) : 0);
	}
	return true;
}

bool
raw_server_write(int fd, const char *text)
{
	size_t n = strlen(text);

	return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
}

void
raw_server_hold(struct raw_server *p, int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	char chunk[256];

	while (!p->stop)
		if (poll(&f, 1, 50) > 0 &&
		    recv(fd, chunk, sizeof(chunk), 0) <= 0)
			return;
}
