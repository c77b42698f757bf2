/*
 * fake: a broker of a few bytes, in a thread, that does what a test wants:
 * its handler talks to each connection in turn, after the CONNECT was read.
 */
#ifndef MQTT_FAKE_H
#define MQTT_FAKE_H

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "integration/mqtt/rig.h"

struct fake {
	struct rig rig;
	pthread_t thread;
	int listener;
	_Atomic int connections;
	void (*talk)(struct fake *f, int fd);
	/* The last packet that fake_read() got. */
	unsigned char packet[4096];
	size_t n;
	_Atomic bool over;
};

static inline void
fake_send(int fd, const void *bytes, size_t n)
{
	(void)send(fd, bytes, n, MSG_NOSIGNAL);
}

/* Literal bytes, a NUL among them included. */
#define FAKE_SEND(fd, lit) fake_send((fd), (lit), sizeof(lit) - 1)

static inline bool
fake_bytes(int fd, unsigned char *dst, size_t n)
{
	return recv(fd, dst, n, MSG_WAITALL) == (ssize_t)n;
}

/* Read a packet; false at the end of the connection. */
static inline bool
fake_read(struct fake *f, int fd)
{
	size_t len = 0, shift = 0;
	unsigned char b;

	if (!fake_bytes(fd, f->packet, 1))
		return false;
	do {
		if (!fake_bytes(fd, &b, 1))
			return false;
		len |= (size_t)(b & 127) << shift;
		shift += 7;
	} while ((b & 128) != 0);
	f->n = 1 + len;
	return f->n <= sizeof(f->packet) &&
	    (len == 0 || fake_bytes(fd, f->packet + 1, len));
}

/* Read on until the end, so that closing does not reset. */
static inline void
fake_drain(struct fake *f, int fd)
{
	while (!f->over && fake_read(f, fd))
		;
}

static inline void *
fake_main(void *arg)
{
	struct fake *f = arg;
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) != -1) {
		f->connections++;
		if (fake_read(f, fd))
			f->talk(f, fd);
		shutdown(fd, SHUT_WR);
		close(fd);
	}
	return NULL;
}

static inline void
fake_start(struct fake *f, void (*talk)(struct fake *f, int fd))
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);

	*f = (struct fake){ .talk = talk };
	rig_bare(&f->rig);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(f->listener, (struct sockaddr *)&a, n), 0);
	ck_assert_int_eq(listen(f->listener, 8), 0);
	ck_assert_int_eq(
	    getsockname(f->listener, (struct sockaddr *)&a, &n), 0);
	snprintf(f->rig.broker.url, sizeof(f->rig.broker.url),
	    "mqtt://127.0.0.1:%d", ntohs(a.sin_port));
	ck_assert_int_eq(pthread_create(&f->thread, NULL, fake_main, f), 0);
}

/* After the clients are freed. */
static inline void
fake_end(struct fake *f)
{
	f->over = true;
	shutdown(f->listener, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->listener);
	rig_end(&f->rig);
}

#define CONNACK_OK "\x20\x03\0\0\0"

#endif /* !MQTT_FAKE_H */
