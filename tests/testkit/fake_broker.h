/*
 * fake_broker: an MQTT broker on a thread, whose packets the test scripts: its
 * handler is called for each connection in turn, after the CONNECT was read.
 */
#ifndef TESTKIT_FAKE_BROKER_H
#define TESTKIT_FAKE_BROKER_H

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "testkit/mqtt_fixture.h"

struct fake_broker {
	struct mqtt_fixture fixture;
	pthread_t thread;
	int listener;
	_Atomic int connections;
	void (*serve)(struct fake_broker *f, int fd);
	/* The last packet that fake_broker_read() received. */
	unsigned char packet[4096];
	size_t n;
	_Atomic bool over;
};

void fake_broker_send(int fd, const void *bytes, size_t n);

/* Literal bytes, embedded NULs included. */
#define FAKE_BROKER_SEND(fd, lit) fake_broker_send((fd), (lit), sizeof(lit) - 1)

/* Read a packet; false at the end of the connection. */
bool fake_broker_read(struct fake_broker *f, int fd);

/* Read until the end, so that closing does not reset the connection. */
void fake_broker_drain(struct fake_broker *f, int fd);

void fake_broker_start(
    struct fake_broker *f, void (*serve)(struct fake_broker *f, int fd));

/* After the clients are freed. */
void fake_broker_end(struct fake_broker *f);

#define CONNACK_OK "\x20\x03\0\0\0"

#endif /* !TESTKIT_FAKE_BROKER_H */
