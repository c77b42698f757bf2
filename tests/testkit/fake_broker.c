#include "testkit/fake_broker.h"

#include <unistd.h>

void
fake_broker_send(int fd, const void *bytes, size_t n)
{
	(void)send(fd, bytes, n, MSG_NOSIGNAL);
}

static bool
fake_broker_bytes(int fd, unsigned char *dst, size_t n)
{
	return recv(fd, dst, n, MSG_WAITALL) == (ssize_t)n;
}

bool
fake_broker_read(struct fake_broker *f, int fd)
{
	size_t len = 0, shift = 0;
	unsigned char b;

	if (!fake_broker_bytes(fd, f->packet, 1))
		return false;
	do {
		if (!fake_broker_bytes(fd, &b, 1))
			return false;
		len |= (size_t)(b & 127) << shift;
		shift += 7;
	} while ((b & 128) != 0);
	f->n = 1 + len;
	return f->n <= sizeof(f->packet) &&
	    (len == 0 || fake_broker_bytes(fd, f->packet + 1, len));
}

void
fake_broker_drain(struct fake_broker *f, int fd)
{
	while (!f->over && fake_broker_read(f, fd))
		;
}

static void *
fake_broker_main(void *arg)
{
	struct fake_broker *f = arg;
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) != -1) {
		f->connections++;
		if (fake_broker_read(f, fd))
			f->serve(f, fd);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
	return NULL;
}

void
fake_broker_start(
    struct fake_broker *f, void (*serve)(struct fake_broker *f, int fd))
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);

	*f = (struct fake_broker){ .serve = serve };
	mqtt_fixture_init(&f->fixture);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(f->listener, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(f->listener, 8), 0);
	ck_assert_int_eq(
	    getsockname(f->listener, (struct sockaddr *)&a, &n), 0);
	snprintf(f->fixture.broker.url, sizeof(f->fixture.broker.url),
	    "mqtt://127.0.0.1:%d", ntohs(a.sin_port));
	ck_assert_int_eq(
	    pthread_create(&f->thread, NULL, fake_broker_main, f), 0);
}

void
fake_broker_end(struct fake_broker *f)
{
	f->over = true;
	shutdown(f->listener, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->listener);
	mqtt_fixture_end(&f->fixture);
}
