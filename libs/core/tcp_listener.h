/*
 * tcp_listener: accepting TCP connections over IPv4, on the loop.
 */
#ifndef CORE_TCP_LISTENER_H
#define CORE_TCP_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>

#include "core/loop.h"
#include "core/rc.h"

/*
 * tcp_address_parse(text, sa): "127.0.0.1:9010", port 0: any.  RC_INVALID: it
 * is no such address.
 */
enum rc tcp_address_parse(const char *text, struct sockaddr_in *sa) RC_CHECK;

struct tcp_listener {
	struct loop *loop;
	/* The descriptor is its own, non-blocking, and sends without delay. */
	void (*on_accept)(void *arg, int fd, const struct sockaddr_in *from);
	void *arg;
	int port; /* set */
	/* Private. */
	struct loop_fd watch;
	struct loop_timer pause; /* after descriptors have run out */
	bool open;
};

/*
 * tcp_listener_open(l, sa):
 * Listen at sa; the first members are set, all others zero.  RC_DOWN, logged.
 * tcp_listener_close(l): No-op if it does not listen.
 */
enum rc tcp_listener_open(
    struct tcp_listener *l, const struct sockaddr_in *sa) RC_CHECK;
void tcp_listener_close(struct tcp_listener *l);

#endif /* !CORE_TCP_LISTENER_H */
