/*
 * socket_filter: a seccomp filter that leaves a process TCP and local sockets,
 * since Landlock knows neither UDP nor raw packets.
 */
#ifndef PROCSUP_SOCKET_FILTER_H
#define PROCSUP_SOCKET_FILTER_H

#include <stdbool.h>

#include "core/rc.h"

/* socket_filter_available(): On this architecture and kernel. */
bool socket_filter_available(void);

/*
 * socket_filter_install():
 * From now on the calling process, which has no_new_privs, and what it starts
 * can create sockets of AF_UNIX and AF_NETLINK, and of AF_INET and AF_INET6 if
 * they are streams; others are EACCES.  io_uring, which would bypass it, and
 * system calls of other architectures are ENOSYS.  RC_DOWN with errno.
 */
enum rc socket_filter_install(void) RC_CHECK;

#endif /* !PROCSUP_SOCKET_FILTER_H */
