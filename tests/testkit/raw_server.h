/*
 * raw_server: a server whose responses the test writes byte by byte, one thread
 * per connection. Failures fail the test.
 */
#ifndef TESTKIT_RAW_SERVER_H
#define TESTKIT_RAW_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define RAW_SERVER_CONNS_MAX 512

struct raw_server;

/* Serve one connection on its own thread; fd is closed afterwards. */
typedef void (*raw_server_fn)(struct raw_server *p, int fd);

struct raw_server {
	int listener, port;
	raw_server_fn fn;
	pthread_t acceptor;
	pthread_t conns[RAW_SERVER_CONNS_MAX];
	size_t nconns;
	_Atomic size_t accepted;
	_Atomic bool stop;
};

/*
 * raw_server_open(p, fn): Listen on a free port and serve with fn.
 * raw_server_close(p): Join its threads; their reads see a closed connection.
 */
void raw_server_open(struct raw_server *p, raw_server_fn fn);
void raw_server_close(struct raw_server *p);

/*
 * raw_server_read(fd, b): One request (header and Content-Length body) into b;
 * false at the end of the connection.
 */
bool raw_server_read(int fd, struct buf *b);

/* raw_server_write(fd, text): False if it could not be sent. */
bool raw_server_write(int fd, const char *text);

/* raw_server_hold(p, fd): Wait until the client or the server closes. */
void raw_server_hold(struct raw_server *p, int fd);

#endif /* !TESTKIT_RAW_SERVER_H */
